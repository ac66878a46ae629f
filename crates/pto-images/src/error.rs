//! What can go wrong, whose fault it is, and what to do about it.

use std::path::PathBuf;

use pto_context::Fault;

use crate::registry::{Digest, Platform, Problem, RequestFailed};

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The registry did not do what it was asked.
    #[error("{0}")]
    Registry(RequestFailed),
    /// Certificates that were named cannot be read.
    #[error("cannot read the certificates to trust")]
    Certificates(#[source] Box<pto_fetch::Error>),
    /// What was given as a proxy is none. It may hold a password, and is not repeated.
    #[error("the proxy for registries is no address of a proxy, expected `http://HOST:PORT`")]
    NoProxy,
    /// The registry says one thing and another one.
    #[error("the registry says that `{tag}` does not exist, and {evidence}")]
    Contradiction {
        /// The tag.
        tag: String,
        /// What speaks against it.
        evidence: String,
    },
    /// Somebody else moved a tag.
    #[error("`{tag}` leads to {}, expected {}", name(.found.as_ref()), name(.expected.as_ref()))]
    MovedByOther {
        /// The tag.
        tag: String,
        /// Where it led when this began, or what it was to lead to.
        expected: Option<Digest>,
        /// Where it leads.
        found: Option<Digest>,
    },
    /// The temporary tag does not lead to the image that was tested.
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
        /// `the driver`, `the runner`.
        what: &'static str,
        /// What is here.
        found: String,
        /// By the configuration.
        expected: String,
    },
    /// What is built is to be the commit that is checked out, and that is not one of PyPTO.
    #[error("`{}`{} is no checkout of PyPTO: its commit has no `{}`", .dir.display(), cloned(.origin.as_deref()), .missing.join("` and no `"))]
    NotPypto {
        /// The checkout.
        dir: PathBuf,
        /// What it lacks.
        missing: Vec<&'static str>,
        /// Where it was cloned from.
        origin: Option<String>,
    },
    /// The recipe that is here is not that of the plan.
    #[error("`{}` is at {found}, the plan is of the recipe {expected}", .dir.display())]
    OtherRecipe {
        /// The checkout with the recipe.
        dir: PathBuf,
        /// Its commit.
        found: String,
        /// By the plan.
        expected: String,
    },
    /// The recipe that is here is none that a commit has.
    #[error("`{}` has changes that are in no commit, and an image says which commit it is of: {}", .dir.display(), some(.changed))]
    ChangedRecipe {
        /// The checkout with the recipe.
        dir: PathBuf,
        /// What was changed, by paths below it.
        changed: Vec<String>,
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
    /// The results say that it may not be published.
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
    /// A newer recipe is there.
    #[error("the recipe {commit} is not the newest: `{branch}` of `{repository}` is at {newest}")]
    Stale {
        /// Ours.
        commit: String,
        /// Upstream's branch.
        branch: String,
        /// Upstream.
        repository: String,
        /// Where the branch is.
        newest: String,
    },
    /// It is not known whether a newer recipe is there.
    #[error("cannot find out where `{branch}` of `{repository}` is")]
    UpstreamUnknown {
        /// Upstream's branch.
        branch: String,
        /// Upstream.
        repository: String,
        /// Why.
        source: Box<pto_checkout::Error>,
    },
    /// A commit that is to be built cannot be cloned.
    #[error("cannot fetch {commit} from `{repository}`")]
    NotFetched {
        /// The commit.
        commit: String,
        /// Where it should be.
        repository: String,
        /// Why.
        source: Box<pto_checkout::Error>,
    },
    /// A commit lacks what is built from it.
    #[error("{place} does not name {what}")]
    NoPin {
        /// What is missing.
        what: &'static str,
        /// Where it should be.
        place: String,
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
    /// Another process works on the same image.
    #[error("another process is moving the tags of `{tag}`")]
    Busy {
        /// The image's tag.
        tag: String,
    },
    /// What is to be taken back is done.
    #[error("`{tag}` leads to the new image already")]
    Promoted {
        /// The tag that users pull.
        tag: String,
    },
    /// There is nothing to go back to.
    #[error("`{tag}` does not exist, so there is nothing to go back to")]
    NothingBefore {
        /// The tag that would hold the version before.
        tag: String,
    },
    /// What was begun has to be ended first.
    #[error("`{}` holds a {kind} that was begun", .dir.display())]
    Begun {
        /// The directory with its records.
        dir: PathBuf,
        /// `promotion`, `rollback`.
        kind: &'static str,
    },
    /// A promotion is to begin that came to its end.
    #[error("the promotion in `{}` has come to its end", .dir.display())]
    Over {
        /// The directory with its records.
        dir: PathBuf,
    },
    /// An upload was killed, or not compared.
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
    /// The records cannot be used.
    #[error("`{}`: {problem}", .file.display())]
    Records {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A document that was named cannot be read.
    #[error("cannot read `{}`", .file.display())]
    Unread {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The records are of something else than what was asked for.
    #[error("`{}` is of another publication: {found}", .file.display())]
    OtherRecords {
        /// The file.
        file: PathBuf,
        /// What it is of, and what was expected.
        found: String,
    },
    /// Another process validates into the same directory.
    #[error("another validation is at work in `{}`", .dir.display())]
    BusyOutput {
        /// The directory of logs and results.
        dir: PathBuf,
    },
    /// The queue did not do what it was asked.
    #[error("`{command}`: {problem}")]
    Tasks {
        /// What was asked.
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
    /// A lock could not be had.
    #[error("cannot lock the image")]
    Lock(#[source] pto_store::Error),
    /// The user asked for the end.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    pub(crate) fn io(action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { action, source }
    }

    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Interrupted => Fault::Interrupt,
            Self::Lock(error) if error.is_interrupted() => Fault::Interrupt,
            Self::Docker(error) => error.fault(),
            Self::Registry(_) | Self::Certificates(_) | Self::Io { .. } | Self::Lock(_) => Fault::Machine,
            Self::UpstreamUnknown { .. } | Self::Busy { .. } | Self::NotHere { .. } => Fault::Machine,
            Self::Queue(error) if error.is_interrupted() => Fault::Interrupt,
            Self::Queue(_) | Self::NoImage { .. } => Fault::Machine,
            Self::Git(error) if error.is_interrupted() => Fault::Interrupt,
            Self::NotFetched { source, .. } if source.is_interrupted() => Fault::Interrupt,
            Self::NotFetched { .. } => Fault::Machine,
            Self::Git(_) => Fault::Machine,
            Self::NoRecords { .. } | Self::Records { .. } | Self::OtherRecords { .. } | Self::Begun { .. } => {
                Fault::Input
            }
            Self::Unread { .. } | Self::Over { .. } | Self::NotUploaded { .. } => Fault::Input,
            Self::BusyOutput { .. } | Self::Tasks { .. } => Fault::Machine,
            Self::NoProxy
            | Self::NoPin { .. }
            | Self::Base { .. }
            | Self::NotPypto { .. }
            | Self::ChangedRecipe { .. }
            | Self::OtherRecipe { .. } => Fault::Input,
            Self::Contradiction { .. }
            | Self::MovedByOther { .. }
            | Self::NotTheTested { .. }
            | Self::OtherPlatform { .. }
            | Self::NotPassed { .. }
            | Self::OtherHost { .. }
            | Self::DriverUnknown { .. }
            | Self::OtherPlan { .. }
            | Self::Promoted { .. }
            | Self::Stale { .. }
            | Self::NothingBefore { .. } => Fault::Verdict,
        }
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

    /// What to do about it, for people; `None` if the error says all.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Registry(failed) => return registry_hint(&failed.problem),
            Self::Certificates(error) => return error.hint(),
            Self::NoProxy => "look at `PYPTO_DOCKER_PROXY`".to_owned(),
            Self::Contradiction { .. } => {
                "something between here and the registry answers in its place; nothing was changed, run again"
                    .to_owned()
            }
            Self::MovedByOther { .. } => "somebody else published meanwhile, so nothing more was changed; \
                `cargo xtask images status` shows where the tags lead, and a new publication begins from there"
                .to_owned(),
            Self::NotTheTested { .. } => {
                "current and previous are as they were; publish again under a new run and attempt".to_owned()
            }
            Self::Docker(error) => return error.hint(),
            Self::Git(error) => return error.hint(),
            Self::NotHere { .. } => {
                "publish on the machine that tested it, before its images are cleaned up".to_owned()
            }
            Self::Queue(error) => return error.hint(),
            Self::OtherHost { .. } | Self::DriverUnknown { .. } => {
                "validate on the host that the configuration names, or change it".to_owned()
            }
            Self::NotPypto { .. } => {
                "name PyPTO's checkout with `--checkout DIR`, or a commit of PyPTO as `ref` of `pypto` in \
                the configuration"
                    .to_owned()
            }
            Self::ChangedRecipe { dir, .. } => {
                format!("commit and push them, or put them aside: `git -C {} stash --include-untracked`", dir.display())
            }
            Self::NotFetched { .. } => {
                "push that commit, or name the repository that has it: `--source URL`; if there is a \
                proxy, `PYPTO_DOCKER_PROXY`"
                    .to_owned()
            }
            Self::OtherRecipe { .. } => "check that commit out, or plan again".to_owned(),
            Self::OtherPlan { .. } => {
                "build it from this plan: `cargo xtask container build --lock FILE`, which labels it".to_owned()
            }
            Self::NoImage { .. } => "build it first".to_owned(),
            Self::NotPassed { .. } => "`cargo xtask images test` runs the validation and writes the results".to_owned(),
            Self::OtherPlatform { .. } => "build and test it on a machine of that architecture".to_owned(),
            Self::Stale { .. } => "current and previous are as they were; build and test the newest recipe".to_owned(),
            Self::UpstreamUnknown { .. } => "current and previous are as they were; run again".to_owned(),
            Self::Busy { .. } => "wait for it, or end it".to_owned(),
            Self::Promoted { .. } => "`cargo xtask images rollback` makes the version before current again".to_owned(),
            Self::NothingBefore { .. } => {
                "the second publication of a different image makes a previous version".to_owned()
            }
            Self::Begun { .. } => "`--resume` finishes it, `--resume --undo` takes it back".to_owned(),
            Self::NoRecords { .. } => "name the directory that `cargo xtask images publish` wrote".to_owned(),
            Self::Lock(error) => return error.hint(),
            Self::Io { source, .. } if pto_context::is_disk_full(source) => "free some space and run again".to_owned(),
            Self::NoPin { .. } | Self::Base { .. } => {
                "what is built has to be a commit of PyPTO with its pins, on a base for the platform".to_owned()
            }
            Self::Over { .. } => {
                "`cargo xtask images status` shows what is current; `cargo xtask images publish` begins \
                another one, and `cargo xtask images rollback` goes back"
                    .to_owned()
            }
            Self::NotUploaded { .. } => "nothing was moved; `cargo xtask images publish` uploads it again".to_owned(),
            Self::Unread { .. } => "name the file that the step before has written".to_owned(),
            Self::Records { file, .. } => format!(
                "take another copy of it, or move it away: `mv {0} {0}.broken`; what is published is in the registry, and \
                 `cargo xtask images status` shows it",
                file.display()
            ),
            Self::OtherRecords { .. } => {
                "name the directory of this image: `--records DIR`, and its repository if that is \
                not the configuration's: `--repository HOST/PATH`"
                    .to_owned()
            }
            Self::BusyOutput { .. } => "wait for it, or name another directory: `--output DIR`".to_owned(),
            Self::Tasks { .. } => "look at the queue, and end what is left of this run by hand".to_owned(),
            Self::Io { .. } | Self::Interrupted => return None,
        })
    }
}

impl From<RequestFailed> for Error {
    fn from(failed: RequestFailed) -> Self {
        if pto_context::interrupt::requested() { Self::Interrupted } else { Self::Registry(failed) }
    }
}

fn registry_hint(problem: &Problem) -> Option<String> {
    let hint = match problem {
        Problem::Denied { .. } => {
            "give name and password with `--password-stdin`, of a user who may read this repository, and push to it where \
             something is published"
        }
        Problem::Stalled(_) | Problem::Slow(_) | Problem::Connection(_) => {
            "check that the registry can be reached from here directly: no proxy is used for it"
        }
        Problem::Status { status: 404, .. } => {
            "no registry answered this way; check the address, and what stands between here and it"
        }
        Problem::Malformed(_) => {
            "what answered may be no registry, but a page to log in to a network, or a proxy's; check the address"
        }
        problem if problem.may_pass() => "the registry has trouble; run again later",
        _ => return None,
    };
    Some(hint.to_owned())
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

/// The first of many paths.
fn some(paths: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<String> = paths.iter().take(SHOWN).map(|path| format!("`{path}`")).collect();
    let more = paths.len().saturating_sub(SHOWN);
    shown.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}
