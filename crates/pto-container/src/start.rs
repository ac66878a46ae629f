//! Starting a container that does not run, and which shell of it a session gets.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use pto_docker::Docker;
use pto_platform::docker::Container;
use pto_process::Invocation;
use pto_store::{Lock, stop_if_interrupted};

use crate::claim::POLL;
use crate::error::Error;
use crate::session::{self, Entry, Session};

/// Docker's word for a container that was made and has not run.
pub(crate) const CREATED: &str = "created";
/// How long a main program without an input is watched before a session relies on it: a shell ends once it has read the
/// environment of shells, which takes some tenths of a second on a busy host.
const SETTLES: Duration = Duration::from_secs(1);

/// What a session is wanted for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// Whether standard input is a terminal.
    pub(crate) terminal: bool,
    /// Instead of a shell.
    pub(crate) command: &'a [OsString],
}

impl Asked<'_> {
    /// A command has a process of its own, and so has a session whose terminal the main shell does not have, or which has
    /// none where the main shell has one: Docker attaches like to like alone. A main shell that was made without an input
    /// never hears what is typed.
    pub(crate) fn takes_main_shell(&self, container: &Container) -> bool {
        self.command.is_empty() && container.takes_input && container.tty == self.terminal
    }

    /// The session in a container that does not run. Its name and cards are held for as long as its main shell is ours.
    ///
    /// # Errors
    /// Docker cannot start it, or it ends as soon as it is started.
    pub(crate) fn start(
        &self,
        docker: &Docker,
        name: &str,
        entry: Entry,
        (container, held): (&Container, Vec<Lock>),
    ) -> Result<Session, Error> {
        if self.takes_main_shell(container) {
            return Ok(Session { entry, attach: session::attach(docker, name), held });
        }
        docker.run(&session::start(docker, name), name)?;
        stays(docker, name, if container.takes_input { Duration::ZERO } else { SETTLES })?;
        Ok(Session { entry, attach: self.exec(docker, name), held: Vec::new() })
    }

    /// A shell or a command beside what runs.
    pub(crate) fn exec(&self, docker: &Docker, name: &str) -> Invocation {
        session::exec(docker, name, self.terminal, self.command)
    }
}

/// Docker starts what was made or has ended, and nothing that is paused or on its way.
pub(crate) fn enterable(name: &str, container: &Container) -> Result<(), Error> {
    match container.status.as_deref() {
        Some(CREATED | "exited") | None => Ok(()),
        Some(status) => Err(Error::NotEnterable { name: name.to_owned(), status: status.to_owned() }),
    }
}

/// That a container which was started runs on, so that there is something to enter.
fn stays(docker: &Docker, name: &str, settles: Duration) -> Result<(), Error> {
    let since = Instant::now();
    loop {
        let found = docker.container(name)?.ok_or_else(|| Error::NoContainer { name: name.to_owned() })?;
        match found.status.as_deref() {
            Some("running") | None => {}
            Some("exited") => {
                let (name, takes_input) = (name.to_owned(), found.takes_input);
                return Err(Error::Ended { name, exit_code: found.exit_code, takes_input });
            }
            Some(status) => return Err(Error::NotEnterable { name: name.to_owned(), status: status.to_owned() }),
        }
        if since.elapsed() >= settles {
            return Ok(());
        }
        stop_if_interrupted()?;
        std::thread::sleep(POLL);
    }
}
