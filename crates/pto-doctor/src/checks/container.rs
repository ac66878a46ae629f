//! Docker on the host, and what this is when it is a container.

use pto_context::{Context, counted};
use pto_platform::docker::{parse_docker_info, parse_visible_devices};

use super::host::{GB, IMAGE_DISK};
use super::new;
use crate::check::{Check, Source};
use crate::facts::{self, device_nodes};
use crate::finding::Finding;
use crate::probes::Probes;
use pto_devices::Answer;

pub(super) const CHECKS: &[Check] = &[
    new(
        "docker",
        "docker",
        &[Source::Docker],
        "Docker Engine and Ascend Docker Runtime, which the development container needs on a host with NPUs. Without the \
         runtime `--runtime=ascend` fails with `unknown or invalid runtime name`; a privileged container is the way around.",
        docker,
    ),
    new(
        "container",
        "container",
        &[],
        "Whether this is a container, and how its NPUs are numbered: Ascend Docker Runtime counts the cards of \
         `ASCEND_VISIBLE_DEVICES` from 0, in this order. Under it `version.info` is not visible and `npu-smi` fails with \
         `-9005`; both are expected.",
        container,
    ),
];

fn docker(cx: &Context, probes: &Probes) -> Finding {
    let has_npus = !device_nodes(cx).indices().is_empty();
    let answer = match &probes.docker {
        Answer::NotAsked => return Finding::skip("not asked"),
        Answer::NotFound => return Finding::skip("not installed; only the development container needs it"),
        Answer::Broken(why) => return Finding::warn(why.clone()).remedy("sudo systemctl restart docker"),
        Answer::Said(said) => said,
    };
    let info = parse_docker_info(&answer.stdout);
    let Some(version) = info.server_version.as_deref().filter(|_| info.errors.is_empty()) else {
        let why = info.errors.first().map_or_else(|| answer.last_words().to_owned(), Clone::clone);
        if !has_npus {
            return Finding::skip(format!(
                "the engine does not answer, and only the development container needs it: {why}"
            ));
        }
        return Finding::warn(format!("the engine does not answer: {why}"))
            .remedy("sudo systemctl start docker; sudo usermod -aG docker \"$USER\"   # then log in again");
    };
    if let Some(free) = probes.room.docker_free.filter(|free| has_npus && *free < IMAGE_DISK) {
        return Finding::warn(format!(
            "engine {version} has {:.1} GB free in `{}`; the development image needs 30 GB with its layers and caches",
            free as f64 / GB,
            info.root_dir.unwrap_or_default()
        ))
        .remedy("docker system df   # then, if you agree to what it deletes: docker system prune");
    }
    match (info.has_ascend_runtime(), has_npus) {
        (true, _) => Finding::ok(format!("engine {version}, runtime `ascend` registered")),
        (false, false) => Finding::ok(format!("engine {version}; no `ascend` runtime, which only a host with NPUs needs")),
        (false, true) => Finding::warn(format!("engine {version} has no `ascend` runtime: `--runtime=ascend` will fail"))
            .remedy(
                "install Ascend Docker Runtime, then: sudo systemctl daemon-reload && sudo systemctl restart docker; or use \
                 PYPTO_DEVICE_ACCESS=privileged",
            ),
    }
}

fn container(cx: &Context, _: &Probes) -> Finding {
    let Some(sign) = facts::container(cx) else { return Finding::skip("this is not a container") };
    let Some(visible) = cx.var("ASCEND_VISIBLE_DEVICES") else {
        return Finding::ok(format!("yes, by `{sign}`; without cards of Ascend Docker Runtime"));
    };
    let cards = parse_visible_devices(&visible);
    if let Some(note) = cards.notes.first() {
        return Finding::warn(format!("`ASCEND_VISIBLE_DEVICES={visible}` is odd at `{}`: {}", note.text, note.why));
    }
    let present = device_nodes(cx).indices();
    let renumbered: Vec<String> =
        cards.indices.iter().enumerate().map(|(inside, host)| format!("host {host} is {inside}")).collect();
    if !present.is_empty() && present.len() != cards.indices.len() {
        return Finding::warn(format!(
            "`ASCEND_VISIBLE_DEVICES={visible}` names {}, `/dev` has {}",
            counted(cards.indices.len(), "card"),
            present.len()
        ))
        .remedy("count devices from 0 to what `/dev` has; privileged containers see all cards of the host");
    }
    Finding::ok(format!("yes, by `{sign}`; cards count from 0: {}", renumbered.join(", ")))
}
