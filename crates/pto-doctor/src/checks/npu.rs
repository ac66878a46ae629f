//! Who uses the NPUs, which are set aside, and whether ACL opens one.

use pto_context::Context;
use pto_platform::docker::{Container, Inspection};
use pto_platform::npu_smi::{Activity, Device, NpuSmiInfo};
use pto_quarantine::Record;

use super::{new, quoted_list};
use crate::check::{Check, Source};
use crate::facts::device_nodes;
use crate::finding::Finding;
use crate::probes::Probes;
use pto_devices::acl_probe::{AclAnswer, AclProbe};

pub(super) const CHECKS: &[Check] = &[
    new(
        "npu-idle",
        "free NPUs",
        &[Source::NpuSmi, Source::Containers],
        "Which NPUs nobody uses, and who holds the others. Never give one NPU to two containers.",
        idle,
    ),
    new(
        "quarantine",
        "quarantine",
        &[],
        "Devices that somebody set aside because a kernel hung there or faulted: the next launch may fail for no reason of \
         its own. A record expires, and `cargo xtask devices release` removes it.",
        quarantine,
    ),
    new(
        "device-access",
        "device access",
        &[Source::Acl],
        "Opens the device (`PYPTO_DEVICE`, else 0) through CANN's `libascendcl.so`, in a process of its own and with a \
         deadline, so that a library that hangs or crashes does no harm. It proves that the device can be opened; it does not \
         prove that driver and CANN fit (see `driver-cann-pair`).",
        access,
    ),
];

/// NPUs that more than one container was given: one overlap fails all of them.
pub(super) fn shared(running: &Inspection) -> Vec<String> {
    let shown = |(npu, holders): (u32, Vec<&Container>)| {
        format!("NPU {npu} was given to the containers {}", quoted_list(holders.into_iter().map(container_name)))
    };
    running.shared_npus().into_iter().map(shown).collect()
}

fn container_name(container: &Container) -> &str {
    container.name.as_deref().or(container.id.as_deref()).unwrap_or("?")
}

fn idle(_: &Context, probes: &Probes) -> Finding {
    let Some(table) = probes.npus().filter(|table| !table.devices.is_empty()) else {
        return Finding::skip("no table of NPUs");
    };
    let running = probes.running();
    let name = |device: &Device| device.index.map_or_else(|| format!("NPU {}", device.npu), |index| index.to_string());
    let is_idle = |device: &&Device| table.activity(device) == Activity::Idle;
    let free: Vec<String> = table.devices.iter().filter(is_idle).map(name).collect();
    let held: Vec<String> =
        table.devices.iter().filter(|device| !is_idle(device)).map(|device| held(&table, device, &running)).collect();
    let held = if held.is_empty() { String::new() } else { format!("; {}", held.join("; ")) };
    let shared = shared(&running);
    if !shared.is_empty() {
        return Finding::warn(format!("{}{held}; {}", free.join(", "), shared.join("; ")))
            .remedy("docker stop one of them, and start it with a card of its own");
    }
    if free.is_empty() {
        return Finding::warn(format!("none{held}")).remedy("wait, or ask who runs these processes");
    }
    Finding::ok(format!("{}{held}", free.join(", ")))
}

fn quarantine(cx: &Context, probes: &Probes) -> Finding {
    let (standing, now) = &probes.quarantine;
    let minutes = |record: &Record| record.remaining(*now).as_secs().div_ceil(60);
    let mut lines: Vec<String> = standing
        .records
        .iter()
        .map(|record| format!("davinci{} for {} min more: {}", record.device, minutes(record), record.why))
        .collect();
    lines.extend(
        standing.unread.iter().map(|file| format!("davinci{}: `{}` {}", file.device, file.path.display(), file.why)),
    );
    if let Some(why) = &standing.unlisted {
        return Finding::warn(format!("nobody can tell which devices are set aside: {why}")).remedy(
            "have its owner or root remove it, or name another place in `PTOKIT_QUARANTINE`, the same for all users",
        );
    }
    let devices = standing.records.iter().map(|record| record.device);
    match devices.chain(standing.unread.iter().map(|file| file.device)).next() {
        Some(device) => {
            Finding::warn(lines.join("; ")).remedy(format!("cargo xtask devices release {device}   # once it is well"))
        }
        None if device_nodes(cx).indices().is_empty() => Finding::skip("no device to set aside"),
        None => Finding::ok("no device is set aside"),
    }
}

fn held(table: &NpuSmiInfo, device: &Device, running: &Inspection) -> String {
    let index = device.index.map_or_else(|| format!("NPU {}", device.npu), |index| index.to_string());
    let processes: Vec<String> = table
        .processes_of(device)
        .map(|process| format!("{} ({})", process.pid, process.name.as_deref().unwrap_or("name unknown")))
        .collect();
    let holders = running.containers.iter().filter(|container| {
        container.is_running() && device.index.is_some_and(|index| container.npus().contains(&index))
    });
    let holders = quoted_list(holders.map(container_name));
    let unseen = if holders.is_empty() {
        "no process is listed (another container's?)".to_owned()
    } else {
        format!("no process is listed; the container {holders} has it")
    };
    match table.activity(device) {
        Activity::Processes(_) => format!("{index} held by {}", processes.join(", ")),
        Activity::Utilised(percent) => {
            format!("{index} works at {percent} %, {unseen}")
        }
        Activity::MemoryInUse(usage) => {
            format!("{index} has {} of {} MB in use, {unseen}", usage.used, usage.total)
        }
        Activity::Unknown | Activity::Idle => format!("{index} unknown"),
    }
}

fn access(cx: &Context, probes: &Probes) -> Finding {
    match &probes.acl {
        AclProbe::NotAsked if device_nodes(cx).indices().is_empty() => Finding::skip("no `/dev/davinciN` to open"),
        AclProbe::NotAsked => Finding::skip("ACL is not asked about a file tree"),
        AclProbe::NotRun(why) => Finding::fail(format!("the probe cannot be run: {why}")),
        AclProbe::Died(how, answer) => Finding::fail(format!("{} {how}", step(answer)))
            .remedy("look at the driver's log: dmesg | tail -50; a device that hangs needs its host's administrator"),
        AclProbe::Answered(answer) => answered(answer),
    }
}

fn step(answer: &AclAnswer) -> String {
    match answer.step.as_str() {
        "" => "the probe".to_owned(),
        "load" => "loading libascendcl.so".to_owned(),
        step => format!("{step}({})", answer.device),
    }
}

fn answered(answer: &AclAnswer) -> Finding {
    if let Some(failure) = &answer.error {
        let remedy = match failure.code {
            Some(507_899) => {
                "npu-smi info; docker ps   # another container or process may hold the card; compare ASCEND_RT_VISIBLE_DEVICES"
            }
            _ if answer.step == "load" => "source /usr/local/Ascend/cann/set_env.sh",
            _ => failure.hint.as_deref().unwrap_or("npu-smi info; dmesg | tail -50"),
        };
        return Finding::fail(format!("{} failed: {}", step(answer), failure.message)).remedy(remedy);
    }
    let memory = answer.memory_mb.map_or_else(String::new, |(free, _)| format!(", {free}MB HBM visible"));
    let finding = Finding::ok(format!("aclrtSetDevice({}) ok{memory}", answer.device));
    let no_target = answer.soc.as_deref().map(pto_platform::identify).and_then(|identity| identity.no_target);
    match (no_target, answer.soc.as_deref()) {
        (Some(why), Some(soc)) => {
            Finding::warn(format!("{}; {} is no target: {why}", finding.evidence, quoted_list([soc])))
        }
        _ => finding,
    }
}
