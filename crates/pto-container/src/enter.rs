//! Making a container, or entering the one that is there.

use std::ffi::OsString;

use pto_context::Context;
use pto_docker::Docker;
use pto_platform::docker::Container;
use pto_process::{Invocation, Stream};
use pto_store::Lock;

use crate::claim::{NameClaim, claim_cards};
use crate::configuration::Configuration;
use crate::create::trust_line;
use crate::error::Error;
use crate::name;
use crate::plan::Plan;
use crate::session::{self, Entry, Session};
use crate::shell::shell_line;
use crate::start::{Asked, CREATED, enterable};

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

    /// The same as lines for a POSIX shell. They make by themselves what [`enter`](Self::enter) gives to the client on standard
    /// input, and name the variable of a proxy instead of its value.
    ///
    /// # Errors
    /// As [`steps`](Self::steps).
    pub fn lines(&self) -> Result<Vec<String>, Error> {
        let trust = |step: &Invocation| self.trust.as_ref() == Some(step);
        let line = |step: &Invocation| if trust(step) { trust_line(step, &self.trusted) } else { shell_line(step) };
        Ok(self.steps()?.iter().map(line).collect())
    }

    /// Creates the container, or compares the one that is there and starts it. If several processes ask for the same container at
    /// once, one of them creates it and gets its main shell; the others wait until it runs and get shells of their own.
    /// `on_line` gets the client's output while it fetches an image.
    ///
    /// # Errors
    /// The host is not fit for it, the container is not as it is asked for, or Docker cannot do it.
    pub fn enter(&self, mut on_line: impl FnMut(Stream, &str)) -> Result<Session, Error> {
        let name = NameClaim::new(&self.docker, &self.name)?;
        loop {
            let claimed = name.try_claim()?;
            match (self.docker.container(&self.name)?, claimed) {
                (Some(container), _) if container.is_running() => {
                    self.compare(&container)?;
                    return Ok(Session { entry: Entry::Joined, attach: self.exec(), held: Vec::new() });
                }
                (Some(container), Some(claimed)) => {
                    self.compare(&container)?;
                    self.require_fit()?;
                    let held = self.hold(claimed)?;
                    return self.start(Entry::Started, &container, held);
                }
                (None, Some(claimed)) => {
                    // First: that an image is nowhere explains more than that it would not fit.
                    let pull = self.pull()?;
                    self.require_fit()?;
                    if let Some(pull) = pull {
                        self.docker.run_streaming(&pull, &self.image, &mut on_line)?;
                        drop(claimed);
                        return Self::make(self.docker.cx(), &self.request)?.enter(on_line);
                    }
                    let held = self.hold(claimed)?;
                    match self.docker.run(&self.create, &self.image) {
                        // By another program or user, whom our locks do not keep out.
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

    /// Claims the cards too, and holds both claims until the container runs.
    fn hold(&self, name: Lock) -> Result<Vec<Lock>, Error> {
        let mut held = claim_cards(&self.docker, &self.name, &self.access.cards)?;
        held.push(name);
        Ok(held)
    }

    fn start(&self, entry: Entry, container: &Container, held: Vec<Lock>) -> Result<Session, Error> {
        enterable(&self.name, container)?;
        // One whose maker was interrupted has not run either, and may lack the file.
        if let Some(trust) = self.trust.as_ref().filter(|_| container.status.as_deref() == Some(CREATED)) {
            self.docker.run(trust, &self.name)?;
        }
        self.asked().start(&self.docker, &self.name, entry, container, held)
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
        let has_image = self.has_image;
        if differences.is_empty() { Ok(()) } else { Err(Error::Differs { name, status, differences, has_image }) }
    }

    fn require_fit(&self) -> Result<(), Error> {
        let findings = self.refusals();
        if findings.is_empty() { Ok(()) } else { Err(Error::Unfit { findings }) }
    }
}

/// Enters a container that is there, whatever its configuration, and starts it if it does not run. Also returns the configuration
/// that it recorded.
///
/// # Errors
/// There is no container of that name, or Docker cannot start it.
pub fn enter_existing(
    cx: &Context,
    container: &str,
    terminal: bool,
    command: &[OsString],
) -> Result<(Session, Option<Configuration>), Error> {
    let named = name::checked("a container", container.to_owned())?;
    let docker = Docker::new(cx)?;
    let (name, asked) = (NameClaim::new(&docker, &named)?, Asked { terminal, command });
    loop {
        let claimed = name.try_claim()?;
        let found = docker.container(&named)?.ok_or_else(|| Error::NoContainer { name: named.clone() })?;
        let recorded = Configuration::of(&found);
        let session = match claimed {
            _ if found.is_running() => {
                Session { entry: Entry::Joined, attach: asked.exec(&docker, &named), held: Vec::new() }
            }
            None => {
                name.wait()?;
                continue;
            }
            Some(claimed) => {
                enterable(&named, &found)?;
                asked.start(&docker, &named, Entry::Started, &found, vec![claimed])?
            }
        };
        return Ok((session, recorded));
    }
}
