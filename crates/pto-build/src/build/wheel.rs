//! The runtime's wheel: made by the owner of the checkout, installed by the caller.

use std::path::{Path, PathBuf};

use pto_checkout::RunAs;
use pto_context::Context;
use pto_process::Invocation;

use super::native::RUNTIME_TARGETS;
use super::tools::Tools;
use crate::error::{BuildError, Error};

/// Below the runtime's build directory, which git ignores.
const WHEELS: &str = "ptokit-wheel";

/// What the wheel is made of and with.
pub(crate) struct WheelJob<'a> {
    pub(crate) run_as: &'a RunAs,
    pub(crate) tools: &'a Tools,
    /// The runtime's checkout.
    pub(crate) runtime: &'a Path,
    pub(crate) jobs: u32,
}

impl WheelJob<'_> {
    /// Where the wheel is put.
    pub(crate) fn out(&self) -> PathBuf {
        self.runtime.join("build").join(WHEELS)
    }

    /// Makes the wheel. With the environment's own build tools, whose versions the checkout constrains: an isolated build
    /// would fetch others, and configure from scratch each time.
    pub(crate) fn make(&self, cx: &Context) -> Invocation {
        let jobs = self.jobs.to_string();
        let uv = self.run_as.command(&self.tools.uv).args(["build", "--wheel", "--no-build-isolation", "--python"]);
        let uv = uv.arg(&self.tools.python.path).arg("--out-dir").arg(self.out());
        let uv = targets(cx)
            .into_iter()
            .fold(uv, |uv, targets| uv.arg("--config-setting").arg(format!("build.targets={targets}")));
        let uv = uv.arg(self.runtime).cwd(self.runtime).env("MAKEFLAGS", format!("-j{jobs}"));
        uv.env("CMAKE_BUILD_PARALLEL_LEVEL", &jobs).env("MAX_JOBS", jobs)
    }

    /// Installs a wheel with the caller's rights; what it needs was installed with the environment.
    pub(crate) fn install(&self, wheel: &Path) -> Invocation {
        let uv = Invocation::new(&self.tools.uv).args(["pip", "install", "--python"]).arg(&self.tools.python.path);
        uv.args(["--no-deps", "--no-index", "--reinstall"]).arg(wheel).cwd("/")
    }

    /// The one wheel that was made.
    pub(crate) fn made(&self) -> Result<PathBuf, Error> {
        let entries = fs_err::read_dir(self.out()).map_err(Error::io("cannot find the runtime's wheel"))?;
        let wheels = entries.flatten().map(|entry| entry.path());
        let mut wheels = wheels.filter(|path| path.extension().is_some_and(|extension| extension == "whl"));
        wheels.next().ok_or_else(|| BuildError::NoWheel { dir: self.out() }.into())
    }
}

/// The targets that the runtime's wheel is limited to, as its build backend takes them; `None` for its own choice.
fn targets(cx: &Context) -> Option<String> {
    let named = cx.var(RUNTIME_TARGETS)?;
    let names: Vec<&str> = named.split([' ', ',', ';', '\n', '\t']).filter(|name| !name.is_empty()).collect();
    Some(names.join(";")).filter(|names| !names.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_a_list_however_it_is_written() {
        let given = |value: &str| targets(&Context::fake("/", [(RUNTIME_TARGETS, value)]));
        let expected = Some("build_package_a5;build_package_sim".to_owned());
        for value in [
            "build_package_a5 build_package_sim",
            "build_package_a5;build_package_sim",
            " build_package_a5,\nbuild_package_sim ",
        ] {
            assert_eq!(given(value), expected, "{value}");
        }
        assert_eq!([given(""), given(" ; ")], [None, None]);
    }
}
