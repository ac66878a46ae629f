//! The build itself.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pto_context::{Context, Event};
use pto_process::Status;
use serde::Serialize;

use super::artifacts::{self, Artifacts, QUERY};
use super::chosen::Chosen;
use super::hands::Hands;
use super::interrupted;
use super::plan::{BuildOptions, BuildPlan, Site, source};
use super::progress::Step;
use super::pto_isa::{self, PtoIsa};
use super::record::{Decision, Record};
use super::turn::Turn;
use crate::error::{BuildError, Error};
use crate::patches::{self, Outcome};

/// What a build has done.
#[derive(Debug, Clone, Serialize)]
pub struct Built {
    /// What it was to do.
    #[serde(flatten)]
    pub plan: BuildPlan,
    /// What CMake made.
    pub artifacts: Vec<PathBuf>,
    /// The runtime's wheel.
    pub wheel: PathBuf,
    /// The binding that was installed of it.
    pub extension: Option<PathBuf>,
    /// PTO-ISA as the runtime used it.
    pub isa: Option<PtoIsa>,
    /// Whether `dist-state.json` says now what is installed.
    pub recorded_state: bool,
}

/// Builds the project's own extension with what is there or from scratch, then makes and installs the runtime's wheel.
///
/// One build of a checkout is at work at a time; another one waits. Killed at any moment, it leaves a checkout that the next
/// build completes.
///
/// # Errors
/// See [`Error`].
pub fn build(cx: &Context, options: &BuildOptions) -> Result<Built, Error> {
    let root = source(cx)?;
    let _turn = Turn::take(cx, &root, &format!("build of `{}`", root.display()))?;
    let options = &options.resolved(&root)?;
    let site = Site::find(cx, options)?;
    let plan = site.plan(options)?;
    site.run_as.prepare()?;
    tell_jobs(cx, &plan);
    let patches = patches::apply(&site.cx, site.runtime()?, &site.patches)?;
    tell_patches(cx, &patches);
    if let Some(isa) = site.isa.as_ref().filter(|isa| !isa.reused) {
        pto_isa::obtain(&site.cx, &site.run_as, &site.tree.runtime, &isa.commit, &options.pto_isa)?;
    }
    let work = Work { site: &site, plan: &plan, chosen: Chosen::of(options), hands: Hands::of(&site.run_as) };
    let wheel = work.compile()?;
    let artifacts = artifacts::targets(&site.tree.native).unwrap_or_default();
    let artifacts =
        artifacts.into_iter().map(|path| site.tree.native.join(path)).filter(|path| path.exists()).collect();
    let (extension, recorded_state) = work.install(&wheel)?;
    Ok(Built {
        plan: BuildPlan { patches, ..plan },
        artifacts,
        wheel,
        extension,
        isa: site.isa.clone(),
        recorded_state,
    })
}

struct Work<'a> {
    site: &'a Site,
    plan: &'a BuildPlan,
    chosen: Chosen,
    hands: Hands,
}

