//! CANN's simulators: what of them is here, and how one is started for a case.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_compile::bisheng::Simulator as Camodel;
use pto_compile::cann;
use pto_context::{Context, with_causes};
use pto_launch::{LaunchPath, LaunchRequest, Simulation, Simulator, Tools};
use pto_platform::{Core, Machine, Soc, Target};

use super::{linked, simulations};
use crate::cases::Case;
use crate::manifest::Manifest;
use crate::run::error::RunError;
use crate::run::workshop::Workshop;

/// The SoC that `msprof` models, where no option names one.
pub(super) const SOC_VARIABLE: &str = "MSPROF_SOC_VERSION";
/// How long `msprof` lets a program run, in seconds.
const TIMEOUT_VARIABLE: &str = "MSPROF_TIMEOUT";

/// As long a smoke test of one kernel takes on the model: vectors or a matmul of A5.
const A5: Duration = Duration::from_secs(60);
/// A mix kernel of A5, which takes two to three minutes.
const A5_MIX: Duration = Duration::from_secs(180);
/// Any kernel of A2 and A3.
const A2A3: Duration = Duration::from_secs(120);

/// What is here.
pub(super) struct Found {
    model: Result<Camodel, String>,
    msprof: Result<PathBuf, String>,
    cannsim: Result<PathBuf, String>,
}

/// The model that a kernel runs on.
#[derive(Debug, Clone)]
pub(in crate::run) struct Model {
    by: By,
    target: Target,
    library_path: OsString,
}

#[derive(Debug, Clone)]
enum By {
    Msprof { program: PathBuf, soc: &'static str, timeout: Duration },
    Cannsim { program: PathBuf },
    Linked { camodel: Camodel },
}

/// Nothing was looked for.
pub(super) fn none() -> Tools {
    let unasked = || Err("not looked for".to_owned());
    Tools { model: unasked(), msprof: unasked(), cannsim: unasked() }
}

/// The SoC that the environment names.
///
/// # Errors
/// There is no such SoC, or it is not one of the target.
pub(super) fn soc_of_the_environment(
    cx: &Context,
    manifest: &Manifest,
    target: Target,
) -> Result<Option<&'static Soc>, RunError> {
    let Some(name) = cx.var(SOC_VARIABLE) else { return Ok(None) };
    let soc = Soc::by_name(&name).map_err(|source| RunError::BadSoc { variable: SOC_VARIABLE, source })?;
    if soc.target() == Some(target) {
        return Ok(Some(soc));
    }
    Err(RunError::WrongSoc { soc: soc.name, target, kernel: manifest.name.clone() })
}

/// What is here for the usual SoC of a target.
pub(in crate::run) fn tools_for(cx: &Context, target: Target) -> Tools {
    match (cann::find_root(cx, None), target.default_soc()) {
        (Ok(cann), Some(soc)) => Found::look(cx, &cann.path, soc_with_a_model(cx, &cann.path, soc)).tools(),
        _ => none(),
    }
}

