//! `dist-state.json`: which runtime, with which patches, is in the installed binding. Doctor accepts edits of the runtime
//! that it records, and no others.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use pto_checkout::Checkout;
use pto_context::{Context, Readable, write_whole};
use pto_platform::files::{DistState, parse_dist_state};
use sha2::{Digest, Sha256};

use super::{Patch, expected_tree, patches_sha256};
use crate::build::{Hands, artifact_digest, hex};
use crate::error::Error;

/// Below PyPTO's home.
const FILE: &str = "dist-state.json";
/// The patches that were applied, one after the other, below PyPTO's home as well: what `patch_sha256` is the sum of.
const PATCH: &str = "dist-state.patch";
/// Changes of an image are far below this; a list that is cut would be another one.
const LARGEST_DIFF: usize = 1 << 30;
/// Below the git directory: an index of our own.
const INDEX: &str = "ptokit-index";
/// simpler's extension, alone or in its package.
const EXTENSION: &str = "_task_interface";

/// What the runtime's work tree holds beyond its commit, if that is the patches and nothing else: the bytes of
/// `git diff --binary HEAD`. `None` if there is anything else.
///
/// # Errors
/// Git cannot tell.
pub fn managed_diff(cx: &Context, runtime: &Checkout, patches: &[Patch]) -> Result<Option<Vec<u8>>, Error> {
    let git = runtime.git(cx)?;
    if !runtime.untracked.is_empty() || !runtime.conflicted.is_empty() {
        return Ok(None);
    }
    let index = runtime.dirs.git_dir.join(INDEX);
    let tree = expected_tree(cx, &git, &index, patches);
    Hands::of(git.run_as()).remove(cx, &index)?;
    let Some(tree) = tree? else { return Ok(None) };
    if !git.ask(cx, "compare the runtime with the managed patches", &["diff", "--binary", &tree])?.is_empty() {
        return Ok(None);
    }
    Ok(Some(diff(cx, runtime)?))
}

/// What doctor compares as well.
fn diff(cx: &Context, runtime: &Checkout) -> Result<Vec<u8>, Error> {
    let git = runtime.git(cx)?;
    let command = git.reading().args(["diff", "--binary", "HEAD"]).capture_limit(LARGEST_DIFF);
    Ok(git.run(cx, "tell the changes of the runtime", command)?.stdout.bytes().to_vec())
}

fn sha(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// What a home has of its record; `None` if it has none.
fn read(home: &Path) -> Result<Option<DistState>, Error> {
    match fs_err::read_to_string(home.join(FILE)) {
        Ok(text) => Ok(Some(parse_dist_state(&text))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("cannot read what is installed")(error)),
    }
}

fn write(home: &Path, state: &DistState) -> Result<(), Error> {
    let failed = Error::write("cannot write down what is installed", home);
    let mut text = serde_json::to_vec_pretty(state).map_err(|error| failed(error.into()))?;
    text.push(b'\n');
    write_whole(&home.join(FILE), Readable::ByUmask, |file| file.write_all(&text)).map_err(failed)
}

/// The changes of a runtime, as a patch, if they are exactly those of the home's record: of this commit, and nothing in
/// the index or beside.
pub(crate) fn recorded_diff(cx: &Context, home: &Path, runtime: &Checkout) -> Result<Option<Vec<u8>>, Error> {
    let others = [&runtime.staged, &runtime.untracked, &runtime.conflicted];
    if runtime.operation.is_some() || others.iter().any(|paths| !paths.is_empty()) {
        return Ok(None);
    }
    let Some(state) = read(home)?.filter(|state| state.runtime_sha.is_some() && state.runtime_sha == runtime.head)
    else {
        return Ok(None);
    };
    if state.patch_sha256.is_none() {
        return Ok(None);
    }
    let diff = diff(cx, runtime)?;
    Ok((state.diff_sha256.as_deref() == Some(&*sha(&diff))).then_some(diff))
}

/// Writes down that the changes of a runtime, which was moved, are still the managed ones. What is installed is not of
/// them yet, so the record names no extension until it is.
pub(crate) fn move_record(cx: &Context, home: &Path, runtime: &Checkout) -> Result<(), Error> {
    let Some(state) = read(home)? else { return Ok(()) };
    let diff_sha256 = Some(sha(&diff(cx, runtime)?));
    if state.runtime_sha == runtime.head && state.diff_sha256 == diff_sha256 {
        return Ok(());
    }
    write(home, &DistState { runtime_sha: runtime.head.clone(), diff_sha256, extension_sha256: None, ..state })
}

/// Writes down what is in the binding that was just installed. With patches, if they are all that the runtime has beyond
/// its commit. Without, if an earlier record has the same runtime and the same changes, which an image was made with, and
/// there is no new file; its patch stays the recorded one.
///
/// # Errors
/// Git cannot tell, or the home cannot be written.
pub fn record_state(
    cx: &Context,
    home: &Path,
    runtime: &Path,
    patches: &[Patch],
    extension: Option<&Path>,
) -> Result<Option<DistState>, Error> {
    let earlier = read(home)?;
    if patches.is_empty() && earlier.is_none() {
        return Ok(None);
    }
    let runtime = &Checkout::open(cx, runtime)?;
    let (diff_sha, patch_sha) = if patches.is_empty() {
        let Some(earlier) = earlier else { return Ok(None) };
        if !runtime.untracked.is_empty() {
            return Ok(None);
        }
        let diff_sha = sha(&diff(cx, runtime)?);
        if earlier.runtime_sha != runtime.head || earlier.diff_sha256.as_deref() != Some(&*diff_sha) {
            return Ok(None);
        }
        (diff_sha, earlier.patch_sha256)
    } else {
        match managed_diff(cx, runtime, patches)? {
            None => return Ok(None),
            Some(diff) => (sha(&diff), Some(patches_sha256(patches))),
        }
    };
    let state = DistState {
        runtime_sha: runtime.head.clone(),
        diff_sha256: Some(diff_sha),
        patch_sha256: patch_sha,
        extension_sha256: extension.and_then(artifact_digest),
        notes: Vec::new(),
    };
    if !patches.is_empty() {
        let failed = Error::write("cannot write down which patches are installed", home);
        let fill = |file: &mut _| patches.iter().try_for_each(|patch| std::fs::File::write_all(file, &patch.bytes));
        write_whole(&home.join(PATCH), Readable::ByUmask, fill).map_err(failed)?;
    }
    write(home, &state)?;
    Ok(Some(state))
}

/// The extension that an environment's `simpler` loads.
pub fn extension_of(platlib: &Path) -> Option<PathBuf> {
    let in_dir = |dir: PathBuf| {
        let names = std::fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path());
        let mut names: Vec<PathBuf> = names.filter(|path| is_extension(path)).collect();
        names.sort();
        names.into_iter().next()
    };
    [platlib.to_owned(), platlib.join("simpler")].into_iter().find_map(in_dir)
}

fn is_extension(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next() == Some(EXTENSION) && path.extension().is_some_and(|extension| extension == "so")
}
