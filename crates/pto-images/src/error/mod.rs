//! What can go wrong, with whose fault it is in `fault.rs` and what to do about it in `hint.rs`.

mod fault;
mod hint;

use std::path::PathBuf;

use crate::document::Form;
use crate::promote::Kind;
use crate::registry::{Digest, Platform, RequestFailed};

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A request to a registry failed.
    #[error("{0}")]
    Registry(RequestFailed),
    /// A file with certificates cannot be read.
    #[error("cannot read the certificates to trust")]
    Certificates(#[source] Box<pto_fetch::Error>),
    /// A text that is not the address of a proxy. It may hold a password, so it is not shown.
    #[error("the proxy for registries is not the address of a proxy, expected `http://HOST:PORT`")]
    NoProxy,
    /// The registry contradicts itself.
    #[error("the registry says that `{tag}` does not exist, and {evidence}")]
    Contradiction {
        /// The tag.
        tag: String,
        /// What it also says.
        evidence: String,
    },
    /// The registry accepts a manifest again and again and does not keep it.
    #[error("the registry accepted the manifest for `{tag}` and did not keep it")]
    NotKept {
        /// The tag.
        tag: String,
    },
    /// Somebody else moved a tag.
    #[error("`{tag}` leads to {}, expected {}", name(.found.as_ref()), name(.expected.as_ref()))]
    MovedByOther {
        /// The tag.
        tag: String,
        /// Where it led at the beginning, or where it was to lead.
        expected: Option<Digest>,
        /// Where it leads now.
        found: Option<Digest>,
    },
    /// The temporary tag does not lead to the tested image.
    #[error("{what} of `{tag}` is {found}, tested was {tested}")]
    NotTheTested {
        /// The tag.
        tag: String,
        /// `the manifest`, `the configuration`.
        what: &'static str,
        /// What is there.
        found: String,
        /// What was tested.
        tested: Digest,
    },
    /// The queue of cards could not be run.
    #[error("cannot ask for cards")]
    Queue(#[source] pto_process::Error),
    /// The host is not the one that the configuration names.
    #[error("{what} is `{found}`, expected `{expected}`")]
    OtherHost {
        /// `the driver`, `the runner`, `the processor`.
        what: &'static str,
        /// What is here.
        found: String,
        /// By the configuration.
        expected: String,
    },
    /// The configuration requires a proxy.
    #[error("the configuration requires a proxy, and `{}` is not set", crate::proxy::VARIABLE)]
    ProxyRequired,
    /// The host lacks something that a validation needs.
    #[error("this host has no {what}")]
    HostLacks {
        /// What is missing.
        what: String,
    },
    /// The commit that is checked out is to be built, and is not one of PyPTO.
    #[error("`{}`{} is not a checkout of PyPTO: its commit has no `{}`", .dir.display(), cloned(.origin.as_deref()), .missing.join("` and no `"))]
    NotPypto {
        /// The checkout.
        dir: PathBuf,
        /// What it lacks.
        missing: Vec<&'static str>,
        /// Where it was cloned from.
        origin: Option<String>,
    },
    /// The checkout is at another commit than the plan's recipe.
    #[error("`{}` is at {found}, the plan is of the recipe {expected}", .dir.display())]
    OtherRecipe {
        /// The checkout with the recipe.
        dir: PathBuf,
        /// Its commit.
        found: String,
        /// By the plan.
        expected: String,
    },
    /// An address to clone from that cannot be part of a plan. It may hold a secret, so it is not shown.
    #[error("the address to clone from cannot be used: {problem}")]
    BadSource {
        /// What is wrong with it.
        problem: String,
    },
    /// A directory inside the checkout was named, not the checkout itself.
    #[error("`{}` is not the top of its checkout, `{}`", .dir.display(), .top.display())]
    NotTop {
        /// The directory that was named.
        dir: PathBuf,
        /// The checkout.
        top: PathBuf,
    },
    /// The recipe has uncommitted changes.
    #[error("`{}` has changes that are in no commit, and an image says which commit it is of: {}", .dir.display(), some(.changed, .overlooked))]
    ChangedRecipe {
        /// The checkout with the recipe.
        dir: PathBuf,
        /// What was changed, by paths below it.
        changed: Vec<String>,
        /// Files that git was told to overlook, changed or not.
        overlooked: Vec<String>,
    },
    /// The image was not built from the plan.
    #[error("`{label}` of the image `{image}` is {}, the plan has `{expected}`", label_value(.found.as_deref()))]
    OtherPlan {
        /// The image, by its name or id.
        image: String,
        /// The label.
        label: String,
        /// Its value; `None` if the image does not have it.
        found: Option<String>,
        /// By the plan.
        expected: String,
    },
    /// The plan is of other images.
    #[error("the plan does not have `{image}`")]
    NotPlanned {
        /// The image's name.
        image: String,
    },
    /// The plan was made from another configuration.
    #[error("the plan of `{image}` is of another configuration: {found}")]
    OtherConfiguration {
        /// The image's name.
        image: String,
        /// What it has, and what the configuration has.
        found: String,
    },
    /// Another process validates the same attempt of the same run.
    #[error("another validation `{mark}` is at work on this machine")]
    BusyRun {
        /// What its containers and tasks are found by.
        mark: String,
    },
    /// The driver to compare, or to compare with, is not known.
    #[error("the driver's version is not known: {problem}")]
    DriverUnknown {
        /// Which, and why.
        problem: String,
    },
    /// The engine has no such image.
    #[error("there is no image `{name}` on this machine")]
    NoImage {
        /// Its name.
        name: String,
    },
    /// The results do not allow the image to be published.
    #[error("the results do not let `{image}` be published: {problem}")]
    NotPassed {
        /// The image's name.
        image: String,
        /// What is wrong.
        problem: String,
    },
    /// The engine here does not have the image that was tested.
    #[error("the image {id} that was tested is not on this machine")]
    NotHere {
        /// Its id.
        id: Digest,
    },
    /// The image is for another platform than the configuration says.
    #[error("the image is for {found}, expected {expected}")]
    OtherPlatform {
        /// What it is for.
        found: Platform,
        /// By the configuration.
        expected: Platform,
    },
    /// The engine did not do its work.
    #[error(transparent)]
    Docker(#[from] pto_docker::Error),
    /// There is a newer recipe.
    #[error("the recipe {commit} is not the newest: `{branch}` of `{repository}` is at {newest}")]
    Stale {
        /// The commit of the image's recipe.
        commit: String,
        /// Upstream's branch.
        branch: String,
        /// Upstream.
        repository: String,
        /// Where the branch is.
        newest: String,
    },
    /// It cannot be found out whether there is a newer recipe.
    #[error("cannot find out where `{branch}` of `{repository}` is")]
    UpstreamUnknown {
        /// Upstream's branch.
        branch: String,
        /// Upstream.
        repository: String,
        /// Why.
        source: Box<pto_checkout::Error>,
    },
    /// A commit that is to be built cannot be fetched.
    #[error("cannot fetch {commit} from `{repository}`")]
    NotFetched {
        /// The commit.
        commit: String,
        /// Where it should be.
        repository: String,
        /// Why.
        source: Box<pto_checkout::Error>,
    },
    /// A pin is missing.
    #[error("{place} does not name {what}{}", .note.as_ref().map(|note| format!("; {note}")).unwrap_or_default())]
    NoPin {
        /// What is missing.
        what: &'static str,
        /// Where it should be.
        place: String,
        /// What stands there instead, and what was expected.
        note: Option<String>,
    },
    /// A commit lacks a file that a plan is made from.
    #[error("there is no `{path}` in {commit} of `{repository}`")]
    NoFile {
        /// The file.
        path: &'static str,
        /// The commit.
        commit: String,
        /// Where it came from.
        repository: String,
    },
    /// A base that cannot be used.
    #[error("the base `{base}` cannot be used: {problem}")]
    Base {
        /// Its name and tag.
        base: String,
        /// Why.
        problem: String,
    },
    /// A repository could not be read.
    #[error(transparent)]
    Git(#[from] pto_checkout::Error),
    /// Another process moves the tags of the same image.
    #[error("another process is moving the tags of `{tag}`")]
    Busy {
        /// The image's tag.
        tag: String,
    },
    /// A promotion that is to be taken back is done.
    #[error("`{tag}` leads to the new image already")]
    Promoted {
        /// The tag that users pull.
        tag: String,
    },
    /// A promotion could not be finished, and was taken back.
    #[error("the promotion to `{tag}` was taken back")]
    TakenBack {
        /// The tag that users pull.
        tag: String,
        /// Why it could not be finished.
        #[source]
        because: Box<Self>,
    },
    /// There is no version before to go back to.
    #[error("`{tag}` does not exist, so there is nothing to go back to")]
    NothingBefore {
        /// The tag that would hold the version before.
        tag: String,
    },
    /// What was begun has to be ended first.
    #[error("`{}` holds a {} that was begun", .dir.display(), .kind.name())]
    Begun {
        /// The directory with its records.
        dir: PathBuf,
        /// What it is.
        kind: Kind,
    },
    /// A promotion that is to begin is over.
    #[error("the promotion in `{}` has come to its end", .dir.display())]
    Over {
        /// The directory with its records.
        dir: PathBuf,
    },
    /// An upload was killed, or was not found to be the tested image.
    #[error("the upload to `{tag}` came to no end, so there is nothing to promote")]
    NotUploaded {
        /// The tag of the upload.
        tag: String,
    },
    /// There are no records of a promotion.
    #[error("`{}` holds no records of a publication", .dir.display())]
    NoRecords {
        /// The directory.
        dir: PathBuf,
    },
    /// A malformed plan, record or file of results.
    #[error("`{}`: {problem}", .file.display())]
    Document {
        /// The file.
        file: PathBuf,
        /// What it should be.
        form: Form,
        /// What is wrong with it.
        problem: String,
    },
    /// A document that was named cannot be read.
    #[error("cannot read `{}`", .file.display())]
    Unread {
        /// The file.
        file: PathBuf,
        /// What it should be.
        form: Form,
        /// What the system said.
        source: std::io::Error,
    },
    /// The record is about another image than the one that was asked for.
    #[error("`{}` is of another publication: {found}", .file.display())]
    OtherRecords {
        /// The file.
        file: PathBuf,
        /// What it is about, and what was expected.
        found: String,
    },
    /// Another process validates into the same directory.
    #[error("another validation is at work in `{}`", .dir.display())]
    BusyOutput {
        /// The directory of logs and results.
        dir: PathBuf,
    },
    /// A command of the queue failed, or its answer cannot be understood.
    #[error("`{command}`: {problem}")]
    Tasks {
        /// The command.
        command: String,
        /// What is wrong with the answer.
        problem: String,
    },
    /// A file could not be read or written.
    #[error("cannot {action}")]
    Io {
        /// What was to be done.
        action: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// A lock could not be taken.
    #[error("cannot take a lock")]
    Lock(#[source] pto_store::Error),
    /// The mark of a run could not be claimed.
    #[error(transparent)]
    Claim(#[from] pto_quarantine::Error),
    /// The user interrupted it.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    pub(crate) fn io(action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { action, source }
    }

    /// What git said before it failed, secrets masked.
    pub fn said(&self) -> Option<String> {
        let words = match self {
            Self::Git(source) => source.last_words(),
            Self::UpstreamUnknown { source, .. } | Self::NotFetched { source, .. } => source.last_words(),
            _ => return None,
        };
        Some(words).filter(|words| !words.is_empty())
    }
}

impl From<RequestFailed> for Error {
    fn from(failed: RequestFailed) -> Self {
        if pto_context::interrupt::requested() { Self::Interrupted } else { Self::Registry(failed) }
    }
}

fn cloned(origin: Option<&str>) -> String {
    origin.map(|origin| format!(", cloned from `{origin}`,")).unwrap_or_default()
}

fn label_value(found: Option<&str>) -> String {
    found.map_or("missing".to_owned(), |found| format!("`{found}`"))
}

fn name(digest: Option<&Digest>) -> &str {
    digest.map_or("nothing", Digest::as_str)
}

/// The first few of many paths.
fn some(changed: &[String], overlooked: &[String]) -> String {
    const SHOWN: usize = 3;
    let changed = changed.iter().map(|path| format!("`{path}`"));
    let all: Vec<String> =
        changed.chain(overlooked.iter().map(|path| format!("`{path}` (overlooked by git)"))).collect();
    let shown = &all[..all.len().min(SHOWN)];
    let more = all.len() - shown.len();
    shown.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}
