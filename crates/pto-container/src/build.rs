//! Building the image on this machine.

use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_docker::{Docker, Proxies};
use pto_platform::docker::{DockerInfo, Image};
use pto_process::{Invocation, Stream};

use crate::arguments::{self, DIGEST};
use crate::checks::{CheckId, Finding, TO_FETCH, no_room, other_processor};
use crate::disk;
use crate::error::Error;
use crate::name;
use crate::program;
use crate::series::{Series, Stage};
use crate::settings;

/// Where the vendor publishes CANN.
const CANN_REPOSITORY: &str = "quay.io/ascend/cann";
/// In the directory that is sent to the engine.
const DOCKERFILE: &str = "docker/pypto_dev.Dockerfile";
/// This program, built for the image, in the same directory.
const BINARY: &str = "target/release/xtask";

/// An image as somebody asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildRequest {
    /// The series of chips that it is for.
    pub series: Series,
    /// The last stage to build.
    pub stage: Stage,
    /// Its name; else `pypto-dev:a3-sim`.
    pub tag: Option<String>,
    /// The directory that is sent to the engine: this repository.
    pub context: PathBuf,
    /// This program, in that directory; else `target/release/xtask`.
    pub binary: Option<PathBuf>,
    /// The repository of the base; else the vendor's.
    pub cann_repository: Option<String>,
    /// The tag of the base; else `PYPTO_CANN_TAG`, else the one of the series.
    pub cann_tag: Option<String>,
    /// The digest of the base; else the one that the tag stands for now.
    pub cann_digest: Option<String>,
    /// Further build arguments, `NAME=VALUE`.
    pub args: Vec<String>,
    /// Labels of the image, `NAME=VALUE`.
    pub labels: Vec<String>,
    /// The processor that it has to be for, as Docker names it: `arm64`; `None` for whatever the engine's is.
    pub architecture: Option<String>,
    /// The network of the build's commands, as Docker names it: `host` if the proxy only listens on this machine.
    pub network: Option<String>,
    /// The proxy of the build, instead of those of the environment; else `PYPTO_DOCKER_PROXY`.
    pub proxy: Option<String>,
    /// Checks of the host that may fail.
    pub skip: Vec<CheckId>,
}

impl BuildRequest {
    /// A request with only the required parts.
    pub fn new(series: Series, context: PathBuf) -> Self {
        Self {
            series,
            stage: Stage::Sim,
            tag: None,
            context,
            binary: None,
            cann_repository: None,
            cann_tag: None,
            cann_digest: None,
            args: Vec::new(),
            labels: Vec::new(),
            architecture: None,
            network: None,
            proxy: None,
            skip: Vec::new(),
        }
    }
}

/// A build that is ready to run: settings resolved, names and the host checked.
#[derive(Debug, Clone)]
pub struct BuildPlan {
    /// The image's name.
    pub tag: String,
    /// The base's name.
    pub base: String,
    /// The base's digest, if it is known.
    pub digest: Option<String>,
    /// The checks of the host that fail, with the skipped ones.
    pub findings: Vec<Finding>,
    skip: Vec<CheckId>,
    docker: Docker,
    words: Vec<String>,
    proxies: Proxies,
    context: PathBuf,
}

impl BuildPlan {
    /// Asks the engine and looks at the directory; changes nothing.
    ///
    /// # Errors
    /// A file is missing, a name is malformed, or the engine does not answer.
    pub fn make(cx: &Context, request: &BuildRequest) -> Result<Self, Error> {
        let (series, stage) = (request.series, request.stage);
        let context = cx.cwd().join(&request.context);
        let binary = program::below(&context, request.binary.as_deref().unwrap_or(Path::new(BINARY)));
        require(context.join(DOCKERFILE), "name this repository's directory with `--context DIR`")?;
        program::require(&context.join(&binary))?;
        program::require_sent(&context, &binary)?;
        let asked = settings::tag(cx, request.cann_tag.as_deref());
        let tag = request.tag.clone().unwrap_or_else(|| settings::local_image(series, stage, asked.clone()));
        let cann_tag = asked.unwrap_or_else(|| default_tag(series).to_owned());
        let repository = request.cann_repository.as_deref().unwrap_or(CANN_REPOSITORY);
        let base = name::tagged(repository, &cann_tag)?;

        let tag = name::image(tag)?;
        let proxies = settings::proxies(cx, request.proxy.as_deref())?;
        let docker = Docker::new(cx)?;
        let info = docker.info()?;
        require_processor(request, &info)?;
        let free = disk::free(cx, &docker, &info).filter(|&free| free < disk::NEEDED);
        let room = free.map(|free| no_room(free, disk::NEEDED, TO_FETCH, &info));
        let mut words = builder(&docker)?;
        let mut arg = |option: &str, value: String| words.extend([option.to_owned(), value]);
        arg("--target", stage.to_string());
        arg("--file", context.join(DOCKERFILE).display().to_string());
        arg("--tag", tag.clone());
        let own = [
            format!("CANN_REPOSITORY={repository}"),
            format!("CANN_TAG={cann_tag}"),
            format!("PYPTO_PLATFORM={}", series.platform()),
            format!("PTOKIT_BINARY={}", binary.display()),
        ];
        let digest = request.cann_digest.clone().map(name::digest).transpose()?;
        let declared = arguments::declared(&context.join(DOCKERFILE))?;
        let further = arguments::further(&request.args, &own, digest.as_deref(), &declared)?;
        own.into_iter().chain(further).for_each(|pair| arg("--build-arg", pair));
        request.labels.iter().for_each(|pair| arg("--label", pair.clone()));
        request.network.iter().for_each(|network| arg("--network", network.clone()));
        let (findings, skip) = (room.into_iter().collect(), request.skip.clone());
        Ok(Self { tag, base, digest, findings, skip, docker, words, proxies, context })
    }

