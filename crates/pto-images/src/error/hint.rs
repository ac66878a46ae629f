//! What to do about it.

use pto_checkout::Error::{NoDirectory, NotACheckout};

use std::path::Path;

use pto_process::shell_word;

use super::Error;
use crate::document::Form;
use crate::promote::Kind;
use crate::registry::{Problem, RequestFailed};

impl Error {
    /// What to do about it, for people; `None` if the error says all.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            // Errors of other crates know what to do.
            Self::Certificates(error) => return error.hint(),
            Self::Docker(error) => return error.hint(),
            Self::Git(NoDirectory { .. } | NotACheckout { .. }) => "name the checkout with the recipe: `--checkout DIR`".to_owned(),
            Self::Git(error) => return error.hint(),
            Self::Queue(error) => return error.hint(),
            Self::Lock(error) => return error.hint(),
            Self::Claim(error) => return error.hint(),
            Self::TakenBack { because, .. } => return because.hint(),
            // Plans.
            Self::NotPypto { .. } => {
                "name PyPTO's checkout with `--checkout DIR`, or a commit of PyPTO as `ref` of `pypto` in \
                the configuration"
                    .to_owned()
            }
            Self::NotTop { top, .. } => format!("name the checkout: `--checkout {}`", word(top)),
            Self::BadSource { .. } => {
                "leave it out of the address: git asks its credential helper (`git config credential.helper`), also where the image \
                 is built"
                    .to_owned()
            }
            Self::ChangedRecipe { dir, changed, overlooked } => aside(dir, changed, overlooked),
            Self::NotFetched { .. } => {
                "push that commit; PyPTO's can be in another repository, `--source URL`; if there is a proxy, \
                `PYPTO_DOCKER_PROXY`"
                    .to_owned()
            }
            Self::NoPin { .. } | Self::NoFile { .. } | Self::Base { .. } => {
                "what is built has to be a commit of PyPTO with its pins, on a base for the platform".to_owned()
            }
            Self::OtherRecipe { .. } => "check that commit out, or plan again".to_owned(),
            Self::OtherPlan { .. } => {
                "build it from this plan: `cargo xtask container build --lock FILE`, which labels it".to_owned()
            }
            Self::NotPlanned { .. } => "`cargo xtask images plan IMAGE` writes one with it".to_owned(),
            Self::Document { form: Form::Plan, .. } | Self::Unread { form: Form::Plan, .. } => {
                "`cargo xtask images plan` writes one: name the file that its `--lock` names".to_owned()
            }
            Self::ProxyRequired => {
                "set `PYPTO_DOCKER_PROXY` to one that this machine reaches, or `proxy_required` to false".to_owned()
            }
            // Validations.
            Self::OtherHost { .. } | Self::HostLacks { .. } | Self::DriverUnknown { .. } => {
                "validate on the host that the configuration names, or correct the configuration".to_owned()
            }
            Self::OtherPlatform { .. } => "build and test it on a machine of that architecture".to_owned(),
            Self::NoImage { .. } => "`cargo xtask container build --lock FILE` builds it; `docker images` lists those that are here".to_owned(),
            Self::Tasks { .. } => "look at the queue, and end what is left of this run by hand".to_owned(),
            Self::BusyRun { .. } => "wait for it, or give this one a number of its own: `--run`, `--attempt`".to_owned(),
            Self::BusyOutput { .. } => "wait for it, or name another directory: `--output DIR`".to_owned(),
            Self::OtherConfiguration { .. } => "plan, build and validate again, or name the configuration it was made from".to_owned(),
            Self::NotPassed { .. } => "`cargo xtask images test IMAGE` runs the validation and writes the results".to_owned(),
            Self::Document { form: Form::Results, .. } | Self::Unread { form: Form::Results, .. } => {
                "`cargo xtask images test IMAGE` writes them: name `results.json` of its directory".to_owned()
            }
            // Publications.
            Self::NotHere { .. } => {
                "publish on the machine that tested it, before its images are cleaned up".to_owned()
            }
            Self::NotTheTested { .. } => {
                "current and previous are as they were; publish again under a new run and attempt".to_owned()
            }
            Self::Stale { .. } => "current and previous are as they were; build and test the newest recipe".to_owned(),
            Self::UpstreamUnknown { .. } => "current and previous are as they were; run again".to_owned(),
            Self::NotUploaded { .. } => "nothing was moved; `cargo xtask images publish` uploads it again".to_owned(),
            Self::MovedByOther { .. } => "somebody else published meanwhile, so nothing more was changed; \
                `cargo xtask images status IMAGE` shows where the tags lead, and a new publication begins from there"
                .to_owned(),
            Self::Promoted { .. } => "`cargo xtask images rollback IMAGE` makes the version before current again".to_owned(),
            Self::NothingBefore { .. } => {
                "the second publication of a different image makes a previous version".to_owned()
            }
            Self::Busy { .. } => "wait for it, or end it".to_owned(),
            // Their records.
            Self::Begun { kind: Kind::Promotion, .. } => {
                "`cargo xtask images promote IMAGE --resume` finishes it, `--resume --undo` takes it back".to_owned()
            }
            Self::Begun { kind: Kind::Rollback, .. } => {
                "`cargo xtask images rollback IMAGE` with the same records finishes it".to_owned()
            }
            Self::Over { .. } => {
                "`cargo xtask images status IMAGE` shows what is current; `cargo xtask images publish IMAGE` begins another one"
                    .to_owned()
            }
            Self::NoRecords { .. } => "name the directory that `cargo xtask images publish` wrote".to_owned(),
            Self::OtherRecords { .. } => {
                "name the directory of this image: `--records DIR`, its repository if that is not the configuration's: \
                 `--repository HOST/PATH`, and the configuration that it was published with: `--config FILE`"
                    .to_owned()
            }
            Self::Document { form: Form::Record, file, .. } => format!(
                "take another copy of it, or move it away: `mv {0} {0}.broken`; what is published is in the registry, and \
                 `cargo xtask images status IMAGE` shows it",
                word(file)
            ),
            // Registries.
            Self::Registry(failed) => return registry_hint(failed),
            Self::NoProxy => "look at `PYPTO_DOCKER_PROXY`".to_owned(),
            Self::Contradiction { .. } => {
                "something between here and the registry answers in its place; `cargo xtask images status IMAGE` says how it stands, \
                 and what to do"
                    .to_owned()
            }
            Self::NotKept { .. } => {
                "the registry may be read-only or full; `cargo xtask images status IMAGE` says how it stands, and what to do".to_owned()
            }
            // Files.
            Self::Unread { form: Form::Record, .. } => "name the directory of the records with `--records DIR`".to_owned(),
            Self::Io { source, .. } if pto_context::is_disk_full(source) => "free some space and run again".to_owned(),
            Self::Io { .. } | Self::Interrupted => return None,
        })
    }
}

