//! A registry with a gate before it, an upstream repository, and a publication that is ready to be promoted.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pto_context::Context;
use pto_images::Error;
use pto_images::promote::{
    Action, Begun, Candidate, Names, Promotion, PromotionReport, Recipe, Record, Records, Rollback, RollbackReport,
    State, Status, Tested, Uploaded, Upstream, status,
};
use pto_images::registry::{Client, Limits, Options, Repository};
use pto_loopback::{Act, Gate, Reply, Request};
use pto_process::Invocation;
use pto_test::registry::{Pushed, Registry, quick_dir};

pub const NAME: &str = "cloud/pypto-dev";
pub const TAG: &str = "arm-dist";
pub const PREVIOUS: &str = "arm-dist-previous";
pub const TEMPORARY: &str = "arm-dist-77-1";
/// The images that exist, by their content.
const IMAGES: [&str; 4] = ["zero", "one", "new", "other"];

/// Longer than anything takes here.
const PATIENCE: Duration = Duration::from_secs(20);
/// Short enough to wait for. On a busy machine it may pass without a fault, which is a fault like any other.
const LITTLE_PATIENCE: Duration = Duration::from_millis(60);

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spoil {
    Cut,
    CutAnswer,
    Delay,
    DelayHeard,
    Status(u16),
    Unknown,
    Truncate,
    Shorten,
}

/// Each is tried at each request.
pub const FAULTS: [Spoil; 12] = [
    Spoil::Cut,
    Spoil::CutAnswer,
    Spoil::Delay,
    Spoil::DelayHeard,
    Spoil::Status(401),
    Spoil::Status(403),
    Spoil::Status(404),
    Spoil::Unknown,
    Spoil::Status(429),
    Spoil::Status(500),
    Spoil::Truncate,
    Spoil::Shorten,
];

impl Spoil {
    const fn takes_time(self) -> bool {
        matches!(self, Self::Delay | Self::DelayHeard)
    }

