//! What a build will do, before it does it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::SystemTime;

use pto_checkout::{Checkout, JobLimits, LimitSource, Owner, RunAs};
use pto_context::Context;
use pto_context::places::pypto_source;
use pto_process::Invocation;
use serde::Serialize;

use super::inputs::{Inputs, gather};
use super::native::{self, NativeJob};
use super::pto_isa::{self, PtoIsa, PtoIsaSources};
use super::record::{Decision, Reason, Record};
use super::tools::Tools;
use super::tree::BuildTree;
use super::wheel::WheelJob;
use crate::error::{Error, HomeError, SourceError};
use crate::home::Home;
use crate::patches::{self, Outcome, Patch};

/// Where the runtime lies below the checkout.
pub(crate) const RUNTIME: &str = "runtime";
const NINJA: &str = "Ninja";
const MAKE: &str = "Unix Makefiles";

/// What is asked of a build. Checkout and home are those of the context: `PYPTO_SRC`, `PYPTO_HOME`.
#[derive(Debug, Clone, Default)]
pub struct BuildOptions {
    /// Jobs at once; lowers the machine's limit and never raises it.
    pub jobs: Option<u32>,
    /// Begins with nothing.
    pub clean: bool,
    /// `CMAKE_BUILD_TYPE`; without it, the project's own.
    pub build_type: Option<String>,
    /// Further arguments for CMake.
    pub cmake_args: Vec<String>,
    /// With the build type and CMake's arguments that the build which is there was made with, and not with those above:
    /// for whoever builds again what the user has chosen.
    pub as_recorded: bool,
    /// Managed patches for the runtime: a directory, or one file.
    pub patches: Option<PathBuf>,
    /// Where PTO-ISA comes from.
    pub pto_isa: PtoIsaSources,
}

/// Jobs of a build, and why not more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Jobs {
    /// At once.
    pub used: u32,
    /// What was asked for.
    pub asked: Option<u32>,
    /// What the machine allows.
    pub limit: u32,
    /// Who says so.
    pub source: LimitSource,
}

/// One command of a build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// What it does: "configure", "build", "make the runtime's wheel".
    pub what: &'static str,
    /// As one line for a shell, secrets masked.
    pub command: String,
}

/// What a build will do.
#[derive(Debug, Clone, Serialize)]
pub struct BuildPlan {
    /// The checkout.
    pub source: PathBuf,
    /// PyPTO's home.
    pub home: PathBuf,
    /// Who owns the checkout.
    pub owner: Owner,
    /// Jobs.
    pub jobs: Jobs,
    /// What CMake writes files for.
    pub generator: String,
    /// Whether it begins with what is there.
    pub decision: Decision,
    /// When the last build of the extension began that went well, if that is recorded: what is older was looked at then.
    #[serde(skip)]
    pub last_begun: Option<SystemTime>,
    /// What it depends on.
    pub inputs: Inputs,
    /// The commit of PTO-ISA that the runtime pins.
    pub pto_isa: Option<String>,
    /// How the managed patches stand.
    pub patches: Vec<Outcome>,
    /// Its commands, in their order.
    pub commands: Vec<Step>,
}

/// What a build needs of its surroundings, once found.
pub(crate) struct Site {
    /// The caller's, with the home's programs first on `PATH`.
    pub(crate) cx: Context,
    pub(crate) checkout: Checkout,
    pub(crate) home: Home,
    pub(crate) run_as: RunAs,
    pub(crate) tools: Tools,
    pub(crate) tree: BuildTree,
    pub(crate) patches: Vec<Patch>,
    pub(crate) settings: Vec<String>,
    pub(crate) isa: Option<PtoIsa>,
}

/// Finds out what a build would do. Writes nothing.
///
/// # Errors
/// The checkout is not ready to be built, or something that a build needs is missing.
pub fn plan_build(cx: &Context, options: &BuildOptions) -> Result<BuildPlan, Error> {
    let options = &options.resolved(&source(cx)?)?;
    Site::find(cx, options)?.plan(options)
}

/// The top level of the checkout.
pub(crate) fn source(cx: &Context) -> Result<PathBuf, Error> {
    Ok(pto_checkout::GitDirs::find(&pypto_source(cx).ok_or(SourceError::NoCheckout)?)?.root)
}

