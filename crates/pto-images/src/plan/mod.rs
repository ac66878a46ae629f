//! What is built, frozen: every branch and tag replaced by the commit or the digest it stands for now.
//!
//! Later steps use the [`Lock`] alone, so all of them build, test and publish the same thing, whatever moves meanwhile.

mod base;
pub(crate) mod labels;
mod lock;
mod patches;
mod snapshot;

use std::path::PathBuf;
use std::time::SystemTime;

use pto_checkout::remote;
use pto_context::places::PYPTO_PINS;
use pto_context::{Context, Event};
use pto_platform::files::{PtoIsaPin, parse_pto_isa_pin, parse_versions_env};
use pto_platform::git::is_full_commit;

pub use lock::{Base, Lock, LockedImage, LockedSource, Ptoas};
pub use patches::missing_patch;

use crate::config::check::address_problem;
use crate::config::{Config, Image, Source};
use crate::document::Form;
use crate::error::Error;
use crate::promote::Recipe;
use crate::proxy;
use crate::registry::Options;
use snapshot::Snapshot;

/// The `ref` of PyPTO that means the commit that is checked out, not the remote's branch.
const MAIN: &str = "main";
/// PyPTO's submodule with its runtime.
const RUNTIME: &str = "runtime";
const PTO_ISA_PIN: &str = "pto_isa.pin";

/// What a plan is made from.
#[derive(Debug, Clone)]
pub struct PlanRequest {
    /// The checkout with the recipe.
    pub checkout: PathBuf,
    /// Where its commit can be cloned from, such as the fork that a change comes from; `None` for the configuration's
    /// repository.
    pub source: Option<String>,
    /// How the registries of bases are talked to.
    pub registry: Options,
    /// A proxy for git and for the registries of bases. The engine has its own for pulling a base; the registry that images are
    /// published in is always asked directly.
    pub proxy: Option<String>,
}

impl PlanRequest {
    /// Asks all remotes and registries once. Nothing is written.
    ///
    /// # Errors
    /// Something cannot be found out, or a pin is missing: nothing is planned on a guess.
    pub fn lock(&self, cx: &Context, config: &Config, images: &[&Image]) -> Result<Lock, Error> {
        if let Some(problem) = self.source.as_deref().and_then(address_problem) {
            return Err(Error::BadSource { problem });
        }
        let cx = &proxy::for_git(cx, self.proxy.as_deref());
        let commit = snapshot::head(cx, &self.checkout)?;
        snapshot::require_clean(cx, &self.checkout)?;
        let patches = self.checkout.join("docker/patches");
        let missing = images.iter().filter_map(|image| missing_patch(image, &patches));
        missing.for_each(|message| cx.emit(Event::Warning { message }));
        let pypto = self.pypto(cx, config, &commit)?;
        let source = Snapshot::of(cx, &pypto.repository, &pypto.commit)?;
        let runtime = runtime(cx, &source, &pypto)?;
        let runtime_source = Snapshot::of(cx, &runtime.repository, &runtime.commit)?;
        let pin = parse_pto_isa_pin(&runtime_source.file(cx, PTO_ISA_PIN)?);
        let pypto_lib = resolved(cx, &config.pypto_lib)?;
        if is_full_commit(&config.pypto_lib.reference) {
            // Nobody was asked for it yet.
            Snapshot::of(cx, &pypto_lib.repository, &pypto_lib.commit)?;
        }
        let registry = Options { proxy: self.proxy.clone(), ..self.registry.clone() };
        let locked = images.iter().map(|image| {
            let base = base::resolve(cx, image, &registry)?;
            Ok::<_, Error>(locked(config, image, base, [&pypto, &pypto_lib]))
        });
        let images = locked.collect::<Result<_, _>>()?;
        Ok(Lock {
            schema: Form::Plan.schema().to_owned(),
            created: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            recipe: Recipe {
                repository: config.recipe.repository.clone(),
                branch: config.recipe.branch.clone(),
                commit,
            },
            ptoas: ptoas(&source.file(cx, PYPTO_PINS)?)?,
            pto_isa: pto_isa(pin, &runtime)?,
            pypto_lib,
            pypto,
            runtime,
            images,
        })
    }

