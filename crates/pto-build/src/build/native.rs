//! CMake's command lines for the project's own extension.
//!
//! The `cmake` crate is for build scripts: it panics when something fails, prints, and starts its own children.

use std::path::Path;

use pto_checkout::RunAs;
use pto_context::Context;
use pto_process::Invocation;

use super::tools::Tools;

/// The runtime's, and nobody else's.
pub(crate) const RUNTIME_TARGETS: &str = "PYPTO_RUNTIME_BUILD_TARGETS";

/// Arguments that depend on nothing but tools and what the user asked for.
pub(crate) fn settings(tools: &Tools, build_type: Option<&str>, extra: &[String]) -> Vec<String> {
    let mut settings = vec![
        format!("-DPython_EXECUTABLE={}", tools.python.path.display()),
        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON".to_owned(),
    ];
    settings.extend(tools.python.bindings.iter().map(|(name, _, dir)| format!("-D{name}_DIR={}", dir.display())));
    settings.extend(build_type.map(|build_type| format!("-DCMAKE_BUILD_TYPE={build_type}")));
    if let Some(ccache) = &tools.ccache {
        let launcher = |language| format!("-DCMAKE_{language}_COMPILER_LAUNCHER={}", ccache.path.display());
        settings.extend(["C", "CXX"].map(launcher));
    }
    settings.extend(extra.iter().cloned());
    settings
}

/// The directories of a build, and who builds.
pub(crate) struct NativeJob<'a> {
    pub(crate) cx: &'a Context,
    pub(crate) run_as: &'a RunAs,
    pub(crate) tools: &'a Tools,
    pub(crate) source: &'a Path,
    pub(crate) build: &'a Path,
}

impl NativeJob<'_> {
    /// Makes the files of a build. Projects that it calls take the jobs from there: one that says `make -j` and finds no
    /// number has no limit.
    pub(crate) fn configure(&self, generator: &str, settings: &[String], jobs: u32) -> Invocation {
        let cmake = self.cmake().arg("-S").arg(self.source).arg("-B").arg(self.build).arg("-G").arg(generator);
        cmake.arg(format!("-DCMAKE_BUILD_PARALLEL_LEVEL={jobs}")).args(settings)
    }

    /// Builds what is not up to date.
    pub(crate) fn build(&self, jobs: u32) -> Invocation {
        self.cmake().arg("--build").arg(self.build).args(["--parallel", &jobs.to_string()])
    }

    /// CMake without what is meant for the runtime alone.
    fn cmake(&self) -> Invocation {
        let cmake = self.run_as.command(&self.tools.cmake.path).cwd(self.source);
        if self.cx.var_os(RUNTIME_TARGETS).is_some() { cmake.env_remove(RUNTIME_TARGETS) } else { cmake }
    }
}
