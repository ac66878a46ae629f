//! A PyPTO checkout and what was built from it.

use pto_context::Context;
use pto_platform::files::{parse_dist_manifest, parse_dist_state, parse_pto_isa_pin};
use sha2::{Digest, Sha256};

use super::{new, sentence};
use crate::check::{Check, Source};
use crate::facts;
use crate::files::{self, Reading};
use crate::finding::Finding;
use crate::probes::Probes;
use crate::python::{BuildCommit, facts as python_facts};
use pto_devices::Answer;

/// simpler's extension has some MB.
const LARGEST_EXTENSION: u64 = 1 << 30;
/// Patches have some KB.
const LARGEST_PATCH: u64 = 64 << 20;
/// Digits of a commit that are shown.
const SHORT: usize = 12;

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
    sentence(new(
        "simpler-binding",
        "simpler binding",
        &[Source::Python, Source::RuntimeGit],
        "Whether the installed simpler was built from the revision of `runtime/`. After a change of a struct's layout one \
         that was not reads fields as 0 and fails much later. Uncommitted edits in `runtime/` cannot be proved to be in the \
         binding, except the managed patch that `dist-state.json` records. A known mismatch and a binding without a stamp \
         fail, with `PYPTO_SKIP_RUNTIME_PIN_CHECK` too; with `--strict` everything unverified does.",
        binding,
    )),
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

fn binding(cx: &Context, probes: &Probes) -> Finding {
    let said = probes.python.said();
    let Some((said, facts)) = said.and_then(|said| Some((said, python_facts(&said.stdout)?))) else {
        return Finding::skip("cannot be looked at without `python3`");
    };
    let rebuild = "pypto-build && pypto-doctor";
    let has_simpler = facts.modules.get("simpler").is_some_and(Option::is_some);
    let (commit, extension) = match facts.build_commit {
        BuildCommit::NotAsked if has_simpler => {
            return Finding::fail(format!("ends Python when it is imported: it {}", said.status)).remedy(rebuild);
        }
        BuildCommit::NotAsked => return Finding::skip("is not there: simpler is not installed"),
        BuildCommit::NoExtension => {
            return Finding::warn("cannot be verified: simpler has no extension to import")
                .remedy(rebuild)
                .unverified();
        }
        BuildCommit::Broken { why } => return Finding::fail(format!("does not load: {why}")).remedy(rebuild),
        BuildCommit::Unstamped => return Finding::fail("predates revision stamping").remedy(rebuild),
        BuildCommit::Stamped { commit, .. } if commit.is_empty() => {
            return Finding::warn("cannot be verified: it was built without git, its stamp is empty")
                .remedy(rebuild)
                .unverified();
        }
        BuildCommit::Stamped { commit, file } => (commit, file),
    };
    let Some(head) = probes.runtime.head.stdout().map(str::trim) else {
        return Finding::warn(format!(
            "cannot be verified: built from {}, and the revision of `runtime/` is not known",
            short(&commit)
        ))
        .unverified();
    };
    if commit != head {
        let skipped = cx.var("PYPTO_SKIP_RUNTIME_PIN_CHECK").map_or(
            "",
            |_| "; `PYPTO_SKIP_RUNTIME_PIN_CHECK` keeps the runtime quiet about it, and makes it no better",
        );
        return Finding::fail(format!("was built from {}, `runtime/` is at {}{skipped}", short(&commit), short(head)))
            .remedy(rebuild);
    }
    match probes.runtime.status.stdout() {
        Some("") => Finding::ok("matches its source tree"),
        None => Finding::warn("cannot be verified: git does not say whether `runtime/` was changed").unverified(),
        Some(_) if is_managed_patch(cx, probes, head, extension.as_deref()) => {
            Finding::ok("matches its source tree with the image's managed patch")
        }
        Some(_) => Finding::warn("has the revision of `runtime/`, which has uncommitted changes that it may lack")
            .remedy(rebuild)
            .unverified(),
    }
}

/// Whether the changes are exactly those that the image recorded when it was built.
fn is_managed_patch(cx: &Context, probes: &Probes, head: &str, extension: Option<&str>) -> bool {
    let Some(text) = files::read(cx, facts::pypto_home(cx).join("dist-state.json")).text() else { return false };
    let state = parse_dist_state(&text);
    let diff = probes.runtime.diff.stdout().map(|diff| sha256(diff.as_bytes()));
    let built = extension
        .and_then(|path| files::bytes(&files::open_path(cx, path.as_ref()), LARGEST_EXTENSION).ok())
        .map(|bytes| sha256(&bytes));
    // A build puts down the patches that it records; what another program has recorded has to name them at least.
    let patch =
        match files::bytes(&files::open_path(cx, &facts::pypto_home(cx).join("dist-state.patch")), LARGEST_PATCH) {
            Ok(patch) => Some(sha256(&patch)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => state.patch_sha256.clone(),
            Err(_) => None,
        };
    let same = |recorded: &Option<String>, found: Option<&str>| {
        recorded.as_deref().zip(found).is_some_and(|(recorded, found)| recorded.eq_ignore_ascii_case(found))
    };
    same(&state.runtime_sha, Some(head))
        && same(&state.diff_sha256, diff.as_deref())
        && same(&state.patch_sha256, patch.as_deref())
        && same(&state.extension_sha256, built.as_deref())
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn manifest(cx: &Context, _: &Probes) -> Finding {
    let path = facts::pypto_home(cx).join("dist-manifest");
    let text = match files::read(cx, &path) {
        Reading::Text(text) => text,
        Reading::Absent => return Finding::skip("this is not the development image"),
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

fn short(commit: &str) -> &str {
    commit.get(..SHORT).unwrap_or(commit)
}
