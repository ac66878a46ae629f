//! `task-submit`, the queue by which users of a machine share its devices, where there is one.
//!
//! What it is known to do: `task-submit --timeout S --max-time S --device N --run COMMAND` waits for its own lock on device
//! N, runs the command with a shell, in the caller's environment and with `TASK_DEVICE` set, and passes its output and
//! (mostly) its exit code on. The task is a server's child and not ours: it outlives the client. So the worker's keeper is
//! told the limit of the process, gives up when the launch's directory is gone, and leaves word of how the worker ended.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_context::Context;
use pto_process::{Invocation, shell_word};

use crate::path::Asked;
use crate::worker;

/// What it is called.
pub(crate) const PROGRAM: &str = "task-submit";

/// How much longer than the process the queue lets the task live: it is the last to end it.
const MARGIN: Duration = Duration::from_secs(15);

/// How much longer than the queue's own time-out its client may take.
const CLIENT: Duration = Duration::from_secs(30);

/// The queue of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Queue {
    program: PathBuf,
    node: u32,
    /// How long a task may wait for its device.
    patience: Duration,
}

impl Queue {
    /// The queue, for a device. `None` where there is none, and inside of one of its tasks, which has its device already.
    pub(crate) fn find(cx: &Context, node: u32, patience: Duration) -> Option<Self> {
        if Self::has_given(cx) {
            return None;
        }
        let program = which::which_in(PROGRAM, cx.var_os("PATH"), cx.cwd()).ok()?;
        Some(Self { program, node, patience })
    }

    /// Whether this process is a task itself.
    pub(crate) fn has_given(cx: &Context) -> bool {
        cx.var_os(Asked::TASK_DEVICE).is_some()
    }

    /// The command that runs a worker as a task.
    pub(crate) fn invocation(&self, cx: &Context, program: &Path, args: &[OsString], process: Duration) -> Invocation {
        let seconds = |time: Duration| time.as_secs_f64().ceil().to_string();
        let whole = process + MARGIN;
        let limit = process.as_millis().to_string();
        let words = [program.as_os_str()].into_iter().chain(args.iter().map(OsString::as_os_str));
        let words: Vec<String> = words.map(|word| shell_word(&word.to_string_lossy())).collect();
        // The code is passed on by hand: with the program as the last command, the queue is known to report another one.
        let run = format!(
            "cd {} && {}=1 {} {limit}; rc=$?; exit $rc",
            shell_word(&cx.cwd().to_string_lossy()),
            worker::VARIABLE,
            words.join(" "),
        );
        Invocation::new(&self.program)
            .args(["--timeout".to_owned(), seconds(self.patience + whole)])
            .args(["--max-time".to_owned(), seconds(whole)])
            .args(["--device".to_owned(), self.node.to_string()])
            .args(["--run".to_owned(), run])
            .deadline(self.patience + whole + CLIENT)
    }
}
