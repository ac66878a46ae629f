//! PyPTO's checkout as git has it, and whether what was built is built from it.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pto_build::{Decision, Reason};
use pto_checkout::{Checkout, Tracking};
use pto_context::Context;

use super::{new, quoted_list};
use crate::check::{Check, Source};
use crate::facts;
use crate::files;
use crate::finding::Finding;
use crate::probes::Probes;

/// Digits of a commit that are shown.
const SHORT: usize = 12;
/// Where the sources of the extension are.
const SOURCES: [&str; 4] = ["CMakeLists.txt", "src", "include", "python/bindings"];
/// Where the extension is.
const PACKAGE: &str = "python/pypto";
const BUILD: &str = "pypto-build";

pub(super) const CHECKS: &[Check] = &[
    new(
        "tracking-branch",
        "branch",
        &[Source::Checkout],
        "The branch of PyPTO's checkout, and how it stands to what it follows, as far as was fetched. Only a branch that follows \
         one of a remote, and is in no unfinished merge or rebase, can be updated.",
        branch,
    ),
    new(
        "submodules",
        "submodules",
        &[Source::Checkout],
        "Whether the submodules of PyPTO's checkout are there, each at the commit that the checkout records.",
        submodules,
    ),
    new(
        "native-build",
        "native build",
        &[Source::Build],
        "Whether PyPTO's extension was built from the sources, the environment and the toolchain that are here. A build that \
         nobody recorded, or whose files were changed since, is not known to be theirs; with `--strict` it fails.",
        native_build,
    ),
];

/// The checkout, or why it is not known.
fn checkout<'a>(cx: &Context, probes: &'a Probes) -> Result<&'a Checkout, Finding> {
    if facts::pypto_src(cx).is_none() {
        return Err(Finding::skip("there is no checkout"));
    }
    match &probes.checkout {
        None => Err(Finding::skip("was not asked")),
        Some(Ok(checkout)) => Ok(checkout),
        Some(Err(why)) => Err(Finding::skip(format!("cannot be told: {why}"))),
    }
}

fn branch(cx: &Context, probes: &Probes) -> Finding {
    let checkout = match checkout(cx, probes) {
        Ok(checkout) => checkout,
        Err(finding) => return finding,
    };
    let git = format!("git -C {}", checkout.root().display());
    if let Some(operation) = checkout.operation {
        let name = operation.name();
        return Finding::warn(format!("in the middle of a {name}")).remedy(format!("{git} {name} --continue"));
    }
    let head = short(checkout.head.as_deref().unwrap_or("no commit"));
    let Some(branch) = &checkout.branch else {
        // As images have it: a snapshot that is not updated.
        return Finding::ok(format!("none, at {head}; `pypto-update` builds it with `--no-pull`"));
    };
    let Some(upstream) = &checkout.upstream else {
        return Finding::warn(format!("`{branch}` follows nothing, so it cannot be updated"))
            .remedy(format!("{git} branch --set-upstream-to=origin/{branch} {branch}"));
    };
    let follows = format!("`{branch}` follows {}", upstream.name);
    match upstream.tracking {
        Tracking::Same => Finding::ok(format!("{follows}, at {head}")),
        Tracking::Ahead { commits } => Finding::ok(format!("{follows}, {commits} commits ahead")),
        Tracking::Behind { commits } => {
            Finding::warn(format!("{follows}, {commits} commits behind")).remedy("pypto-update")
        }
        Tracking::Diverged { ahead, behind } => {
            Finding::warn(format!("{follows}, {ahead} commits ahead and {behind} behind"))
                .remedy(format!("{git} rebase {}", upstream.name))
        }
        Tracking::Gone => Finding::warn(format!("{follows}, which is not there any more"))
            .remedy(format!("{git} branch --set-upstream-to=origin/main {branch}")),
    }
}

fn submodules(cx: &Context, probes: &Probes) -> Finding {
    let checkout = match checkout(cx, probes) {
        Ok(checkout) => checkout,
        Err(finding) => return finding,
    };
    let update = format!("git -C {} submodule update --init --recursive", checkout.root().display());
    let missing = checkout.uninitialised();
    if !missing.is_empty() {
        return Finding::fail(format!("not there: {}", quoted_list(missing))).remedy(update);
    }
    let all = std::iter::once(checkout).chain(checkout.below());
    let elsewhere: Vec<String> = all
        .flat_map(|parent| &parent.submodules)
        .filter(|submodule| submodule.is_at_recorded() == Some(false))
        .map(|submodule| {
            let head = submodule.checkout.as_ref().and_then(|inside| inside.head.as_deref()).unwrap_or_default();
            format!("`{}` is at {}, recorded is {}", submodule.path, short(head), short(&submodule.recorded))
        })
        .collect();
    match (elsewhere.is_empty(), checkout.submodules.len()) {
        (true, 0) => Finding::ok("none"),
        (true, count) => Finding::ok(format!("{count} at what the checkout records")),
        (false, _) => Finding::warn(elsewhere.join("; ")).remedy(update),
    }
}

fn native_build(cx: &Context, probes: &Probes) -> Finding {
    let Some(src) = facts::pypto_src(cx) else { return Finding::skip("there is no checkout") };
    match &probes.build {
        Some(Err(why)) => return Finding::skip(format!("cannot be told: {why}")),
        Some(Ok(Decision::Fresh { reason: reason @ Reason::NoBuild })) => {
            return Finding::warn(reason.to_string()).remedy(BUILD);
        }
        Some(Ok(Decision::Fresh { reason })) => {
            return Finding::warn(format!("is not of what is here: {reason}")).remedy(BUILD).unverified();
        }
        Some(Ok(Decision::Incremental)) | None => {}
    }
    let Some((extension, built)) = newest(cx, &src.join(PACKAGE), |path| has_extension(path, "so")) else {
        return Finding::warn(format!("there is no extension in `{}`", src.join(PACKAGE).display())).remedy(BUILD);
    };
    let sources = SOURCES.iter().filter_map(|place| newest(cx, &src.join(place), |_| true));
    let edited = sources.max_by_key(|(_, changed)| *changed).filter(|(_, changed)| *changed > built);
    match edited {
        Some((source, _)) => {
            Finding::warn(format!("`{}` is older than `{}`", extension.display(), source.display())).remedy(BUILD)
        }
        None => Finding::ok(format!("`{}` is newer than its sources", extension.display())),
    }
}

/// The file below a place that was changed last, with when.
fn newest(cx: &Context, place: &Path, wanted: impl Fn(&Path) -> bool) -> Option<(PathBuf, SystemTime)> {
    let mut open = vec![place.to_path_buf()];
    let mut found: Option<(PathBuf, SystemTime)> = None;
    while let Some(path) = open.pop() {
        let Ok(meta) = fs_err::symlink_metadata(files::open_path(cx, &path)) else { continue };
        if meta.is_dir() {
            let inside = files::names(cx, &path).into_iter().filter(|name| name != "__pycache__");
            open.extend(inside.map(|name| path.join(name)));
        } else if meta.is_file() && wanted(&path) {
            let changed = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            if found.as_ref().is_none_or(|(_, latest)| changed > *latest) {
                found = Some((path, changed));
            }
        }
    }
    found
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

fn short(commit: &str) -> &str {
    commit.get(..SHORT).unwrap_or(commit)
}