impl Site {
    pub(crate) fn find(cx: &Context, options: &BuildOptions) -> Result<Self, Error> {
        let home = Home::of(cx, None);
        let cx = with_programs_of(cx, &home);
        let root = source(&cx)?;
        // Git and the programs are asked at the same time: each waits for children most of it.
        let (checkout, tools) = std::thread::scope(|scope| {
            let tools = scope.spawn(|| Tools::find(&cx, &home));
            (Checkout::open(&cx, root), tools.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let checkout = checkout?;
        check_submodules(&checkout)?;
        let tools = tools?;
        let patches = options.patches.as_ref().map(|place| patches::patches_in(&cx.cwd().join(place))).transpose()?;
        Ok(Self {
            run_as: RunAs::owner(&cx, checkout.owner),
            tree: BuildTree::of(&checkout),
            settings: native::settings(&tools, options.build_type.as_deref(), &options.cmake_args),
            isa: pto_isa::find(&cx, checkout.root())?,
            patches: patches.unwrap_or_default(),
            cx,
            checkout,
            home,
            tools,
        })
    }

    /// The runtime's checkout.
    pub(crate) fn runtime(&self) -> Result<&Checkout, Error> {
        let runtime = self.checkout.submodule(RUNTIME).and_then(|submodule| submodule.checkout.as_ref());
        runtime.ok_or_else(|| SourceError::NoRuntime { repository: self.checkout.root().to_owned() }.into())
    }

    pub(crate) fn wheel(&self, jobs: u32) -> Result<WheelJob<'_>, Error> {
        Ok(WheelJob { run_as: &self.run_as, tools: &self.tools, runtime: self.runtime()?.root(), jobs })
    }

    pub(crate) fn plan(&self, options: &BuildOptions) -> Result<BuildPlan, Error> {
        let generator = self.generator()?;
        let own = options.build_type.iter().map(|build_type| format!("CMAKE_BUILD_TYPE={build_type}"));
        let own: Vec<String> = own.chain(options.cmake_args.iter().cloned()).collect();
        let inputs = gather(&self.cx, self.checkout.root(), &self.tools, &generator, &own);
        let limits = JobLimits::of(&self.cx, &self.checkout)?;
        let used = limits.build_jobs(options.jobs);
        let decision = self.decide(&inputs, options)?;
        Ok(BuildPlan {
            source: self.checkout.root().to_owned(),
            home: self.home.root().to_owned(),
            owner: self.checkout.owner,
            jobs: Jobs { used, asked: options.jobs, limit: limits.build, source: limits.source },
            patches: patches::examine(&self.cx, self.runtime()?, &self.patches)?,
            pto_isa: self.isa.as_ref().map(|isa| isa.commit.clone()),
            commands: self.commands(&decision, &generator, used, options)?,
            last_begun: Record::read(&self.tree.native).ok().and_then(|record| record.begun),
            generator,
            decision,
            inputs,
        })
    }

    fn decide(&self, inputs: &Inputs, options: &BuildOptions) -> Result<Decision, Error> {
        let decision = self.decide_by_record(inputs, options)?;
        if !decision.is_incremental() {
            self.tree.check_ours()?;
        }
        Ok(decision)
    }

    fn decide_by_record(&self, inputs: &Inputs, options: &BuildOptions) -> Result<Decision, Error> {
        let fresh = |reason| Ok(Decision::Fresh { reason });
        if self.tree.is_empty() {
            return fresh(Reason::NoBuild);
        }
        match Record::read(&self.tree.native) {
            _ if options.clean => fresh(Reason::Asked),
            Err(reason) => fresh(reason),
            Ok(record) => record.compare(inputs, &self.tree),
        }
    }

    /// The generator of the build that is there, if what it needs is there too; Ninja for a fresh one.
    fn generator(&self) -> Result<String, Error> {
        let kept = self.tree.setting("CMAKE_GENERATOR");
        let works = |generator: &String| match generator.contains(NINJA) {
            true => self.tools.ninja.is_some(),
            false => self.tools.make.is_some(),
        };
        let fresh = || [NINJA, MAKE].map(str::to_owned).into_iter().find(works);
        let missing = || HomeError::NoTool { program: "ninja", home: self.home.root().to_owned() }.into();
        kept.filter(works).or_else(fresh).ok_or_else(missing)
    }

    /// All commands, as they are run if nothing fails.
    fn commands(
        &self,
        decision: &Decision,
        generator: &str,
        jobs: u32,
        options: &BuildOptions,
    ) -> Result<Vec<Step>, Error> {
        let step = |what, command: &Invocation| Step { what, command: command.to_shell_line() };
        let wheel = self.wheel(jobs)?;
        let mut steps = Vec::new();
        if let Some(PtoIsa { commit, path, .. }) = self.isa.as_ref().filter(|isa| !isa.reused) {
            let clone = pto_checkout::remote::clone_command(&self.cx, &self.run_as, &options.pto_isa.url, path)?;
            let land = self.run_as.command("git").arg("-C").arg(path).args(["checkout", "--detach", "--force", commit]);
            let command = format!("{} && {}", clone.to_shell_line(), land.to_shell_line());
            steps.push(Step { what: "fetch PTO-ISA", command });
        }
        if !decision.is_incremental() {
            let there = (!self.tree.is_empty()).then(|| self.tree.native.clone());
            let there: Vec<PathBuf> = there.into_iter().chain(self.tree.products(&self.tree.runtime)).collect();
            if !there.is_empty() {
                steps.push(step("discard", &self.run_as.command("rm").args(["-rf", "--"]).args(there)));
            }
            steps.push(step("configure", &self.configure(generator, jobs)));
        }
        steps.push(step("build", &self.native_build(jobs)));
        steps.push(step("make the runtime's wheel", &wheel.make(&self.cx)));
        steps.push(step("install it", &wheel.install(&wheel.out().join("*.whl"))));
        Ok(steps)
    }

    pub(crate) fn configure(&self, generator: &str, jobs: u32) -> Invocation {
        self.native().configure(generator, &self.settings, jobs)
    }

    pub(crate) fn native_build(&self, jobs: u32) -> Invocation {
        self.native().build(jobs)
    }

    fn native(&self) -> NativeJob<'_> {
        let Self { cx, run_as, tools, checkout, tree, .. } = self;
        NativeJob { cx, run_as, tools, source: checkout.root(), build: &tree.native }
    }
}

/// The same surroundings with the programs of the home before all others, as in an activated shell.
fn with_programs_of(cx: &Context, home: &Home) -> Context {
    let own = [home.venv().join("bin"), home.bin()].map(PathBuf::into_os_string);
    let path = own.into_iter().chain(cx.var_os("PATH").map(OsString::from));
    let path = path.collect::<Vec<_>>().join(":".as_ref());
    // Modules of a checkout that another user owns must not be compiled into it by whoever imports them.
    cx.clone().with_var("PATH", path).with_var("PYTHONDONTWRITEBYTECODE", "1")
}

fn check_submodules(checkout: &Checkout) -> Result<(), Error> {
    let missing = checkout.uninitialised();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(SourceError::Uninitialised { repository: checkout.root().to_owned(), missing }.into())
    }
}
