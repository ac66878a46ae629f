//! The client, and the questions it asks the engine.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pto_context::Context;
use pto_platform::docker::{Container, DockerInfo, Image, Inspection, parse_docker_info, parse_docker_inspect};
use pto_process::{Invocation, Output, Stream};

use crate::error::Error;

/// The client's name.
const CLIENT: &str = "docker";
/// How long an engine may take to answer a question. A busy one with slow disks takes seconds; one that hangs never answers.
const ANSWER: Duration = Duration::from_secs(60);
/// Overrides [`ANSWER`].
const ANSWER_VARIABLE: &str = "PTOKIT_DOCKER_TIMEOUT_S";

/// The client, and the engine that it talks to: the one of `DOCKER_HOST`, or of the client's own configuration.
#[derive(Debug, Clone)]
pub struct Docker {
    cx: Context,
    answer: Duration,
    config: Option<PathBuf>,
    host: Option<String>,
    /// The address of the client's context, once it was asked for.
    of_context: Arc<OnceLock<Option<String>>>,
}

impl Docker {
    /// The client on the context's `PATH`. Does not ask the engine anything yet.
    ///
    /// # Errors
    /// There is no client, or `PTOKIT_DOCKER_TIMEOUT_S` is not a number.
    pub fn new(cx: &Context) -> Result<Self, Error> {
        let answer = cx.seconds(ANSWER_VARIABLE, ANSWER)?;
        pto_process::find_program(cx, CLIENT).map_err(|source| Error::NoClient { source })?;
        Ok(Self { cx: cx.clone(), answer, config: None, host: None, of_context: Arc::default() })
    }

    /// The surroundings that the client runs in.
    pub fn cx(&self) -> &Context {
        &self.cx
    }

    /// The engine's address, if one was given.
    pub fn host(&self) -> Option<String> {
        self.host.clone().or_else(|| self.cx.var("DOCKER_HOST"))
    }

    /// The engine's address: the one that was given, else that of the client's context. A client without contexts (before 19.03,
    /// Podman) only knows the usual address: `None`.
    pub fn endpoint(&self) -> Option<String> {
        self.host().or_else(|| self.of_context.get_or_init(|| self.ask_context()).clone())
    }

    /// Whether the engine is on this machine, which is so if it is asked over a Unix socket.
    pub fn is_local(&self) -> bool {
        self.endpoint().is_none_or(|address| address.starts_with("unix:"))
    }

    fn ask_context(&self) -> Option<String> {
        let ask = self.question(["context", "inspect", "--format", "{{.Endpoints.docker.Host}}"]);
        let asked = ask.run(&self.cx).ok().filter(Output::success)?;
        Some(asked.stdout.text().trim().to_owned()).filter(|address| !address.is_empty())
    }

    /// The same client with a configuration directory of its own, talking to the same engine.
    pub(crate) fn with_config(&self, config: PathBuf, host: Option<String>) -> Self {
        Self { config: Some(config), host, ..self.clone() }
    }

