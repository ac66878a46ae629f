//! What this machine has to run kernels on.

use pto_context::Context;
use pto_devices::{Npu, ProbeOptions, Seen};
use pto_launch::{Candidate, Host, Worker};

/// What this machine has to run kernels on, asked once.
#[derive(Debug, Clone, Default)]
pub struct HostFacts {
    seen: Seen,
}

impl HostFacts {
    /// Asks ACL, `npu-smi` and `/dev`. `worker` is a program whose `main` calls [`pto_devices::acl_probe::intercept`].
    pub fn ask(cx: &Context, worker: &Worker) -> Self {
        let options = ProbeOptions { worker: Some(worker.program().to_path_buf()), ..ProbeOptions::new(cx) };
        Self { seen: Seen::ask(cx, &options) }
    }

    /// What the choice of a path depends on.
    pub fn host(&self) -> Host {
        let npus = || self.seen.devices.iter().map(|(_, npu)| npu);
        Host {
            npus: npus().filter_map(|npu| npu.target).collect(),
            undecided: npus().find(|npu| npu.target.is_none()).map(name),
            model: self.seen.model.as_ref().map(|library| library.display().to_string()),
        }
    }

    /// What the choice of a device depends on.
    pub fn candidates(&self) -> Vec<Candidate> {
        let candidate = |(device, npu): &(u32, Npu)| Candidate {
            device: *device,
            node: npu.node.as_ref().and(npu.index),
            soc: npu.soc.clone(),
            target: npu.target,
            reserved: reserved(npu),
            forbidden: npu.quarantined,
            memory_used_mb: npu.memory_used_mb,
        };
        self.seen.devices.iter().map(candidate).collect()
    }
}

fn name(npu: &Npu) -> String {
    let known = npu.soc.clone().or_else(|| Some(npu.name.clone()).filter(|name| !name.is_empty()));
    known.or_else(|| npu.node.clone()).unwrap_or_else(|| "unknown".to_owned())
}

/// Why a device is not one to take unasked.
fn reserved(npu: &Npu) -> Option<String> {
    if let Some(aside) = npu.quarantine.first() {
        return Some(format!("is set aside: {}", aside.why));
    }
    if let Some(error) = npu.probed.as_ref().and_then(|probed| probed.error.as_ref()) {
        return Some(format!("cannot be opened: {error}"));
    }
    if npu.idle {
        return None;
    }
    let holders: Vec<String> = npu.processes.iter().map(|holder| holder.pid.to_string()).collect();
    Some(match holders.as_slice() {
        [] => format!("is not idle (health {})", npu.health),
        pids => format!("is used by process {}", pids.join(", ")),
    })
}
