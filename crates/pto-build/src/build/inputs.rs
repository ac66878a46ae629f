//! What a build depends on besides the sources, by name: a build made with other values is another build.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use pto_compile::cann::release;
use pto_context::{Context, files};
use serde::{Deserialize, Serialize};

use super::tools::{Tool, Tools, cann_root};

/// One thing that a build depends on. Sources are none: CMake follows them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub enum Input {
    /// Where the checkout is: objects and caches name it.
    SourcePath,
    /// Processor and distribution: the same path may be a host's and a container's.
    System,
    /// CMake.
    Cmake,
    /// What CMake writes files for.
    Generator,
    /// Ninja or Make.
    MakeProgram,
    /// The C compiler.
    CCompiler,
    /// The C++ compiler.
    CxxCompiler,
    /// The compiler cache, which the files of a build name.
    Ccache,
    /// The environment's Python.
    Python,
    /// nanobind and pybind11.
    Bindings,
    /// The release of CANN: its headers and libraries, which keep their path from one to the next.
    Cann,
    /// Arguments for CMake.
    Options,
    /// A compiler of the runtime's own.
    RuntimeCompiler(String),
    /// A variable of the environment.
    Variable(String),
    /// One that another version of this program has recorded.
    Other(String),
}

const NAMES: [(&str, Input); 12] = [
    ("source-path", Input::SourcePath),
    ("system", Input::System),
    ("cmake", Input::Cmake),
    ("generator", Input::Generator),
    ("make-program", Input::MakeProgram),
    ("c-compiler", Input::CCompiler),
    ("cxx-compiler", Input::CxxCompiler),
    ("ccache", Input::Ccache),
    ("python", Input::Python),
    ("bindings", Input::Bindings),
    ("cann", Input::Cann),
    ("options", Input::Options),
];
const VARIABLE: &str = "env:";
const RUNTIME_COMPILER: &str = "runtime:";

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "{VARIABLE}{name}"),
            Self::RuntimeCompiler(name) => write!(f, "{RUNTIME_COMPILER}{name}"),
            Self::Other(name) => f.write_str(name),
            known => f.write_str(NAMES.iter().find(|(_, input)| input == known).map_or("", |(name, _)| name)),
        }
    }
}

impl From<Input> for String {
    fn from(input: Input) -> Self {
        input.to_string()
    }
}

impl From<String> for Input {
    fn from(name: String) -> Self {
        if let Some((_, input)) = NAMES.iter().find(|(known, _)| *known == name) {
            return input.clone();
        }
        match (name.strip_prefix(VARIABLE), name.strip_prefix(RUNTIME_COMPILER)) {
            (Some(variable), _) => Self::Variable(variable.to_owned()),
            (_, Some(compiler)) => Self::RuntimeCompiler(compiler.to_owned()),
            (None, None) => Self::Other(name),
        }
    }
}

/// All inputs of a build with their values.
pub type Inputs = BTreeMap<Input, String>;

/// An input that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Which.
    pub input: Input,
    /// In the build that is there; `None` if it had none.
    pub was: Option<String>,
    /// Now; `None` if there is none.
    pub is: Option<String>,
}

/// Variables that compilers and CMake obey. `PATH` is none of them: the programs that it leads to are inputs.
const VARIABLES: [&str; 15] = [
    "CC",
    "CXX",
    "CPPFLAGS",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "ASCEND_HOME_PATH",
    "ASCEND_TOOLKIT_HOME",
    "CMAKE_BUILD_TYPE",
    "CMAKE_CONFIG_TYPE",
    "CMAKE_C_COMPILER_LAUNCHER",
    "CMAKE_CXX_COMPILER_LAUNCHER",
    "CMAKE_TOOLCHAIN_FILE",
    "PTO_ISA_ROOT",
    "PTO_LIB_PATH",
];
/// Those that are lists of directories: their order, repetitions and empty elements do not count. `LD_LIBRARY_PATH` is none
/// of them: nothing is compiled or linked by it, while `cargo xtask`, a container that shows a driver and an activated shell
/// each have another one.
const LISTS: [&str; 7] = [
    "CMAKE_PREFIX_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "PKG_CONFIG_PATH",
    "PYTHONPATH",
];

