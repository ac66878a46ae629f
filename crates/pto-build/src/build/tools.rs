//! The programs that a build uses, each with what makes it another one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_context::{Context, in_parallel};
use pto_process::{Error as ProcessError, Invocation, Output};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::error::{Error, HomeError};
use crate::home::Home;

/// How long a program may take to say its version.
const ASKING: Duration = Duration::from_secs(60);
/// Larger programs are told apart by their size: reading one of them would take longer than a build that does nothing.
const LARGEST_READ: u64 = 64 << 20;
/// Digits of a digest that are kept.
const DIGEST_DIGITS: usize = 12;

/// What CMake takes where nobody names a compiler, in its order.
const C_COMPILERS: [&str; 3] = ["cc", "gcc", "clang"];
const CXX_COMPILERS: [&str; 3] = ["c++", "g++", "clang++"];

/// What the runtime compiles with besides, whatever `CC` and `CXX` say: its own simulator with the compiler of the images.
const RUNTIME_COMPILERS: [&str; 4] = ["gcc", "g++", "gcc-15", "g++-15"];
/// The same of CANN, below its root: for AI Cores and for the AI CPU.
const CANN_COMPILERS: [&str; 4] = [
    "bin/ccec",
    "bin/ld.lld",
    "tools/hcc/bin/aarch64-target-linux-gnu-gcc",
    "tools/hcc/bin/aarch64-target-linux-gnu-g++",
];

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tool {
    pub(crate) path: PathBuf,
    /// Path with links resolved, version, digest.
    pub(crate) identity: String,
}

/// What a build uses.
#[derive(Debug, Clone)]
pub(crate) struct Tools {
    pub(crate) cmake: Tool,
    pub(crate) ninja: Option<Tool>,
    pub(crate) make: Option<Tool>,
    pub(crate) cc: Option<Tool>,
    pub(crate) cxx: Option<Tool>,
    pub(crate) ccache: Option<Tool>,
    /// The runtime's compilers that are here.
    pub(crate) of_runtime: Vec<(&'static str, Tool)>,
    pub(crate) uv: PathBuf,
    pub(crate) python: Python,
}

/// The environment's Python.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Python {
    #[serde(skip)]
    pub(crate) path: PathBuf,
    /// Where its packages are.
    pub(crate) platlib: PathBuf,
    /// Name and version.
    pub(crate) version: String,
    /// Bindings that it has: name, version, directory with the CMake package.
    pub(crate) bindings: Vec<(String, String, PathBuf)>,
}

/// Prints what [`Python`] holds.
const QUESTION: &str = "
import json, sys, sysconfig
bindings = []
for name, place in (('nanobind', 'cmake_dir'), ('pybind11', 'get_cmake_dir')):
    try:
        module = __import__(name)
        bindings.append((name, str(module.__version__), getattr(module, place)()))
    except ImportError:
        pass
print(json.dumps({
    'platlib': sysconfig.get_paths()['platlib'],
    'version': '%s %d.%d.%d' % ((sys.implementation.name,) + sys.version_info[:3]),
    'bindings': bindings,
}))
";

impl Tools {
    /// Looks for all of them, on the `PATH` of a context that has the home's directories first.
    pub(crate) fn find(cx: &Context, home: &Home) -> Result<Self, Error> {
        // Each takes its time to say its version, so all are asked at once.
        let [named, below_cann] = [Ask::Named, Ask::BelowCann];
        let of_build = [named("cmake"), named("ninja"), named("make"), Ask::C, Ask::Cxx, named("ccache")];
        let of_runtime = RUNTIME_COMPILERS.map(named).into_iter().chain(CANN_COMPILERS.map(below_cann));
        let names: Vec<Ask> = of_build.into_iter().chain(of_runtime).collect();
        let (found, python) = std::thread::scope(|scope| {
            let python = scope.spawn(|| Python::ask(cx, home));
            (in_parallel(&names, None, |ask| ask.find(cx)), python.join())
        });
        let mut found = found?.into_iter();
        let [cmake, ninja, make, cc, cxx, ccache] = std::array::from_fn(|_| found.next().flatten());
        let of_runtime = [RUNTIME_COMPILERS, CANN_COMPILERS].concat().into_iter().zip(found);
        let of_runtime = of_runtime.filter_map(|(name, tool)| Some((name, tool?))).collect();
        let python = python.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let missing = |program: &'static str| HomeError::NoTool { program, home: home.root().to_owned() };
        let uv = which(cx, "uv").ok_or_else(|| missing("uv"))?;
        Ok(Self { cmake: cmake.ok_or_else(|| missing("cmake"))?, ninja, make, cc, cxx, ccache, of_runtime, uv, python })
    }
}

