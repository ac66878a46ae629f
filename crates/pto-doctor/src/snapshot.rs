//! What was found on a machine, kept for a comparison.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use pto_context::{Context, Readable, write_whole};
use pto_platform::docker::mask_proxy;
use serde::{Deserialize, Serialize};

use crate::error::DoctorError;
use crate::facts::{self, DriverFile};
use crate::files;
use crate::probes::Probes;
use crate::python::{ModuleOrigin, facts as python_facts};
use crate::report::{CheckReport, Report};

/// Names the form of the file.
const SCHEMA: &str = "ptokit.doctor-snapshot/1";

/// Variables worth comparing: none of them holds secrets by purpose, and what looks like one is masked all the same.
const VARIABLES: [&str; 11] = [
    "CC",
    "CPATH",
    "CXX",
    "LANG",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "PATH",
    "PYTHONPATH",
    "SOC_VERSION",
    "VIRTUAL_ENV",
];
const PREFIXES: [&str; 3] = ["ASCEND", "PTO", "PYPTO"];

/// A machine on a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    schema: String,
    /// Every check.
    pub checks: Vec<CheckReport>,
    /// Single facts by name, secrets masked.
    pub facts: BTreeMap<String, String>,
}

impl Snapshot {
    /// Of an examination.
    pub fn of(report: &Report) -> Self {
        Self { schema: SCHEMA.to_owned(), checks: report.checks.clone(), facts: report.facts.clone() }
    }

    /// Reads one.
    ///
    /// # Errors
    /// The file cannot be read, or is no snapshot of this form.
    pub fn read(path: &Path) -> Result<Self, DoctorError> {
        let text = fs_err::read_to_string(path).map_err(DoctorError::Read)?;
        let snapshot: Self = serde_json::from_str(&text)
            .map_err(|source| DoctorError::NotASnapshot { path: path.to_owned(), source })?;
        if snapshot.schema != SCHEMA {
            return Err(DoctorError::OtherSchema { path: path.to_owned(), found: snapshot.schema, expected: SCHEMA });
        }
        Ok(snapshot)
    }

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// The directory is missing or not writable.
    pub fn write(&self, path: &Path) -> Result<(), DoctorError> {
        let fill = |file: &mut std::fs::File| {
            let mut file = BufWriter::new(file);
            serde_json::to_writer_pretty(&mut file, self)?;
            file.write_all(b"\n")?;
            file.flush()
        };
        write_whole(path, Readable::ByOwner, fill).map_err(DoctorError::Write)
    }
}

/// Facts by name. The part before the first dot groups them for the order of a comparison.
pub(crate) fn facts(cx: &Context, probes: &Probes) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    host(cx, probes, &mut facts);
    npu(cx, probes, &mut facts);
    tools(cx, probes, &mut facts);
    for (name, value) in cx.vars() {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        if VARIABLES.contains(&name.as_ref()) || PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
            facts.insert(format!("variable.{name}"), value.into_owned());
        } else if name.to_ascii_lowercase().ends_with("_proxy") {
            facts.insert(format!("variable.{name}"), mask_proxy(&value));
        }
    }
    facts
}

type Facts = BTreeMap<String, String>;

fn put(facts: &mut Facts, name: &str, value: Option<impl ToString>) {
    if let Some(value) = value {
        facts.insert(name.to_owned(), value.to_string());
    }
}

fn host(cx: &Context, probes: &Probes, facts: &mut Facts) {
    put(facts, "host.machine", facts::machine(cx));
    put(facts, "host.kernel", files::read(cx, "/proc/sys/kernel/osrelease").text().map(|text| text.trim().to_owned()));
    put(facts, "host.system", files::read(cx, "/etc/os-release").text().as_deref().and_then(pretty_name));
    put(facts, "host.glibc", probes.glibc.known());
    put(facts, "host.glibcxx", probes.glibcxx.known());
    put(facts, "host.container", facts::container(cx));
}

fn pretty_name(os_release: &str) -> Option<String> {
    let value = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches('"').to_owned())
}

fn npu(cx: &Context, probes: &Probes, facts: &mut Facts) {
    if let DriverFile::Read(_, info) = facts::driver_file(cx) {
        put(facts, "driver.version", info.version);
        put(facts, "driver.hal", info.hal_version);
    }
    let nodes: Vec<String> = facts::device_nodes(cx).0.into_iter().map(|node| node.name).collect();
    put(facts, "npu.nodes", (!nodes.is_empty()).then(|| nodes.join(", ")));
    if let Some(table) = probes.npus() {
        put(facts, "npu.tool", table.tool_version);
        put(facts, "driver.by-npu-smi", table.driver_version);
        for device in &table.devices {
            let name = format!("npu.{}.{}", device.npu, device.chip.unwrap_or(0));
            facts.insert(name, format!("{} {}", device.name, device.health.as_str()));
        }
    }
    if let Some(answer) = probes.acl.success() {
        put(facts, "acl.soc", answer.soc.clone());
        put(facts, "acl.library", answer.library.as_ref().map(|path| path.display().to_string()));
        put(facts, "npu.memory-mb", answer.memory_mb.map(|(_, total)| total));
    }
}

fn tools(cx: &Context, probes: &Probes, facts: &mut Facts) {
    let installs = facts::cann_installs(cx);
    put(facts, "cann.root", installs.first().map(|install| install.root.display().to_string()));
    put(
        facts,
        "cann.release",
        installs.first().and_then(|install| install.release.as_ref()).map(|release| release.version.clone()),
    );
    let all: Vec<String> = installs.iter().map(|install| install.root.display().to_string()).collect();
    put(facts, "cann.all", (!all.is_empty()).then(|| all.join(", ")));
    put(
        facts,
        "compiler.cpu",
        probes.compilers.as_ref().and_then(|survey| survey.found.as_ref()).map(|compiler| compiler.describe()),
    );
    put(facts, "ptoas.version", probes.ptoas.said().map(|said| said.text().trim().to_owned()));
    put(facts, "pins.ptoas", facts::pins(cx).and_then(|(_, pins)| pins.ptoas));
    put(facts, "pins.runtime", probes.runtime.head.stdout().map(str::trim));
    if let Some(python) = probes.python.said().and_then(|said| python_facts(&said.stdout)) {
        put(facts, "python.version", Some(python.version));
        put(facts, "python.executable", Some(python.executable));
        for (name, origin) in python.modules {
            if let Some(ModuleOrigin::Found { origin: Some(origin), .. }) = origin {
                facts.insert(format!("python.module.{name}"), origin);
            }
        }
    }
    if let Some(stdout) = probes.docker.stdout() {
        let info = pto_platform::docker::parse_docker_info(stdout);
        put(facts, "docker.version", info.server_version);
        put(facts, "docker.runtimes", Some(info.runtimes.join(", ")));
    }
}
