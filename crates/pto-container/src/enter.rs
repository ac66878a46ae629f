//! Making a container, or entering the one that is there.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pto_context::Context;
use pto_docker::{Docker, private_home};
use pto_platform::docker::Container;
use pto_process::{Invocation, Stream};
use pto_store::{Lock, stop_if_interrupted};

use crate::claim::claim;
use crate::configuration::Configuration;
use crate::create::trust_line;
use crate::error::Error;
use crate::name;
use crate::plan::Plan;
use crate::session::{self, Entry, Session};
use crate::shell::shell_line;
use crate::start::{Asked, CREATED, enterable};

/// How often somebody who waits looks again.
pub(crate) const POLL: Duration = Duration::from_millis(100);

impl Plan {
    /// The steps that [`enter`](Self::enter) would take now, the session last; nothing is run.
    ///
    /// # Errors
    /// As [`enter`](Self::enter), but for the host's checks, which are not looked at.
    pub fn steps(&self) -> Result<Vec<Invocation>, Error> {
        let found = self.docker.container(&self.name)?;
        let mut steps = Vec::new();
        match &found {
            Some(container) => self.compare(container)?,
            None => {
                steps.extend(self.pull()?);
                steps.push(self.create.clone());
                steps.extend(self.trust.clone());
            }
        }
        let running = found.as_ref().is_some_and(Container::is_running);
        let main = found.as_ref().map_or_else(|| self.command.is_empty(), |it| self.asked().takes_main_shell(it));
        if !running && main {
            steps.push(session::attach(&self.docker, &self.name));
        } else {
            steps.extend((!running).then(|| session::start(&self.docker, &self.name)));
            steps.push(self.exec());
        }
        Ok(steps)
    }

    /// The same as lines for a POSIX shell: what [`enter`](Self::enter) hands to a client on standard input is made there, and
    /// the value of a proxy stays in its variable.
    ///
    /// # Errors
    /// As [`steps`](Self::steps).
    pub fn lines(&self) -> Result<Vec<String>, Error> {
        let trust = |step: &Invocation| self.trust.as_ref() == Some(step);
        let line = |step: &Invocation| if trust(step) { trust_line(step, &self.trusted) } else { shell_line(step) };
        Ok(self.steps()?.iter().map(line).collect())
    }

    /// Makes the container, or compares the one that is there and gets it to run. Of several processes that want the same
    /// one at once, one makes it and has its main shell; the others wait until it runs and get shells beside that.
    /// `on_line` is given what the client says while it fetches an image.
    ///
    /// # Errors
    /// The host is not fit for it, the container is not as it is asked for, or Docker cannot do it.
    pub fn enter(&self, mut on_line: impl FnMut(Stream, &str)) -> Result<Session, Error> {
        let name = Name::new(&self.docker, &self.name)?;
        loop {
            let main = name.try_lock()?;
            match (self.docker.container(&self.name)?, main) {
                (Some(container), _) if container.is_running() => {
                    self.compare(&container)?;
                    return Ok(Session { entry: Entry::Joined, attach: self.exec(), held: Vec::new() });
                }
                (Some(container), Some(main)) => {
                    self.compare(&container)?;
                    self.require_fit()?;
                    let held = self.hold(main)?;
                    return self.start(Entry::Started, &container, held);
                }
                (None, Some(main)) => {
                    self.require_fit()?;
                    if let Some(pull) = self.pull()? {
                        self.docker.run_streaming(&pull, &self.image, &mut on_line)?;
                        drop(main);
                        return Self::make(self.docker.cx(), &self.request)?.enter(on_line);
                    }
                    let held = self.hold(main)?;
                    match self.docker.run(&self.create, &self.image) {
                        // Somebody else's process, which our lock says nothing of.
                        Err(pto_docker::Error::NameTaken { .. }) => {}
                        made => {
                            made?;
                            let container = self.docker.container(&self.name)?;
                            let container = container.ok_or_else(|| Error::NoContainer { name: self.name.clone() })?;
                            return self.start(Entry::Created, &container, held);
                        }
                    }
                }
                (_, None) => name.wait()?,
            }
        }
    }

