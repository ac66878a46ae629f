//! A home is set up: `uv`, a Python environment in which PyPTO can be built, the helpers.
//!
//! First the whole plan is made, without writing; then it is carried out, each step beside its place and put there in one
//! step. Killed at any moment, what was usable before still is, and the next run finishes.

pub(crate) mod error;
mod helpers;
pub(crate) mod receipt;
mod requirements;
pub(crate) mod step;

use std::path::{Path, PathBuf};

use pto_checkout::Owner;
use pto_context::{Context, Event};
use pto_process::Invocation;
use serde::Serialize;

pub use error::{Attempt, SetupError};
pub use helpers::{ACTIVATE, Helpers, HelpersStep, PROGRAM, stale_helpers};
pub use receipt::Receipt;
pub use requirements::Requirements;

use crate::home::{self, Home, checkout_of};
use crate::uv::{self, UvChoice, UvStep};
use crate::venv::{self, PythonFacts, PythonVersion, Standing};

/// What to set up, and how.
#[derive(Debug, Clone, Default)]
pub struct SetupOptions {
    /// The home; without it `PYPTO_HOME`, else `/opt/pypto`.
    pub home: Option<PathBuf>,
    /// The checkout; without it `PYPTO_SRC`, where the images keep it, or the working directory.
    pub src: Option<PathBuf>,
    /// The release of `uv`, or `latest`; without it `UV_VERSION`.
    pub uv_version: Option<String>,
    /// The proxy for HTTP and HTTPS; without it, what the environment says.
    pub proxy: Option<String>,
    /// Our own program and its names.
    pub helpers: Helpers,
    /// Refresh the helpers and nothing else.
    pub helpers_only: bool,
    /// Install the packages again although they are there.
    pub reinstall: bool,
}

/// What is done about the environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub enum VenvStep {
    /// It is complete.
    Keep {
        /// `3.10.13`.
        python: String,
    },
    /// A new one is made, and takes the place of one that will not do.
    Build {
        /// The interpreter; without it, `uv` installs one.
        with: Option<PathBuf>,
        /// What is wrong with the one that is there, if there is one.
        why: Option<String>,
    },
}

/// What is done about the packages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub enum PackagesStep {
    /// They are those that the checkout asks for.
    Keep,
    /// They are installed.
    Install {
        /// Why, for people.
        why: String,
        /// What is asked for.
        packages: Vec<String>,
        /// The checkout's constraints.
        constraints: Option<PathBuf>,
    },
}

/// The steps of a setup, in their order. With `helpers_only` the last alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// `uv`.
    pub uv: Option<UvStep>,
    /// The environment.
    pub venv: Option<VenvStep>,
    /// The packages in it.
    pub packages: Option<PackagesStep>,
    /// The helpers.
    pub helpers: HelpersStep,
}

/// A setup that was planned or done.
#[derive(Debug, Clone, Serialize)]
pub struct Setup {
    /// PyPTO's home.
    pub home: PathBuf,
    /// The checkout, if there is one.
    pub src: Option<PathBuf>,
    /// The version of Python that the checkout asks for.
    pub python: Option<PythonVersion>,
    /// What was to be done.
    pub plan: Plan,
    /// The command that sets a shell up for these paths.
    pub activation: String,
}

impl Plan {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        matches!(self.uv, None | Some(UvStep::Keep { .. }))
            && matches!(self.venv, None | Some(VenvStep::Keep { .. }))
            && matches!(self.packages, None | Some(PackagesStep::Keep))
            && self.helpers.refresh.is_empty()
    }
}

/// Says what a setup would do, and writes nothing.
///
/// # Errors
/// See [`SetupError`].
pub fn plan_setup(cx: &Context, options: &SetupOptions) -> Result<Setup, SetupError> {
    Job::new(cx, options)?.planned(cx)
}

/// Sets a home up, or finds that it is.
///
/// # Errors
/// See [`SetupError`]. What was usable before still is.
pub fn setup(cx: &Context, options: &SetupOptions) -> Result<Setup, SetupError> {
    let job = Job::new(cx, options)?;
    let cx = &home::with_proxy(cx, options.proxy.as_deref());
    let _lock = job.home.lock(cx)?;
    job.home.sweep();
    let planned = job.planned(cx)?;
    job.perform(cx, &planned)?;
    Ok(planned)
}

