//! Making a container, or entering the one that is there.

use std::ffi::OsString;

use pto_context::Context;
use pto_docker::Docker;
use pto_platform::docker::Container;
use pto_process::{Invocation, Stream};
use pto_quarantine::Claim;

use crate::checks::cards_of;
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
            Some(container) => {
                self.compare(container)?;
                if !container.is_running() {
                    enterable(&self.name, container)?;
                }
            }
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
        let mut name = NameClaim::new(self.docker.cx(), self.engine.as_deref(), &self.name);
        loop {
            // One that runs is entered by whoever comes; what is wrong with another is said without waiting.
            if let Some(container) = self.docker.container(&self.name)? {
                self.compare(&container)?;
                if container.is_running() {
                    return Ok(Session { entry: Entry::Joined, attach: self.exec(), held: Vec::new() });
                }
                enterable(&self.name, &container)?;
            }
            let Some(claimed) = name.try_claim()? else { continue };
            // Looked at again: until now, another process may have had the name.
            match self.docker.container(&self.name)? {
                Some(container) if container.is_running() => {}
                // It ran when the host was looked at, which was not checked then.
                Some(_) if self.was_running => return Self::make(self.docker.cx(), &self.request)?.enter(on_line),
                Some(container) => {
                    self.compare(&container)?;
                    self.require_fit()?;
                    let held = self.hold(claimed)?;
                    return self.start(Entry::Started, &container, held);
                }
                None => {
                    // First: that an image is nowhere explains more than that it would not fit.
                    let pull = self.pull()?;
                    self.require_fit()?;
                    if let Some(pull) = pull {
                        // Without the claim, for which nobody should have to wait so long: the engine fetches a layer once.
                        drop(claimed);
                        self.docker.run_streaming(&pull, &self.image, &mut on_line)?;
                        return Self::make(self.docker.cx(), &self.request)?.enter(on_line);
                    }
                    let held = self.hold(claimed)?;
                    match self.docker.run(&self.create, &self.image) {
                        // By another program, which our claims do not keep out.
                        Err(pto_docker::Error::NameTaken { .. }) => {}
                        made => {
                            made?;
                            let container = self.docker.container(&self.name)?;
                            let container = container.ok_or_else(|| Error::NoContainer { name: self.name.clone() })?;
                            return self.start(Entry::Created, &container, held);
                        }
                    }
                }
            }
        }
    }

    /// Claims the cards too, and holds both claims until the container runs.
    fn hold(&self, name: Claim) -> Result<Vec<Claim>, Error> {
        let mut held = claim_cards(&self.docker, &self.name, &self.access.cards)?;
        held.push(name);
        Ok(held)
    }

    fn start(&self, entry: Entry, container: &Container, held: Vec<Claim>) -> Result<Session, Error> {
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
        let (name, status, goes_at_its_end) = (self.name.clone(), container.status.clone(), container.auto_remove);
        let Some(recorded) = Configuration::of(container) else {
            return Err(Error::NoRecord { name, status, goes_at_its_end });
        };
        let differences = recorded.differences(&self.configuration);
        if differences.is_empty() {
            return Ok(());
        }
        let (image, has_image) = (self.image.clone(), self.has_image);
        Err(Error::Differs { name, status, differences, image, has_image, goes_at_its_end })
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
/// There is no container of that name, another one has its cards, or Docker cannot start it.
pub fn enter_existing(
    cx: &Context,
    container: &str,
    terminal: bool,
    command: &[OsString],
) -> Result<(Session, Option<Configuration>), Error> {
    let named = name::checked("a container", container.to_owned())?;
    let docker = Docker::new(cx)?;
    let engine = docker.info()?.id;
    let (mut name, asked) = (NameClaim::new(cx, engine.as_deref(), &named), Asked { terminal, command });
    let find = || docker.container(&named)?.ok_or_else(|| Error::NoContainer { name: named.clone() });
    loop {
        let found = find()?;
        let recorded = Configuration::of(&found);
        if found.is_running() {
            let attach = asked.exec(&docker, &named);
            return Ok((Session { entry: Entry::Joined, attach, held: Vec::new() }, recorded));
        }
        enterable(&named, &found)?;
        let Some(claimed) = name.try_claim()? else { continue };
        let found = find()?;
        if found.is_running() {
            continue;
        }
        // Its maker was interrupted before it gave it everything, and only the request says what.
        if recorded.is_some() && found.status.as_deref() == Some(CREATED) {
            return Err(Error::NeverRun { name: named });
        }
        let mut held = claim_cards(&docker, &named, &cards_of(&found))?;
        held.push(claimed);
        return Ok((asked.start(&docker, &named, Entry::Started, &found, held)?, recorded));
    }
}