    /// `docker` with these arguments, as a value, without a deadline.
    pub fn command(&self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Invocation {
        let mut docker = Invocation::new(CLIENT).args(args);
        if let Some(config) = &self.config {
            docker = docker.env("DOCKER_CONFIG", config);
        }
        if let Some(host) = &self.host {
            docker = docker.env("DOCKER_HOST", host);
        }
        docker
    }

    /// The same with a deadline, for something that an engine answers at once or never.
    pub fn question(&self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Invocation {
        self.command(args).deadline_from(ANSWER_VARIABLE, self.answer)
    }

    /// Runs a command to its end. `about` is the image, container or registry that it is about, for messages.
    ///
    /// # Errors
    /// It cannot be run, or it failed, with the kind of failure recognized by what it said.
    pub fn run(&self, command: &Invocation, about: &str) -> Result<Output, Error> {
        self.judge(command.run(&self.cx)?, about)
    }

    /// The same, and passes each line on as it comes, with secrets masked: for pulls and builds.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_streaming(
        &self,
        command: &Invocation,
        about: &str,
        on_line: impl FnMut(Stream, &str),
    ) -> Result<Output, Error> {
        self.judge(command.run_streaming(&self.cx, on_line)?, about)
    }

    fn judge(&self, output: Output, about: &str) -> Result<Output, Error> {
        if output.success() { Ok(output) } else { Err(Error::of(output, self.host(), about)) }
    }

    /// What the engine says about itself.
    ///
    /// # Errors
    /// No engine answers.
    pub fn info(&self) -> Result<DockerInfo, Error> {
        let output = self.run(&self.question(["info", "--format", "{{json .}}"]), "")?;
        let info = parse_docker_info(&output.stdout.text());
        match info.errors.first() {
            // Clients before 23 exit with 0 and report it on stdout.
            Some(_) if info.server_version.is_none() => Err(Error::of_info(info.errors.join("; "), self.host())),
            None if info.server_version.is_none() => Err(Error::Unreadable {
                command: "info".to_owned(),
                why: "it names no version of the engine".to_owned(),
            }),
            _ => Ok(info),
        }
    }

    /// The lines that a question is answered with, such as `ps --quiet`, trimmed and without empty ones.
    ///
    /// # Errors
    /// The engine cannot be asked.
    pub fn list(&self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Vec<String>, Error> {
        let output = self.run(&self.question(args), "")?;
        let text = output.stdout.text();
        Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
    }

    /// An image of the engine, by name, digest or id; `None` if it has none.
    ///
    /// # Errors
    /// The engine cannot be asked.
    pub fn image(&self, name: &str) -> Result<Option<Image>, Error> {
        match self.inspect(&["image", "inspect"], &[name.to_owned()]) {
            Ok(inspection) => Ok(inspection.images.into_iter().next()),
            Err(Error::NoSuchImage { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A container of the engine, running or not, by its name; `None` if it has none. The client would also take the beginning of
    /// another one's id for it.
    ///
    /// # Errors
    /// The engine cannot be asked.
    pub fn container(&self, name: &str) -> Result<Option<Container>, Error> {
        Ok(self.find(name)?.filter(|container| container.name.as_deref() == Some(name)))
    }

    fn find(&self, name_or_id: &str) -> Result<Option<Container>, Error> {
        match self.inspect(&["container", "inspect"], &[name_or_id.to_owned()]) {
            Ok(inspection) => Ok(inspection.containers.into_iter().next()),
            Err(Error::NoSuchContainer { .. } | Error::NoSuchImage { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The running containers. One that ends meanwhile is left out.
    ///
    /// # Errors
    /// The engine cannot be asked.
    pub fn running_containers(&self) -> Result<Vec<Container>, Error> {
        let ids = self.list(["ps", "--quiet", "--no-trunc"])?;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        match self.inspect(&["container", "inspect"], &ids) {
            Err(Error::NoSuchContainer { .. } | Error::NoSuchImage { .. }) => self.one_by_one(&ids),
            asked => Ok(asked?.containers),
        }
    }

    fn one_by_one(&self, ids: &[String]) -> Result<Vec<Container>, Error> {
        ids.iter().filter_map(|id| self.find(id).transpose()).collect()
    }

    fn inspect(&self, words: &[&str; 2], names: &[String]) -> Result<Inspection, Error> {
        let args = words.iter().map(|word| (*word).to_owned()).chain(["--".to_owned()]).chain(names.iter().cloned());
        let output = self.run(&self.question(args), &names.join(" "))?;
        let inspection = parse_docker_inspect(&output.stdout.text());
        let unreadable = |why: &str| Err(Error::Unreadable { command: words.join(" "), why: why.to_owned() });
        match inspection.notes.first() {
            Some(note) => unreadable(&note.why),
            None if inspection.images.len() + inspection.containers.len() != names.len() => {
                unreadable("expected one object for each name")
            }
            None => Ok(inspection),
        }
    }
}
