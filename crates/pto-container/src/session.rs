//! The last step: a shell or a command in a container that runs.

use std::ffi::OsString;

use pto_context::Context;
use pto_docker::Docker;
use pto_process::Invocation;
use pto_store::Lock;
use serde::Serialize;

use crate::error::Error;

/// What a shell of the images reads when it is interactive; others read it through `BASH_ENV`.
const ACTIVATION: &str = "/opt/pypto/bin/pypto-activate.sh";

/// How a container came to be entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// It was made.
    Created,
    /// It was there and did not run.
    Started,
    /// It ran already: the session is one beside others.
    Joined,
}

/// A container that is ready, and the command that enters it.
#[derive(Debug)]
pub struct Session {
    /// How it came to that.
    pub entry: Entry,
    pub(crate) attach: Invocation,
    /// Held for as long as the container's main shell is ours: the name, since a second session must not share that shell,
    /// and the cards, which others cannot see in use before the shell runs.
    pub(crate) held: Vec<Lock>,
}

impl Session {
    /// The command, as a value.
    pub fn command(&self) -> &Invocation {
        &self.attach
    }

    /// Puts the client into the place of this process: the terminal, signals and the exit code are the session's from here
    /// on. Returns only if that fails.
    pub fn begin(self, cx: &Context) -> Error {
        for lock in self.held {
            if let Err(error) = lock.keep_for_life() {
                return error.into();
            }
        }
        self.attach.replace_this_process(cx).into()
    }
}

/// `docker start` with the main shell attached.
pub(crate) fn attach(docker: &Docker, name: &str) -> Invocation {
    docker.command(["start", "--attach", "--interactive", "--", name])
}

/// `docker start` without it.
pub(crate) fn start(docker: &Docker, name: &str) -> Invocation {
    docker.question(["start", "--", name])
}

/// A shell beside the main one, or a command with the environment of one.
pub(crate) fn exec(docker: &Docker, name: &str, terminal: bool, command: &[OsString]) -> Invocation {
    let mut args: Vec<OsString> = ["exec", "--interactive"].map(OsString::from).to_vec();
    args.extend(terminal.then(|| "--tty".into()));
    args.extend([name, "bash"].map(OsString::from));
    match command.is_empty() {
        true => args.extend(["--rcfile", ACTIVATION].map(OsString::from)),
        // Not the command itself: only a shell reads `BASH_ENV`.
        false => {
            args.extend(["-c", "exec \"$@\"", "bash"].map(OsString::from).into_iter().chain(command.iter().cloned()))
        }
    }
    docker.command(args)
}
