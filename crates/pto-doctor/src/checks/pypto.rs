//! A PyPTO checkout, its assembler, and the image that they came with.

use pto_context::Context;
use pto_platform::files::{parse_dist_manifest, parse_pto_isa_pin};

use super::{new, short};
use crate::check::{Check, Source};
use crate::facts;
use crate::files::{self, Reading};
use crate::finding::Finding;
use crate::probes::Probes;
use pto_devices::Answer;

pub(super) const CHECKS: &[Check] = &[
    new(
        "ptoas",
        "PTOAS",
        &[Source::Ptoas],
        "The assembler that is installed against the one that the checkout pins in `toolchain/versions.env`. With \
         `PTOAS_ROOT` it is looked for there and nowhere else. One that is older than the pin is refused by PyPTO's code \
         generator.",
        ptoas,
    ),
    new(
        "checkout",
        "PyPTO checkout",
        &[],
        "The checkout at `PYPTO_SRC` (default `/workspace/pypto`, else the working directory) with its pins: PTOAS in \
         `toolchain/versions.env`, PTO-ISA in `runtime/pto_isa.pin`.",
        checkout,
    ),
    new(
        "dist-manifest",
        "image",
        &[],
        "The commits and the assembler that went into the development image, from `dist-manifest`: quote them when you \
         report a problem. They say what was shipped, and nothing about a checkout that was mounted over it.",
        manifest,
    ),
];

fn ptoas(cx: &Context, probes: &Probes) -> Finding {
    let pinned = facts::pins(cx).and_then(|(_, pins)| pins.ptoas);
    let install = "cargo xtask ptoas install";
    let Some(found) = facts::ptoas(cx) else {
        return match (cx.var("PTOAS_ROOT"), pinned) {
            (Some(root), _) => {
                Finding::fail(format!("`PTOAS_ROOT` is `{root}`, and there is no `ptoas`, `ptoas.sh` or `bin/ptoas`"))
                    .remedy(install)
            }
            (None, Some(pinned)) => Finding::warn(format!("not installed, the checkout pins {pinned}")).remedy(install),
            (None, None) => Finding::skip("not installed; only PyPTO needs it"),
        };
    };
    let place = format!("`{}` ({})", found.path.display(), found.rule);
    let said = match &probes.ptoas {
        Answer::NotAsked | Answer::NotFound => return Finding::skip(format!("{place} was not asked for its version")),
        Answer::Broken(why) => return Finding::fail(why.clone()).remedy(install),
        Answer::Said(said) => said,
    };
    let installed = pto_ptoas::version_in(&said.text());
    match (installed, pinned) {
        (None, _) => Finding::fail(format!("{place} {}: `{}`", said.status, said.last_words())).remedy(install),
        (Some(installed), None) => Finding::ok(format!("{installed} in {place}")),
        (Some(installed), Some(pinned)) if installed < pinned => {
            Finding::fail(format!("{installed} in {place}, the checkout pins {pinned}")).remedy(install)
        }
        (Some(installed), Some(pinned)) if installed > pinned => {
            Finding::ok(format!("{installed} in {place}, newer than the pinned {pinned}"))
        }
        (Some(installed), Some(_)) => Finding::ok(format!("{installed} in {place}, as pinned")),
    }
}

fn checkout(cx: &Context, _: &Probes) -> Finding {
    let Some(src) = facts::pypto_src(cx) else { return Finding::skip("none; only PyPTO's developers need one") };
    if !files::is_dir(cx, &src) {
        return Finding::fail(format!("`PYPTO_SRC` is `{}`, which is not a directory", src.display()))
            .remedy("mount the directory that contains `pypto/`, not its parent: docker run ... -v \"$PWD/workspace:/workspace\"");
    }
    let pins = facts::pins(cx);
    let Some((path, env)) = pins else {
        return Finding::fail(format!("`{}` has no readable `toolchain/versions.env`", src.display()))
            .remedy("export PYPTO_SRC=/path/to/pypto");
    };
    let Some(ptoas) = env.ptoas else {
        return Finding::fail(format!("`{}` pins no `PTOAS_VERSION`", path.display()))
            .remedy(format!("git -C {} status", src.display()));
    };
    let pin = src.join("runtime/pto_isa.pin");
    let isa = match files::read(cx, &pin) {
        Reading::Text(text) => parse_pto_isa_pin(&text).commit,
        Reading::Absent => None,
        Reading::Unreadable(why) => return Finding::skip(why),
    };
    match isa {
        Some(commit) => Finding::ok(format!("`{}` pins PTOAS {ptoas} and PTO-ISA {}", src.display(), short(&commit))),
        None => Finding::warn(format!(
            "`{}` pins PTOAS {ptoas}, and no PTO-ISA: no commit in `runtime/pto_isa.pin`",
            src.display()
        ))
        .remedy(format!("git -C {} submodule update --init --recursive", src.display())),
    }
}

fn manifest(cx: &Context, _: &Probes) -> Finding {
    let path = facts::pypto_home(cx).join("dist-manifest");
    let text = match files::read(cx, &path) {
        Reading::Text(text) => text,
        Reading::Absent => {
            return Finding::skip(format!("is in images with PyPTO in them, and there is no `{}`", path.display()));
        }
        Reading::Unreadable(why) => return Finding::skip(why),
    };
    let manifest = parse_dist_manifest(&text);
    let mut parts: Vec<String> =
        manifest.commits.iter().map(|(name, commit)| format!("{name} {}", short(commit))).collect();
    parts.extend(manifest.ptoas.map(|version| format!("ptoas {}", version.as_str())));
    parts.extend(manifest.built.map(|built| format!("built {built}")));
    match manifest.notes.first() {
        None if !parts.is_empty() => Finding::ok(parts.join(", ")),
        None => Finding::warn(format!("`{}` is empty", path.display())),
        Some(note) => Finding::warn(format!("`{}` line {}: {} (`{}`)", path.display(), note.line, note.why, note.text)),
    }
}
