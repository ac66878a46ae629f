//! The plan for a request on this host.

use std::ffi::OsString;
use std::path::PathBuf;

use pto_context::{Context, Event};
use pto_docker::Docker;
use pto_process::Invocation;

use crate::access::DeviceAccess;
use crate::checks::{Finding, Subject};
use crate::configuration::Configuration;
use crate::create::{Creation, create, trust};
use crate::error::Error;
use crate::name::is_in_registry;
use crate::request::Request;
use crate::settings::Settings;
use crate::sources::Sources;

/// A container, and how to create and enter it on this host.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The container's name.
    pub name: String,
    /// The image's name.
    pub image: String,
    /// How it gets at the NPUs.
    pub access: DeviceAccess,
    /// What the container records when it is created; one that is there is compared with it.
    pub configuration: Configuration,
    /// The checks of the host that fail, with the skipped ones.
    pub findings: Vec<Finding>,
    pub(crate) docker: Docker,
    /// The engine's id.
    pub(crate) engine: Option<String>,
    pub(crate) create: Invocation,
    /// The command that gives a container which has not run yet its list of trusted trees.
    pub(crate) trust: Option<Invocation>,
    pub(crate) trusted: Vec<PathBuf>,
    pub(crate) terminal: bool,
    pub(crate) command: Vec<OsString>,
    pub(crate) request: Request,
    pub(crate) has_image: bool,
    /// Whether the container ran when the plan was made: then the host was not checked.
    pub(crate) was_running: bool,
    /// The command that builds the image, unless another one was named.
    build: Option<String>,
}

impl Plan {
    /// Asks the engine and the host; changes nothing.
    ///
    /// # Errors
    /// The request is not valid, the engine does not answer, or the NPUs cannot be reached the way that was asked for.
    pub fn make(cx: &Context, request: &Request) -> Result<Self, Error> {
        let settings = Settings::of(cx, request)?;
        let docker = Docker::new(cx)?;
        let info = docker.info()?;
        let image = docker.image(&settings.image)?;
        let series = request.series;
        warn_of_distance(cx, &docker);
        let access = DeviceAccess::choose(cx, &info, settings.access, series, &request.cards)?;
        let sources = Sources::find(cx, request, &settings.name)?;
        let id = image.as_ref().and_then(|image| image.id.as_deref());
        let configuration = Configuration::new(series, &settings, id, &sources, &access);
        let subject = Subject {
            cx,
            docker: &docker,
            info: &info,
            image: image.as_ref(),
            series,
            access: &access,
            name: &settings.name,
        };
        // One that runs is entered as it is.
        let was_running = docker.container(&settings.name)?.is_some_and(|container| container.is_running());
        let findings = if was_running { Vec::new() } else { subject.examine()? };
        let with = Creation {
            series,
            terminal: request.terminal,
            settings: &settings,
            sources: &sources,
            access: &access,
            configuration: &configuration,
        };
        let create = create(&docker, with);
        let trust = trust(&docker, &settings.name, &sources)?;
        Ok(Self {
            name: settings.name,
            image: settings.image,
            build: settings.build,
            access,
            configuration,
            findings,
            docker,
            engine: info.id,
            create,
            trust,
            trusted: sources.trusted,
            terminal: request.terminal,
            command: request.command.clone(),
            request: request.clone(),
            has_image: image.is_some(),
            was_running,
        })
    }

    /// The command that creates the container, whether or not it exists already.
    pub fn create(&self) -> &Invocation {
        &self.create
    }

    /// The command that fetches the image; `None` if it is on this machine.
    ///
    /// # Errors
    /// Its name leads to no registry.
    pub fn pull(&self) -> Result<Option<Invocation>, Error> {
        match self.has_image {
            true => Ok(None),
            false if is_in_registry(&self.image) => Ok(Some(self.docker.command(["pull", "--", &self.image]))),
            false => Err(Error::NoImage { image: self.image.clone(), build: self.build.clone() }),
        }
    }

    /// What users have to know before the container is created or entered.
    pub fn announcement(&self) -> String {
        self.access.announcement()
    }

    /// The checks of the host that fail, without the skipped ones.
    pub fn refusals(&self) -> Vec<Finding> {
        self.findings.iter().filter(|finding| !self.request.skip.contains(&finding.check)).cloned().collect()
    }
}

fn warn_of_distance(cx: &Context, docker: &Docker) {
    if !docker.is_local() {
        let message =
            "the Docker engine is on another machine: cards and mounts are that machine's, and are not checked";
        cx.emit(Event::Warning { message: message.to_owned() });
    }
}