impl Python {
    fn ask(cx: &Context, home: &Home) -> Result<Self, Error> {
        let path = home.python();
        if !path.exists() {
            return Err(HomeError::NoVenv { python: path }.into());
        }
        let question = Invocation::new(&path).args(["-c", QUESTION]).deadline(ASKING);
        let output = question
            .run(cx)
            .and_then(Output::require_success)
            .map_err(Error::command("ask Python what it has", &path))?;
        let text = output.stdout.text();
        let facts: Option<Self> = text.lines().next_back().and_then(|line| serde_json::from_str(line).ok());
        facts.map(|facts| Self { path: path.clone(), ..facts }).ok_or(HomeError::NoVenv { python: path }.into())
    }

    /// What makes it another one.
    pub(crate) fn identity(&self) -> String {
        let real = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        format!("`{}` ({}) in `{}`", real.display(), self.version, self.platlib.display())
    }

    /// The bindings that extensions are built with.
    pub(crate) fn binding_identity(&self) -> String {
        let all: Vec<String> = self.bindings.iter().map(|(name, version, _)| format!("{name} {version}")).collect();
        all.join(", ")
    }
}

/// How a program is looked for.
enum Ask {
    Named(&'static str),
    BelowCann(&'static str),
    C,
    Cxx,
}

impl Ask {
    fn find(&self, cx: &Context) -> Result<Option<Tool>, Error> {
        if let Self::BelowCann(path) = self {
            let path = cann_root(cx).map(|root| root.join(path)).filter(|path| path.is_file());
            return path.map(|path| Tool::ask(cx, path)).transpose();
        }
        let named = |variable: &str| cx.var(variable).and_then(|command| shlex::split(&command)?.into_iter().next());
        let (named, usual): (Option<String>, &[&str]) = match self {
            Self::Named(name) | Self::BelowCann(name) => (None, std::slice::from_ref(name)),
            Self::C => (named("CC"), &C_COMPILERS),
            Self::Cxx => (named("CXX"), &CXX_COMPILERS),
        };
        let names = named.as_deref().map_or_else(|| usual.to_vec(), |name| vec![name]);
        names.into_iter().find_map(|name| which(cx, name)).map(|path| Tool::ask(cx, path)).transpose()
    }
}

impl Tool {
    fn ask(cx: &Context, path: PathBuf) -> Result<Self, Error> {
        let asked = Invocation::new(&path).arg("--version").env("LC_ALL", "C").deadline(ASKING).run(cx);
        let version = match asked {
            Ok(output) => output.stdout.text().lines().next().unwrap_or_default().trim().to_owned(),
            Err(error @ ProcessError::Interrupted { .. }) => {
                return Err(Error::command("tell the version of a program", &path)(error));
            }
            // Whoever uses it will say what is wrong with it.
            Err(_) => String::new(),
        };
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        Ok(Self { identity: format!("`{}` ({version}) {}", real.display(), content(&real)), path })
    }
}

/// What is in a program: one that was replaced by another of the same name and version is another one.
fn content(path: &Path) -> String {
    let bytes =
        fs_err::metadata(path).ok().filter(|meta| meta.len() <= LARGEST_READ).and_then(|_| fs_err::read(path).ok());
    match bytes {
        Some(bytes) => format!("sha256 {}", &hex(&Sha256::digest(bytes))[..DIGEST_DIGITS]),
        None => format!("{} bytes", fs_err::metadata(path).map_or(0, |meta| meta.len())),
    }
}

/// The CANN that the runtime is built against; without one it builds for its simulator alone.
pub(crate) fn cann_root(cx: &Context) -> Option<PathBuf> {
    cx.var_os("ASCEND_HOME_PATH").filter(|root| !root.is_empty()).map(PathBuf::from)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn which(cx: &Context, name: &str) -> Option<PathBuf> {
    which::which_in(name, cx.var_os("PATH"), cx.cwd()).ok()
}
