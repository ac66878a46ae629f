//! The revision of a directory, by asking git.

use std::path::Path;
use std::time::Duration;

use pto_context::Context;
use pto_process::Invocation;

use super::model::Revision;

/// On a cold disk git reads the index of a large repository in a second or two.
const DEADLINE: Duration = Duration::from_secs(20);

/// `None` where there is no git, no repository or no commit: a record without a revision is still one.
pub(super) fn revision(cx: &Context, dir: &Path) -> Option<Revision> {
    let commit = ask(cx, dir, &["rev-parse", "--verify", "--quiet", "HEAD"])?.trim().to_owned();
    // Only this directory: that somebody edits another kernel says nothing about this one.
    let changes = ask(cx, dir, &["status", "--porcelain", "--untracked-files=all", "--", "."])?;
    Some(Revision { commit, dirty: !changes.trim().is_empty() })
}

fn ask(cx: &Context, dir: &Path, words: &[&str]) -> Option<String> {
    // Reading must not take the lock that somebody's own git waits for.
    let git = Invocation::new("git").arg("--no-optional-locks").args(words).cwd(cx.cwd().join(dir)).deadline(DEADLINE);
    let output = git.run(cx).ok()?;
    output.success().then(|| output.stdout.masked().to_string())
}