/// A setup with everything about it that is known beforehand.
struct Job<'a> {
    options: &'a SetupOptions,
    home: Home,
    src: Option<PathBuf>,
    requirements: Option<Requirements>,
    uv: UvChoice,
    /// Who builds in the environment, if that is somebody else.
    builder: Option<Owner>,
}

impl<'a> Job<'a> {
    fn new(cx: &Context, options: &'a SetupOptions) -> Result<Self, SetupError> {
        let src = checkout_of(cx, options.src.as_deref());
        let requirements = match (&src, options.helpers_only) {
            (_, true) => None,
            (None, false) => return Err(SetupError::NoCheckout),
            (Some(src), false) => Some(Requirements::read(cx, src)?),
        };
        let uv = UvChoice::of(cx, options.uv_version.as_deref())?;
        let builder = src.as_deref().and_then(|src| Owner::of(src).ok());
        let builder = builder.filter(|owner| owner.uid != Owner::of_this_process().uid);
        Ok(Self { options, home: Home::of(cx, options.home.as_deref()), src, requirements, uv, builder })
    }

    fn planned(&self, cx: &Context) -> Result<Setup, SetupError> {
        let src = self.src.as_deref();
        let (mut uv, mut venv, mut packages) = (None, None, None);
        if let Some(requirements) = &self.requirements {
            uv = Some(uv::plan(cx, &self.home, &self.uv)?);
            let standing = venv::examine(cx, &self.home.venv(), requirements.python, self.builder)?;
            packages = Some(self.packages(requirements, &standing)?);
            venv = Some(self.venv(cx, requirements, standing)?);
        }
        Ok(Setup {
            home: self.home.root().to_path_buf(),
            src: self.src.clone(),
            python: self.requirements.as_ref().map(|requirements| requirements.python),
            plan: Plan { uv, venv, packages, helpers: self.options.helpers.plan(&self.home, src)? },
            activation: helpers::activation_command(&self.home, src),
        })
    }

    fn venv(&self, cx: &Context, requirements: &Requirements, standing: Standing) -> Result<VenvStep, SetupError> {
        let why = match standing {
            Standing::Complete(facts) => return Ok(VenvStep::Keep { python: facts.text }),
            Standing::Absent => None,
            Standing::Unfit { why } => Some(why),
        };
        venv::check_ours(&self.home.venv())?;
        let found = venv::find_python(cx, &self.home, requirements.python, self.builder)?;
        Ok(VenvStep::Build { with: found.ok().map(|(path, _)| path), why })
    }

    fn packages(&self, requirements: &Requirements, standing: &Standing) -> Result<PackagesStep, SetupError> {
        let why = match (standing, Receipt::read(&self.home.venv())) {
            (Standing::Complete(facts), Some(receipt)) if !self.options.reinstall => {
                receipt.differs_from(&Receipt::of(requirements, &facts.text)?).map(str::to_owned)
            }
            (Standing::Complete(_), None) => Some("an earlier setup did not finish, or did not make it".to_owned()),
            (Standing::Complete(_), Some(_)) => Some("it was asked for".to_owned()),
            _ => Some("the environment is new".to_owned()),
        };
        let (packages, constraints) = (requirements.packages.clone(), requirements.constraints.clone());
        Ok(why.map_or(PackagesStep::Keep, |why| PackagesStep::Install { why, packages, constraints }))
    }

    fn perform(&self, cx: &Context, planned: &Setup) -> Result<(), SetupError> {
        let plan = &planned.plan;
        if let Some(requirements) = &self.requirements {
            if let Some(step) = &plan.uv {
                uv::perform(cx, &self.home, step)?;
            }
            self.say_without_constraints(cx, requirements);
            match (&plan.venv, &plan.packages) {
                (Some(VenvStep::Build { with, .. }), _) => self.build_venv(cx, requirements, with.as_deref())?,
                (_, Some(PackagesStep::Install { .. })) => self.refresh_packages(cx, requirements)?,
                _ => {}
            }
        }
        self.options.helpers.refresh(&self.home, self.src.as_deref(), &plan.helpers)
    }