/// The usual SoC, or, where CANN has no model of it, one of the same architecture of which it has one.
pub(super) fn soc_with_a_model(cx: &Context, cann: &Path, usual: &'static Soc) -> &'static Soc {
    let has_model = |soc: &&Soc| Camodel::find(cx, cann, soc, machine()).is_ok();
    let alike = Soc::all().iter().filter(|soc| soc.arch == usual.arch);
    std::iter::once(usual).chain(alike).find(has_model).unwrap_or(usual)
}

fn machine() -> Machine {
    Machine::current().unwrap_or(Machine::X86_64)
}

impl Found {
    pub(super) fn look(cx: &Context, cann: &Path, soc: &Soc) -> Self {
        let program = |name: &str| {
            let found = cann::find_program(cx, cann, name).map(|located| located.path);
            found.map_err(|tried| format!("no `{name}`; tried {}", cann::list(&tried)))
        };
        Self {
            model: Camodel::find(cx, cann, soc, machine()).map_err(|error| with_causes(&error)),
            msprof: program("msprof"),
            cannsim: program("cannsim"),
        }
    }

    pub(super) fn tools(&self) -> Tools {
        let part = |found: &Result<PathBuf, String>| found.as_ref().map(|_| ()).map_err(Clone::clone);
        Tools {
            model: self.model.as_ref().map(|_| ()).map_err(Clone::clone),
            msprof: part(&self.msprof),
            cannsim: part(&self.cannsim),
        }
    }

    /// The model for a path that was chosen because all it needs is here.
    pub(super) fn model(
        self,
        cx: &Context,
        cann: &Path,
        path: LaunchPath,
        manifest: &Manifest,
        target: Target,
        soc: &'static Soc,
    ) -> Result<Model, RunError> {
        let lacks = |missing| pto_launch::NoPath::Lacks { path, missing };
        let camodel = self.model.map_err(lacks)?;
        let by = match path {
            LaunchPath::Cannsim => By::Cannsim { program: self.cannsim.map_err(lacks)? },
            LaunchPath::Linked => By::Linked { camodel: camodel.clone() },
            _ => By::Msprof {
                program: self.msprof.map_err(lacks)?,
                soc: soc.name,
                timeout: cx.seconds(TIMEOUT_VARIABLE, suggested_timeout(target, manifest.core))?,
            },
        };
        // A program that is linked with the model finds stubs of the driver where the driver itself would be.
        let stubs = if path == LaunchPath::Linked { vec![cann.join("runtime/lib64/stub")] } else { Vec::new() };
        let library_path = camodel.library_path(cx, &stubs)?;
        Ok(Model { by, target, library_path })
    }
}

/// How long a smoke test may take on the model.
fn suggested_timeout(target: Target, core: Core) -> Duration {
    match (target, core) {
        (Target::A5, Core::Mix) => A5_MIX,
        (Target::A5, _) => A5,
        _ => A2A3,
    }
}

impl Model {
    /// The simulation of one case, which the simulator lets run so much longer than its own time-out. A program that is
    /// linked with the model is built for it.
    pub(in crate::run) fn simulation(
        &self,
        cx: &Context,
        workshop: &Workshop,
        manifest: &Manifest,
        case: &Case,
        request: &LaunchRequest,
        longer: Duration,
    ) -> Result<Simulation, RunError> {
        let place = Path::new(self.target.name()).join(file_name(&manifest.name)).join(file_name(&case.to_string()));
        let by = match &self.by {
            By::Msprof { program, soc, timeout } => {
                Simulator::Msprof { program: program.clone(), soc: (*soc).to_owned(), timeout: *timeout + longer }
            }
            By::Cannsim { program } => Simulator::Cannsim { program: program.clone() },
            By::Linked { camodel } => {
                let dir = simulations(workshop).join("programs").join(&place);
                Simulator::Linked { program: linked::build(cx, workshop, manifest, camodel, request, &dir)? }
            }
        };
        let output = simulations(workshop).join(by.path().name()).join(place);
        Ok(Simulation { by, target: self.target, library_path: self.library_path.clone(), output })
    }
}

/// A text as the name of a directory that no tool stumbles over.
fn file_name(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_=.".contains(c) { c } else { '_' };
    text.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sort_of_kernel_has_its_time() {
        let seconds = |target, core| suggested_timeout(target, core).as_secs();
        assert_eq!((seconds(Target::A5, Core::Vec), seconds(Target::A5, Core::Cube)), (60, 60));
        assert_eq!((seconds(Target::A5, Core::Mix), seconds(Target::A2a3, Core::Mix)), (180, 120));
    }

    #[test]
    fn directories_have_plain_names() {
        assert_eq!(file_name("n=4096, m=3"), "n=4096__m=3");
        assert_eq!(file_name("../x y"), ".._x_y");
    }
}
