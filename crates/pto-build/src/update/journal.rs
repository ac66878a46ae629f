//! What an update is about to do, written down before it does it, so that the next one can clear up after one that was
//! killed. Git moves a work tree file by file and its commit last: in between, files are the update's and look like edits.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pto_checkout::{Checkout, Git, GitDirs};
use pto_context::Context;
use serde::{Deserialize, Serialize};

use super::managed;
use super::plan::{How, Move};
use crate::build::Hands;
use crate::error::{Error, UpdateError};
use crate::process::Process;

/// How long to wait for a git that dies with the update that was killed.
const DYING: Duration = Duration::from_secs(5);
/// Locks that git leaves when it is killed.
const LOCKS: [&str; 4] = ["index.lock", "HEAD.lock", "ORIG_HEAD.lock", "config.lock"];

/// In the git directory of a repository: whoever updates it, from whichever home or container, finds it.
const FILE: &str = "ptokit-update.json";
const SCHEMA: &str = "ptokit.update-journal/1";

/// The record of an update that is at work in a repository.
pub(super) struct Journal {
    root: PathBuf,
    file: PathBuf,
}

/// What is in it.
#[derive(Serialize, Deserialize)]
struct Entry {
    schema: String,
    /// Where the repository was, for whoever wrote this: in a container that may be another place.
    root: PathBuf,
    moves: Vec<Move>,
}

impl Journal {
    pub(super) fn of(dirs: &GitDirs) -> Self {
        Self { root: dirs.root.clone(), file: dirs.git_dir.join(FILE) }
    }

    pub(super) fn begin(&self, cx: &Context, moves: &[Move]) -> Result<(), Error> {
        let entry = Entry { schema: SCHEMA.to_owned(), root: self.root.clone(), moves: moves.to_vec() };
        let text = serde_json::to_vec(&entry).map_err(|error| self.bad(error.into()))?;
        self.hands(cx)?.write(cx, &self.file, &text)
    }

    pub(super) fn end(&self, cx: &Context) {
        // If it stays, the next update finds that all is done.
        let _ = self.hands(cx).and_then(|hands| hands.remove(cx, &self.file));
    }

    /// What an update that did not end was doing.
    pub(super) fn unfinished(&self) -> Result<Vec<Move>, Error> {
        let text = match std::fs::read(&self.file) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.map_err(|error| self.bad(error))?,
        };
        let entry: Entry = serde_json::from_slice(&text).map_err(|error| self.bad(error.into()))?;
        if entry.schema != SCHEMA {
            return Err(
                self.bad(std::io::Error::other(format!("its schema is `{}`, expected `{SCHEMA}`", entry.schema)))
            );
        }
        Ok(entry.moves.into_iter().map(|one| moved(one, &entry.root, &self.root)).collect())
    }

    fn hands(&self, cx: &Context) -> Result<Hands, Error> {
        Ok(Hands::of(Git::at(cx, &self.root)?.run_as()))
    }

    fn bad(&self, source: std::io::Error) -> Error {
        UpdateError::BadJournal { repository: self.root.clone(), file: self.file.clone(), source }.into()
    }

    /// Puts back what such an update has half done. What the user did since is left alone.
    pub(super) fn clear_up(&self, cx: &Context, home: &Path) -> Result<(), Error> {
        for unfinished in self.unfinished()? {
            match &unfinished.from {
                Some(from) if unfinished.root.join(".git").exists() => {
                    put_back(cx, &unfinished, from)?;
                    managed::clear_up(cx, home, &unfinished.root)?;
                }
                None => super::half_clone::forget(cx, &unfinished)?,
                Some(_) => {}
            }
        }
        self.end(cx);
        Ok(())
    }
}

/// A move of a repository that was at another place when it was written down.
fn moved(one: Move, was: &Path, is: &Path) -> Move {
    let place = |path: PathBuf| {
        path.strip_prefix(was).map(|below| is.components().chain(below.components()).collect()).unwrap_or(path.clone())
    };
    let how = match one.how {
        How::Clone { parent, path, git_dir, had_git_dir } => {
            How::Clone { parent: place(parent), path, git_dir: place(git_dir), had_git_dir }
        }
        how => how,
    };
    Move { root: place(one.root), how, ..one }
}

