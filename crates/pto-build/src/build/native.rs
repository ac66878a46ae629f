//! CMake's command lines for the project's own extension.
//!
//! The `cmake` crate is for build scripts: it panics when something fails, prints, and starts its own children.

use std::path::Path;

use pto_checkout::RunAs;
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

/// Makes the files of a build.
pub(crate) fn configure(
    run_as: &RunAs,
    tools: &Tools,
    source: &Path,
    build: &Path,
    generator: &str,
    settings: &[String],
) -> Invocation {
    let cmake = run_as.command(&tools.cmake.path).arg("-S").arg(source).arg("-B").arg(build).arg("-G").arg(generator);
    cmake.args(settings).env_remove(RUNTIME_TARGETS).cwd(source)
}

/// Builds what is not up to date.
pub(crate) fn build(run_as: &RunAs, tools: &Tools, source: &Path, build: &Path, jobs: u32) -> Invocation {
    let cmake = run_as.command(&tools.cmake.path).arg("--build").arg(build).args(["--parallel", &jobs.to_string()]);
    cmake.env_remove(RUNTIME_TARGETS).cwd(source)
}
