//! The tested image goes to a temporary tag, is compared, and is promoted.

use std::path::PathBuf;
use std::time::Duration;

use pto_context::{Context, Event, with_causes};
use pto_docker::{Docker, RegistryClient};
use pto_platform::docker::Image;
use serde::Serialize;

use super::begin::make_way;
use super::promotion::{Finish, Promotion};
use super::record::Candidate;
use super::records::Records;
use super::report::PromotionReport;
use super::tags::{Names, lock};
use super::upload::{Tested, Uploaded};
use super::upstream::Upstream;
use crate::error::Error;
use crate::plan::labels;
use crate::registry::{Digest, Options, Platform, Repository};

/// How long an upload may take: 17 GB over a slow line take some hours.
const UPLOAD: Duration = Duration::from_secs(4 * 3600);
/// Overrides [`UPLOAD`].
const UPLOAD_VARIABLE: &str = "PTOKIT_UPLOAD_TIMEOUT_S";
/// How often lines of the upload's progress are told.
const TELL: Duration = Duration::from_secs(5);

/// What is published, and where to.
#[derive(Debug, Clone)]
pub struct Publication {
    /// The image's name.
    pub image: String,
    /// Where it is published.
    pub repository: Repository,
    /// Its tags.
    pub names: Names,
    /// What it runs on.
    pub platform: Platform,
    /// The run that publishes it.
    pub run: String,
    /// Which attempt of that run this is.
    pub attempt: u32,
    /// The commit of the recipe that it was built from.
    pub commit: String,
    /// The image of the engine here that was tested, by its id.
    pub tested: Digest,
    /// Where to write down what is done.
    pub records: Records,
    /// Who we are for the registry.
    pub registry: Options,
    /// Who says whether the recipe is the newest.
    pub upstream: Upstream,
    /// The directory of the locks that all processes of this machine share.
    pub locks: PathBuf,
}

/// What it came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PublicationReport {
    /// The tag of the upload, with its repository.
    pub temporary: String,
    /// What is there, which is what was tested.
    pub manifest: Digest,
    /// Its configuration.
    pub config: Option<Digest>,
    /// What became of the tags; `None` if only the upload was asked for.
    pub promotion: Option<PromotionReport>,
}

impl Publication {
    /// Uploads, compares, and, if `promote`, moves the tags.
    ///
    /// # Errors
    /// Whatever went wrong, `current` leads to what it led to or to the tested image. Run again; once the tags were about to
    /// be moved, [`Promotion::run`] goes on.
    pub fn run(&self, cx: &Context, promote: bool) -> Result<PublicationReport, Error> {
        let _lock = lock(&self.locks, &self.repository, &self.names)?;
        make_way(cx, &self.records, &self.registry)?;
        self.upstream.check(cx, &self.commit)?;
        let candidate = self.upload(cx)?;
        let promotion = Promotion {
            records: self.records.clone(),
            registry: self.registry.clone(),
            upstream: self.upstream.clone(),
            locks: self.locks.clone(),
        };
        let promotion = promote.then(|| promotion.run_locked(cx, Finish::Begin)).transpose()?;
        Ok(PublicationReport {
            temporary: self.repository.with_tag(&self.temporary()),
            manifest: candidate.manifest,
            config: candidate.config,
            promotion,
        })
    }

    fn temporary(&self) -> String {
        self.names.temporary(&self.run, self.attempt)
    }

    fn uploaded(&self, manifests: Vec<Digest>) -> Uploaded {
        Uploaded {
            image: self.image.clone(),
            repository: self.repository.clone(),
            names: self.names.clone(),
            temporary: self.temporary(),
            recipe: self.upstream.recipe(&self.commit),
            tested: Tested { id: self.tested.clone(), manifests },
        }
    }

    /// Pushes the very image that was tested, by its id, and looks at what arrived.
    fn upload(&self, cx: &Context) -> Result<Candidate, Error> {
        let mut client = RegistryClient::new(&Docker::new(cx)?)?;
        self.check_local(&self.local(&client)?)?;
        self.uploaded(Vec::new()).begin(&self.records)?;
        if let Some(credentials) = &self.registry.credentials {
            client.login(self.repository.host(), credentials)?;
        }
        self.forget_names(cx, &client)?;
        let reference = self.repository.with_tag(&self.temporary());
        let docker = client.docker();
        docker.run(&client.command(["tag", "--", self.tested.as_str(), &reference]), &reference)?;
        let pushed = self.push(cx, &client, &reference);
        // Read first: with the name goes the digest under which it was uploaded.
        let local = self.local(&client)?;
        self.forget_names(cx, &client)?;
        pushed?;
        let prefix = format!("{}@", self.repository);
        let digests = local.digests.iter().filter_map(|digest| digest.strip_prefix(&prefix)?.parse().ok());
        self.uploaded(digests.collect()).compare(cx, &self.registry, &self.records)
    }

    /// Takes names away that images have here for uploads alone: of this one, and of those that were killed. An image without
    /// another name would go with it, and stays.
    fn forget_names(&self, cx: &Context, client: &RegistryClient) -> Result<(), Error> {
        let docker = client.docker();
        let filter = format!("reference={}", self.repository);
        let list = docker.question(["image", "ls", "--format", "{{.Tag}}", "--filter", &filter]);
        let listed = docker.run(&list, "")?.stdout.text().into_owned();
        for tag in listed.lines().map(str::trim).filter(|tag| self.names.is_temporary(tag)) {
            let name = self.repository.with_tag(tag);
            let has_another = docker.image(&name)?.is_some_and(|image| image.tags.iter().any(|other| *other != name));
            if has_another && let Err(error) = docker.run(&client.command(["rmi", "--", &name]), &name) {
                let message = format!("the name `{name}` stays on this machine: {}", with_causes(&error));
                cx.emit(Event::Warning { message });
            }
        }
        Ok(())
    }

    fn push(&self, cx: &Context, client: &RegistryClient, reference: &str) -> Result<(), Error> {
        let limit = cx.seconds(UPLOAD_VARIABLE, UPLOAD).map_err(pto_docker::Error::from)?;
        let task = format!("upload:{}", self.image);
        let message = format!("Uploading {} to `{reference}`", self.image);
        cx.emit(Event::Started { task: task.clone(), message, total_bytes: None });
        let mut told = std::time::Instant::now();
        let push = client.command(["push", "--", reference]).deadline_from(UPLOAD_VARIABLE, limit);
        client.docker().run_streaming(&push, reference, |_, line| {
            if told.elapsed() >= TELL {
                told = std::time::Instant::now();
                cx.emit(Event::Started { task: task.clone(), message: line.to_owned(), total_bytes: None });
            }
        })?;
        cx.emit(Event::Finished { task, message: format!("{} is uploaded", self.image) });
        Ok(())
    }

    fn local(&self, client: &RegistryClient) -> Result<Image, Error> {
        let image = client.docker().image(self.tested.as_str())?;
        image.ok_or_else(|| Error::NotHere { id: self.tested.clone() })
    }

    fn check_local(&self, image: &Image) -> Result<(), Error> {
        let (os, architecture) = (image.os.clone(), image.architecture.clone());
        let found = Platform { os: os.unwrap_or_default(), architecture: architecture.unwrap_or_default() };
        if image.id.as_deref() != Some(self.tested.as_str()) {
            return Err(Error::NotHere { id: self.tested.clone() });
        }
        if found != self.platform {
            return Err(Error::OtherPlatform { found, expected: self.platform.clone() });
        }
        labels::require(self.tested.as_str(), &labels::of_recipe(&self.commit), &image.labels)
    }
}
