//! Host C++ compilers: where they may be, what they are, how they are called.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_context::Context;
use pto_process::{Invocation, Output, Status};
use serde::{Deserialize, Serialize};

use super::error::CpuError;
use crate::deadline::{DEADLINE_VARIABLE, deadline};

/// A compiler says its version in a moment; one that does not is broken. In seconds.
const VERSION_DEADLINE: Duration = Duration::from_secs(20);
/// Names to look for on `PATH` when nobody names a compiler, best first: clang instantiates templates in a precompiled
/// header, which halves the time from edit to verdict.
const NAMES: [&str; 15] = [
    "clang++",
    "clang++-22",
    "clang++-21",
    "clang++-20",
    "clang++-19",
    "clang++-18",
    "clang++-17",
    "g++",
    "g++-16",
    "g++-15",
    "g++-14",
    "g++-13",
    "g++-12",
    "c++",
    "clang++-16",
];

/// How a compiler wants to be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// clang, and zig, which carries one.
    Clang,
    /// GCC.
    Gcc,
}

/// A command that may be a compiler, and why it is tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Program and leading arguments, for example `zig c++`.
    pub(super) command: Vec<OsString>,
    /// For people, for example ``from `CXX` ``.
    pub(super) why: String,
    /// Whether the user asked for this one: then it is used or refused, never passed over.
    pub(super) named: bool,
    /// What its processes get in their environment.
    pub(super) env: Vec<(String, PathBuf)>,
}

/// A compiler that told its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compiler {
    /// Program and leading arguments.
    pub command: Vec<PathBuf>,
    /// What its processes get in their environment.
    pub env: Vec<(String, PathBuf)>,
    /// How it wants to be called.
    pub family: Family,
    /// Its major version.
    pub major: u32,
    /// The first line of what it says of itself.
    pub version: String,
}

impl Candidate {
    fn new(command: Vec<OsString>, why: &str, named: bool) -> Self {
        Self { command, why: why.to_owned(), named, env: Vec::new() }
    }
}

/// What to try, in order: the one given, `CXX`, the usual names on `PATH`, then `fallback`, which keeps its caches in
/// `cache` (zig would write them into the user's home).
pub(super) fn candidates(
    cx: &Context,
    given: Option<&str>,
    fallback: Option<&[OsString]>,
    cache: &Path,
) -> Vec<Candidate> {
    let named = |text: &str, why: &str| {
        let words = shlex::split(text).unwrap_or_else(|| vec![text.to_owned()]);
        let command = words.into_iter().map(OsString::from).collect();
        vec![Candidate::new(command, why, true)]
    };
    if let Some(given) = given {
        return named(given, "given explicitly");
    }
    if let Some(cxx) = cx.var("CXX") {
        return named(&cxx, "from `CXX`");
    }
    let on_path = NAMES.iter().filter_map(|name| {
        let path = find_on_path(cx, name)?;
        Some(Candidate::new(vec![path.into()], "found on `PATH`", false))
    });
    let caches = ["ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"].map(|name| (name.to_owned(), cache.to_path_buf()));
    let stored = fallback
        .map(|command| Candidate { env: caches.into(), ..Candidate::new(command.to_vec(), "from the store", false) });
    let mut all: Vec<Candidate> = Vec::new();
    for candidate in on_path.chain(stored) {
        // `c++` is mostly another name of a compiler that was looked at already.
        let real = |c: &Candidate| Path::new(&c.command[0]).canonicalize().ok();
        if !all.iter().any(|known| real(known).is_some() && real(known) == real(&candidate)) {
            all.push(candidate);
        }
    }
    all
}

/// The file that a command starts.
pub(super) fn find(cx: &Context, program: &OsStr) -> Option<PathBuf> {
    which::which_in(program, cx.var_os("PATH"), cx.cwd()).ok()
}

fn find_on_path(cx: &Context, name: &str) -> Option<PathBuf> {
    which::which_in_global(name, cx.var_os("PATH")).ok()?.next()
}

