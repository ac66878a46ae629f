//! What ACL says of each device, and which source is trusted.
//!
//! ACL over `npu-smi`: on some 950 systems `npu-smi` fails while ACL works. What CANN's platform file says of the SoC that
//! ACL names goes with it, so a kernel sees the same.

use std::path::PathBuf;
use std::thread;

use pto_compile::cann;
use pto_context::{Context, files};
use pto_platform::Machine;
use pto_platform::files::{PlatformIni, parse_platform_ini};
use pto_platform::npu_smi::{Activity, IDLE_MEMORY_SHARE};
use serde::Serialize;

use crate::acl_probe::{self, AclAnswer, AclProbe, Choice};
use crate::nodes::device_nodes;
use crate::npu::{Npu, SocSource};
use crate::options::ProbeOptions;

/// What ACL said of a device.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Probed {
    /// Whether it could be opened.
    pub opened: bool,
    /// Why not.
    pub error: Option<String>,
    /// The SoC's name.
    pub soc: Option<String>,
    /// Free memory in MB.
    pub memory_free_mb: Option<u64>,
    /// All memory in MB.
    pub memory_total_mb: Option<u64>,
    /// The library of CANN's model that answered, when it did: then this is no device.
    pub model: Option<PathBuf>,
    /// What CANN's platform file says of this SoC.
    pub platform: Option<PlatformFile>,
    /// Where `npu-smi` says something else; ACL is believed.
    pub disagreements: Vec<String>,
}

/// What CANN's platform file says of a SoC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlatformFile {
    /// The file.
    pub file: PathBuf,
    /// `Short_SoC_version`: the family.
    pub family: Option<String>,
    /// `NpuArch`: 2201 for A2 and A3, 3510 for A5.
    pub arch: Option<u64>,
    /// Cores of each kind.
    pub cube_cores: Option<u64>,
    /// See `cube_cores`.
    pub vector_cores: Option<u64>,
}

/// Opens every device that has a node. Chips side by side, the two dies of a chip one after the other: they share a
/// directory on the device that bringing both up at once has damaged.
pub(crate) fn all(cx: &Context, options: &ProbeOptions, devices: &mut [Npu]) {
    let Some(worker) = &options.worker else { return };
    let nodes = device_nodes(cx).indices();
    // ACL counts the devices that this process has from 0, whatever their nodes are called.
    let choice = |npu: &Npu| {
        let place = nodes.iter().position(|node| Some(*node) == npu.index)?;
        Some(Choice { device: u32::try_from(place).ok()?, among_all: true })
    };
    let deadline = options.acl_deadline();
    let ask = |npu: &mut Npu| {
        let probe = choice(npu).map(|choice| acl_probe::run(cx, worker, choice, deadline));
        take_over(cx, npu, probe.unwrap_or_else(|| AclProbe::NotRun("there is no node of it in `/dev`".to_owned())));
    };
    thread::scope(|scope| {
        for chip in devices.chunk_by_mut(|a, b| die_pair(a).is_some() && die_pair(a) == die_pair(b)) {
            scope.spawn(|| chip.iter_mut().for_each(ask));
        }
    });
}

fn die_pair(npu: &Npu) -> Option<u32> {
    npu.index.map(|index| index / 2)
}

pub(crate) fn take_over(cx: &Context, npu: &mut Npu, probe: AclProbe) {
    let probed = match probe {
        AclProbe::Answered(answer) => answered(cx, npu, answer),
        AclProbe::Died(how, answer) => {
            let step = if answer.step.is_empty() { "the probe" } else { &answer.step };
            Probed { error: Some(format!("{step} {how}")), soc: answer.soc, ..Probed::default() }
        }
        AclProbe::NotRun(why) => Probed { error: Some(why), ..Probed::default() },
        AclProbe::NotAsked => return,
    };
    // Who hands out this device would hand out an error.
    npu.idle = npu.idle && probed.opened;
    npu.probed = Some(probed);
}

fn answered(cx: &Context, npu: &mut Npu, answer: AclAnswer) -> Probed {
    let mut probed = Probed { opened: answer.error.is_none(), soc: answer.soc, ..Probed::default() };
    probed.model = answer.run_mode.and_then(|mode| mode.simulator);
    probed.error = answer.error.map(|error| format!("{}: {}", answer.step, error.message));
    if let Some((free, total)) = answer.memory_mb {
        (probed.memory_free_mb, probed.memory_total_mb) = (Some(free), Some(total));
    }
    if let Some(soc) = probed.soc.clone() {
        if let Some(other) = npu.soc.as_ref().filter(|other| **other != soc) {
            probed.disagreements.push(format!("`npu-smi` says `{other}`, ACL says `{soc}`"));
        }
        npu.identified(&pto_platform::identify(&soc), SocSource::Acl);
        npu.soc.get_or_insert_with(|| soc.clone());
        npu.soc_from = Some(SocSource::Acl);
        probed.platform = platform_file(cx, &soc);
    }
    if npu.npu.is_none() && probed.opened {
        without_table(npu, &probed);
    }
    probed
}

/// Where `npu-smi` has no table, ACL tells the memory; a device with little of it in use counts as idle.
fn without_table(npu: &mut Npu, probed: &Probed) {
    let (Some(free), Some(total)) = (probed.memory_free_mb, probed.memory_total_mb) else { return };
    let used = total.saturating_sub(free);
    (npu.memory_used_mb, npu.memory_total_mb) = (Some(used), Some(total));
    if total > 0 && used as f64 / total as f64 <= IDLE_MEMORY_SHARE {
        npu.activity = Activity::Idle;
        npu.idle = true;
    }
}

/// `<cann>/<machine>-linux/data/platform_config/<SoC>.ini` of the CANN in use.
fn platform_file(cx: &Context, soc: &str) -> Option<PlatformFile> {
    // The name comes from a library, and becomes part of a path.
    if !soc.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)) {
        return None;
    }
    let root = cann::find_root(cx, None).ok()?.path;
    let dirs =
        Machine::ALL.iter().flat_map(|machine| machine.cann_dirs()).map(|dir| root.join(dir)).chain([root.clone()]);
    dirs.map(|dir| dir.join("data/platform_config").join(format!("{soc}.ini"))).find_map(|file| {
        let ini: PlatformIni = parse_platform_ini(&files::read(cx, &file).text()?);
        Some(PlatformFile {
            family: ini.short_soc_version().map(str::to_owned),
            arch: ini.npu_arch(),
            cube_cores: ini.cube_cores(),
            vector_cores: ini.vector_cores(),
            file,
        })
    })
}
