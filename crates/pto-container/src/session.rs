//! The last step: a shell or a command in a running container.

use std::ffi::OsString;

use pto_context::Context;
use pto_docker::Docker;
use pto_process::Invocation;
use pto_quarantine::Claim;
use serde::Serialize;

use crate::error::Error;

/// The startup file of the images' interactive shells. Other shells read it through `BASH_ENV`.
const ACTIVATION: &str = "/opt/pypto/bin/pypto-activate.sh";

/// How a container came to be entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// It was created.
    Created,
    /// It was there, and was started.
    Started,
    /// It ran already, perhaps with other sessions in it.
    Joined,
}

/// A container that is ready, and the command that enters it.
#[derive(Debug)]
pub struct Session {
    /// How it came to be entered.
    pub entry: Entry,
    pub(crate) attach: Invocation,
    /// The claims, held for as long as this session has the main shell: of the name, since a second session must not share that
    /// shell, and of the cards, which others cannot see in use before the shell runs.
    pub(crate) held: Vec<Claim>,
}

impl Session {
    /// The command, as a value.
    pub fn command(&self) -> &Invocation {
        &self.attach
    }

    /// Replaces this process by the client, so that the terminal, signals and the exit code are the session's from here on. Returns
    /// only if that fails.
    pub fn begin(self, cx: &Context) -> Error {
        for claim in self.held {
            if let Err(error) = claim.keep_for_life() {
                return error.into();
            }
        }
        self.attach.replace_this_process(cx).into()
    }
}

/// `docker start`, attached to the main shell.
pub(crate) fn attach(docker: &Docker, name: &str) -> Invocation {
    docker.command(["start", "--attach", "--interactive", "--", name])
}

/// `docker start`, not attached.
pub(crate) fn start(docker: &Docker, name: &str) -> Invocation {
    docker.question(["start", "--", name])
}

/// `docker exec` with a shell, or with a command in the environment of a shell.
pub(crate) fn exec(docker: &Docker, name: &str, terminal: bool, command: &[OsString]) -> Invocation {
    let mut args: Vec<OsString> = ["exec", "--interactive"].map(OsString::from).to_vec();
    args.extend(terminal.then(|| "--tty".into()));
    args.extend([name, "bash"].map(OsString::from));
    match command.is_empty() {
        true => args.extend(["--rcfile", ACTIVATION].map(OsString::from)),
        // Through a shell, as only a shell reads `BASH_ENV`.
        false => {
            args.extend(["-c", "exec -- \"$@\"", "bash"].map(OsString::from).into_iter().chain(command.iter().cloned()))
        }
    }
    docker.command(args)
}