    fn act(self) -> Act {
        match self {
            Self::Cut => Act::Cut,
            Self::CutAnswer => Act::CutAnswer,
            Self::Delay => Act::Hold { heard: false },
            Self::DelayHeard => Act::Hold { heard: true },
            Self::Status(429) => Act::Answer(Reply::status(429).header("Retry-After", "3600")),
            Self::Status(status) => Act::Answer(Reply::status(status)),
            // In a registry's own words, and not the registry's: the worst that a wrong answer can be.
            Self::Unknown => Act::Answer(Reply::body(r#"{"errors":[{"code":"MANIFEST_UNKNOWN"}]}"#).with_status(404)),
            Self::Truncate => Act::Truncate(7),
            Self::Shorten => Act::Shorten(7),
        }
    }
}

pub struct Bench {
    pub registry: Arc<Registry>,
    pub gate: Gate,
    dir: tempfile::TempDir,
    impatient: AtomicBool,
    deletes_images: AtomicBool,
    images: Vec<(&'static str, Pushed)>,
    upstream: PathBuf,
    commit: String,
}

/// Whether a request moves a tag.
pub fn moves(request: &Request, tag: &str) -> bool {
    request.method == "PUT" && request.path.ends_with(&format!("/manifests/{tag}"))
}

impl Bench {
    pub fn start() -> Option<Self> {
        let registry = Arc::new(Registry::start()?);
        let gate = Gate::before(registry.address()).unwrap();
        let dir = quick_dir();
        let images = IMAGES.map(|image| (image, registry.push(NAME, &format!("kept-{image}"), "arm64", image)));
        let upstream = dir.path().join("upstream");
        let (commit, images) = (commit(&upstream), images.to_vec());
        let (impatient, deletes_images) = (AtomicBool::new(false), AtomicBool::new(false));
        Some(Self { registry, gate, dir, impatient, deletes_images, images, upstream, commit })
    }

    pub fn cx(&self) -> Context {
        pto_test::machine()
    }

    pub fn repository(&self) -> Repository {
        format!("{}/{NAME}", self.gate.address()).parse().unwrap()
    }

    pub fn options(&self) -> Options {
        let patience = if self.impatient.load(Ordering::SeqCst) { LITTLE_PATIENCE } else { PATIENCE };
        let limits = Limits { patience, attempts: 2, first_pause: Duration::ZERO, longest_pause: Duration::ZERO };
        Options { limits, ..Options::default() }
    }

    pub fn client(&self) -> Client {
        Client::new(&self.cx(), self.repository(), self.options()).unwrap()
    }

    pub fn records(&self) -> Records {
        Records::in_dir(self.dir.path().join("records"))
    }

    pub fn record(&self) -> Record {
        self.records().require().unwrap()
    }

    pub fn pushed(&self, image: &str) -> &Pushed {
        &self.images.iter().find(|(name, _)| *name == image).unwrap().1
    }

    fn set(&self, tag: &str, image: &str) {
        self.registry.set_tag(NAME, tag, &self.pushed(image).manifest);
    }

    /// Puts the tags where they are to be, and forgets what was recorded.
    pub fn tags(&self, current: Option<&str>, previous: Option<&str>) {
        self.gate.settle();
        self.registry.delete_tag(NAME, TEMPORARY);
        for (tag, image) in [(TAG, current), (PREVIOUS, previous)] {
            match image {
                Some(image) => self.set(tag, image),
                None => self.registry.delete_tag(NAME, tag),
            }
        }
        let _ = std::fs::remove_dir_all(self.records().dir());
    }

    /// An image under its temporary tag, and what was tested.
    pub fn uploaded(&self, image: &str, tested: &str) -> Uploaded {
        self.set(TEMPORARY, image);
        let tested = self.pushed(tested);
        Uploaded {
            image: "arm".to_owned(),
            repository: self.repository(),
            names: Names::new(TAG),
            temporary: TEMPORARY.to_owned(),
            recipe: self.recipe(),
            tested: Tested { id: tested.config.parse().unwrap(), manifests: vec![tested.manifest.parse().unwrap()] },
        }
    }

    /// The same, compared with the tested one.
    pub fn publication(&self, image: &str) -> Candidate {
        self.pass();
        self.uploaded(image, image).compare(&self.cx(), &self.options(), &self.records()).unwrap()
    }

    pub fn recipe(&self) -> Recipe {
        self.asked().recipe(&self.commit)
    }

    fn asked(&self) -> Upstream {
        Upstream { repository: self.upstream.display().to_string(), branch: "main".to_owned(), proxy: None }
    }

    /// A newer recipe; the one before is of no use any more.
    pub fn newer_recipe(&self) {
        commit(&self.upstream);
    }

    /// Takes upstream away, or gives it back.
    pub fn upstream(&self, there: bool) {
        let away = self.upstream.with_extension("away");
        let (from, to) = if there { (&away, &self.upstream) } else { (&self.upstream, &away) };
        fs_err::rename(from, to).unwrap();
    }

    /// Decides what happens to requests, and does what the registry cannot do: delete a tag by its name.
    pub fn decide(&self, decide: impl Fn(usize, &Request) -> Option<Act> + Send + Sync + 'static) {
        let (registry, images) = (self.registry.clone(), self.deletes_images.load(Ordering::SeqCst));
        self.gate.decide(move |number, request| {
            let act = decide(number, request);
            if request.method != "DELETE" {
                return act.unwrap_or(Act::Pass);
            }
            let tag = request.path.rsplit('/').next().unwrap();
            assert!(!tag.contains(':'), "a deletion by digest takes other tags along: {tag}");
            let is_heard = !matches!(act, Some(Act::Cut | Act::Answer(_) | Act::Hold { heard: false }));
            if is_heard && images {
                delete_image(&registry, request);
            } else if is_heard {
                registry.delete_tag(NAME, tag);
            }
            match act {
                None | Some(Act::Truncate(_) | Act::Shorten(_)) => Act::Answer(Reply::status(202)),
                Some(Act::CutAnswer) => Act::Cut,
                Some(Act::Hold { .. }) => Act::Hold { heard: false },
                Some(act) => act,
            }
        });
    }

    /// What somebody else does with a tag.
    pub fn move_by_hand(&self, tag: &str, image: &str) {
        self.gate.settle();
        self.set(tag, image);
    }

    /// From here on the registry deletes an image with all its tags where one of them is to be deleted.
    pub fn deletes_images(&self, does: bool) {
        self.deletes_images.store(does, Ordering::SeqCst);
        self.pass();
    }

    /// Such a registry, which after the first deletion answers nothing any more.
    pub fn deletes_images_and_then_dies(&self) {
        let (registry, dead) = (self.registry.clone(), AtomicBool::new(false));
        self.impatient.store(true, Ordering::SeqCst);
        self.gate.decide(move |_, request| {
            if dead.load(Ordering::SeqCst) {
                return Act::Cut;
            }
            let deleted = delete_image(&registry, request);
            dead.store(deleted.is_some(), Ordering::SeqCst);
            deleted.unwrap_or(Act::Pass)
        });
    }

    /// Lets everything through.
    pub fn pass(&self) {
        self.gate.settle();
        self.impatient.store(false, Ordering::SeqCst);
        self.decide(|_, _| None);
    }

    /// Spoils one request.
    pub fn spoil(&self, spoil: Spoil, at: usize) {
        self.impatient.store(spoil.takes_time(), Ordering::SeqCst);
        self.decide(move |number, _| (number == at).then(|| spoil.act()));
    }

    /// Spoils every request from one on.
    pub fn spoil_from(&self, spoil: Spoil, at: usize) {
        self.impatient.store(spoil.takes_time(), Ordering::SeqCst);
        self.decide(move |number, _| (number >= at).then(|| spoil.act()));
    }

    /// Somebody else moves a tag right before a request arrives.
    pub fn interfere(&self, tag: &'static str, image: &'static str, at: usize) {
        let (registry, manifest) = (self.registry.clone(), self.pushed(image).manifest.clone());
        self.decide(move |number, _| {
            if number == at {
                registry.set_tag(NAME, tag, &manifest);
            }
            None
        });
    }

    pub fn promote(&self, action: Action) -> Result<PromotionReport, Error> {
        let promotion = Promotion {
            records: self.records(),
            registry: self.options(),
            upstream: self.asked(),
            locks: self.dir.path().join("locks"),
        };
        promotion.run(&self.cx(), action)
    }

    fn rollback_records(&self) -> Records {
        Records::in_dir(self.dir.path().join("rollback"))
    }

    pub fn forget_rollbacks(&self) {
        let _ = std::fs::remove_dir_all(self.rollback_records().dir());
    }

    /// Whether the manifest of an image is in the records of either.
    pub fn is_kept(&self, image: &str) -> bool {
        let name = format!("manifests/{}.json", self.pushed(image).manifest.replace(':', "-"));
        [self.records(), self.rollback_records()].iter().any(|records| records.dir().join(&name).is_file())
    }

    /// What the records of promotions and rollbacks say.
    pub fn all_begun(&self) -> Vec<Begun> {
        let all = [self.records(), self.rollback_records()];
        let there: Vec<_> = all.into_iter().filter(|records| records.load().unwrap().is_some()).collect();
        status(&self.client(), &Names::new(TAG), &there).unwrap().begun
    }

    /// With records of its own, beside those of a promotion.
    pub fn roll_back_beside(&self) -> Result<RollbackReport, Error> {
        let records = self.rollback_records();
        Rollback { records, promotion: Some(self.records()), ..self.rollback() }.run(&self.cx())
    }

    pub fn roll_back(&self) -> Result<RollbackReport, Error> {
        self.rollback().run(&self.cx())
    }

    fn rollback(&self) -> Rollback {
        Rollback {
            image: "arm".to_owned(),
            repository: self.repository(),
            names: Names::new(TAG),
            records: self.records(),
            promotion: None,
            registry: self.options(),
            locks: self.dir.path().join("locks"),
        }
    }

    pub fn status(&self) -> Status {
        status(&self.client(), &Names::new(TAG), &[self.records()]).unwrap()
    }

    pub fn state(&self) -> State {
        self.pass();
        self.status().begun[0].state.unwrap()
    }

    fn image_of(&self, tag: &str) -> Option<&'static str> {
        let digest = self.registry.digest_of(NAME, tag)?;
        let known = self.images.iter().find(|(_, pushed)| pushed.manifest == digest);
        Some(known.unwrap_or_else(|| panic!("`{tag}` leads to {digest}, which nobody tested")).0)
    }

    /// Where `current` and `previous` lead, by the registry's own storage.
    pub fn tags_now(&self) -> (Option<&'static str>, Option<&'static str>) {
        (self.image_of(TAG), self.image_of(PREVIOUS))
    }

    /// That nothing is lost: `current` is what it was or the new image, `previous` is what it was or what `current` was, and
    /// `current` has not been moved without it.
    pub fn nothing_lost(&self, current: Option<&'static str>, previous: Option<&'static str>, context: &str) {
        self.gate.settle();
        let now = self.tags_now();
        let first_or_same = current.is_none() || current == Some("new");
        let last_previous = if first_or_same { previous } else { current };
        assert!(now.0 == current || now.0 == Some("new"), "{context}: {now:?}");
        assert!(now.1 == previous || now.1 == last_previous, "{context}: {now:?}");
        assert!(now.0 == current || now.1 == last_previous, "{context}: current was moved before previous: {now:?}");
    }
}

/// Does what a request for a deletion asks for, and more.
fn delete_image(registry: &Registry, request: &Request) -> Option<Act> {
    let tag = request.path.rsplit('/').next().filter(|_| request.method == "DELETE")?;
    let digest = registry.digest_of(NAME, tag);
    let same = registry.tags(NAME).into_iter().filter(|other| registry.digest_of(NAME, other) == digest);
    same.filter(|other| !other.starts_with("kept-")).for_each(|other| registry.delete_tag(NAME, &other));
    Some(Act::Answer(Reply::status(202)))
}

/// Makes a commit on `main` of a repository, which is made if need be.
fn commit(repository: &std::path::Path) -> String {
    let script = "git init -q -b main \"$0\" && cd \"$0\" && git -c user.name=a -c user.email=a@b commit -q --allow-empty \
                  -m 1 && git rev-parse HEAD";
    let made = Invocation::new("sh").args(["-c", script]).arg(repository).run(&pto_test::machine()).unwrap();
    made.require_success().unwrap().stdout.text().trim().to_owned()
}