/// Takes down what a build now would depend on.
pub(crate) fn gather(cx: &Context, root: &Path, tools: &Tools, generator: &str, options: &[String]) -> Inputs {
    let identity = |tool: &Option<Tool>| tool.as_ref().map(|tool| tool.identity.clone());
    let make = if generator.contains("Ninja") { &tools.ninja } else { &tools.make };
    let found = [
        (Input::SourcePath, Some(root.display().to_string())),
        (Input::System, Some(system(cx))),
        (Input::Cmake, Some(tools.cmake.identity.clone())),
        (Input::Generator, Some(generator.to_owned())),
        (Input::MakeProgram, identity(make)),
        (Input::CCompiler, identity(&tools.cc)),
        (Input::CxxCompiler, identity(&tools.cxx)),
        (Input::Ccache, tools.ccache.as_ref().map(|ccache| ccache.path.display().to_string())),
        (Input::Python, Some(tools.python.identity())),
        (Input::Bindings, Some(tools.python.binding_identity())),
        (Input::Cann, cann_root(cx).and_then(|root| Some(release(cx, &root)?.version))),
        (Input::Options, Some(options.join(" "))),
    ];
    let of_runtime = tools.of_runtime.iter().map(|(name, tool)| {
        let name = Path::new(name).file_name().unwrap_or_default().to_string_lossy().into_owned();
        (Input::RuntimeCompiler(name), tool.identity.clone())
    });
    let plain = VARIABLES.iter().filter_map(|name| Some((Input::Variable((*name).to_owned()), cx.var(name)?)));
    // An activated shell imports PyPTO from the checkout; a build in one is the same as in any other shell.
    let own = root.join("python");
    let lists = LISTS.iter().filter_map(|name| {
        let list = in_order(&cx.var(name)?, |dir| Path::new(dir) != own)?;
        Some((Input::Variable((*name).to_owned()), list))
    });
    let some = found.into_iter().filter_map(|(input, value)| Some((input, value.filter(|value| !value.is_empty())?)));
    some.chain(of_runtime).chain(plain).chain(lists).collect()
}

/// What is not as it was, in the order of the inputs.
pub(crate) fn changes(was: &Inputs, is: &Inputs) -> Vec<Change> {
    let mut names: Vec<&Input> = was.keys().chain(is.keys()).collect();
    names.sort();
    names.dedup();
    let change =
        |input: &Input| Change { input: input.clone(), was: was.get(input).cloned(), is: is.get(input).cloned() };
    names.into_iter().map(change).filter(|change| change.was != change.is).collect()
}

/// Those of a list of directories that count, in an order of its own; `None` if there are none.
fn in_order(list: &str, counts: impl Fn(&str) -> bool) -> Option<String> {
    let trimmed = |dir: &str| if dir.len() > 1 { dir.trim_end_matches('/').to_owned() } else { dir.to_owned() };
    let mut dirs: Vec<String> =
        list.split([':', ';']).map(trimmed).filter(|dir| !dir.is_empty() && counts(dir)).collect();
    dirs.sort();
    dirs.dedup();
    Some(dirs.join(":")).filter(|list| !list.is_empty())
}

/// Processor, and name and version of the distribution. No name of the host: a container has a new one each time.
fn system(cx: &Context) -> String {
    let release = files::read(cx, "/etc/os-release").text().unwrap_or_default();
    let field = |name: &str| {
        let value = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        value.unwrap_or_default().trim_matches('"').to_owned()
    };
    format!("{} {} {}", std::env::consts::ARCH, field("ID"), field("VERSION_ID")).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for (name, input) in NAMES {
            assert_eq!((input.to_string().as_str(), Input::from(name.to_owned())), (name, input.clone()));
        }
        for name in ["env:CC", "runtime:ccec", "from-the-future"] {
            assert_eq!(Input::from(name.to_owned()).to_string(), name);
        }
        assert_eq!(Input::from("env:CC".to_owned()), Input::Variable("CC".into()));
    }

    #[test]
    fn the_order_of_a_list_does_not_count() {
        let in_order = |list| in_order(list, |dir| dir != "/own");
        assert_eq!(in_order("/b:/a/:/b::/"), in_order("/:/a;/b"));
        assert_eq!(in_order("/own/:/a"), in_order("/a"));
        assert_eq!((in_order("::"), in_order("/own")), (None, None));
        assert_ne!(in_order("/a:/b"), in_order("/a"));
    }

    #[test]
    fn changes_have_both_values() {
        let inputs = |pairs: &[(&str, &str)]| -> Inputs {
            pairs.iter().map(|(name, value)| (Input::from((*name).to_owned()), (*value).to_owned())).collect()
        };
        let found =
            changes(&inputs(&[("cmake", "3"), ("env:CC", "gcc")]), &inputs(&[("cmake", "3"), ("env:CXX", "g++")]));
        let shown: Vec<_> = found
            .iter()
            .map(|change| (change.input.to_string(), change.was.as_deref(), change.is.as_deref()))
            .collect();
        assert_eq!(shown, [("env:CC".to_owned(), Some("gcc"), None), ("env:CXX".to_owned(), None, Some("g++"))]);
    }
}
