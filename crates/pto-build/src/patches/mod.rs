//! Managed patches: changes to the runtime's sources that an image needs and upstream does not have yet.
//!
//! A patch is applied only where its context fits exactly. Where its exact change is there already, from upstream or from an
//! earlier build, it is skipped; anything else is refused before a file is touched.

mod state;

use std::path::{Path, PathBuf};

use pto_checkout::{Checkout, Git};
use pto_context::Context;
use pto_process::{Error as ProcessError, Invocation, Output, Stdin};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::build::hex;
use crate::error::{Error, SourceError};

pub use state::{extension_of, managed_diff, record_state};
pub(crate) use state::{move_record, recorded_diff};

/// How the files of patches end.
const EXTENSION: &str = "patch";

/// A patch as it lies in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The file's name without its end: `cann92-a5-aicpu-class-memaccess`.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

/// How a patch stands to a checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Its context fits, and its change is not there.
    Applies,
    /// Its exact change is there.
    Present,
}

/// A patch and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// Its name.
    pub patch: String,
    /// How it stood before.
    pub standing: Standing,
}

/// The patches of a directory, or one that is a file, in the order of their names.
///
/// # Errors
/// It cannot be read, or holds none.
pub fn patches_in(place: &Path) -> Result<Vec<Patch>, Error> {
    let failed = Error::io("cannot read the patches");
    let mut paths = vec![place.to_owned()];
    if place.is_dir() {
        let entries = fs_err::read_dir(place).map_err(&failed)?.map(|entry| entry.map(|entry| entry.path()));
        paths = entries.collect::<Result<_, _>>().map_err(&failed)?;
        paths.retain(|path| path.extension().is_some_and(|extension| extension == EXTENSION));
        paths.sort();
    }
    if paths.is_empty() {
        return Err(SourceError::NoPatches { dir: place.to_owned() }.into());
    }
    let read = |path: PathBuf| {
        let bytes = fs_err::read(&path).map_err(&failed)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Patch { name, path, bytes })
    };
    paths.into_iter().map(read).collect()
}

/// SHA-256 over the patches, one after the other: of a single one, that of its file.
pub fn patches_sha256(patches: &[Patch]) -> String {
    let mut sum = Sha256::new();
    patches.iter().for_each(|patch| sum.update(&patch.bytes));
    hex(&sum.finalize())
}

/// How each patch stands to a checkout. Writes nothing.
///
/// # Errors
/// [`SourceError::PatchRejected`]: one neither fits nor is there. [`SourceError::NotAPatch`].
pub fn examine(cx: &Context, checkout: &Checkout, patches: &[Patch]) -> Result<Vec<Outcome>, Error> {
    let git = checkout.git(cx)?;
    let mut outcomes = Vec::new();
    // Those before it that are not applied yet: a patch may build on them.
    let mut before: Vec<&Patch> = Vec::new();
    for patch in patches {
        let standing = if passes(cx, (git.root(), git.reading()), &["--reverse", "--check"], &[patch])?.success() {
            Standing::Present
        } else {
            let together = [&before[..], &[patch]].concat();
            let check = passes(cx, (git.root(), git.reading()), &["--check"], &together)?;
            if !check.success() {
                return Err(rejected(checkout, patch, &check));
            }
            before = together;
            Standing::Applies
        };
        outcomes.push(Outcome { patch: patch.name.clone(), standing });
    }
    Ok(outcomes)
}

/// Applies the patches that are not there, all of them or none.
///
/// # Errors
/// As [`examine`].
pub fn apply(cx: &Context, checkout: &Checkout, patches: &[Patch]) -> Result<Vec<Outcome>, Error> {
    let outcomes = examine(cx, checkout, patches)?;
    let wanted = patches.iter().zip(&outcomes).filter(|(_, outcome)| outcome.standing == Standing::Applies);
    let wanted: Vec<&Patch> = wanted.map(|(patch, _)| patch).collect();
    if let Some(last) = wanted.last() {
        // One input: git changes either all files that it names or none.
        let applied = passes(cx, (checkout.root(), checkout.git(cx)?.writing()), &[], &wanted)?;
        if !applied.success() {
            return Err(rejected(checkout, last, &applied));
        }
    }
    Ok(outcomes)
}

/// `git apply` with patches as its input: whoever git runs as need not be able to read their files.
pub(crate) fn passes(
    cx: &Context,
    (repository, git): (&Path, Invocation),
    how: &[&str],
    patches: &[&Patch],
) -> Result<Output, Error> {
    let input = patches.iter().flat_map(|patch| patch.bytes.iter().copied()).collect();
    let apply = git.args(["apply", "--whitespace=nowarn"]).args(how).arg("-").stdin(Stdin::Bytes(input));
    apply.run(cx).map_err(Error::command("apply a managed patch", repository))
}

fn rejected(checkout: &Checkout, patch: &Patch, output: &Output) -> Error {
    let said = output.last_words(6);
    if said.contains("No valid patches") || said.contains("corrupt patch") {
        return SourceError::NotAPatch { file: patch.path.clone(), why: said }.into();
    }
    let changed = [&checkout.staged[..], &checkout.modified, &checkout.conflicted].concat();
    SourceError::PatchRejected {
        patch: patch.path.clone(),
        repository: checkout.root().to_owned(),
        head: checkout.head.clone().unwrap_or_default(),
        changed,
        source: ProcessError::Failed(Box::new(output.clone())),
    }
    .into()
}

/// The tree that a checkout's commit and the patches come to, as git names it; `None` if one of them does not fit the
/// commit. The user's index is not touched.
fn expected_tree(cx: &Context, git: &Git, index: &Path, patches: &[Patch]) -> Result<Option<String>, Error> {
    let with = |git: Invocation| git.env("GIT_INDEX_FILE", index);
    let failed = "tell what the managed patches come to";
    git.run(cx, failed, with(git.writing()).args(["read-tree", "HEAD"]))?;
    for patch in patches {
        let there = passes(cx, (git.root(), with(git.writing())), &["--cached", "--reverse", "--check"], &[patch])?;
        if !there.success() && !passes(cx, (git.root(), with(git.writing())), &["--cached"], &[patch])?.success() {
            return Ok(None);
        }
    }
    let tree = git.run(cx, failed, with(git.writing()).arg("write-tree"))?;
    Ok(Some(tree.stdout.text().trim().to_owned()))
}
