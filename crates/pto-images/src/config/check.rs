//! The checks that need more than one key, or more than a key's type: whether the images fit together, and each of them with itself.

use std::collections::BTreeMap;

use pto_platform::git::is_full_commit;
use pto_platform::{Machine, PairVerdict, Version, supported_pair};

use super::Image;
use super::findings::Findings;
use super::read::Draft;
use crate::registry::{Repository, without_user};

/// The longest tag that a registry takes.
const LONGEST_TAG: usize = 128;
/// What the tag of an upload adds: two dashes, a run's number of up to 20 digits, an attempt's of up to 4.
const TEMPORARY: usize = 26;
/// The arguments of a script together: a script of the queue is one word of a command line, which may have 128 KiB.
const LONGEST_ARGS: usize = 16 << 10;
/// A directory and containers are named by an image's name and a little more.
const LONGEST_NAME: usize = 64;
const ARCHITECTURES: [&str; 2] = ["arm64", "amd64"];
const PLATFORMS: [&str; 2] = ["a2a3", "a5"];
/// Parts of the vendor's tags that say for which chips a base is, beside the platforms that have others.
const OTHER_CHIPS: [(&str, &str); 4] = [("a2a3", "950"), ("a2a3", "a5"), ("a5", "a3"), ("a5", "910b")];

pub(super) fn draft(draft: &Draft, findings: &mut Findings) {
    if draft.images.as_ref().is_some_and(Vec::is_empty) {
        findings.error("/images", "there is no image");
    } else if draft.images().all(|(_, image)| !image.enabled) && draft.images.is_some() {
        findings.note("/images", "no image is enabled, so none is built");
    }
    legacy_tags(draft, findings);
    if let (Some(total), Some(cap)) = (draft.task_timeout_seconds, draft.task_max_seconds)
        && total <= cap
    {
        let message = format!("{total} s for waiting and running has to exceed the {cap} s of `task_max_seconds`");
        findings.error("/task_timeout_seconds", message);
    }
    for (key, value) in [("task_max_seconds", draft.task_max_seconds), ("build_jobs", draft.build_jobs)] {
        if value == Some(0) {
            findings.error(format!("/{key}"), "expected a number above 0");
        }
    }
    sources(draft, findings);
    names(draft, findings);
    tags(draft, findings);
    for (index, image) in draft.images() {
        Checked { image, place: format!("/images/{index}"), findings }.all();
    }
}

fn sources(draft: &Draft, findings: &mut Findings) {
    let recipe =
        draft.recipe.iter().flat_map(|it| [("/recipe/repository", &it.repository), ("/recipe/branch", &it.branch)]);
    let pypto =
        draft.pypto.iter().flat_map(|it| [("/pypto/repository", &it.repository), ("/pypto/ref", &it.reference)]);
    let lib = draft.pypto_lib.iter();
    let lib = lib.flat_map(|it| [("/pypto_lib/repository", &it.repository), ("/pypto_lib/ref", &it.reference)]);
    for (place, text) in recipe.chain(pypto).chain(lib) {
        let problem = match place.ends_with("/repository") {
            true => address_problem(text),
            false if !is_ref(text) => Some(format!("`{}` is not a name that git takes", without_user(text))),
            // The branch is asked for by its name.
            false
                if place == "/recipe/branch"
                    && (text == "HEAD" || text.starts_with("refs/") || is_full_commit(text)) =>
            {
                Some(format!("`{text}` is not the name of a branch, such as `main`"))
            }
            false => None,
        };
        problem.into_iter().for_each(|problem| findings.error(place, problem));
    }
}

/// What is wrong with the address of a repository. Documents and images repeat the address, so it must not hold a secret.
pub(crate) fn address_problem(text: &str) -> Option<String> {
    let is_address = !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control());
    // Git would take it for an option.
    if !is_address || text.starts_with('-') {
        return Some(format!("`{}` is not a name that git takes", without_user(text)));
    }
    if text.contains('@') && text.contains("://") {
        return Some("a user's name or password does not belong here".to_owned());
    }
    text.contains('?').then(|| "what follows the `?` may be a token, which does not belong here".to_owned())
}

/// Whether it is a ref by the rules of `git check-ref-format`, and git cannot take it for an option.
fn is_ref(text: &str) -> bool {
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "~^:?*[\\".contains(c);
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    let is_whole = !text.starts_with('-') && !text.ends_with('.') && !text.contains("..") && !text.contains("@{");
    is_whole && text != "@" && text.split('/').all(is_part) && !text.contains(is_odd)
}

