//! The managed patches of an image, which an update takes off a runtime that moves and applies again where it has moved to.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pto_checkout::{Checkout, Git, GitDirs};
use pto_context::{Context, Event};

use crate::build::Hands;
use crate::error::{Error, UpdateError};
use crate::patches::{self, Patch};

/// In the git directory of the runtime, from before the changes are taken off until they are there again.
const FILE: &str = "ptokit-managed.patch";

/// The changes of a runtime that are exactly the recorded ones.
#[derive(Debug, Clone)]
pub(super) struct Managed {
    /// The runtime.
    pub(super) root: PathBuf,
    pub(super) patch: Patch,
}

impl Managed {
    /// What a runtime has, if that is what the home's record says and nothing else.
    pub(super) fn of(cx: &Context, home: &Path, runtime: &Checkout) -> Result<Option<Self>, Error> {
        let found = patches::recorded_diff(cx, home, runtime)?;
        let patch = |bytes| Patch { name: "managed".to_owned(), path: runtime.dirs.git_dir.join(FILE), bytes };
        Ok(found.map(|bytes| Self { root: runtime.root().to_owned(), patch: patch(bytes) }))
    }

    /// Puts the changes down in a file, and takes them off.
    pub(super) fn take_off(&self, cx: &Context, git: &Git) -> Result<(), Error> {
        Hands::of(git.run_as()).write(cx, &self.patch.path, &self.patch.bytes)?;
        let input = pto_process::Stdin::Bytes(self.patch.bytes.clone());
        let reverse = git.writing().args(["apply", "--whitespace=nowarn", "--reverse", "-"]).stdin(input);
        git.run(cx, "take the managed patches off", reverse)?;
        Ok(())
    }

    /// Applies the changes where they are not there, and writes down that they are the managed ones of this commit.
    pub(super) fn put_on(&self, cx: &Context, home: &Path) -> Result<(), Error> {
        let runtime = Checkout::open(cx, &self.root)?;
        patches::apply(cx, &runtime, std::slice::from_ref(&self.patch))?;
        self.settle(cx, home)?;
        let message = format!("The managed patches of `{}` are there again", self.root.display());
        cx.emit(Event::Finished { task: "update:patches".to_owned(), message });
        Ok(())
    }

    fn settle(&self, cx: &Context, home: &Path) -> Result<(), Error> {
        let runtime = Checkout::open(cx, &self.root)?;
        patches::move_record(cx, home, &runtime)?;
        Hands::of(runtime.git(cx)?.run_as()).remove(cx, &self.patch.path)
    }
}

/// Applies again what an update had taken off that was killed. Where somebody has changed files since, he is asked.
pub(super) fn clear_up(cx: &Context, home: &Path, root: &Path) -> Result<(), Error> {
    let path = GitDirs::find(root)?.git_dir.join(FILE);
    let bytes = match std::fs::read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        read => read.map_err(crate::Error::io("cannot read the managed patches that were taken off"))?,
    };
    let managed = Managed { root: root.to_owned(), patch: Patch { name: "managed".to_owned(), path, bytes } };
    let runtime = Checkout::open(cx, root)?;
    if patches::managed_diff(cx, &runtime, std::slice::from_ref(&managed.patch))?.is_some() {
        return managed.settle(cx, home);
    }
    if runtime.is_dirty() {
        return Err(UpdateError::TakenOff { repository: root.to_owned(), patch: managed.patch.path }.into());
    }
    managed.put_on(cx, home)
}
