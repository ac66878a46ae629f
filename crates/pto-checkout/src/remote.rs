//! What remotes hold, without a repository here.

use std::path::Path;

use pto_context::Context;
use pto_platform::git::{is_full_commit, parse_remote_refs, resolve_ref};
use pto_process::{Invocation, Output, masked};

use crate::error::Error;
use crate::git::{Plain, REMOTE_VARIABLE};
use crate::run_as::RunAs;

/// Refs are a few kilobytes; a remote that has not listed them by then does not answer.
const LISTING: std::time::Duration = std::time::Duration::from_secs(120);
/// As for other exchanges.
const CLONE: std::time::Duration = std::time::Duration::from_secs(1800);

/// The commit, in full, that a branch, tag or ref of a remote stands for now. A name that is a full commit stands for
/// itself, and nobody is asked.
///
/// # Errors
/// The remote cannot be asked, or has no such ref.
pub fn resolve(cx: &Context, url: &str, name: &str) -> Result<String, Error> {
    if is_full_commit(name) {
        return Ok(name.to_ascii_lowercase());
    }
    let asking = Plain::new(cx, RunAs::caller()).exchanging().args(["ls-remote", "--quiet", "--", url]);
    // A pattern matches the end of a name, so all that can be meant are asked for, and no more are sent.
    let asking = if name == "HEAD" { asking.arg(name) } else { asking.args([name.to_owned(), format!("{name}^{{}}")]) };
    let output =
        run(cx, "list the refs of", url, asking.deadline_from(REMOTE_VARIABLE, cx.seconds(REMOTE_VARIABLE, LISTING)?))?;
    let refs = parse_remote_refs(&output.stdout.text());
    let missing = || Error::NoSuchRef { remote: masked(url), name: name.to_owned() };
    resolve_ref(&refs, name).map(str::to_owned).ok_or_else(missing)
}

/// The command that clones a remote without a work tree in it, which a checkout of a commit then fills.
///
/// # Errors
/// `PTOKIT_GIT_TIMEOUT_S` is no time.
pub fn clone_command(cx: &Context, run_as: &RunAs, url: &str, into: &Path) -> Result<Invocation, Error> {
    let clone =
        Plain::new(cx, run_as.clone()).exchanging().args(["clone", "--quiet", "--no-checkout", "--", url]).arg(into);
    Ok(clone.deadline_from(REMOTE_VARIABLE, cx.seconds(REMOTE_VARIABLE, CLONE)?))
}

/// Clones a remote without a work tree.
///
/// # Errors
/// [`Error::Remote`].
pub fn clone(cx: &Context, run_as: &RunAs, url: &str, into: &Path) -> Result<(), Error> {
    run(cx, "clone", url, clone_command(cx, run_as, url, into)?).map(drop)
}

fn run(cx: &Context, action: &'static str, url: &str, command: Invocation) -> Result<Output, Error> {
    let failed = |source| Error::Remote { action, remote: masked(url), source };
    command.run(cx).and_then(Output::require_success).map_err(failed)
}
