//! One command of a setup: run with a deadline, its failures told apart.

use std::path::Path;
use std::time::Duration;

use pto_context::Context;
use pto_process::{Invocation, Output, Status};

use crate::error::{Attempt, Error, HomeError};

/// How long one command may take. Half of it is what torch needs over a slow line; `uv` has no progress that could tell a
/// slow one from a dead one.
const DEADLINE: Duration = Duration::from_secs(60 * 60);
/// What overrides it.
const DEADLINE_VARIABLE: &str = "PTOKIT_SETUP_TIMEOUT_S";
/// How many of a command's last lines are shown.
const LAST_WORDS: usize = 12;

/// Runs a command that writes under a directory. `Ok(Err(..))` if it ran and failed for a reason of its own. `what` follows
/// `cannot`.
pub(crate) fn attempt(
    cx: &Context,
    what: &'static str,
    command: Invocation,
    under: &Path,
) -> Result<Result<Output, Attempt>, Error> {
    let deadline = cx.seconds(DEADLINE_VARIABLE, DEADLINE)?;
    let line = command.to_shell_line();
    let output = command.deadline_from(DEADLINE_VARIABLE, deadline).run(cx).map_err(Error::command(what, under))?;
    match output.status {
        Status::Exited(0) => Ok(Ok(output)),
        Status::Interrupted => Err(Error::interrupted()),
        _ if output.says_disk_full() => {
            let source = std::io::Error::new(std::io::ErrorKind::StorageFull, output.last_words(2));
            Err(Error::in_home("cannot install", under)(source))
        }
        status => Ok(Err(Attempt {
            line,
            ended: format!("`{}` {status}", output.program),
            last_words: output.last_words(LAST_WORDS),
            unreachable: pto_fetch::says_unreachable(&output),
        })),
    }
}

/// The same where failure is the end.
pub(crate) fn run(cx: &Context, what: &'static str, command: Invocation, under: &Path) -> Result<Output, Error> {
    attempt(cx, what, command, under)?.map_err(|attempt| HomeError::Step { what, attempt }.into())
}
