//! The work of one setup: what it needs to know, its plan, its steps.

use std::path::{Path, PathBuf};

use pto_checkout::Owner;
use pto_context::{Context, Event, counted};
use pto_process::Invocation;

use super::receipt::Receipt;
use super::requirements::Requirements;
use super::{PackagesStep, Plan, Setup, SetupOptions, VenvStep, helpers, step};
use crate::error::{Error, HomeError, SourceError};
use crate::home::{Home, checkout_of};
use crate::uv::{self, UvChoice};
use crate::venv::{self, PythonFacts, PythonVersion, Standing};

/// A setup with everything about it that is known beforehand.
pub(super) struct Job<'a> {
    options: &'a SetupOptions,
    pub(super) home: Home,
    src: Option<PathBuf>,
    requirements: Option<Requirements>,
    uv: UvChoice,
    /// Who builds in the environment, if that is somebody else.
    builder: Option<Owner>,
}

impl<'a> Job<'a> {
    pub(super) fn new(cx: &Context, options: &'a SetupOptions) -> Result<Self, Error> {
        let src = checkout_of(cx, options.src.as_deref());
        let requirements = match (&src, options.helpers_only) {
            (_, true) => None,
            (None, false) => return Err(SourceError::NoCheckout.into()),
            (Some(src), false) => Some(Requirements::read(cx, src)?),
        };
        let uv = UvChoice::of(cx, options.uv_version.as_deref())?;
        let builder = src.as_deref().and_then(|src| Owner::of(src).ok());
        let builder = builder.filter(|owner| owner.uid != Owner::of_this_process().uid);
        Ok(Self { options, home: Home::of(cx, options.home.as_deref()), src, requirements, uv, builder })
    }

    pub(super) fn planned(&self, cx: &Context) -> Result<Setup, Error> {
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

    fn venv(&self, cx: &Context, requirements: &Requirements, standing: Standing) -> Result<VenvStep, Error> {
        let why = match standing {
            Standing::Complete(facts) => return Ok(VenvStep::Keep { python: facts.text }),
            Standing::Absent => None,
            Standing::Unfit { why } => Some(why),
        };
        venv::check_ours(&self.home.venv())?;
        self.check_room_for_previous()?;
        let found = venv::find_python(cx, &self.home, requirements.python, self.builder)?;
        Ok(VenvStep::Build { with: found.ok().map(|(path, _)| path), why })
    }

    /// What is replaced is kept under this name, where there may be nothing of the user's.
    fn check_room_for_previous(&self) -> Result<(), Error> {
        let slot = self.home.venv_slot();
        let place = slot.as_ref().map(pto_store::Slot::previous);
        match place.filter(|place| place.symlink_metadata().is_ok_and(|meta| !meta.is_symlink())) {
            Some(place) => Err(HomeError::Foreign { venv: place.to_path_buf(), found: "files".to_owned() }.into()),
            None => Ok(()),
        }
    }

    fn packages(&self, requirements: &Requirements, standing: &Standing) -> Result<PackagesStep, Error> {
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

    pub(super) fn perform(&self, cx: &Context, planned: &Setup) -> Result<(), Error> {
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
        self.options.helpers.refresh(cx, &self.home, self.src.as_deref(), &plan.helpers)
    }

    /// Makes an environment beside the one that is there, fills it, and lets it take that one's place.
    fn build_venv(&self, cx: &Context, requirements: &Requirements, with: Option<&Path>) -> Result<(), Error> {
        let venv = self.home.venv();
        let Some(slot) = self.home.venv_slot() else {
            return Err(HomeError::Foreign { venv, found: "the root of the file system".to_owned() }.into());
        };
        slot.check_writable().map_err(HomeError::NotWritten)?;
        let python = match with {
            Some(python) => python.to_path_buf(),
            None => self.obtain_python(cx, requirements.python)?,
        };
        let task = "setup:venv".to_owned();
        let message = format!("Making `{}` with `{}`", venv.display(), python.display());
        cx.emit(Event::Started { task: task.clone(), message, total_bytes: None });
        let staging = slot.stage(&requirements.python.to_string()).map_err(HomeError::NotWritten)?;
        venv::make(cx, &self.home, &python, staging.dir())?;
        let facts = self.check(cx, staging.dir(), requirements.python)?;
        self.install(cx, requirements, staging.dir())?;
        Receipt::of(requirements, &facts.text)?.write(staging.dir())?;
        pto_fetch::settle(staging.contents()).map_err(HomeError::NotWritten)?;
        let is_replaced = venv.symlink_metadata().is_ok();
        slot.switch_keeping(cx, staging).map_err(HomeError::NotWritten)?;
        slot.sweep();
        if is_replaced && slot.previous().exists() {
            let (venv, previous) = (venv.display(), slot.previous().display());
            let message =
                format!("`{venv}` was replaced; what was there is kept as `{previous}` until it is replaced again");
            cx.emit(Event::Warning { message });
        }
        cx.emit(Event::Finished { task, message: format!("`{}` is ready", venv.display()) });
        Ok(())
    }

    fn check(&self, cx: &Context, dir: &Path, wanted: PythonVersion) -> Result<PythonFacts, Error> {
        match venv::examine(cx, dir, wanted, self.builder)? {
            Standing::Complete(facts) => Ok(facts),
            Standing::Absent => Err(HomeError::Incomplete { why: "it is not there".to_owned() }.into()),
            Standing::Unfit { why } => Err(HomeError::Incomplete { why }.into()),
        }
    }

    /// Has `uv` install a Python, and takes that.
    fn obtain_python(&self, cx: &Context, wanted: PythonVersion) -> Result<PathBuf, Error> {
        let task = "setup:python".to_owned();
        let message = format!("Getting CPython {wanted}");
        cx.emit(Event::Started { task: task.clone(), message, total_bytes: None });
        let attempt = venv::install_python(cx, &self.home, wanted)?.err();
        match venv::find_python(cx, &self.home, wanted, self.builder)? {
            Ok((path, facts)) => {
                cx.emit(Event::Finished { task, message: format!("CPython {} is ready", facts.text) });
                Ok(path)
            }
            Err(unfit) => Err(HomeError::NoPython { wanted: wanted.to_string(), unfit, attempt }.into()),
        }
    }

    /// Installs into the environment that is there, which stays usable for what is not replaced.
    fn refresh_packages(&self, cx: &Context, requirements: &Requirements) -> Result<(), Error> {
        let venv = self.home.venv();
        let facts = self.check(cx, &venv, requirements.python)?;
        Receipt::take_away(&venv)?;
        self.install(cx, requirements, &venv)?;
        Receipt::of(requirements, &facts.text)?.write(&venv)
    }

    fn install(&self, cx: &Context, requirements: &Requirements, venv: &Path) -> Result<(), Error> {
        if requirements.packages.is_empty() {
            return Ok(());
        }
        let task = "setup:packages".to_owned();
        let message = format!("Installing {} and what they need", counted(requirements.packages.len(), "package"));
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
