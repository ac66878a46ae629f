//! What a launch ran on, as it stands in every result.

use std::path::PathBuf;

use pto_launch::{LaunchPath, Launched, RanOn, Simulated};
use serde::Serialize;

use super::Launching;

/// What a launch ran on: what was chosen, and what the libraries in its process show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LaunchReport {
    /// The path.
    pub path: LaunchPath,
    /// The device's number for ACL; none on a model and on the host.
    pub device: Option<u32>,
    /// The device's node.
    pub node: Option<String>,
    /// The SoC whose cores were counted.
    pub soc: &'static str,
    /// Silicon, model or host, by what was loaded; none if the process did not come so far.
    pub mode: Option<RanOn>,
    /// The ACL library that was loaded.
    pub acl: Option<PathBuf>,
    /// The library of CANN's model that was loaded.
    pub simulator: Option<PathBuf>,
    /// What the simulator was asked and what it left.
    pub simulation: Option<SimulationReport>,
    /// What is odd about the launch, though its result counts.
    pub warnings: Vec<String>,
}

/// What a simulator was asked and what it left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SimulationReport {
    /// The command.
    pub command: String,
    /// How it ended, which is no verdict.
    pub status: String,
    /// The directory of what it recorded.
    pub output: PathBuf,
    /// The files in there, relative to it.
    pub traces: Vec<PathBuf>,
}

impl LaunchReport {
    pub(in crate::run) fn new(launching: &Launching, launched: &Launched) -> Self {
        let mode = launched.run_mode.as_ref();
        let device = launching.devices.iter().find(|device| device.device == launched.device);
        let ran_on = mode.map(pto_launch::RunMode::ran_on);
        let odd = ran_on.and_then(|ran_on| contradiction(launching.path, ran_on));
        let teardown = launched.simulated.as_ref().and_then(|simulated| simulated.warning.clone());
        Self {
            path: launching.path,
            device: device.map(|device| device.device),
            node: device.and_then(|device| device.node).map(|node| format!("/dev/davinci{node}")),
            soc: launching.soc.name,
            mode: ran_on,
            acl: mode.map(|mode| mode.acl.clone()),
            simulator: mode.and_then(|mode| mode.simulator.clone()),
            simulation: launched.simulated.as_ref().map(SimulationReport::of),
            warnings: odd.into_iter().chain(teardown).collect(),
        }
    }
}

impl SimulationReport {
    fn of(simulated: &Simulated) -> Self {
        let Simulated { command, status, output, traces, .. } = simulated.clone();
        Self { command, status, output, traces }
    }
}

/// Where what was loaded is not what the path promises.
fn contradiction(path: LaunchPath, ran_on: RanOn) -> Option<String> {
    match (path, ran_on) {
        (LaunchPath::Direct, RanOn::Model) => {
            Some("CANN's model was loaded: this did not run on an NPU, though it was launched directly".to_owned())
        }
        (LaunchPath::Direct, RanOn::Host) => {
            Some("the ACL library plays its device on the host: this did not run on an NPU".to_owned())
        }
        (LaunchPath::Cpu, RanOn::Silicon | RanOn::Model) => {
            Some("the ACL library is not the one that plays a device on the host".to_owned())
        }
        (path, RanOn::Silicon | RanOn::Host) if path.is_model() => {
            Some(format!("nothing of CANN's model was loaded: this did not run on it, though `{path}` started it"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_and_what_was_loaded_agree_or_it_is_said() {
        for path in LaunchPath::ALL {
            for ran_on in [RanOn::Silicon, RanOn::Model, RanOn::Host] {
                let expected = match path {
                    LaunchPath::Cpu => RanOn::Host,
                    LaunchPath::Direct => RanOn::Silicon,
                    LaunchPath::Msprof | LaunchPath::Cannsim | LaunchPath::Linked => RanOn::Model,
                };
                assert_eq!(contradiction(path, ran_on).is_none(), ran_on == expected, "{path} on {ran_on}");
            }
        }
    }
}