fn names(draft: &Draft, findings: &mut Findings) {
    let mut seen = BTreeMap::new();
    for (index, image) in draft.images() {
        let place = format!("/images/{index}/name");
        let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if image.name.is_empty() || image.name.starts_with('-') || !image.name.chars().all(is_allowed) {
            findings.error(
                &place,
                format!(
                    "`{}` is not a name; expected lower-case letters, digits and dashes, and no dash at the beginning",
                    image.name
                ),
            );
        } else if image.name.len() > LONGEST_NAME {
            let length = image.name.len();
            findings.error(
                &place,
                format!("a name of {length} letters, expected at most {LONGEST_NAME}: containers are named by it"),
            );
        }
        if let Some(first) = seen.insert(&image.name, index) {
            findings.error(place, format!("`{}` is the name of image {first} as well", image.name));
        }
    }
}

fn legacy_tags(draft: &Draft, findings: &mut Findings) {
    let tags = draft.legacy_tags.as_deref().unwrap_or_default();
    for (index, tag) in tags.iter().enumerate() {
        let place = format!("/legacy_tags/{index}");
        if !is_tag(tag) {
            findings.error(place, format!("`{tag}` is not a tag"));
        } else if tags[..index].contains(tag) {
            findings.error(place, format!("`{tag}` is there twice"));
        }
    }
}

/// Whether it is a tag by the distribution specification, its length aside.
fn is_tag(tag: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !tag.is_empty() && !tag.starts_with(['.', '-']) && tag.chars().all(is_allowed)
}

/// No two images, enabled or not, may share a tag, be it current, previous or one of an upload.
fn tags(draft: &Draft, findings: &mut Findings) {
    let mut owners: BTreeMap<String, String> = BTreeMap::new();
    for tag in draft.legacy_tags.iter().flatten() {
        owners.insert(tag.clone(), "a legacy tag, which nobody touches".to_owned());
    }
    for (index, image) in draft.images() {
        let (place, names) = (format!("/images/{index}/tag"), image.names());
        for (tag, what) in [(names.current(), "current"), (names.previous(), "previous")] {
            if let Some(owner) = owners.get(tag) {
                findings.error(&place, format!("`{tag}`, the {what} tag of `{}`, is {owner}", image.name));
                // The one that is made of it would collide as well.
                break;
            } else {
                owners.insert(tag.to_owned(), format!("the {what} tag of `{}`", image.name));
            }
        }
    }
    for (index, image) in draft.images() {
        for (tag, owner) in owners.iter().filter(|(tag, _)| image.names().is_temporary(tag)) {
            let message = format!("an upload of `{}` could be called `{tag}`, which is {owner}", image.name);
            findings.error(format!("/images/{index}/tag"), message);
        }
    }
}

struct Checked<'a> {
    image: &'a Image,
    place: String,
    findings: &'a mut Findings,
}

