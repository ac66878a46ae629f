//! One NPU.

use pto_platform::npu_smi::{Activity, Board, Device, Health, NpuSmiInfo};
use pto_platform::{ChipIdentity, Generation, Target};
use pto_quarantine::{Record, Standing, Unread};
use serde::Serialize;

use crate::probe::Probed;

/// One NPU (on A3: one die).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Npu {
    /// The N of `/dev/davinciN`; `None` when the table does not tell.
    pub index: Option<u32>,
    /// `/dev/davinciN`.
    pub node: Option<String>,
    /// The card, for `npu-smi -i`; `None` where there is no table.
    pub npu: Option<u32>,
    /// The chip on the card, for `npu-smi -c`.
    pub chip: Option<u32>,
    /// The name in the table; empty where there is none.
    pub name: String,
    /// The SoC by the name ACL reports, if it is known.
    pub soc: Option<String>,
    /// Who said which SoC it is: the most trustworthy of those who were asked.
    pub soc_from: Option<SocSource>,
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
    /// What ACL said, if it was asked.
    pub probed: Option<Probed>,
    /// Whether somebody set it aside.
    pub quarantined: bool,
    /// Who did, and why.
    pub quarantine: Vec<SetAside>,
    /// Whether it is free, well, and not set aside.
    pub idle: bool,
}

/// Where the name of a SoC comes from, the most trustworthy first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SocSource {
    /// ACL, which opened the device.
    Acl,
    /// `npu-smi info -t board`.
    Board,
    /// The table of `npu-smi info`.
    Table,
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

/// That somebody set a device aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SetAside {
    /// Why.
    pub why: String,
    /// The process that noticed.
    pub pid: Option<u32>,
    /// Its user.
    pub uid: Option<u32>,
    /// When, in seconds since 1970 UTC.
    pub since: Option<u64>,
    /// Until when, in seconds since 1970 UTC.
    pub until: Option<u64>,
}

impl SetAside {
    pub(crate) fn of(record: &Record) -> Self {
        let Record { why, pid, uid, since, until, .. } = record;
        Self { why: why.clone(), pid: Some(*pid), uid: Some(*uid), since: Some(*since), until: Some(*until) }
    }

    /// A record that cannot be read says nothing, and its device is not trusted.
    pub(crate) fn of_unread(file: &Unread) -> Self {
        let why = format!("`{}` {}", file.path.display(), file.why);
        Self { why, pid: None, uid: None, since: None, until: None }
    }
}

impl Npu {
    pub(crate) fn of_table(info: &NpuSmiInfo, device: &Device, boards: &[(String, Board)]) -> Self {
        let of_board = boards.iter().find(|(name, _)| *name == device.name).and_then(|(_, board)| board.identity());
        let source = if of_board.is_some() { SocSource::Board } else { SocSource::Table };
        let identity = of_board.unwrap_or_else(|| device.identity());
        let activity = info.activity(device);
        let memory = device.main_memory();
        let holders = info.processes_of(device).map(|process| Holder {
            pid: process.pid,
            name: process.name.clone(),
            memory_mb: process.memory_mb,
        });
        let mut npu = Self {
            npu: Some(device.npu),
            chip: device.chip,
            name: device.name.clone(),
            health: device.health.as_str().to_owned(),
            memory_used_mb: memory.map(|usage| usage.used),
            memory_total_mb: memory.map(|usage| usage.total),
            utilisation: device.utilisation,
            processes: holders.collect(),
            activity,
            idle: activity == Activity::Idle && device.health.is_ok(),
            ..Self::unknown(device.index)
        };
        npu.identified(&identity, source);
        npu
    }

    /// A device of which nothing is known but its node.
    pub(crate) fn of_node(index: u32) -> Self {
        Self::unknown(Some(index))
    }

    fn unknown(index: Option<u32>) -> Self {
        Self {
            index,
            node: index.map(|index| format!("/dev/davinci{index}")),
            npu: None,
            chip: None,
            name: String::new(),
            soc: None,
            soc_from: None,
            generation: None,
            target: None,
            no_target: None,
            health: Health::Unknown.as_str().to_owned(),
            memory_used_mb: None,
            memory_total_mb: None,
            utilisation: None,
            processes: Vec::new(),
            activity: Activity::Unknown,
            probed: None,
            quarantined: false,
            quarantine: Vec::new(),
            idle: false,
        }
    }

    /// Notes who set it aside.
    pub(crate) fn set_aside(&mut self, standing: &Standing) {
        let Some(index) = self.index else { return };
        self.quarantine = standing.of(index).map(SetAside::of).collect();
        let unread = standing.unread.iter().filter(|file| file.device == index).map(SetAside::of_unread);
        self.quarantine.extend(unread);
        self.quarantined = !self.quarantine.is_empty();
        self.idle = self.idle && !self.quarantined;
    }

    /// Takes over what a name says of the chip.
    pub(crate) fn identified(&mut self, identity: &ChipIdentity, source: SocSource) {
        self.soc = identity.soc.map(str::to_owned);
        self.soc_from = identity.soc.map(|_| source);
        self.generation = identity.generation;
        self.target = identity.target;
        self.no_target = identity.no_target.as_ref().map(ToString::to_string);
    }
}
