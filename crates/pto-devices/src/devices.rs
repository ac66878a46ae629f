//! All of them, and which one is handed out.

use std::time::SystemTime;

use pto_context::Context;
use pto_platform::Note;
use pto_platform::npu_smi::{Board, Failure, FailureKind, NpuSmiInfo, parse_info};
use pto_quarantine::{Quarantine, Standing};
use serde::Serialize;

use crate::ask::Answer;
use crate::nodes::device_nodes;
use crate::npu::Npu;
use crate::npu_answers::NpuAnswers;
use crate::options::ProbeOptions;
use crate::probe;

/// How to look.
#[derive(Debug, Clone)]
pub struct Look {
    /// How to ask programs.
    pub probes: ProbeOptions,
    /// Whether ACL opens each device as well; needs a [worker](ProbeOptions::worker).
    pub acl: bool,
}

/// The NPUs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Devices {
    /// Every device, in the order of the table.
    pub devices: Vec<Npu>,
    /// The driver's version in the table's header.
    pub driver_version: Option<String>,
    /// Lines in which `npu-smi` says that something failed.
    pub failures: Vec<Failure>,
    /// What was not understood.
    pub notes: Vec<Note>,
    /// Why there is no table, when there is none.
    pub unavailable: Option<String>,
    /// Whether `npu-smi` is there and failed instead of showing a table: that says nothing of whether there is an NPU.
    pub npu_smi_failed: bool,
}

impl Devices {
    /// Asks `npu-smi`, looks at the device nodes and the quarantine, and asks ACL if that is wanted.
    pub fn ask(cx: &Context, look: &Look) -> Self {
        let answers = NpuAnswers::ask(cx, look.probes.deadline);
        let mut devices = Self::said(&answers.info, &answers.boards);
        devices.add_nodes(&device_nodes(cx).indices());
        if look.acl {
            probe::all(cx, &look.probes, &mut devices.devices);
        }
        devices.set_aside(&Quarantine::of(cx).standing(SystemTime::now()));
        devices
    }

    /// What is known without asking anybody again: `npu-smi info` was answered so, and the boards of these names are these.
    pub fn known(cx: &Context, npu_smi: &Answer, boards: &[(String, Board)]) -> Self {
        let mut devices = Self::said(npu_smi, boards);
        devices.add_nodes(&device_nodes(cx).indices());
        devices.set_aside(&Quarantine::of(cx).standing(SystemTime::now()));
        devices
    }

    fn said(info: &Answer, boards: &[(String, Board)]) -> Self {
        match info {
            Answer::Said(said) => {
                let mut devices = Self::of(parse_info(&said.text()), boards);
                if devices.devices.is_empty() {
                    let words = devices.telling().map_or(said.last_words(), |failure| failure.text.as_str());
                    devices.unavailable = Some(format!("`npu-smi info` {}: {words}", said.status));
                    devices.npu_smi_failed =
                        !devices.is_without_npu() && (!said.success || !devices.failures.is_empty());
                }
                devices
            }
            Answer::NotFound => {
                unavailable("`npu-smi` is not on `PATH`: no NPU driver, or the shell is not set up".to_owned())
            }
            Answer::NotAsked => unavailable("`npu-smi` was not asked".to_owned()),
            Answer::Broken(why) => Self { npu_smi_failed: true, ..unavailable(why.clone()) },
        }
    }

    /// Reads what `npu-smi info` printed elsewhere.
    pub fn of_text(text: &str) -> Self {
        let mut devices = Self::of(parse_info(text), &[]);
        if devices.devices.is_empty() {
            devices.npu_smi_failed = !devices.failures.is_empty() && !devices.is_without_npu();
            devices.unavailable = Some(match devices.telling() {
                Some(failure) if devices.npu_smi_failed => format!("`npu-smi` failed: {}", failure.text),
                Some(failure) => failure.text.clone(),
                None => "the text holds no table of `npu-smi info` with a device in it".to_owned(),
            });
        }
        devices
    }

    /// The line that says most of why there is no table.
    pub fn telling(&self) -> Option<&Failure> {
        self.failures.iter().find(|failure| !failure.is_by_product()).or(self.failures.first())
    }

    /// Whether the tool, or its absence, says that there is nothing to list.
    fn is_without_npu(&self) -> bool {
        let says_so = |failure: &Failure| matches!(failure.kind, FailureKind::NoCard | FailureKind::NotInstalled);
        self.failures.iter().any(says_so)
    }

    fn of(info: NpuSmiInfo, boards: &[(String, Board)]) -> Self {
        let devices = info.devices.iter().map(|device| Npu::of_table(&info, device, boards)).collect();
        let NpuSmiInfo { driver_version, failures, notes, .. } = info;
        Self { devices, driver_version, failures, notes, ..Self::default() }
    }

    /// Without a table the nodes still say which devices there are.
    fn add_nodes(&mut self, indices: &[u32]) {
        if self.devices.is_empty() {
            self.devices.extend(indices.iter().copied().map(Npu::of_node));
        }
    }

    /// Notes for each device who set it aside.
    pub fn set_aside(&mut self, standing: &Standing) {
        self.devices.iter_mut().for_each(|npu| npu.set_aside(standing));
    }

    /// One device to use: idle, well, not set aside, and of a target before one of none; the least filled first.
    pub fn idle(&self) -> Option<&Npu> {
        let free = self.devices.iter().filter(|npu| npu.idle && npu.index.is_some());
        free.min_by_key(|npu| (npu.target.is_none(), npu.memory_used_mb, npu.index))
    }
}

fn unavailable(why: String) -> Devices {
    Devices { unavailable: Some(why), ..Devices::default() }
}