impl Compiler {
    /// Asks a command what it is. The reason why not is for people.
    pub(super) fn identify(cx: &Context, candidate: &Candidate) -> Result<Self, String> {
        let output = invocation(&candidate.command, &candidate.env)
            .arg("--version")
            .deadline(VERSION_DEADLINE)
            .run(cx)
            .and_then(pto_process::Output::require_success)
            .map_err(|error| error.to_string())?;
        let text = output.stdout.text();
        let version = text.lines().next().unwrap_or_default().trim().to_owned();
        let family = if text.contains("clang") {
            Family::Clang
        } else if text.contains("GCC") || text.contains("Free Software Foundation") {
            Family::Gcc
        } else {
            return Err(format!("neither clang nor GCC: `--version` says `{version}`"));
        };
        let major = major(&version).ok_or_else(|| format!("no version number in `{version}`"))?;
        let command = candidate.command.iter().map(PathBuf::from).collect();
        Ok(Self { command, env: candidate.env.clone(), family, major, version })
    }

    /// The beginning of a command line.
    pub(super) fn invocation(&self) -> Invocation {
        invocation(&self.command, &self.env)
    }

    /// Runs a command line of this compiler to its end, which may be a failure: whose it is, the caller knows.
    pub(super) fn run(&self, cx: &Context, invocation: Invocation) -> Result<Output, CpuError> {
        let output = invocation.deadline_from(DEADLINE_VARIABLE, deadline(cx)?).run(cx)?;
        if output.status == Status::Interrupted {
            return Err(pto_store::Error::Interrupted.into());
        }
        if !matches!(output.status, Status::Exited(_)) {
            // Killed, by the system or by its deadline: that says nothing of what it was given.
            return Err(pto_process::Error::Failed(Box::new(output)).into());
        }
        if !output.success() && output.says_disk_full() {
            // Not the kernel's fault, whatever the exit code.
            return Err(CpuError::Write(io::ErrorKind::StorageFull.into()));
        }
        Ok(output)
    }

    /// The language level at which this compiler takes PTO-ISA's CPU headers: they use `<stdfloat>` of C++23, and GCC 12
    /// takes them as C++20 only.
    pub(super) fn standard(&self) -> &'static [&'static str] {
        match (self.family, self.major) {
            (Family::Gcc, ..13) => &["-std=c++20"],
            _ => &["-std=c++23", "-D__STDCPP_BFLOAT16_T__=1"],
        }
    }

    /// For people: what it says of itself, and its command.
    pub fn describe(&self) -> String {
        let command: Vec<_> = self.command.iter().map(|word| word.display().to_string()).collect();
        format!("{} ({})", self.version, command.join(" "))
    }
}

/// A command whose messages are in English, as we read some of them.
fn invocation<W: Clone + Into<OsString>>(command: &[W], env: &[(String, PathBuf)]) -> Invocation {
    let invocation = Invocation::new(command[0].clone()).args(command[1..].iter().cloned()).env("LC_ALL", "C");
    env.iter().fold(invocation, |invocation, (name, value)| invocation.env(name, value))
}

/// The number before the first dot of the first version in a line; distributions put their own numbers in brackets first.
fn major(line: &str) -> Option<u32> {
    let outside: String = line.split('(').map(|part| part.rsplit(')').next().unwrap_or(part)).collect();
    outside.split_whitespace().find_map(|word| word.split_once('.')?.0.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_as_compilers_print_them() {
        assert_eq!(major("Debian clang version 19.1.7 (3~deb12u1)"), Some(19));
        assert_eq!(major("g++ (Debian 12.2.0-14+deb12u1) 12.2.0"), Some(12));
        assert_eq!(major("g++ (GCC) 13.3.1 20240611"), Some(13));
        assert_eq!(major("Apple clang version 17.0.0 (clang-1700.0.13.5)"), Some(17));
        assert_eq!(major("icc"), None);
    }

    #[test]
    fn a_named_compiler_is_the_only_candidate() {
        let cx = Context::fake("/", [("CXX", "ccache 'my g++'"), ("PATH", "/usr/bin")]);
        let [one] = &candidates(&cx, None, None, Path::new("/c"))[..] else { panic!() };
        assert_eq!((one.command.clone(), one.named), (vec!["ccache".into(), "my g++".into()], true));
        let [given] = &candidates(&cx, Some("clang++"), None, Path::new("/c"))[..] else { panic!() };
        assert_eq!(given.why, "given explicitly");
    }
}
