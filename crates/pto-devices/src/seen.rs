//! The devices that a process started here would see, by the numbers by which it would see them.
//!
//! Tools, quarantine and people count nodes: the N of `/dev/davinciN`. A process counts from 0, among the nodes that its
//! container has and then among those that `ASCEND_RT_VISIBLE_DEVICES` selects of these.

use std::path::PathBuf;
use std::time::SystemTime;

use pto_compile::cann;
use pto_context::Context;
use pto_quarantine::Quarantine;

use crate::acl_probe::{self, Choice};
use crate::devices::{Devices, Look};
use crate::nodes::device_nodes;
use crate::npu::Npu;
use crate::options::ProbeOptions;
use crate::probe;

const VISIBLE: &str = "ASCEND_RT_VISIBLE_DEVICES";

/// What a process would see.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seen {
    /// The devices, each with its number for ACL.
    pub devices: Vec<(u32, Npu)>,
    /// ACL answers here out of CANN's model: this library of it was loaded.
    pub model: Option<PathBuf>,
    /// Why there is no device, when there is none.
    pub unavailable: Option<String>,
}

impl Seen {
    /// Asks everybody, ACL included where there is a worker to ask it. ACL is believed: on hosts where `npu-smi` fails, and
    /// in containers that show neither it nor nodes, it still opens devices.
    pub fn ask(cx: &Context, options: &ProbeOptions) -> Self {
        let all = Devices::ask(cx, &Look { probes: options.clone(), acl: true });
        let mut seen = Self { unavailable: all.unavailable.clone(), ..Self::default() };
        let nodes = device_nodes(cx).indices();
        let visible = visible(cx.var(VISIBLE).as_deref(), nodes.len());
        for npu in all.devices {
            let place = nodes.iter().position(|node| Some(*node) == npu.index);
            let device = place.and_then(|place| visible.iter().position(|at| *at == place));
            seen.devices.extend(device.and_then(|device| Some((u32::try_from(device).ok()?, npu))));
        }
        if nodes.is_empty() {
            seen.devices = without_nodes(cx, options);
        }
        seen.devices.sort_by_key(|(device, _)| *device);
        let model = |(_, npu): &(u32, Npu)| npu.probed.as_ref()?.model.clone();
        seen.model = seen.devices.iter().find_map(model);
        seen
    }
}

/// The places, in order, of the nodes that a process sees. A value that ACL would not understand either selects nothing.
fn visible(selection: Option<&str>, nodes: usize) -> Vec<usize> {
    let Some(selection) = selection else { return (0..nodes).collect() };
    let places: Option<Vec<usize>> = selection.split(',').map(|place| place.trim().parse().ok()).collect();
    places.unwrap_or_default()
}

/// What ACL opens where there is no node. Nothing is asked where there is no CANN to ask.
fn without_nodes(cx: &Context, options: &ProbeOptions) -> Vec<(u32, Npu)> {
    let Some(worker) = options.worker.as_ref().filter(|_| cann::find_root(cx, None).is_ok()) else { return Vec::new() };
    let ask = |device| acl_probe::run(cx, worker, Choice { device, among_all: false }, options.acl_deadline());
    let first = ask(0);
    let count = first.success().and_then(|answer| answer.devices).unwrap_or(0);
    let answers = std::iter::once(first).chain((1..count).map(ask));
    let opened = (0..).zip(answers).filter(|(_, answer)| answer.success().is_some());
    let mut devices: Vec<(u32, Npu)> = opened
        .map(|(device, answer)| {
            // Nothing but ACL knows of it, so it is set aside, if it is, by the number that ACL has for it.
            let mut npu = Npu::of_node(device);
            npu.node = None;
            probe::take_over(cx, &mut npu, answer);
            (device, npu)
        })
        .collect();
    let standing = Quarantine::of(cx).standing(SystemTime::now());
    devices.iter_mut().for_each(|(_, npu)| npu.set_aside(&standing));
    devices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_renumbers() {
        assert_eq!(visible(None, 3), [0, 1, 2]);
        assert_eq!(visible(Some("2, 0"), 3), [2, 0]);
        assert!(visible(Some("all"), 3).is_empty());
    }
}
