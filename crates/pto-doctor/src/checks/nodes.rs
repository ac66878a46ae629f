//! The driver's device nodes, and which of them this process is meant to see.

use pto_context::{Context, counted};
use pto_platform::Generation;
use pto_platform::docker::parse_visible_devices;

use super::{new, quoted_list};
use crate::check::{Check, Source};
use crate::facts::{self, Node, Nodes, device_nodes};
use crate::finding::Finding;
use crate::probes::{Probes, User};

const READ_AND_WRITE: u32 = 0o6;

pub(super) const CHECKS: &[Check] = &[
    new(
        "device-nodes",
        "device nodes",
        &[Source::NpuSmi, Source::Acl],
        "`/dev/davinciN` and the managers `davinci_manager`, `devmm_svm` (not on 950) and `hisi_hdc`. They belong to a group, \
         usually `HwHiAiUser`, and nobody else may open them. A container that lacks a manager sees no device, and ACL \
         answers `507899`.",
        nodes,
    ),
    new(
        "visible-devices",
        "visible devices",
        &[],
        "`ASCEND_VISIBLE_DEVICES` is read by Ascend Docker Runtime: cards of the host, which the container counts from 0. \
         `ASCEND_RT_VISIBLE_DEVICES` is read by ACL: it chooses among the devices that the process has. Setting both to the \
         host's numbers asks for devices that are not there, and ACL answers `507899` or `EL0005`, which reads as if they \
         were busy. `PYPTO_DEVICE` is the device that PyPTO takes.",
        visible,
    ),
];

fn nodes(cx: &Context, probes: &Probes) -> Finding {
    let nodes = device_nodes(cx);
    let missing = missing_managers(&nodes, facts::generation(probes));
    if nodes.indices().is_empty() {
        return without_devices(cx, &nodes);
    }
    if !missing.is_empty() {
        return Finding::fail(format!("{} there, {} missing in `/dev`", shown(&nodes), quoted_list(&missing))).remedy(
            format!(
                "docker run ... {}",
                missing.iter().map(|name| format!("--device /dev/{name}")).collect::<Vec<_>>().join(" ")
            ),
        );
    }
    match nodes.0.iter().find(|node| !may_open(&probes.user, node)) {
        None => Finding::ok(format!("{}, {}", shown(&nodes), owner(cx, &nodes.0[0]))),
        Some(node) => Finding::fail(format!(
            "user {} may not open `/dev/{}` ({})",
            probes.user.uid,
            node.name,
            owner(cx, node)
        ))
        .remedy(format!(
            "sudo usermod -aG {} \"$USER\"   # then log in again; in a container: docker run ... --group-add {}",
            group_name(cx, node.gid).unwrap_or_else(|| node.gid.to_string()),
            node.gid
        )),
    }
}

fn without_devices(cx: &Context, nodes: &Nodes) -> Finding {
    let there = if nodes.0.is_empty() { String::new() } else { format!("; there is {}", shown(nodes)) };
    if let Some(asked) = cx.var("ASCEND_VISIBLE_DEVICES").filter(|_| facts::container(cx).is_some()) {
        return Finding::fail(format!(
            "no `/dev/davinciN`, although `ASCEND_VISIBLE_DEVICES` asks for `{asked}`{there}"
        ))
        .remedy(format!("docker run --runtime=ascend -e ASCEND_VISIBLE_DEVICES={asked} ..."));
    }
    Finding::skip(format!("no `/dev/davinciN`: no NPU on this machine, or none was given to this container{there}"))
}

fn missing_managers(nodes: &Nodes, generation: Option<Generation>) -> Vec<&'static str> {
    let needed: &[&'static str] = match generation {
        // 950 maps memory through `/dev/ummu`.
        Some(Generation::A5) => &["davinci_manager", "hisi_hdc"],
        _ => &["davinci_manager", "devmm_svm", "hisi_hdc"],
    };
    needed.iter().copied().filter(|name| !nodes.has(name)).collect()
}

fn shown(nodes: &Nodes) -> String {
    nodes.0.iter().map(|node| node.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// By number, as the kernel decides: the name may be missing in a container, or mean another group.
fn may_open(user: &User, node: &Node) -> bool {
    let bits = match user {
        User { uid: 0, .. } => return true,
        User { uid, .. } if *uid == node.uid => node.mode >> 6,
        User { gids, .. } if gids.contains(&node.gid) => node.mode >> 3,
        _ => node.mode,
    };
    bits & READ_AND_WRITE == READ_AND_WRITE
}

fn owner(cx: &Context, node: &Node) -> String {
    let group = group_name(cx, node.gid).map_or_else(String::new, |name| format!(" {name}"));
    format!("mode {:04o}, uid {}, gid {}{group}", node.mode, node.uid, node.gid)
}

fn group_name(cx: &Context, gid: u32) -> Option<String> {
    let groups = crate::files::read(cx, "/etc/group").text()?;
    groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(gid)).then(|| name.to_owned())
    })
}

fn visible(cx: &Context, _: &Probes) -> Finding {
    let present = device_nodes(cx).indices();
    let runtime = cx.var("ASCEND_RT_VISIBLE_DEVICES");
    let docker = cx.var("ASCEND_VISIBLE_DEVICES");
    let device = cx.var("PYPTO_DEVICE");
    if runtime.is_none() && docker.is_none() && device.is_none() {
        return Finding::ok("not restricted");
    }
    if present.is_empty() {
        return Finding::skip("no `/dev/davinciN` to choose from");
    }
    let count = present.len();
    let chosen = runtime.as_deref().map(parse_visible_devices);
    let too_high = chosen.as_ref().and_then(|list| list.indices.iter().find(|index| **index as usize >= count));
    if let (Some(index), Some(text)) = (too_high, &runtime) {
        let from_zero = (0..count).map(|index| index.to_string()).collect::<Vec<_>>().join(",");
        return Finding::fail(format!(
            "`ASCEND_RT_VISIBLE_DEVICES={text}` asks for device {index}, and this process has {count}, counted from 0"
        ))
        .remedy(format!("export ASCEND_RT_VISIBLE_DEVICES={from_zero}"));
    }
    let offered = chosen.map_or(count, |list| list.indices.len());
    if let Some(text) = device.as_deref().filter(|text| text.parse::<usize>().is_ok_and(|index| index >= offered)) {
        return Finding::fail(format!(
            "`PYPTO_DEVICE={text}`, and this process has {}, counted from 0",
            counted(offered, "device")
        ))
        .remedy("export PYPTO_DEVICE=0");
    }
    let named = [("ASCEND_VISIBLE_DEVICES", docker), ("ASCEND_RT_VISIBLE_DEVICES", runtime), ("PYPTO_DEVICE", device)];
    let set: Vec<String> = named.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?))).collect();
    Finding::ok(format!("{}; {} here", set.join(", "), counted(count, "device")))
}