    /// The checks of the host that fail, without the skipped ones.
    pub fn refusals(&self) -> Vec<Finding> {
        self.findings.iter().filter(|finding| !self.skip.contains(&finding.check)).cloned().collect()
    }

    /// The command that fetches the base, to find out its digest; `None` if the digest was named.
    pub fn pull(&self) -> Option<Invocation> {
        self.digest.is_none().then(|| self.docker.command(["pull", "--", &self.base]))
    }

    /// The command that builds on a base with this digest. It only names proxies: their values come from the client's environment,
    /// and Docker keeps them out of the image.
    pub fn command(&self, digest: &str) -> Invocation {
        let mut words = self.words.clone();
        words.extend(["--build-arg".to_owned(), format!("{DIGEST}={digest}")]);
        words.extend(self.proxies.names().flat_map(|name| ["--build-arg".to_owned(), name.to_owned()]));
        words.push(self.context.display().to_string());
        self.proxies.hand_on(self.docker.command(words))
    }

    /// Fetches the base if its digest is not known, and builds. `on_line` gets the client's output.
    ///
    /// # Errors
    /// The host has no room for it, the base cannot be fetched, or the build fails.
    pub fn run(&self, mut on_line: impl FnMut(Stream, &str)) -> Result<Image, Error> {
        let findings = self.refusals();
        if !findings.is_empty() {
            return Err(Error::Unfit { findings });
        }
        let digest = match (&self.digest, self.pull()) {
            (Some(digest), _) => digest.clone(),
            (None, None) => return Err(Error::NoDigest { base: self.base.clone() }),
            (None, Some(pull)) => {
                self.docker.run_streaming(&pull, &self.base, &mut on_line)?;
                self.digest_of_base()?
            }
        };
        // What is not there may be the base, not what is built.
        self.docker.run_streaming(&self.command(&digest), &self.base, on_line)?;
        self.docker.image(&self.tag)?.ok_or_else(|| Error::NoImage { image: self.tag.clone(), build: None })
    }

    fn digest_of_base(&self) -> Result<String, Error> {
        let repository = self.base.rsplit_once(':').map_or(&*self.base, |(repository, _)| repository);
        let image = self.docker.image(&self.base)?;
        let digests = image.iter().flat_map(|image| &image.digests);
        let mut found = digests.filter_map(|name| name.strip_prefix(repository)?.strip_prefix('@'));
        found.next().map(str::to_owned).ok_or_else(|| Error::NoDigest { base: self.base.clone() })
    }
}

/// Checks that the engine runs the processor that the image has to be for.
fn require_processor(request: &BuildRequest, info: &DockerInfo) -> Result<(), Error> {
    let both = request.architecture.as_ref().zip(info.architecture.as_ref());
    match both.and_then(|(image, host)| other_processor("the plan's image", image, host)) {
        Some(finding) => Err(Error::Unfit { findings: vec![finding] }),
        None => Ok(()),
    }
}

/// The tag of a series' base, unless another one is asked for.
fn default_tag(series: Series) -> &'static str {
    match series {
        Series::A3 => "9.2.0-a3-ubuntu22.04-py3.11-devel",
        Series::A5 => "9.2.0-950-ubuntu22.04-py3.11-devel",
    }
}

/// The words that begin a build: with BuildKit if the client has it, which skips stages that the target does not need.
fn builder(docker: &Docker) -> Result<Vec<String>, Error> {
    let has_buildx = docker.question(["buildx", "version"]).run(docker.cx())?.success();
    if !has_buildx {
        // Else a step that fails leaves its container behind.
        return Ok(["build", "--force-rm"].map(str::to_owned).to_vec());
    }
    let help = docker.question(["buildx", "build", "--help"]).run(docker.cx())?.stdout;
    let mut words = vec!["buildx", "build", "--load"];
    // With an attestation, the tag would lead to an index, whose digest is not that of the tested image. Older versions make no
    // attestations and do not know the options.
    words.extend(
        ["--provenance=false", "--sbom=false"]
            .into_iter()
            .filter(|word| word.split_once('=').is_some_and(|(option, _)| help.text().contains(option))),
    );
    Ok(words.into_iter().map(str::to_owned).collect())
}

fn require(file: PathBuf, what: &'static str) -> Result<(), Error> {
    if file.is_file() { Ok(()) } else { Err(Error::NoBuildFile { file, what }) }
}
