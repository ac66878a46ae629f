//! The tested image goes to a temporary tag, is compared, and is promoted.

use std::time::{Duration, Instant};

use pto_context::{Context, Event, with_causes};
use pto_docker::{Docker, RegistryClient};
use pto_platform::docker::Image;
use serde::Serialize;

use super::begin::require_nothing_begun;
use super::names::Names;
use super::promotion::{Action, Promotion};
use super::record::Candidate;
use super::report::PromotionReport;
use super::tags::lock;
use super::upload::{Tested, Uploaded};
use crate::error::Error;
use crate::plan::labels;
use crate::registry::{Digest, Platform, Repository};

/// How long an upload may take: 17 GB over a slow line take some hours.
const UPLOAD: Duration = Duration::from_secs(4 * 3600);
/// Overrides [`UPLOAD`].
const UPLOAD_VARIABLE: &str = "PTOKIT_UPLOAD_TIMEOUT_S";
/// How often a line of the client's progress is passed on.
const PROGRESS: Duration = Duration::from_secs(5);

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
    /// The id of the tested image in the engine on this machine.
    pub tested: Digest,
    /// How the tags are moved afterwards. The upload uses the same records, registry, upstream and locks.
    pub promotion: Promotion,
    /// Whether to stop after the comparison, with no tag moved.
    pub upload_only: bool,
}

/// What a publication did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PublicationReport {
    /// The tag of the upload, with its repository.
    pub temporary: String,
    /// The manifest behind that tag, compared with the tested image.
    pub manifest: Digest,
    /// The digest of the image's configuration; a list of images has none.
    pub config: Option<Digest>,
    /// What became of the tags; `None` if only the upload was asked for.
    pub promotion: Option<PromotionReport>,
}

impl Publication {
    /// Uploads, compares, and moves the tags unless only the upload is asked for.
    ///
    /// # Errors
    /// Whatever went wrong, `current` leads to what it led to or to the tested image. Run again; once the tags were about to
    /// be moved, [`Promotion::run`] goes on.
    pub fn run(&self, cx: &Context) -> Result<PublicationReport, Error> {
        let Promotion { records, registry, upstream, locks } = &self.promotion;
        let _lock = lock(locks, &self.repository, &self.names)?;
        require_nothing_begun(cx, records, registry)?;
        upstream.check(cx, &self.commit)?;
        let candidate = self.upload(cx)?;
        let promote = || self.promotion.run_locked(cx, Action::Begin);
        let promotion = (!self.upload_only).then(promote).transpose()?;
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
            recipe: self.promotion.upstream.recipe(&self.commit),
            tested: Tested { id: self.tested.clone(), manifests },
        }
    }

    /// Pushes the very image that was tested, by its id, and compares what arrived.
    fn upload(&self, cx: &Context) -> Result<Candidate, Error> {
        let Promotion { records, registry, .. } = &self.promotion;
        let mut client = RegistryClient::new(&Docker::new(cx)?)?;
        self.check_local(&self.local(&client)?)?;
        self.uploaded(Vec::new()).begin(records)?;
        if let Some(credentials) = &registry.credentials {
            client.login(self.repository.host(), credentials)?;
        }
        self.forget_names(cx, &client)?;
        let reference = self.repository.with_tag(&self.temporary());
        let docker = client.docker();
        docker.run(&client.command(["tag", "--", self.tested.as_str(), &reference]), &reference)?;
        let pushed = self.push(cx, &client, &reference);
        // Before the name is removed: the engine forgets the digest of the upload along with it.
        let local = self.local(&client)?;
        self.forget_names(cx, &client)?;
        pushed?;
        let prefix = format!("{}@", self.repository);
        let digests = local.digests.iter().filter_map(|digest| digest.strip_prefix(&prefix)?.parse().ok());
        self.uploaded(digests.collect()).compare(cx, registry, records)
    }

    /// Removes the names that images have on this machine only for uploads: this one's, and those of uploads that were killed.
    /// An image's last name stays, since removing it would delete the image.
    fn forget_names(&self, cx: &Context, client: &RegistryClient) -> Result<(), Error> {
        let docker = client.docker();
        let filter = format!("reference={}", self.repository);
        let listed = docker.list(["image", "ls", "--format", "{{.Tag}}", "--filter", &filter])?;
        for tag in listed.iter().filter(|tag| self.names.is_temporary(tag)) {
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
        let mut last = Instant::now();
        let push = client.command(["push", "--", reference]).deadline_from(UPLOAD_VARIABLE, limit);
        client.docker().run_streaming(&push, reference, |_, line| {
            if last.elapsed() >= PROGRESS {
                last = Instant::now();
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
        let found = Platform::of(image);
        if image.id.as_deref() != Some(self.tested.as_str()) {
            return Err(Error::NotHere { id: self.tested.clone() });
        }
        if found != self.platform {
            return Err(Error::OtherPlatform { found, expected: self.platform.clone() });
        }
        labels::require(self.tested.as_str(), &labels::without_plan(&self.image, &self.commit), &image.labels)
    }
}
