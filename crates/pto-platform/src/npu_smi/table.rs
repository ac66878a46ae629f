//! `npu-smi info` as a whole: devices, then processes.

use std::collections::HashMap;

use serde::Serialize;

use super::cell::Reader;
use super::frame::Line;
use super::halves::{Half, Headers};
use super::processes::{self, Column};
use super::{Device, Failure, Process, Usage, failure};
use crate::Note;
use crate::entries::numbered;

/// Share of the memory above which a card is in use although no process is listed, as happens when the process is in
/// another container: idle cards of all generations were seen with up to 9 %.
pub const IDLE_MEMORY_SHARE: f64 = 0.25;

/// The output of `npu-smi info`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct NpuSmiInfo {
    /// Version of the tool, the first of the two in the header.
    pub tool_version: Option<String>,
    /// Version of the driver, behind `Version:`.
    pub driver_version: Option<String>,
    /// Devices, in the order of the table. A device whose second row is missing is here with what is known of it.
    pub devices: Vec<Device>,
    /// Processes.
    pub processes: Vec<Process>,
    /// Cards of which the tool says that no process runs there.
    pub without_processes: Vec<u32>,
    /// Whether there was a process table at all; without one nothing is known about processes.
    pub has_process_table: bool,
    /// Lines in which something failed.
    pub failures: Vec<Failure>,
    /// What was not understood, or is odd.
    pub notes: Vec<Note>,
}

/// Whether somebody works with a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activity {
    /// No process, no utilisation, and little memory in use.
    Idle,
    /// This many processes hold it.
    Processes(usize),
    /// No process is listed, and the cores work: utilisation in percent.
    Utilised(u32),
    /// No process is listed, and more memory is in use (MB) than an idle card needs.
    MemoryInUse(Usage),
    /// The table does not tell.
    Unknown,
}

impl NpuSmiInfo {
    /// The processes that hold a device.
    pub fn processes_of(&self, device: &Device) -> impl Iterator<Item = &Process> {
        let (npu, chip) = (device.npu, device.chip);
        let same_chip = move |process: &Process| process.chip.zip(chip).is_none_or(|(theirs, ours)| theirs == ours);
        self.processes.iter().filter(move |process| process.npu == npu && same_chip(process))
    }

    /// Whether somebody works with a device, as far as the table shows.
    pub fn activity(&self, device: &Device) -> Activity {
        let processes = self.processes_of(device).count();
        let crowded = |usage: &Usage| usage.share().is_some_and(|share| share > IDLE_MEMORY_SHARE);
        match device.utilisation {
            _ if processes > 0 => Activity::Processes(processes),
            None => Activity::Unknown,
            Some(0) => device.hbm.filter(crowded).map_or(Activity::Idle, Activity::MemoryInUse),
            Some(percent) => Activity::Utilised(percent),
        }
    }
}

/// Reads the output of `npu-smi info`, of any driver and generation, with whatever stands before and after the table.
///
/// Where the text holds several tables (a `watch`, a log), the last counts.
pub fn parse_info(text: &str) -> NpuSmiInfo {
    let mut table = Table::default();
    for (line, text) in numbered(text) {
        table.line(line, text);
    }
    table.finish()
}

#[derive(Debug, Default)]
struct Table {
    info: NpuSmiInfo,
    headers: Headers,
    process_columns: Option<Vec<Column>>,
    /// A device whose second row is still to come.
    pending: Option<Device>,
    /// Where in the list the device of a card's id and index is.
    listed: HashMap<(u32, u32), usize>,
}

impl Table {
    fn line(&mut self, line: usize, text: &str) {
        match Line::of(text) {
            Line::Blank => {}
            Line::Border => self.close_device(),
            Line::Row(cells) => self.row(line, text, &cells),
            Line::Text(content) => self.text(line, content),
        }
    }

    fn text(&mut self, line: usize, text: &str) {
        match failure::failure(line, text) {
            Some(failure) => self.info.failures.push(failure),
            None => self.note(line, text, "outside the table"),
        }
    }