    /// The name and the cards, until the container runs.
    fn hold(&self, name: Lock) -> Result<Vec<Lock>, Error> {
        let mut held = claim(&self.docker, &self.name, &self.access.cards)?;
        held.push(name);
        Ok(held)
    }

    fn start(&self, entry: Entry, container: &Container, held: Vec<Lock>) -> Result<Session, Error> {
        enterable(&self.name, container)?;
        // Also of one that somebody made and was interrupted: it has not run, and may lack it.
        if let Some(trust) = self.trust.as_ref().filter(|_| container.status.as_deref() == Some(CREATED)) {
            self.docker.run(trust, &self.name)?;
        }
        self.asked().start(&self.docker, &self.name, entry, (container, held))
    }

    fn asked(&self) -> Asked<'_> {
        Asked { terminal: self.terminal, command: &self.command }
    }

    fn exec(&self) -> Invocation {
        self.asked().exec(&self.docker, &self.name)
    }

    fn compare(&self, container: &Container) -> Result<(), Error> {
        let (name, status) = (self.name.clone(), container.status.clone());
        let Some(recorded) = Configuration::of(container) else { return Err(Error::NoRecord { name, status }) };
        let differences = recorded.differences(&self.configuration);
        if differences.is_empty() { Ok(()) } else { Err(Error::Differs { name, status, differences }) }
    }

    fn require_fit(&self) -> Result<(), Error> {
        let findings = self.refusals();
        if findings.is_empty() { Ok(()) } else { Err(Error::Unfit { findings }) }
    }
}

/// Enters a container that is there, whatever it is made of; one that does not run is started. What it recorded of its
/// configuration comes with it.
///
/// # Errors
/// There is none of that name, or Docker cannot start it.
pub fn enter_existing(
    cx: &Context,
    container: &str,
    terminal: bool,
    command: &[OsString],
) -> Result<(Session, Option<Configuration>), Error> {
    let named = name::checked("a container", container.to_owned())?;
    let docker = Docker::new(cx)?;
    let (name, asked) = (Name::new(&docker, &named)?, Asked { terminal, command });
    loop {
        let main = name.try_lock()?;
        let found = docker.container(&named)?.ok_or_else(|| Error::NoContainer { name: named.clone() })?;
        let recorded = Configuration::of(&found);
        let session = match main {
            _ if found.is_running() => {
                Session { entry: Entry::Joined, attach: asked.exec(&docker, &named), held: Vec::new() }
            }
            None => {
                name.wait()?;
                continue;
            }
            Some(main) => {
                enterable(&named, &found)?;
                asked.start(&docker, &named, Entry::Started, (&found, vec![main]))?
            }
        };
        return Ok((session, recorded));
    }
}

/// A container's name as something that one process at a time may start.
struct Name {
    name: String,
    lock: PathBuf,
    since: Instant,
    /// From making a container to its running an engine takes as long as for any answer.
    patience: Duration,
}

impl Name {
    fn new(docker: &Docker, name: &str) -> Result<Self, Error> {
        let lock = private_home(docker.cx())?.join(format!("container.{name}"));
        Ok(Self { name: name.to_owned(), lock, since: Instant::now(), patience: docker.patience() })
    }

    fn try_lock(&self) -> Result<Option<Lock>, Error> {
        Ok(Lock::try_acquire(&self.lock)?)
    }

    /// Until somebody else may have made or started it.
    fn wait(&self) -> Result<(), Error> {
        stop_if_interrupted()?;
        if self.since.elapsed() > self.patience {
            return Err(Error::Busy { name: self.name.clone(), seconds: self.patience.as_secs() });
        }
        std::thread::sleep(POLL);
        Ok(())
    }
}
