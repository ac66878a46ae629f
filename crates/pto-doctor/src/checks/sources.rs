//! PyPTO's checkout as git has it, and whether what was built is built from it.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pto_build::{Blocked, Decision, Reason, State};
use pto_checkout::{Checkout, Tracking};
use pto_context::{Context, counted};

use super::{new, quoted_list, short};
use crate::check::{Check, Source};
use crate::facts;
use crate::files;
use crate::finding::Finding;
use crate::probes::{NextBuild, Probes};

/// Where the sources of the extension are: its own, and what it compiles or links of others.
const SOURCES: [&str; 7] =
    ["CMakeLists.txt", "cmake", "src", "include", "python/bindings", "3rdparty", "runtime/src/common"];
/// Names that hold no sources: byte code, and git's files, which change when a branch does.
const NO_SOURCES: [&str; 2] = ["__pycache__", ".git"];
/// Where the extension is.
const PACKAGE: &str = "python/pypto";
/// Brings a checkout up to date.
const UPDATE: &str = "cargo xtask update";
const BUILD: &str = "cargo xtask build";

pub(super) const CHECKS: &[Check] = &[
    new(
        "tracking-branch",
        "branch",
        &[Source::Checkout],
        "The branch of PyPTO's checkout, and how it stands to what it follows, as far as was fetched. Only a branch that follows \
         one of a remote, and is in no unfinished merge or rebase, can be updated: what an update would refuse is told here, \
         with the same way out.",
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
        "Whether PyPTO's extension was built from the sources, the environment and the toolchain that are here. Where there is \
         no build, or one that nobody recorded, or files were changed since, that is not known; with `--strict` it fails.",
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
    let blocked = match &probes.branch {
        None => return Finding::skip("was not asked"),
        Some(Err(why)) => return Finding::skip(format!("cannot be told: {why}")),
        Some(Ok(blocked)) => blocked,
    };
    let head = short(checkout.head.as_deref().unwrap_or_default());
    match blocked {
        // As images have it: a snapshot that is not updated.
        Some(Blocked { state: State::Detached { .. }, .. }) => {
            let update = cx.called().spell(UPDATE);
            Finding::ok(format!("none, at {head}; `{update}` builds it with `--no-pull`"))
        }
        Some(blocked) => {
            let place = blocked.repository.display();
            Finding::warn(format!("`{place}` {}", blocked.state)).remedy(typed(&blocked.remedy()))
        }
        None => followed(checkout, head),
    }
}

/// A branch that an update could move.
fn followed(checkout: &Checkout, head: &str) -> Finding {
    let (Some(branch), Some(upstream)) = (&checkout.branch, &checkout.upstream) else {
        return Finding::skip("cannot be told: git says nothing of what it follows");
    };
    let follows = format!("`{branch}` follows {}", upstream.name);
    match upstream.tracking {
        Tracking::Ahead { commits } => Finding::ok(format!("{follows}, {} ahead", counted(commits, "commit"))),
        Tracking::Behind { commits } => {
            Finding::warn(format!("{follows}, {} behind", counted(commits, "commit"))).remedy(UPDATE)
        }
        Tracking::Same | Tracking::Diverged { .. } | Tracking::Gone => Finding::ok(format!("{follows}, at {head}")),
    }
}

/// A single command without the quotes that it has in a sentence.
fn typed(remedy: &str) -> &str {
    let inside = remedy.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    inside.filter(|command| !command.contains('`')).unwrap_or(remedy)
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
    let unproved = |evidence: String| Finding::warn(evidence).remedy(BUILD).unverified();
    let last_begun = match &probes.build {
        Some(Err(why)) => return Finding::skip(format!("cannot be told: {why}")).unverified(),
        Some(Ok(NextBuild { decision: Decision::Fresh { reason: reason @ Reason::NoBuild }, .. })) => {
            return unproved(reason.to_string());
        }
        Some(Ok(NextBuild { decision: Decision::Fresh { reason }, .. })) => {
            return unproved(format!("is not of what is here: {reason}"));
        }
        Some(Ok(NextBuild { last_begun, .. })) => *last_begun,
        None => None,
    };
    let Some((extension, built)) = newest(cx, &src.join(PACKAGE), |path| has_extension(path, "so")) else {
        return unproved(format!("there is no extension in `{}`", src.join(PACKAGE).display()));
    };
    // A build links nothing where what is new is in no object; that it looked is what counts.
    let seen = last_begun.map_or(built, |begun| begun.max(built));
    let sources = SOURCES.iter().filter_map(|place| newest(cx, &src.join(place), |_| true));
    let edited = sources.max_by_key(|(_, changed)| *changed).filter(|(_, changed)| *changed > seen);
    match edited {
        Some((source, _)) => unproved(format!("`{}` is older than `{}`", extension.display(), source.display())),
        None if seen > built => Finding::ok(format!("`{}` is as the last build left it", extension.display())),
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
            let inside = files::names(cx, &path).into_iter().filter(|name| !NO_SOURCES.contains(&name.as_str()));
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