/// How to put changes aside: ignored files too, but not those that are no part of the recipe. What git overlooks is shown to it first.
fn aside(dir: &Path, changed: &[String], overlooked: &[String]) -> String {
    let words = |paths: &[String]| paths.iter().map(|path| shell_word(path)).collect::<Vec<_>>().join(" ");
    let git = format!("git -C {}", word(dir));
    let mut steps = Vec::new();
    if !overlooked.is_empty() {
        let paths = words(overlooked);
        // Git takes one of the two at a time.
        let tell =
            ["--no-assume-unchanged", "--no-skip-worktree"].map(|flag| format!("{git} update-index {flag} {paths}"));
        steps.push(format!("`{}` shows git what it overlooks", tell.join(" && ")));
    }
    if !changed.is_empty() {
        let paths = words(changed);
        steps.push(format!("commit and push them, or put them aside: `{git} stash --all -- {paths}`"));
    }
    steps.join("; ")
}

fn word(path: &Path) -> String {
    shell_word(&path.to_string_lossy())
}

fn registry_hint(failed: &RequestFailed) -> Option<String> {
    let hint = match &failed.problem {
        Problem::Stalled(_) | Problem::Slow(_) | Problem::Connection(_) | Problem::Lasting(_)
            if failed.through_proxy =>
        {
            "check the proxy in `PYPTO_DOCKER_PROXY`, and whether it reaches the registry"
        }
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
