//! The NPUs, as `npu-smi` sees them.

use pto_context::Context;
use pto_platform::npu_smi::{Device, Failure, FailureKind, Health, NpuSmiInfo};

use super::new;
use super::npu::shared;
use crate::check::{Check, Source};
use crate::facts::{self, device_nodes};
use crate::finding::Finding;
use crate::probes::Probes;
use pto_devices::Answer;

pub(super) const CHECKS: &[Check] = &[new(
    "npu-smi",
    "npu-smi",
    &[Source::NpuSmi, Source::Acl, Source::Containers],
    "What `npu-smi info` says: which NPUs there are and how they feel. In a container that has only some of the host's \
         cards it fails with `-9005` or `DrvMngGetConsoleLogLevel`, because it counts every board: that is no fault when ACL \
         can open a device. `-8020` says that the device is used, and often means that another container was given the same \
         card, or that mounts are missing.",
    npu_smi,
)];

fn npu_smi(cx: &Context, probes: &Probes) -> Finding {
    let has_nodes = !device_nodes(cx).indices().is_empty();
    let said = match &probes.npu_smi {
        Answer::NotAsked => return Finding::skip("not asked"),
        Answer::NotFound if has_nodes => {
            return Finding::warn("not found, although there are device nodes")
                .remedy("export PATH=\"$PATH:/usr/local/sbin:/usr/local/Ascend/driver/tools\"");
        }
        Answer::NotFound => return Finding::skip("not installed; only a machine with an NPU has it"),
        Answer::Broken(why) => {
            return Finding::fail(why.clone()).remedy("dmesg | tail -50   # the driver may be stuck");
        }
        Answer::Said(said) => said,
    };
    let table = pto_platform::npu_smi::parse_info(&said.text());
    if table.devices.is_empty() {
        return failed(cx, probes, &table, said.last_words());
    }
    let finding = health(&table);
    if probes.npu_smi_needs_path {
        return Finding::warn(format!("installed, but this shell is not set up for it: {}", finding.evidence))
            .remedy(setup(cx));
    }
    finding
}

/// The line that a shell lacks. Without an empty element at the end where nothing was set: that is the working directory.
fn setup(cx: &Context) -> String {
    format!("export LD_LIBRARY_PATH=\"{}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}\"", facts::driver_library_path(cx))
}

fn health(table: &NpuSmiInfo) -> Finding {
    let shown = |device: &Device| {
        let index = device.index.map_or_else(|| format!("NPU {}", device.npu), |index| format!("davinci{index}"));
        format!("{index} {} {}", device.name, device.health.as_str())
    };
    let sick: Vec<&Device> =
        table.devices.iter().filter(|device| !matches!(device.health, Health::Ok | Health::Unknown)).collect();
    let list = |devices: &[&Device]| devices.iter().map(|device| shown(device)).collect::<Vec<_>>().join(", ");
    if sick.is_empty() {
        return Finding::ok(list(&table.devices.iter().collect::<Vec<_>>()));
    }
    let evidence = format!("{} of {} NPUs are not well: {}", sick.len(), table.devices.len(), list(&sick));
    let remedy = format!("npu-smi info -t health {}", sick[0].query_options().join(" "));
    let all = sick.len() == table.devices.len();
    if all { Finding::fail(evidence).remedy(remedy) } else { Finding::warn(evidence).remedy(remedy) }
}

/// No device in the answer: the failure line that says most decides.
fn failed(cx: &Context, probes: &Probes, table: &NpuSmiInfo, last_words: &str) -> Finding {
    let telling = table.failures.iter().find(|failure| !failure.is_by_product()).or(table.failures.first());
    let Some(failure) = telling else {
        return Finding::warn(format!("no device in its answer; it ended with `{last_words}`"));
    };
    let is_container = facts::container(cx).is_some();
    let expected = facts::has_ascend_runtime(cx) || is_container && probes.acl.success().is_some();
    match failure.kind {
        FailureKind::NoCard if device_nodes(cx).indices().is_empty() => Finding::skip(failure.text.clone()),
        FailureKind::Code(-9005) | FailureKind::ConsoleLogLevel if expected => {
            Finding::warn(format!("{} — expected under --runtime=ascend", failure.text))
        }
        FailureKind::Code(-8020) => occupied(is_container, failure, probes),
        FailureKind::MissingLibrary(ref library) => Finding::fail(format!(
            "installed, but `{library}` is not found: the shell is not set up, or the driver is not mounted"
        ))
        .remedy(setup(cx)),
        _ => {
            let meaning = failure.code().map_or_else(String::new, |code| format!(" ({})", code.meaning));
            let remedy = if is_container {
                "npu-smi info   # on the host, outside of any container"
            } else {
                "lsmod | grep -E 'drv_|ascend'; dmesg | tail -50   # is the driver loaded?"
            };
            Finding::fail(format!("{}{meaning}", failure.text)).remedy(remedy)
        }
    }
}

/// Candidates in the order in which they are cheap to rule out. A reset is none of them: it takes the host's other users down.
fn occupied(is_container: bool, failure: &Failure, probes: &Probes) -> Finding {
    let candidates = "another container was given the same card; mounts of the driver are missing (`/usr/local/dcmi`, \
                      `/etc/ascend_install.info`); a process holds it";
    let remedy = if is_container {
        "on the host: docker ps -q | xargs docker inspect --format '{{.Name}} {{.HostConfig.Devices}} {{.Config.Env}}'; \
         sudo fuser -v /dev/davinci*"
    } else {
        "sudo fuser -v /dev/davinci*"
    };
    let shared = shared(&probes.running());
    let why = if shared.is_empty() { format!("candidates: {candidates}") } else { shared.join("; ") };
    let evidence = format!("{} (resource occupied); {why}", failure.text);
    let remedy =
        if shared.is_empty() { remedy } else { "docker stop one of them, and start it with a card of its own" };
    let opened = probes.acl.success().is_some();
    if opened { Finding::warn(evidence).remedy(remedy) } else { Finding::fail(evidence).remedy(remedy) }
}