impl Work<'_> {
    /// Builds both parts, and writes down what that came to. From the first object that is touched until then there is no
    /// record, so that a build that is killed is discarded by the next one.
    fn compile(&self) -> Result<PathBuf, Error> {
        let native = &self.site.tree.native;
        let cx = &self.site.cx;
        if let Decision::Fresh { reason } = &self.plan.decision {
            let message = format!("Building `{}` from scratch: {reason}", self.plan.source.display());
            cx.emit(Event::Finished { task: "decide:build".to_owned(), message });
            self.site.tree.claim(cx, &self.hands)?;
            self.site.tree.discard(cx, &self.hands)?;
            self.site.tree.claim(cx, &self.hands)?;
            self.chosen.note(cx, &self.hands, native)?;
            self.configure()?;
        } else {
            self.site.tree.sweep(cx, &self.hands)?;
            if artifacts::targets(native).is_none() {
                let message = format!("`{}` does not say what CMake makes: asking it again", native.display());
                cx.emit(Event::Finished { task: "decide:build".to_owned(), message });
                self.configure()?;
            }
        }
        self.hands.remove(cx, &Record::path(native))?;
        let begun = SystemTime::now();
        let built = self.native();
        let is_native_whole = built.is_ok();
        let result = built.and_then(|()| self.wheel());
        if result.as_ref().map_or_else(|error| self.leaves_whole(error, is_native_whole), |_| true) {
            self.record(is_native_whole.then_some(begun))?;
        }
        result
    }

    /// Writes down what was built with what, and when the build of the extension began if that went well.
    fn record(&self, begun: Option<SystemTime>) -> Result<(), Error> {
        let (cx, native) = (&self.site.cx, &self.site.tree.native);
        let Some(artifacts) = Artifacts::of(&self.site.tree)? else {
            let message = format!(
                "CMake does not say what it makes in `{}`, so this build is not recorded and the next one begins from scratch",
                native.display()
            );
            cx.emit(Event::Warning { message });
            return Ok(());
        };
        let record = Record::new(self.plan.inputs.clone(), artifacts, begun);
        self.hands.write(cx, &Record::path(native), &record.to_json()?)
    }

    /// Whether the next build may go on with what a build has left that did not succeed.
    fn leaves_whole(&self, error: &Error, is_native_whole: bool) -> bool {
        // A compiler that refuses a source leaves the objects that it made as good as before.
        if ended_by_itself(error) {
            return true;
        }
        // Once it is interrupted, a process starts no child, not even one that writes as the owner.
        if !error.is_interrupted() || self.site.run_as.is_other() {
            return false;
        }
        let Site { cx, tree, .. } = self.site;
        if is_native_whole {
            // What the runtime is built with, its own project says; what that leaves half written, nobody knows.
            return tree.give_up_runtime(cx, &self.hands).is_ok();
        }
        interrupted::is_gone_on_with(&self.plan.generator, &tree.native)
    }

    fn configure(&self) -> Result<(), Error> {
        let (cx, native) = (&self.site.cx, &self.site.tree.native);
        self.hands.write(cx, &native.join(QUERY), b"")?;
        let step = self.step("configure", "Configuring", "configure the native build");
        step.run(cx, &self.site.configure(&self.plan.generator, self.plan.jobs.used)).map(drop)
    }

    fn native(&self) -> Result<(), Error> {
        let jobs = self.plan.jobs.used;
        let step = self.step("build:native", "Building", "build the native extension");
        step.run(&self.site.cx, &self.site.native_build(jobs)).map(drop)
    }

    fn wheel(&self) -> Result<PathBuf, Error> {
        let job = self.site.wheel(self.plan.jobs.used)?;
        self.hands.remove(&self.site.cx, &job.out())?;
        let step = Step {
            repository: job.runtime,
            ..self.step("build:wheel", "Making the runtime's wheel of", "make the runtime's wheel")
        };
        step.run(&self.site.cx, &job.make(&self.site.cx))?;
        job.made()
    }

    /// Installs the wheel and writes down what the environment holds now. With the lock that a setup holds while it puts
    /// another environment in its place; the checkouts of a home are several as well.
    fn install(&self, wheel: &Path) -> Result<(Option<PathBuf>, bool), Error> {
        let Site { cx, home, patches, tools, .. } = self.site;
        let job = self.site.wheel(self.plan.jobs.used)?;
        let _lock = home.lock(cx)?;
        let step = self.step("install:wheel", "Installing the runtime of", "install the runtime's wheel");
        step.run(cx, &job.install(wheel)).map_err(|error| match error {
            // Not the sources' fault any more.
            Error::Build(BuildError::NotBuilt { action, source, .. }) => {
                Error::Command { action, place: home.venv(), source }
            }
            other => other,
        })?;
        let extension = patches::extension_of(&tools.python.platlib);
        let state = patches::record_state(cx, home.root(), self.site.runtime()?.root(), patches, extension.as_deref())?;
        if state.is_none() && !patches.is_empty() {
            let message = format!(
                "`{}` has changes besides the managed patches, so `dist-state.json` does not say what is installed",
                self.site.runtime()?.root().display()
            );
            cx.emit(Event::Warning { message });
        }
        Ok((extension, state.is_some()))
    }

    fn step(&self, task: &'static str, doing: &str, action: &'static str) -> Step<'_> {
        let repository = &self.plan.source;
        Step { task, message: format!("{doing} `{}`", repository.display()), action, repository }
    }
}

/// Whether a program came to its own end, and so left no file half written.
fn ended_by_itself(error: &Error) -> bool {
    let Error::Build(BuildError::NotBuilt { source: pto_process::Error::Failed(output), .. }) = error else {
        return false;
    };
    matches!(output.status, Status::Exited(_))
}

fn tell_jobs(cx: &Context, plan: &BuildPlan) {
    let jobs = &plan.jobs;
    if let Some(asked) = jobs.asked.filter(|asked| *asked > jobs.limit) {
        let message =
            format!("{asked} jobs were asked for, {} allows {}: using {}", jobs.source, jobs.limit, jobs.used);
        cx.emit(Event::Warning { message });
    }
}

fn tell_patches(cx: &Context, patches: &[Outcome]) {
    for Outcome { patch, standing } in patches {
        let what = match standing {
            patches::Standing::Applies => "is applied",
            patches::Standing::Present => "is there already",
        };
        cx.emit(Event::Finished {
            task: format!("patch:{patch}"),
            message: format!("The managed patch `{patch}` {what}"),
        });
    }
}
