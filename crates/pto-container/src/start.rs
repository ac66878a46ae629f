//! Starting a container, and deciding whether a session gets its main shell or one of its own.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use pto_docker::Docker;
use pto_platform::docker::Container;
use pto_process::Invocation;
use pto_quarantine::Claim;

use crate::claim::pause;
use crate::error::Error;
use crate::session::{self, Entry, Session};

/// Docker's word for a container that was created and has not run yet.
pub(crate) const CREATED: &str = "created";
/// How long to watch a main program without input before a session relies on it. A shell without input ends as soon as it has read
/// its startup files, which takes some tenths of a second on a busy host.
const SETTLES: Duration = Duration::from_secs(1);

/// The session that somebody asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// Whether standard input is a terminal.
    pub(crate) terminal: bool,
    /// The command to run; empty for a shell.
    pub(crate) command: &'a [OsString],
}

impl Asked<'_> {
    /// Whether the session gets the container's main shell. Not to run a command, not if only one of the two has a terminal, which
    /// Docker does not attach, and not if the main shell was created without input: it would never get what is typed.
    pub(crate) fn takes_main_shell(&self, container: &Container) -> bool {
        self.command.is_empty() && container.takes_input && container.tty == self.terminal
    }

    /// Starts a container that does not run, and returns the session in it. The claims are held for as long as the session has the
    /// main shell.
    ///
    /// # Errors
    /// Docker cannot start it, or it ends as soon as it is started.
    pub(crate) fn start(
        &self,
        docker: &Docker,
        name: &str,
        entry: Entry,
        container: &Container,
        held: Vec<Claim>,
    ) -> Result<Session, Error> {
        if self.takes_main_shell(container) {
            return Ok(Session { entry, attach: session::attach(docker, name), held });
        }
        docker.run(&session::start(docker, name), name)?;
        stays(docker, name, if container.takes_input { Duration::ZERO } else { SETTLES })?;
        Ok(Session { entry, attach: self.exec(docker, name), held: Vec::new() })
    }

    /// The command that enters a running container, with a process of its own.
    pub(crate) fn exec(&self, docker: &Docker, name: &str) -> Invocation {
        session::exec(docker, name, self.terminal, self.command)
    }
}

/// Checks that Docker can start a container: one that was created or has ended, not one that is paused, restarting or being removed.
pub(crate) fn enterable(name: &str, container: &Container) -> Result<(), Error> {
    match container.status.as_deref() {
        Some(CREATED | "exited") | None => Ok(()),
        Some(status) => Err(Error::NotEnterable { name: name.to_owned(), status: status.to_owned() }),
    }
}

/// Checks that a container keeps running after its start, so that there is something to enter.
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
        pause()?;
    }
}
