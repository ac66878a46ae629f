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
/// Python imports one module, from a cold disk at worst.
const ANSWER: Duration = Duration::from_secs(60);
/// As the system has it, `PATH_MAX`.
const LONGEST_PATH: usize = 4096;
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
    let commands = [configure, Invocation::new("cmake").args(["--build", "build"])].map(|command| command.cwd(&dir));
    let lines = match run_all(cx, &commands) {
        // What an earlier build left may be half there, of another generator, or of another place.
        Err(BindError::Cmake { .. }) if forget_earlier(&dir.join("build"))? => run_all(cx, &commands)?,
        lines => lines?,
    };
    let extension = extension(&dir.join(&package.module), &package.module)?;
    cx.emit(Event::Finished { task, message: format!("Built the binding of {}", package.module) });
    Ok(Built { extension, commands: lines })
}

fn run_all(cx: &Context, commands: &[Invocation]) -> Result<Vec<String>, BindError> {
    let mut lines = Vec::new();
    for command in commands {
        let output = run(cx, command, DEADLINE, "cmake")?;
        if !output.success() {
            let (line, ended) = (output.line.clone(), output.status.to_string());
            return Err(BindError::Cmake { line, ended, said: output.last_words(LAST_LINES) });
        }
        lines.push(output.line);
    }
    Ok(lines)
}

/// Removes what CMake keeps of earlier builds, and nothing else; whether there was any.
fn forget_earlier(build: &Path) -> std::io::Result<bool> {
    let cache = build.join("CMakeCache.txt");
    if !cache.is_file() {
        return Ok(false);
    }
    fs_err::remove_file(cache)?;
    match fs_err::remove_dir_all(build.join("CMakeFiles")) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(true),
    }
}

/// Ninja where it is, as CMake's own default may be a `make` that is not.
fn generator(cx: &Context) -> Option<&'static str> {
    let found = run(cx, &Invocation::new("ninja").arg("--version"), ANSWER, "ninja");
    found.is_ok_and(|output| output.success()).then_some("-GNinja")
}

fn definition(name: &str, value: &str) -> OsString {
    format!("-D{name}={value}").into()
}

/// Where pybind11 says that its CMake files are.
fn pybind(cx: &Context, tools: &BuildTools) -> Result<String, BindError> {
    let output = ask(cx, tools, &["-m", "pybind11", "--cmakedir"])?;
    if let Status::Exited(1..) = output.status {
        let python = tools.python.to_string_lossy().into_owned();
        return Err(BindError::NoPybind { python, said: output.last_words(1) });
    }
    path_in(&output)
}

/// The interpreter itself: what is on `PATH` may be a script that only finds it.
fn executable(cx: &Context, tools: &BuildTools) -> Result<String, BindError> {
    path_in(&ask(cx, tools, &["-c", "import sys; print(sys.executable)"])?)
}

fn ask(cx: &Context, tools: &BuildTools, words: &[&str]) -> Result<Output, BindError> {
    run(cx, &Invocation::new(&tools.python).args(words), ANSWER, "python")
}

/// The one line that was asked for. CMake takes what is passed to it apart at line ends and semicolons.
fn path_in(output: &Output) -> Result<String, BindError> {
    let text = output.stdout.text();
    let found = match text.trim() {
        _ if !output.success() => output.status.to_string(),
        "" => "wrote nothing".to_owned(),
        path if path.chars().any(|c| c.is_control() || c == ';') || path.len() > LONGEST_PATH => {
            format!("wrote {} bytes that are none", text.len())
        }
        path => return Ok(path.to_owned()),
    };
    Err(BindError::NoAnswer { line: output.line.clone(), found })
}

fn run(cx: &Context, invocation: &Invocation, deadline: Duration, program: &str) -> Result<Output, BindError> {
    match invocation.clone().deadline(deadline).run(cx) {
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