    /// Makes an environment beside the one that is there, fills it, and lets it take that one's place.
    fn build_venv(&self, cx: &Context, requirements: &Requirements, with: Option<&Path>) -> Result<(), SetupError> {
        let venv = self.home.venv();
        let Some(slot) = self.home.venv_slot() else {
            return Err(SetupError::Foreign { venv, found: "the root of the file system".to_owned() });
        };
        slot.check_writable()?;
        let python = match with {
            Some(python) => python.to_path_buf(),
            None => self.obtain_python(cx, requirements.python)?,
        };
        let task = "setup:venv".to_owned();
        let message = format!("Making `{}` with `{}`", venv.display(), python.display());
        cx.emit(Event::Started { task: task.clone(), message, total_bytes: None });
        let staging = slot.stage(&requirements.python.to_string())?;
        venv::make(cx, &self.home, &python, staging.dir())?;
        let facts = self.check(cx, staging.dir(), requirements.python)?;
        self.install(cx, requirements, staging.dir())?;
        Receipt::of(requirements, &facts.text)?.write(staging.dir())?;
        pto_fetch::settle(staging.contents())?;
        slot.switch_to(cx, staging)?;
        slot.sweep();
        cx.emit(Event::Finished { task, message: format!("`{}` is ready", venv.display()) });
        Ok(())
    }

    fn check(&self, cx: &Context, dir: &Path, wanted: PythonVersion) -> Result<PythonFacts, SetupError> {
        match venv::examine(cx, dir, wanted, self.builder)? {
            Standing::Complete(facts) => Ok(facts),
            Standing::Absent => Err(SetupError::Incomplete { why: "it is not there".to_owned() }),
            Standing::Unfit { why } => Err(SetupError::Incomplete { why }),
        }
    }

    /// Has `uv` install a Python, and takes that.
    fn obtain_python(&self, cx: &Context, wanted: PythonVersion) -> Result<PathBuf, SetupError> {
        let task = "setup:python".to_owned();
        let message = format!("Getting CPython {wanted}");
        cx.emit(Event::Started { task: task.clone(), message, total_bytes: None });
        let attempt = venv::install_python(cx, &self.home, wanted)?.err();
        match venv::find_python(cx, &self.home, wanted, self.builder)? {
            Ok((path, facts)) => {
                cx.emit(Event::Finished { task, message: format!("CPython {} is ready", facts.text) });
                Ok(path)
            }
            Err(unfit) => Err(SetupError::NoPython { wanted: wanted.to_string(), unfit, attempt }),
        }
    }

    /// Installs into the environment that is there, which stays usable for what is not replaced.
    fn refresh_packages(&self, cx: &Context, requirements: &Requirements) -> Result<(), SetupError> {
        let venv = self.home.venv();
        let facts = self.check(cx, &venv, requirements.python)?;
        Receipt::take_away(&venv)?;
        self.install(cx, requirements, &venv)?;
        Receipt::of(requirements, &facts.text)?.write(&venv)
    }

    fn install(&self, cx: &Context, requirements: &Requirements, venv: &Path) -> Result<(), SetupError> {
        if requirements.packages.is_empty() {
            return Ok(());
        }
        let task = "setup:packages".to_owned();
        let message = format!("Installing {} packages and what they need", requirements.packages.len());
        cx.emit(Event::Started { task: task.clone(), message, total_bytes: None });
        let command = self.install_command(cx, requirements, venv);
        step::run(cx, "install the packages", command, venv)?;
        cx.emit(Event::Finished { task, message: "packages are ready".to_owned() });
        Ok(())
    }

    fn install_command(&self, cx: &Context, requirements: &Requirements, venv: &Path) -> Invocation {
        let mut command = Invocation::new(self.home.uv())
            .args(["pip", "install", "--no-progress", "--strict", "--python"])
            .arg(venv.join("bin/python"))
            .env("UV_PYTHON_DOWNLOADS", "never")
            .env("NO_COLOR", "1")
            // A relative mirror or `uv.toml` of the checkout counts, not one of where the user happens to be.
            .cwd(self.src.as_deref().unwrap_or(self.home.root()));
        if let Some(constraints) = &requirements.constraints {
            command = command.arg("--constraint").arg(constraints).arg("--build-constraint").arg(constraints);
        }
        if self.options.reinstall {
            command = command.arg("--reinstall");
        }
        pto_fetch::uv_with_mirrors(cx, command.args(&requirements.packages))
    }

    fn say_without_constraints(&self, cx: &Context, requirements: &Requirements) {
        if requirements.constraints.is_none() {
            let message = "the checkout has no `build-constraints.txt`: build tools are the newest that it allows";
            cx.emit(Event::Warning { message: message.to_owned() });
        }
    }
}
