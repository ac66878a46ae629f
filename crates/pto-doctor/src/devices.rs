//! The NPUs of a machine, one by one: which node, which chip, which target, how it feels and who uses it.

use pto_context::Context;
use pto_platform::npu_smi::{Activity, Board, Device, Failure, Health, NpuSmiInfo, parse_info};
use pto_platform::{Generation, Note, Target};
use serde::Serialize;

use crate::ask::Answer;
use crate::probes::{NpuAnswers, ProbeOptions};

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
}

/// One NPU (on A3: one die).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Npu {
    /// The N of `/dev/davinciN`; `None` when the table does not tell.
    pub index: Option<u32>,
    /// `/dev/davinciN`.
    pub node: Option<String>,
    /// The card, for `npu-smi -i`.
    pub npu: u32,
    /// The chip on the card, for `npu-smi -c`.
    pub chip: Option<u32>,
    /// The name in the table.
    pub name: String,
    /// The SoC by the name ACL reports, if it is known.
    pub soc: Option<String>,
    /// The generation.
    pub generation: Option<Generation>,
    /// The target whose kernels run there.
    pub target: Option<Target>,
    /// Why there is no target.
    pub no_target: Option<String>,
    /// The tool's own word.
    pub health: String,
    /// Memory in use and in all, in MB: HBM, or the DDR where there is none.
    pub memory_used_mb: Option<u64>,
    /// See `memory_used_mb`.
    pub memory_total_mb: Option<u64>,
    /// Utilisation in percent.
    pub utilisation: Option<u32>,
    /// Who holds it.
    pub processes: Vec<Holder>,
    /// Whether somebody works with it, as far as the table shows.
    pub activity: Activity,
    /// Whether it is free and well.
    pub idle: bool,
}

/// A process that holds an NPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Holder {
    /// On the host.
    pub pid: u32,
    /// Its name, if the table has it.
    pub name: Option<String>,
    /// Memory of the NPU, in MB.
    pub memory_mb: Option<u64>,
}

impl Devices {
    /// Asks `npu-smi`.
    pub fn ask(cx: &Context, options: &ProbeOptions) -> Self {
        let answers = NpuAnswers::ask(cx, options.deadline);
        match &answers.info {
            Answer::Said(said) => {
                let mut devices = Self::of(parse_info(&said.text()), &answers.boards);
                if devices.devices.is_empty() {
                    devices.unavailable = Some(format!("`npu-smi info` {}: {}", said.status, said.last_words()));
                }
                devices
            }
            Answer::NotFound => {
                unavailable("`npu-smi` is not on `PATH`: no NPU driver, or the shell is not set up".to_owned())
            }
            Answer::NotAsked => unavailable("`npu-smi` was not asked".to_owned()),
            Answer::Broken(why) => unavailable(why.clone()),
        }
    }

    /// Reads what `npu-smi info` printed elsewhere.
    pub fn of_text(text: &str) -> Self {
        let mut devices = Self::of(parse_info(text), &[]);
        if devices.devices.is_empty() {
            devices.unavailable = Some("the text holds no table of `npu-smi info` with a device in it".to_owned());
        }
        devices
    }

    fn of(info: NpuSmiInfo, boards: &[(String, Board)]) -> Self {
        let devices = info.devices.iter().map(|device| npu(&info, device, boards)).collect();
        let NpuSmiInfo { driver_version, failures, notes, .. } = info;
        Self { devices, driver_version, failures, notes, unavailable: None }
    }

    /// One device to use: idle, well, and of a target before one of none; the least filled first.
    pub fn idle(&self) -> Option<&Npu> {
        let free = self.devices.iter().filter(|npu| npu.idle && npu.index.is_some());
        free.min_by_key(|npu| (npu.target.is_none(), npu.memory_used_mb, npu.index))
    }
}

fn unavailable(why: String) -> Devices {
    Devices { unavailable: Some(why), ..Devices::default() }
}

fn npu(info: &NpuSmiInfo, device: &Device, boards: &[(String, Board)]) -> Npu {
    let of_table = device.identity();
    let of_board = boards.iter().find(|(name, _)| *name == device.name).and_then(|(_, board)| board.identity());
    let identity = of_board.unwrap_or(of_table);
    let activity = info.activity(device);
    let memory = device.main_memory();
    let holders = info.processes_of(device).map(|process| Holder {
        pid: process.pid,
        name: process.name.clone(),
        memory_mb: process.memory_mb,
    });
    Npu {
        index: device.index,
        node: device.node(),
        npu: device.npu,
        chip: device.chip,
        name: device.name.clone(),
        soc: identity.soc.map(str::to_owned),
        generation: identity.generation,
        target: identity.target,
        no_target: identity.no_target.map(|why| why.to_string()),
        health: device.health.as_str().to_owned(),
        memory_used_mb: memory.map(|usage| usage.used),
        memory_total_mb: memory.map(|usage| usage.total),
        utilisation: device.utilisation,
        processes: holders.collect(),
        activity,
        idle: activity == Activity::Idle && device.health == Health::Ok,
    }
}