    /// PyPTO at the recipe's own commit, unless the configuration asks for another one.
    fn pypto(&self, cx: &Context, config: &Config, head: &str) -> Result<LockedSource, Error> {
        if config.pypto.reference != MAIN {
            return resolved(cx, &config.pypto);
        }
        snapshot::require_pypto(cx, &self.checkout)?;
        let Source { repository, reference } = config.pypto.clone();
        let repository = self.source.clone().unwrap_or(repository);
        Ok(LockedSource { repository, reference, commit: head.to_owned() })
    }
}

/// A source of the configuration at the commit that its ref stands for now.
fn resolved(cx: &Context, source: &Source) -> Result<LockedSource, Error> {
    let Source { repository, reference } = source.clone();
    let commit = remote::resolve(cx, &repository, &reference)?;
    Ok(LockedSource { repository, reference, commit })
}

/// An image with the arguments of its Dockerfile. They name commits instead of branches: with a branch, Docker's cache would
/// bring back what that branch held at an earlier build.
fn locked(config: &Config, image: &Image, base: Base, [pypto, pypto_lib]: [&LockedSource; 2]) -> LockedImage {
    let platform = image.validation_platform.clone();
    let build_args = [
        ("CANN_REPOSITORY", base.repository.clone()),
        ("CANN_DIGEST", base.digest.to_string()),
        ("CANN_TAG", base.tag.clone()),
        ("PYPTO_PLATFORM", platform.clone()),
        ("PYPTO_REPOSITORY", pypto.repository.clone()),
        ("PYPTO_REF", pypto.commit.clone()),
        ("PYPTO_LIB_REPOSITORY", pypto_lib.repository.clone()),
        ("PYPTO_LIB_REF", pypto_lib.commit.clone()),
        ("DIST_BUILD_JOBS", config.build_jobs.to_string()),
        ("DIST_RUNTIME_TARGETS", format!("build_package_{platform} build_package_sim")),
    ];
    LockedImage {
        name: image.name.clone(),
        platform: image.platform(),
        validation_platform: platform,
        tag: image.tag.clone(),
        base,
        build_args: build_args.map(|(name, value)| (name.to_owned(), value)).into(),
    }
}

/// The runtime, at the commit of PyPTO's submodule.
fn runtime(cx: &Context, source: &Snapshot, pypto: &LockedSource) -> Result<LockedSource, Error> {
    let submodule = source.submodule(cx, RUNTIME)?;
    let (url, commit) = submodule.ok_or_else(|| Error::NoPin { what: RUNTIME, place: place(pypto), note: None })?;
    let repository = snapshot::joined(&pypto.repository, &url);
    // What a commit of PyPTO holds is not checked by the configuration.
    if let Some(problem) = address_problem(&repository) {
        return Err(Error::BadSource { problem: format!("the submodule `{RUNTIME}` of {}: {problem}", place(pypto)) });
    }
    Ok(LockedSource { repository, reference: format!("{RUNTIME} of {}", pypto.commit), commit })
}

fn ptoas(text: &str) -> Result<Ptoas, Error> {
    let versions = parse_versions_env(text);
    let version = versions.ptoas.as_ref().map(|version| version.as_str().to_owned());
    let sha256 = versions.sha256.iter().map(|(machine, sum)| ((*machine).to_owned(), sum.clone())).collect();
    // Lines of other keys are nobody's business here.
    let wrong = versions
        .notes
        .iter()
        .find(|note| text.lines().nth(note.line.saturating_sub(1)).is_some_and(|line| line.contains("PTOAS_")));
    let note = wrong.or_else(|| versions.notes.first().filter(|_| version.is_none())).map(ToString::to_string);
    let missing = || Error::NoPin {
        what: "the version of PTOAS and its checksums",
        place: PYPTO_PINS.to_owned(),
        note: note.clone(),
    };
    let version = version.filter(|_| wrong.is_none()).ok_or_else(missing)?;
    Ok(Ptoas { version, sha256 })
}

fn pto_isa(pin: PtoIsaPin, runtime: &LockedSource) -> Result<String, Error> {
    let note = pin.notes.first().map(ToString::to_string);
    let place = || format!("{PTO_ISA_PIN} in {}", place(runtime));
    let is_sound = pin.notes.is_empty();
    pin.commit.filter(|_| is_sound).ok_or_else(|| Error::NoPin { what: "one commit of PTO-ISA", place: place(), note })
}

fn place(source: &LockedSource) -> String {
    format!("{} of {}", source.commit, pto_process::masked(&source.repository))
}
