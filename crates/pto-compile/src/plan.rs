//! A compile plan: commands as values. Making one is pure; running it is another verb.

mod run;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

use pto_process::{Invocation, shell_word};
use serde::{Deserialize, Serialize};

pub use run::RunError;

/// Commands in the order in which they have to run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Files that have to be there before the first command.
    #[serde(default)]
    pub generated: Vec<GeneratedFile>,
    /// The commands. A later one may read what an earlier one wrote.
    pub steps: Vec<Step>,
    /// What a reader of the plan should know, for example that the compiler is not on this machine.
    pub notes: Vec<String>,
}

/// A file that is written for a build, for example the launcher of a kernel that has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratedFile {
    /// Where it goes.
    pub path: PathBuf,
    /// What is in it.
    pub text: String,
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Why it runs.
    pub purpose: Purpose,
    /// The program: an absolute path, or a path relative to the caller's working directory.
    pub program: PathBuf,
    /// Its arguments, without the program itself, exactly as the program will get them.
    pub args: Vec<String>,
    /// Variables it needs beyond the caller's environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Files it reads that the plan names; headers are found by the compiler and are not listed.
    pub inputs: Vec<PathBuf>,
    /// Files it writes. Their directories have to exist.
    pub outputs: Vec<PathBuf>,
}

/// Why a step runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Kernel sources to a shared library, in one go.
    KernelLibrary,
    /// One kernel source to an object that holds host and device code.
    KernelObject,
    /// Kernel objects to a shared library.
    LinkKernels,
    /// The host side that launches the kernels, to an object.
    LauncherObject,
    /// The launcher's object and the kernel library to the library that callers load.
    LinkLauncher,
    /// A source of a host program to an object.
    HostObject,
    /// A host program, compiled or linked.
    HostProgram,
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::KernelLibrary => "compile the kernel library",
            Self::KernelObject => "compile a kernel object",
            Self::LinkKernels => "link the kernel library",
            Self::LauncherObject => "compile the launcher",
            Self::LinkLauncher => "link the launcher with the kernel library",
            Self::HostObject => "compile an object of the host program",
            Self::HostProgram => "build the host program",
        })
    }
}

impl Plan {
    /// What the whole plan is for: the first output of the last step.
    pub fn artifact(&self) -> Option<&Path> {
        self.steps.last()?.outputs.first().map(PathBuf::as_path)
    }

    /// Appends the steps and notes of a plan that needs what this one makes. A note is not said twice.
    #[must_use]
    pub fn then(mut self, next: Self) -> Self {
        self.generated.extend(next.generated);
        self.steps.extend(next.steps);
        for note in next.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self
    }

    /// The directories that generated files and outputs go to, each once.
    pub fn output_dirs(&self) -> BTreeSet<&Path> {
        let outputs = self.steps.iter().flat_map(|step| &step.outputs);
        let parents = self.generated.iter().map(|file| &file.path).chain(outputs).filter_map(|path| path.parent());
        parents.filter(|dir| !dir.as_os_str().is_empty()).collect()
    }

    /// The plan as text that can be pasted into a POSIX shell: notes and purposes are comments.
    pub fn to_shell(&self) -> String {
        let mut text = String::new();
        for note in &self.notes {
            // A note may carry a path, and a path may carry a line break that would end the comment.
            let _ = writeln!(text, "# note: {}", note.replace(['\n', '\r'], " "));
        }
        for dir in self.output_dirs() {
            let _ = writeln!(text, "mkdir -p -- {}", shell_word(&dir.to_string_lossy()));
        }
        for file in &self.generated {
            // Quoted, so that the shell leaves the text as it is; no C++ line is the end mark.
            let path = shell_word(&file.path.to_string_lossy());
            let _ = writeln!(text, "# write the launcher\ncat > {path} <<'END_OF_LAUNCHER'");
            let _ = writeln!(text, "{}\nEND_OF_LAUNCHER", file.text.trim_end());
        }
        for step in &self.steps {
            let _ = writeln!(text, "# {}\n{}", step.purpose, step.to_shell());
        }
        text
    }
}

impl Step {
    /// The command as one line that can be pasted into a POSIX shell.
    pub fn to_shell(&self) -> String {
        self.invocation().to_shell_line()
    }

    /// The command as something that can be run, without a deadline.
    pub fn invocation(&self) -> Invocation {
        let start = Invocation::new(&self.program).args(&self.args);
        self.env.iter().fold(start, |invocation, (name, value)| invocation.env(name, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(args: &[&str], output: &str) -> Step {
        Step {
            purpose: Purpose::KernelObject,
            program: "/opt/cann/bin/bisheng".into(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: BTreeMap::from([("TMPDIR".to_owned(), "/big disk".to_owned())]),
            inputs: vec![],
            outputs: vec![output.into()],
        }
    }

    #[test]
    fn a_shell_gets_back_what_the_plan_holds() {
        let args = ["-I/home/Jürgen Müller/核", "it's", "$HOME", "", "-DTEXT=\"a b\"", "a\nb", "*"];
        let line = step(&args, "out/k.o").to_shell();
        let mut words = shlex::split(&line).unwrap();
        assert_eq!(words.remove(0), "TMPDIR=/big disk");
        assert_eq!(words.remove(0), "/opt/cann/bin/bisheng");
        assert_eq!(words, args);
    }

    #[test]
    fn a_note_cannot_become_a_command() {
        let plan = Plan { notes: vec!["`/opt/x\nrm -rf y` is not there".to_owned()], ..Plan::default() };
        assert_eq!(plan.to_shell().lines().count(), 1);
    }

    #[test]
    fn plans_chain_and_keep_each_note_once() {
        let plan = |output| Plan { steps: vec![step(&[], output)], notes: vec!["same".to_owned()], ..Plan::default() };
        let both = plan("out/a.o").then(plan("out/b.so"));
        assert_eq!(both.notes, ["same"]);
        assert_eq!(both.artifact(), Some(Path::new("out/b.so")));
        assert_eq!(both.output_dirs().into_iter().collect::<Vec<_>>(), [Path::new("out")]);
        assert!(both.to_shell().starts_with("# note: same\nmkdir -p -- out\n# compile a kernel object\nTMPDIR="));
    }

    #[test]
    fn json_gives_back_the_same_plan() {
        let file = GeneratedFile { path: "k.cpp".into(), text: "int a;\n".to_owned() };
        let plan = Plan { generated: vec![file], steps: vec![step(&["-c"], "k.o")], notes: vec![] };
        let json = serde_json::to_string(&plan).unwrap();
        assert!(json.contains(r#""purpose":"kernel-object""#), "{json}");
        assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), plan);
    }
}