impl Checked<'_> {
    fn error(&mut self, key: &str, message: impl Into<String>) {
        self.findings.error(format!("{}/{key}", self.place), message);
    }

    fn all(mut self) {
        self.tag("tag", &self.image.tag, LONGEST_TAG - TEMPORARY);
        self.tag("cann_tag", &self.image.cann_tag, LONGEST_TAG);
        self.one_of("architecture", &self.image.architecture, &ARCHITECTURES);
        self.one_of("validation_platform", &self.image.validation_platform, &PLATFORMS);
        self.base();
        self.readiness();
        self.runners();
        self.driver();
        self.scripts();
    }

    fn tag(&mut self, key: &str, tag: &str, longest: usize) {
        if !is_tag(tag) {
            self.error(key, format!("`{tag}` is not a tag"));
        } else if tag.len() > longest {
            self.error(
                key,
                format!("`{tag}` has {} letters; at most {longest} leave room for what is added", tag.len()),
            );
        }
    }

    fn one_of(&mut self, key: &str, value: &str, known: &[&str]) {
        if !known.contains(&value) {
            self.error(key, format!("`{value}` is not one of {}", known.join(", ")));
        }
    }

    fn base(&mut self) {
        if self.image.cann_repository.parse::<Repository>().is_err() {
            let message = format!(
                "`{}` is not a repository; expected `HOST/PATH` without a tag",
                without_user(&self.image.cann_repository)
            );
            self.error("cann_repository", message);
        }
        let after = self.image.cann_tag.strip_prefix(&self.image.cann_version);
        let names_version = !self.image.cann_version.is_empty()
            && after.is_some_and(|after| after.is_empty() || after.starts_with('-'));
        if self.image.cann_tag == "latest" || !names_version {
            let (tag, version) = (&self.image.cann_tag, &self.image.cann_version);
            self.error("cann_tag", format!("`{tag}` does not pin CANN {version}; expected `{version}-...`"));
        } else if let Some(other) = OTHER_CHIPS.iter().find(|(platform, chip)| {
            *platform == self.image.validation_platform && self.image.cann_tag.split('-').any(|part| part == *chip)
        }) {
            let tag = &self.image.cann_tag;
            self.error("cann_tag", format!("`{tag}` is for other chips than {}, by its `{}`", other.0, other.1));
        } else if self.image.cann_digest.is_none() && self.image.enabled {
            let message = format!("`{}` is not pinned: its digest is looked up in every run", self.image.base());
            self.findings.note(format!("{}/cann_digest", self.place), message);
        }
    }

    /// An enabled image must not lack anything, and a disabled one has to say what it lacks.
    fn readiness(&mut self) {
        if self.image.needs.iter().any(|need| need.trim().is_empty()) {
            self.error("needs", "an entry is empty; say what is missing");
        }
        match (self.image.enabled, self.image.needs.is_empty()) {
            (false, true) => self.error("needs", "it is not enabled; say what it still needs"),
            (true, false) => self.error("needs", "it is enabled, and still needs something"),
            _ => {}
        }
    }

    /// The labels of the runner: those of this architecture, and of no other.
    fn runners(&mut self) {
        let labels = &self.image.runners;
        if self.image.runner_name.as_ref().is_some_and(|name| name.trim().is_empty()) {
            self.error("runner_name", "it is empty; leave it out where every runner with the labels may");
        }
        if labels.iter().any(|label| label.trim().is_empty()) {
            self.error("runners", "a label is empty");
        }
        if let Some(label) = twice(labels) {
            self.error("runners", format!("the label `{label}` is there twice"));
        }
        match (self.image.enabled, labels.is_empty()) {
            (false, _) => return,
            (true, true) => {
                return self.error("runners", "an enabled image needs the labels of the runner that builds it");
            }
            (true, false) => {}
        }
        if !labels.iter().any(|label| label == "self-hosted") {
            self.error("runners", "the label `self-hosted` is missing: only such a runner has an NPU");
        }
        let [wanted, other] = if self.image.architecture == "amd64" { ["X64", "ARM64"] } else { ["ARM64", "X64"] };
        if labels.iter().any(|label| label == other) {
            self.error(
                "runners",
                format!("the label `{other}` is of another architecture than {}", self.image.architecture),
            );
        }
        if !labels.iter().any(|label| label == wanted) {
            self.error(
                "runners",
                format!("the label `{wanted}` is missing: images are built on their own architecture"),
            );
        }
    }

    /// The driver and CANN have to be a pair that is supported on this architecture.
    fn driver(&mut self) {
        let Some(driver) = &self.image.driver else {
            if self.image.enabled {
                self.error("driver", "an enabled image needs the version of the host's driver");
            }
            return;
        };
        let machine = if self.image.architecture == "amd64" { Machine::X86_64 } else { Machine::Aarch64 };
        let (Some(cann), Some(version)) = (Version::parse(&self.image.cann_version), Version::parse(driver)) else {
            self.error(
                "driver",
                format!("`{driver}` with CANN `{}` is not a pair of versions", self.image.cann_version),
            );
            return;
        };
        let platform = self.image.validation_platform.as_str();
        let plain = version.to_string().to_ascii_lowercase();
        if plain != *driver {
            self.error("driver", format!("`{driver}` is not as a host says it; expected `{plain}`"));
        }
        let fits = match supported_pair(&cann, &version, machine) {
            PairVerdict::Supported(pair) => pair.target.is_none_or(|target| target.to_string() == platform),
            _ => false,
        };
        if !fits {
            let architecture = &self.image.architecture;
            let message =
                format!("driver {driver} with CANN {cann} is not a supported pair for {platform} on {architecture}");
            self.error("driver", message);
        }
    }

    fn scripts(&mut self) {
        let image = self.image;
        for (key, script) in
            [("single_script", &image.single_script), ("distributed_script", &image.distributed_script)]
        {
            let is_part = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(char::is_control);
            let is_inside = !script.starts_with('/') && script.split('/').all(is_part);
            if !is_inside || !script.ends_with(".py") {
                self.error(key, format!("`{script}` is not a Python script below pypto-lib"));
            }
        }
        for (key, args) in [("single_args", &image.single_args), ("distributed_args", &image.distributed_args)] {
            if args.iter().any(|arg| arg.contains(char::is_control)) {
                self.error(key, "an argument has a control character in it, which no command line can show");
            }
            let letters: usize = args.iter().map(String::len).sum();
            if letters > LONGEST_ARGS {
                self.error(key, format!("they have {letters} letters, expected at most {LONGEST_ARGS}"));
            }
        }
        for device in image.devices.iter().filter(|device| !is_device(device)) {
            self.error("devices", format!("`{device}` is not a device node"));
        }
        if let Some(device) = twice(&image.devices) {
            self.error("devices", format!("`{device}` is there twice"));
        }
    }
}

/// Whether it is the path of a device node and nothing else: after a colon, Docker would read a path inside and permissions.
fn is_device(device: &str) -> bool {
    let name = device.strip_prefix("/dev/").unwrap_or_default();
    let is_part = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(char::is_control);
    name.split('/').all(is_part) && !name.contains([':', ','])
}

/// The first entry of a list that is there before.
fn twice(list: &[String]) -> Option<&String> {
    list.iter().enumerate().find(|(at, entry)| list[..*at].contains(entry)).map(|(_, entry)| entry)
}
