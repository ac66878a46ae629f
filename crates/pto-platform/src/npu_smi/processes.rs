//! The process table below the devices.

use serde::Serialize;

use super::cell::{Reader, known};
use crate::Note;

/// A process that holds a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Process {
    /// Line of the row, from 1.
    pub line: usize,
    /// The card's id, as [`super::Device::npu`].
    pub npu: u32,
    /// The chip on the card; `None` on 950.
    pub chip: Option<u32>,
    /// Process id on the host.
    pub pid: u32,
    /// Name or path; `None` where the cell is empty.
    pub name: Option<String>,
    /// Device memory in MB.
    pub memory_mb: Option<u64>,
    /// Process id inside its container, which newer drivers print.
    pub container_pid: Option<u32>,
}

/// A column of the process table; each has a cell of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Owner,
    Pid,
    Name,
    Memory,
    ContainerPid,
    Other,
}

/// The columns when the header is missing.
const USUAL: [Column; 5] = [Column::Owner, Column::Pid, Column::Name, Column::Memory, Column::ContainerPid];
const IDLE: &str = "No running processes found in NPU";

/// The columns, if the row is the header of a process table.
pub(super) fn header(cells: &[&str]) -> Option<Vec<Column>> {
    let columns: Vec<Column> = cells.iter().map(|cell| title(cell)).collect();
    columns.contains(&Column::Pid).then_some(columns)
}

fn title(cell: &str) -> Column {
    let folded = cell.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
    match folded.as_str() {
        "process id in container" => Column::ContainerPid,
        "process id" => Column::Pid,
        "process name" => Column::Name,
        _ if folded.starts_with("process memory") => Column::Memory,
        _ if folded.starts_with("npu") => Column::Owner,
        _ => Column::Other,
    }
}

/// The card of which a text says that nothing runs there.
pub(super) fn idle_npu(text: &str) -> Option<u32> {
    text.strip_prefix(IDLE)?.split_whitespace().next()?.parse().ok()
}

/// The process of a row: one or two ids and a process id make it one, whatever the other cells hold.
pub(super) fn process(
    line: usize,
    cells: &[&str],
    header: Option<&[Column]>,
    notes: &mut Vec<Note>,
) -> Option<Process> {
    let columns = header.unwrap_or(&USUAL);
    let cells = fold_name(cells, columns);
    let cell = |column| columns.iter().position(|&of| of == column).and_then(|at| cells.get(at)).map(String::as_str);
    let (npu, chip) = owner(cell(Column::Owner)?)?;
    let pid = cell(Column::Pid)?.parse().ok()?;
    let mut reader = Reader { line, notes };
    Some(Process {
        line,
        npu,
        chip,
        pid,
        name: cell(Column::Name).and_then(known).map(str::to_owned),
        memory_mb: cell(Column::Memory).and_then(|text| reader.number(text)),
        container_pid: cell(Column::ContainerPid).and_then(|text| reader.number(text)),
    })
}

/// A name may hold bars of its own: surplus cells belong to it.
fn fold_name(cells: &[&str], columns: &[Column]) -> Vec<String> {
    let name = columns.iter().position(|&column| column == Column::Name);
    let surplus = cells.len().saturating_sub(columns.len());
    match name {
        Some(at) if surplus > 0 => {
            let (before, rest) = cells.split_at(at);
            let (name, after) = rest.split_at(surplus + 1);
            let owned = |cells: &[&str]| cells.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>();
            [owned(before), vec![name.join(" | ")], owned(after)].concat()
        }
        _ => cells.iter().map(|&cell| cell.to_owned()).collect(),
    }
}

fn owner(cell: &str) -> Option<(u32, Option<u32>)> {
    let mut ids = cell.split_whitespace().map(str::parse);
    match (ids.next()?.ok()?, ids.next(), ids.next()) {
        (npu, None, None) => Some((npu, None)),
        (npu, Some(chip), None) => Some((npu, Some(chip.ok()?))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_bars() {
        let columns = header(&["NPU     Chip", "Process id", "Process name", "Process memory(MB)"]).unwrap();
        let cells = ["3 1", "77", "sh -c a", "b", "512"];
        let process = process(9, &cells, Some(&columns), &mut Vec::new()).unwrap();
        assert_eq!((process.npu, process.chip, process.pid), (3, Some(1), 77));
        assert_eq!((process.name.as_deref(), process.memory_mb), (Some("sh -c a | b"), Some(512)));
    }

    #[test]
    fn other_rows_are_no_processes() {
        for cells in
            [vec!["0 910B3", "OK", "9"], vec!["0", "Ascend950PR", "OK", "1"], vec!["", "", "NA", "0"], vec!["0"]]
        {
            assert_eq!(process(1, &cells, None, &mut Vec::new()), None, "{cells:?}");
        }
    }
}