fn put_back(cx: &Context, unfinished: &Move, from: &str) -> Result<(), Error> {
    // Which commit it is at is seen without the index, which may be locked.
    let git = Git::at(cx, &unfinished.root)?;
    remove_locks(&git)?;
    let checkout = Checkout::open(cx, &unfinished.root)?;
    if checkout.head.as_deref() != Some(from) {
        return Ok(());
    }
    // Without the new objects nothing of them can be in the work tree.
    if !git.has_commit(cx, git.reading(), &unfinished.to)? {
        return Ok(());
    }
    let compare = git.reading().args(["diff", "--cached", "--quiet", &unfinished.to]);
    let index_is_ahead = git.answer(cx, "compare the index", compare, &[1])?.is_some();
    let compare =
        git.reading().args(["diff", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=none"]);
    let compare = compare.args([from, &unfinished.to]).capture_limit(usize::MAX);
    let differences = git.run(cx, "compare commits", compare)?.stdout.text().into_owned();
    if index_is_ahead {
        // Git was done but for the commit's name: the index goes back first, then the files, all of which it wrote itself.
        git.run(cx, "put the index back", git.writing().args(["read-tree", from]))?;
    }
    for change in changes(&differences) {
        change.put_back(cx, &git)?;
    }
    let _ = git.run(cx, "refresh the index", git.writing().args(["update-index", "-q", "--refresh"]));
    Ok(())
}

/// A file that differs between the two commits.
struct Change<'a> {
    is_in_old: bool,
    /// `None` if the new commit lacks it.
    new_blob: Option<&'a str>,
    path: &'a str,
}

impl Change<'_> {
    fn put_back(&self, cx: &Context, git: &Git) -> Result<(), Error> {
        let place = git.root().join(self.path);
        if !self.is_half_written(cx, git, &place)? {
            return Ok(());
        }
        if self.is_in_old {
            let restore = git.writing().args(["checkout-index", "--force", "--", self.path]);
            git.run(cx, "put a file back", restore)?;
        } else {
            // It was not there before, and holds nothing but what git wrote.
            let remove = git.writing().args(["clean", "--quiet", "-fx", "--", self.path]);
            git.run(cx, "remove a new file", remove.env("GIT_LITERAL_PATHSPECS", "1"))?;
        }
        Ok(())
    }

    /// Whether the file is what a git that was killed leaves: gone, or a beginning of the new content. Anything else is
    /// the user's, or unchanged.
    fn is_half_written(&self, cx: &Context, git: &Git, place: &Path) -> Result<bool, Error> {
        let Ok(meta) = place.symlink_metadata() else { return Ok(self.is_in_old) };
        if meta.is_dir() {
            return Ok(false);
        }
        let Some(blob) = self.new_blob else { return Ok(false) };
        let found = if meta.is_symlink() {
            fs_err::read_link(place).map(|target| target.into_os_string().into_encoded_bytes())
        } else {
            fs_err::read(place)
        };
        let failed = |source| pto_store::Error::io("cannot look at a file of an unfinished update", source);
        let found = found.map_err(failed)?;
        let path = format!("--path={}", self.path);
        let show = git.reading().args(["cat-file", "--filters", &path, blob]).capture_limit(usize::MAX);
        let new = git.run(cx, "read a file of a commit", show)?;
        Ok(new.stdout.bytes().starts_with(&found))
    }
}

/// The files in `git diff --raw -z`; submodules, which have a move of their own, left out.
fn changes(raw: &str) -> impl Iterator<Item = Change<'_>> {
    let mut fields = raw.split('\0');
    std::iter::from_fn(move || Some((fields.next()?, fields.next()?))).filter_map(|(head, path)| {
        let mut words = head.strip_prefix(':')?.split(' ');
        let (old_mode, new_mode) = (words.next()?, words.next()?);
        let blob = words.nth(1)?;
        let is_file = |mode: &str| mode != "000000" && mode != "160000";
        let change = Change { is_in_old: is_file(old_mode), new_blob: is_file(new_mode).then_some(blob), path };
        (old_mode != "160000" && new_mode != "160000").then_some(change)
    })
}

/// Removes the locks of a git that is gone. One that is alive is waited for, as long as it takes to die.
pub(super) fn remove_locks(git: &Git) -> Result<(), Error> {
    let dirs = pto_checkout::GitDirs::find(git.root())?;
    remove_locks_in(git.root(), [&dirs.git_dir, &dirs.common_dir])
}

/// The same for a repository whose work tree may not be there yet.
pub(super) fn remove_locks_in(root: &Path, git_dirs: [&PathBuf; 2]) -> Result<(), Error> {
    let branch = fs_err::read_to_string(git_dirs[0].join("HEAD")).unwrap_or_default();
    let branch = branch.trim().strip_prefix("ref: ").map(|name| git_dirs[1].join(format!("{name}.lock")));
    let locks = LOCKS.iter().flat_map(|lock| git_dirs.map(|dir| dir.join(lock))).chain(branch);
    let locks: Vec<PathBuf> = locks.filter(|lock| lock.exists()).collect();
    if locks.is_empty() {
        return Ok(());
    }
    let start = Instant::now();
    while let Some(pid) = git_at_work(root) {
        if start.elapsed() > DYING {
            return Err(UpdateError::Busy { repository: root.to_path_buf(), pid }.into());
        }
        pto_store::stop_if_interrupted()?;
        std::thread::sleep(Duration::from_millis(50));
    }
    for lock in locks {
        let _ = std::fs::remove_file(lock);
    }
    Ok(())
}

/// A git that works below a directory.
fn git_at_work(root: &Path) -> Option<u32> {
    let is_git = |process: &Process| process.name().is_some_and(|name| name.starts_with("git"));
    Process::all().find(|process| is_git(process) && process.is_in(root)).map(|process| process.pid)
}
