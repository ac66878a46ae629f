//! Building a package's binding with CMake.
//!
//! The `cmake` crate is made for build scripts: it takes target and directories from cargo's variables, ends the process where
//! something fails, and starts programs itself, without deadline and out of reach of Ctrl-C. So CMake is started like every
//! other program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_context::{Context, Event};
use pto_process::{Invocation, Output, Status};

use super::Package;
use super::error::BindError;

/// Configuring asks the compiler a dozen questions and building is one file: a minute on a slow machine.
const DEADLINE: Duration = Duration::from_secs(600);
/// As many of the last lines of a program that failed are shown.
const LAST_LINES: usize = 20;

/// The programs that build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildTools {
    /// The interpreter that the binding is for.
    pub python: OsString,
}

/// A binding that was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The extension module.
    pub extension: PathBuf,
    /// The commands that built it.
    pub commands: Vec<String>,
}

/// Configures and builds a package.
///
/// # Errors
/// A program is missing, or the build fails.
pub fn build(cx: &Context, tools: &BuildTools, package: &Package) -> Result<Built, BindError> {
    let task = format!("bind:{}", package.module);
    cx.emit(Event::Started {
        task: task.clone(),
        message: format!("Building the binding of {}", package.module),
        total_bytes: None,
    });
    let dir = cx.cwd().join(&package.dir);
    let pybind = pybind(cx, tools)?;
    let mut configure = Invocation::new("cmake").args(["-S", "."]).args(["-B", "build"]).args(generator(cx));
    configure =
        configure.arg("-DCMAKE_BUILD_TYPE=Release").arg(definition("Python_EXECUTABLE", &executable(cx, tools)?));
    configure = configure.arg(definition("pybind11_DIR", &pybind));
    let commands = [configure, Invocation::new("cmake").args(["--build", "build"])];
    let mut lines = Vec::new();
    for command in commands {
        let output = run(cx, command.cwd(&dir), "cmake")?;
        if !output.success() {
            return Err(BindError::Cmake { line: output.line.clone(), said: output.last_words(LAST_LINES) });
        }
        lines.push(output.line);
    }
    let extension = extension(&dir.join(&package.module), &package.module)?;
    cx.emit(Event::Finished { task, message: format!("Built the binding of {}", package.module) });
    Ok(Built { extension, commands: lines })
}

/// Ninja where it is, as CMake's own default may be a `make` that is not.
fn generator(cx: &Context) -> Option<&'static str> {
    let found = run(cx, Invocation::new("ninja").arg("--version"), "ninja");
    found.is_ok_and(|output| output.success()).then_some("-GNinja")
}

fn definition(name: &str, value: &str) -> OsString {
    format!("-D{name}={value}").into()
}

/// Where pybind11 says that its CMake files are.
fn pybind(cx: &Context, tools: &BuildTools) -> Result<String, BindError> {
    let output = run(cx, Invocation::new(&tools.python).args(["-m", "pybind11", "--cmakedir"]), "python")?;
    if !output.success() {
        let python = tools.python.to_string_lossy().into_owned();
        return Err(BindError::NoPybind { python, said: output.last_words(1) });
    }
    Ok(output.stdout.masked().trim().to_owned())
}

/// The interpreter itself: what is on `PATH` may be a script that only finds it.
fn executable(cx: &Context, tools: &BuildTools) -> Result<String, BindError> {
    let output = run(cx, Invocation::new(&tools.python).args(["-c", "import sys; print(sys.executable)"]), "python")?;
    Ok(output.stdout.masked().trim().to_owned())
}

fn run(cx: &Context, invocation: Invocation, program: &str) -> Result<Output, BindError> {
    match invocation.deadline(DEADLINE).run(cx) {
        Ok(output) if output.status == Status::Interrupted => Err(BindError::Interrupted),
        Ok(output) => Ok(output),
        Err(error) if error.is_interrupted() => Err(BindError::Interrupted),
        Err(source) => Err(BindError::NoProgram { program: program.to_owned(), source }),
    }
}

/// Its name ends with what the interpreter is: `_vec_add.cpython-311-x86_64-linux-gnu.so`.
fn extension(dir: &Path, module: &str) -> Result<PathBuf, BindError> {
    let start = format!("_{module}.");
    for entry in fs_err::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with(&start) && name.ends_with(".so") {
            return Ok(path);
        }
    }
    let missing = format!("CMake built no `{start}*.so` in `{}`", dir.display());
    Err(std::io::Error::new(std::io::ErrorKind::NotFound, missing).into())
}