    fn row(&mut self, line: usize, text: &str, cells: &[&str]) {
        if let Some((tool, driver)) = banner(cells) {
            self.begin(line, text, tool, driver);
        } else if let Some(columns) = processes::header(cells) {
            self.close_device();
            self.process_columns = Some(columns);
            self.info.has_process_table = true;
        } else if self.headers.take(cells) {
            self.close_device();
            self.process_columns = None;
        } else if let Some(npu) = processes::idle_npu(cells[0]) {
            self.info.has_process_table = true;
            self.info.without_processes.push(npu);
        } else if !self.process(line, cells) && !self.half(line, text, cells) {
            self.note(line, text, "neither a device nor a process");
        }
    }

    /// The top of a table. What was above it belongs to an older one.
    fn begin(&mut self, line: usize, text: &str, tool: &str, driver: Option<&str>) {
        self.close_device();
        let older = std::mem::take(&mut self.info);
        self.headers = Headers::default();
        self.listed.clear();
        self.process_columns = None;
        self.info.failures = older.failures;
        self.info.notes = older.notes;
        if !older.devices.is_empty() {
            self.note(line, text, "a new table begins; the one above is not counted");
        }
        self.info.tool_version = Some(tool.to_owned());
        self.info.driver_version = driver.map(str::to_owned);
        if let Some(driver) = driver.filter(|driver| *driver != tool) {
            self.note(line, text, format!("the tool is of version `{tool}`, the driver of `{driver}`"));
        }
    }

    fn process(&mut self, line: usize, cells: &[&str]) -> bool {
        let columns = self.process_columns.as_deref();
        let process = processes::process(line, cells, columns, &mut self.info.notes);
        if process.is_some() {
            self.info.has_process_table = true;
        }
        let found = process.is_some();
        self.info.processes.extend(process);
        found
    }

    fn half(&mut self, line: usize, text: &str, cells: &[&str]) -> bool {
        match Half::of(cells, self.pending.is_some()) {
            None => false,
            Some(Half::First) => {
                self.close_device();
                let mut reader = Reader { line, notes: &mut self.info.notes };
                self.pending = self.headers.first(cells, &mut reader);
                self.pending.is_some()
            }
            Some(Half::Second) => {
                match self.pending.take() {
                    Some(mut device) => {
                        let mut reader = Reader { line, notes: &mut self.info.notes };
                        self.headers.second(&mut device, cells, &mut reader);
                        self.keep(device);
                    }
                    None => self.note(line, text, "second row of a device whose first row is missing"),
                }
                true
            }
        }
    }

    /// Ends a device that got no second row.
    fn close_device(&mut self) {
        if let Some(device) = self.pending.take() {
            self.note(device.line, &device.name, "the second row of this device is missing");
            self.keep(device);
        }
    }

    fn keep(&mut self, device: Device) {
        // Devices whose index is unknown are not taken for one another: two of them may be the dies of one card.
        let key = device.index.map(|index| (device.npu, index));
        match key.and_then(|key| self.listed.insert(key, self.info.devices.len())) {
            Some(at) => {
                self.note(device.line, &device.name, "listed again; this row counts");
                self.listed.extend(key.map(|key| (key, at)));
                self.info.devices[at] = device;
            }
            None => self.info.devices.push(device),
        }
    }

    fn note(&mut self, line: usize, text: &str, why: impl Into<std::borrow::Cow<'static, str>>) {
        self.info.notes.push(Note::new(line, text, why));
    }

    fn finish(mut self) -> NpuSmiInfo {
        self.close_device();
        self.info
    }
}

/// `npu-smi 25.5.1    Version: 25.5.1`: the tool's version and the driver's.
fn banner<'a>(cells: &[&'a str]) -> Option<(&'a str, Option<&'a str>)> {
    let [cell] = cells else { return None };
    let mut words = cell.strip_prefix("npu-smi")?.split_whitespace();
    let tool = words.next()?;
    let driver = words.skip_while(|word| !word.eq_ignore_ascii_case("version:")).nth(1);
    Some((tool, driver))
}
