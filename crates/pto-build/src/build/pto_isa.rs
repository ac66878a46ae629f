//! PTO-ISA for the runtime: a checkout at the commit that the runtime pins.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_checkout::{Checkout, Git, RunAs, remote};
use pto_context::{Context, Event};
use pto_platform::files::parse_pto_isa_pin;
use pto_process::masked;
use serde::Serialize;

use super::hands::Hands;
use super::tree::{KEPT_PTO_ISA, PTO_ISA};
use crate::error::Error;

/// How often the first source is asked before the mirror is.
const TRIES: usize = 3;
/// Where a checkout is made before it gets its name.
const DRAFT: &str = ".pto-isa-new";

/// Where PTO-ISA comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PtoIsaSources {
    /// Asked three times.
    pub url: String,
    /// Asked once, after that.
    pub mirror: String,
    /// Waited before the second try, and twice as long before the third.
    pub pause: Duration,
}

impl Default for PtoIsaSources {
    fn default() -> Self {
        Self {
            url: "https://github.com/hw-native-sys/pto-isa.git".to_owned(),
            mirror: "https://gitcode.com/luohuan40/pto-isa.git".to_owned(),
            pause: Duration::from_secs(2),
        }
    }
}

/// PTO-ISA as a build uses it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PtoIsa {
    /// The commit that the runtime pins.
    pub commit: String,
    /// The checkout.
    pub path: PathBuf,
    /// Whether it was there, clean and at the pin. Nobody was asked then.
    pub reused: bool,
}

/// The commit that a runtime pins; `None` where it has no pin.
pub(crate) fn pin(runtime: &Path) -> Result<Option<String>, Error> {
    let file = runtime.join("pto_isa.pin");
    let Ok(text) = std::fs::read_to_string(&file) else { return Ok(None) };
    let pin = parse_pto_isa_pin(&text);
    let note = pin.notes.into_iter().next();
    match (pin.commit, note) {
        (Some(commit), _) => Ok(Some(commit)),
        (None, note) => {
            let (line, why) = note.map(|note| (note.line, note.why.into_owned())).unwrap_or_default();
            Err(Error::BadPin { file, line, why })
        }
    }
}

/// Whether a checkout is clean and at a commit.
pub(crate) fn is_at(cx: &Context, path: &Path, commit: &str) -> bool {
    let here = || Checkout::open(cx, path).ok().filter(|checkout| checkout.root() == path);
    path.join("include").is_dir()
        && here().is_some_and(|checkout| checkout.head.as_deref() == Some(commit) && !checkout.is_dirty())
}

/// Gets PTO-ISA at a commit: what is there if it is clean and at it, else afresh, first from the source and then from its
/// mirror. What is there is replaced when the new one is whole.
pub(crate) fn obtain(
    cx: &Context,
    run_as: &RunAs,
    build: &Path,
    commit: &str,
    sources: &PtoIsaSources,
) -> Result<PtoIsa, Error> {
    let (path, hands) = (build.join(PTO_ISA), Hands::of(run_as));
    let done = |reused| PtoIsa { commit: commit.to_owned(), path: path.clone(), reused };
    if is_at(cx, &path, commit) {
        return Ok(done(true));
    }
    let task = "fetch:pto-isa".to_owned();
    let message = format!("Fetching PTO-ISA at {commit}");
    cx.emit(Event::Started { task: task.clone(), message, total_bytes: None });
    hands.make_dir(cx, build)?;
    let draft = build.join(DRAFT);
    let mut failures = Vec::new();
    for (number, url) in [sources.url.as_str(); TRIES].into_iter().chain([sources.mirror.as_str()]).enumerate() {
        if (1..TRIES).contains(&number) {
            pause(sources.pause * u32::try_from(number).unwrap_or(1))?;
        }
        hands.remove(cx, &draft)?;
        match fetch(cx, run_as, url, commit, &draft) {
            Ok(()) => {
                put(cx, &hands, &draft, &path)?;
                let message = format!("PTO-ISA at {commit} is in `{}`", path.display());
                cx.emit(Event::Finished { task, message });
                return Ok(done(false));
            }
            Err(error) if error.is_interrupted() => return Err(error.into()),
            Err(error) => failures.push((masked(url), last_line(&error))),
        }
    }
    hands.remove(cx, &draft)?;
    Err(Error::NoPtoIsa { commit: commit.to_owned(), path, failures })
}

/// A checkout of one commit. The default branch is never laid down: only the pinned files are needed, and they are forced
/// into place, as names that differ in case alone meet on some file systems.
fn fetch(cx: &Context, run_as: &RunAs, url: &str, commit: &str, into: &Path) -> Result<(), pto_checkout::Error> {
    remote::clone(cx, run_as, url, into)?;
    let git = Git::at(cx, into)?;
    let land = || git.writing().args(["checkout", "--quiet", "--detach", "--force", commit]);
    if git.run(cx, "check out the pinned commit", land()).is_err() {
        // No branch of the remote leads to it.
        let fetch = git.exchanging(cx)?.args(["fetch", "--quiet", "--no-tags", "origin", commit]);
        git.run(cx, "fetch the pinned commit", fetch)?;
        git.run(cx, "check out the pinned commit", land())?;
    }
    Ok(())
}

/// Puts a new checkout in the place of the old one. One that holds changes of the user's is kept beside it.
fn put(cx: &Context, hands: &Hands, draft: &Path, path: &Path) -> Result<(), Error> {
    if path.symlink_metadata().is_ok() {
        let kept = path.with_file_name(KEPT_PTO_ISA);
        if Checkout::open(cx, path).is_ok_and(|old| old.root() == path && old.is_dirty()) {
            hands.remove(cx, &kept)?;
            if hands.rename(cx, path, &kept) {
                let message = format!("`{}` has changes of yours; it is `{}` now", path.display(), kept.display());
                cx.emit(Event::Warning { message });
            }
        }
        hands.remove(cx, path)?;
    }
    if hands.rename(cx, draft, path) {
        return Ok(());
    }
    let source = std::io::Error::other(format!("`{}` cannot become `{}`", draft.display(), path.display()));
    Err(Error::Io { action: "cannot put PTO-ISA into its place", source })
}

fn last_line(error: &pto_checkout::Error) -> String {
    let words = error.last_words();
    words.lines().last().map_or_else(|| pto_context::with_causes(error), str::to_owned)
}

/// Waits, and ends at an interrupt.
fn pause(time: Duration) -> Result<(), Error> {
    const POLL: Duration = Duration::from_millis(50);
    let until = std::time::Instant::now() + time;
    while std::time::Instant::now() < until {
        if pto_context::interrupt::requested() {
            return Err(Error::Interrupted);
        }
        std::thread::sleep(POLL);
    }
    Ok(())
}
