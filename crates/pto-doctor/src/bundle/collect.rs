//! What a report about a machine should carry: what the procedures of PyPTO's container ask for, and what `doctor diff`
//! needs to compare it with another.

use pto_context::Context;
use pto_platform::docker::{Container, parse_docker_info};
use serde::Serialize;
use serde_json::Value;

use super::{Missing, Part};
use crate::facts::{cann_installs, cann_version_files, driver_root, pypto_home, pypto_src};
use crate::files::{self, Reading};
use crate::probes::Probes;
use crate::report::Report;
use crate::snapshot::Snapshot;
use pto_devices::Devices;

/// Every part but the logs.
pub(super) fn parts(cx: &Context, probes: &Probes, report: &Report, missing: &mut Vec<Missing>) -> Vec<Part> {
    let mut parts = vec![
        json("doctor.json", "every check with its evidence and remedy", report),
        json("snapshot.json", "for `doctor diff`", &Snapshot::of(report)),
    ];
    npu(cx, probes, &mut parts, missing);
    docker(probes, &mut parts, missing);
    version_files(cx, &mut parts, missing);
    parts
}

fn npu(cx: &Context, probes: &Probes, parts: &mut Vec<Part>, missing: &mut Vec<Missing>) {
    match probes.npu_smi.said() {
        Some(said) => parts.push(Part::text("npu-smi-info.txt", "`npu-smi info`", said.text())),
        None => missing
            .push(Missing::new("`npu-smi info`", "the program is not here or gave no answer; run it on the host")),
    }
    parts.push(json("devices.json", "the NPUs, one by one", &Devices::known(cx, &probes.npu_smi, &probes.boards)));
}

fn docker(probes: &Probes, parts: &mut Vec<Part>, missing: &mut Vec<Missing>) {
    if let Some(stdout) = probes.docker.stdout() {
        parts.push(json("docker-info.json", "what is needed of `docker info`", &parse_docker_info(stdout)));
    }
    let running = probes.running().containers;
    let with_npus: Vec<&Container> = running.iter().filter(|container| !container.npus().is_empty()).collect();
    if with_npus.is_empty() {
        return missing.push(Missing::new("the exact `docker run` command", "give it: `--note 'docker run ...'`"));
    }
    let commands: Vec<String> = with_npus.iter().map(|container| container.run_command()).collect();
    let what = "containers with NPUs, as commands that would start them; entry points are left out";
    parts.push(Part::text("docker-run.txt", what, commands.join("\n") + "\n"));
}

fn version_files(cx: &Context, parts: &mut Vec<Part>, missing: &mut Vec<Missing>) {
    let driver = driver_root(cx);
    let firmware = driver.parent().map(|ascend| ascend.join("firmware/version.info"));
    let mut wanted = vec![
        ("driver/version.info".to_owned(), driver.join("version.info"), true),
        ("etc/ascend_install.info".to_owned(), "/etc/ascend_install.info".into(), false),
        ("pypto/dist-manifest".to_owned(), pypto_home(cx).join("dist-manifest"), false),
        ("pypto/dist-state.json".to_owned(), pypto_home(cx).join("dist-state.json"), false),
    ];
    wanted.extend(firmware.map(|file| ("firmware/version.info".to_owned(), file, false)));
    for (number, install) in cann_installs(cx).into_iter().enumerate() {
        for name in cann_version_files() {
            wanted.push((format!("cann/{number}/{}", name.display()), install.root.join(name), false));
        }
    }
    if let Some(src) = pypto_src(cx) {
        for name in ["toolchain/versions.env", "runtime/pto_isa.pin"] {
            wanted.push((format!("pypto/{name}"), src.join(name), false));
        }
    }
    for (name, file, expected) in wanted {
        match files::read(cx, &file) {
            Reading::Text(text) => parts.push(Part::text(&name, &format!("`{}`", file.display()), text)),
            Reading::Absent if expected => {
                missing.push(Missing::new(&format!("`{}`", file.display()), "not here; copy it from the host"));
            }
            Reading::Absent => {}
            Reading::Unreadable(why) => missing.push(Missing::new(&name, &why)),
        }
    }
}

pub(super) fn json(path: &str, what: &str, value: &impl Serialize) -> Part {
    // Our own values: nothing in them can fail to become JSON.
    let value = serde_json::to_value(value).unwrap_or(Value::Null);
    Part::document(path, what, value)
}
