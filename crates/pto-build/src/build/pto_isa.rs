//! PTO-ISA for the runtime: a checkout at the commit that the runtime pins.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_checkout::{Checkout, Git, Pins, RunAs, remote};
use pto_context::{Context, Event};
use pto_platform::{Sources, pto_isa_sources};
use pto_process::masked;
use serde::Serialize;

use super::hands::Hands;
use super::plan::RUNTIME;
use super::tree::{KEPT_PTO_ISA, PTO_ISA};
use crate::error::{BuildError, Error, SourceError};

/// How often the first source is asked before the mirror is.
const TRIES: usize = 3;
/// Where a checkout is made before it gets its name.
const DRAFT: &str = ".ptokit-pto-isa-new";
/// Says of a commit that it came from the remote, also where no branch or tag of the remote leads to it.
const FETCHED: &str = "refs/remotes/origin/ptokit-pinned";

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
        let Sources { repository, mirror } = pto_isa_sources();
        Self { url: repository.to_owned(), mirror: mirror.to_owned(), pause: Duration::from_secs(2) }
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

/// PTO-ISA at the commit that the runtime of a checkout pins, there or not; `None` where the runtime has no pin.
pub(crate) fn find(cx: &Context, root: &Path) -> Result<Option<PtoIsa>, Error> {
    let path = root.join(RUNTIME).join("build").join(PTO_ISA);
    let found = |commit: String| PtoIsa { reused: is_at(cx, &path, &commit), path, commit };
    Ok(pin(cx, root)?.map(found))
}

fn pin(cx: &Context, root: &Path) -> Result<Option<String>, Error> {
    let Some(pin) = Pins::read(cx, root)?.pto_isa else { return Ok(None) };
    let file = root.join(RUNTIME).join("pto_isa.pin");
    if pin.commit.is_some() {
        return Ok(pin.commit);
    }
    let (line, why) = pin.notes.into_iter().next().map(|note| (note.line, note.why.into_owned())).unwrap_or_default();
    Err(SourceError::BadPin { file, line, why }.into())
}

/// Whether a checkout is clean and at a commit.
fn is_at(cx: &Context, path: &Path, commit: &str) -> bool {
    let here = || Checkout::open(cx, path).ok().filter(|checkout| checkout.root() == path);
    path.join("include").is_dir()
        && here().is_some_and(|checkout| checkout.head.as_deref() == Some(commit) && !checkout.is_dirty())
}

/// Gets PTO-ISA at a commit afresh, first from the source and then from its mirror. What is there is replaced when the new
/// one is whole.
pub(crate) fn obtain(
    cx: &Context,
    run_as: &RunAs,
    build: &Path,
    commit: &str,
    sources: &PtoIsaSources,
) -> Result<(), Error> {
    let (path, hands) = (build.join(PTO_ISA), Hands::of(run_as));
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
                return Ok(());
            }
            Err(error) if error.is_interrupted() => return Err(error.into()),
            Err(error) => failures.push((masked(url), last_line(&error))),
        }
    }
    hands.remove(cx, &draft)?;
    Err(BuildError::NoPtoIsa { commit: commit.to_owned(), path, failures }.into())
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
    git.run(cx, "note where the pinned commit is from", git.writing().args(["update-ref", FETCHED, commit])).map(drop)
}

/// Puts a new checkout in the place of the old one. One that may hold something of the user's is kept beside it.
fn put(cx: &Context, hands: &Hands, draft: &Path, path: &Path) -> Result<(), Error> {
    if path.symlink_metadata().is_ok() {
        match of_the_user(cx, path) {
            Some(what) => keep(cx, hands, path, what)?,
            None => hands.remove(cx, path)?,
        }
    }
    if hands.rename(cx, draft, path) {
        return Ok(());
    }
    let source = std::io::Error::other(format!("`{}` cannot become `{}`", draft.display(), path.display()));
    Err(Error::io("cannot put PTO-ISA into its place")(source))
}

/// What a checkout holds that cannot be fetched again, after the checkout's name; `None` only where it is known that there
/// is nothing.
fn of_the_user(cx: &Context, path: &Path) -> Option<&'static str> {
    let cannot_tell = "may hold work of yours, which git cannot tell";
    let Ok(old) = Checkout::open(cx, path) else { return Some(cannot_tell) };
    if old.root() != path {
        return Some("is no checkout that was fetched");
    }
    if old.is_dirty() || old.operation.is_some() {
        return Some("has changes of yours");
    }
    // A pattern, since git takes the name alone for a directory of refs.
    let own = ["rev-list", "--max-count=1", "HEAD", "--branches", "--glob=refs/stas[h]", "--not", "--remotes"];
    let own = old.git(cx).and_then(|git| git.ask(cx, "list the commits that no remote has", &own));
    match own {
        Ok(commits) if commits.trim().is_empty() => None,
        Ok(_) => Some("has commits that no remote has"),
        Err(_) => Some(cannot_tell),
    }
}

/// Gives a checkout the first name beside it that is free. Nothing that was kept before is touched.
fn keep(cx: &Context, hands: &Hands, path: &Path, what: &str) -> Result<(), Error> {
    let names = (1_u32..).map(|number| path.with_file_name(format!("{KEPT_PTO_ISA}.{number}")));
    let kept = names.into_iter().find(|name| name.symlink_metadata().is_err()).expect("some number is free");
    if !hands.rename(cx, path, &kept) {
        return Err(BuildError::NotKept { path: path.to_owned(), kept, what: what.to_owned() }.into());
    }
    let message = format!("`{}` {what}; it is `{}` now", path.display(), kept.display());
    cx.emit(Event::Warning { message });
    Ok(())
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
            return Err(Error::interrupted());
        }
        std::thread::sleep(POLL);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_kept_stops_the_build() {
        let dir = tempfile::tempdir().unwrap();
        let none: [(&str, &str); 0] = [];
        let cx = Context::fake("/", none);
        let hands = Hands::of(&RunAs::caller());
        // Nothing can be moved away there.
        let path = dir.path().join("gone").join(PTO_ISA);
        let error = keep(&cx, &hands, &path, "has changes of yours").unwrap_err();
        assert!(error.to_string().ends_with("pto-isa.previous.1`"), "{error}");
        assert!(error.hint().unwrap().contains("mv "), "{:?}", error.hint());
    }
}
