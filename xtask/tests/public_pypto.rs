//! Setup, build and checks of the public PyPTO, where a checkout of it is named: as its users type them, from an empty home
//! to a compiler that prints a program.
//!
//! Its third-party packages come from the Python package registry, PTO-ISA from its own remote. The first build takes what
//! such a build takes, some ten minutes; one with a warm `ccache` a few.

mod scratch;

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use pto_process::Invocation;
use scratch::Ran;

/// Builds a function and prints it, which goes through most of what an extension has: bindings, IR, printer.
const PRINTS_A_PROGRAM: &str = r#"
import pypto.language as pl

@pl.function
def add(a: pl.Tensor[[16, 16], pl.FP32], b: pl.Tensor[[16, 16], pl.FP32]) -> pl.Tensor[[16, 16], pl.FP32]:
    c: pl.Tensor[[16, 16], pl.FP32] = pl.add(a, b)
    return c

print(add)
"#;

/// A copy of the checkout, which itself is only read, and a home.
struct Public {
    dir: tempfile::TempDir,
}

impl Public {
    /// `None`, said on stderr, where no checkout is named or its submodules are not there.
    fn new() -> Option<Self> {
        let named = pto_test::pypto_checkout()?;
        let public = Self { dir: tempfile::Builder::new().prefix("public-").tempdir().unwrap() };
        public.git(public.dir.path(), &["clone", "--quiet", &text(&named), "pypto"]);
        public.git(&public.src(), &["submodule", "--quiet", "init"]);
        let all = public.git(&public.src(), &["config", "--file", ".gitmodules", "--get-regexp", r"\.path$"]);
        for (key, path) in all.lines().filter_map(|line| line.split_once(' ')) {
            let here = named.join(path);
            if !here.join(".git").exists() {
                pto_test::absent(&format!("`{}` is not initialised: `git submodule update --init`", here.display()));
                return None;
            }
            public.git(&public.src(), &["config", &key.replace(".path", ".url"), &text(&here)]);
        }
        public.git(&public.src(), &["-c", "protocol.file.allow=always", "submodule", "--quiet", "update"]);
        Some(public)
    }

    fn src(&self) -> PathBuf {
        self.dir.path().join("pypto")
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    fn git(&self, dir: &Path, args: &[&str]) -> String {
        let ran = Invocation::new("git").args(args).cwd(dir).run(&pto_test::machine()).unwrap();
        ran.require_success().unwrap().stdout.text().trim().to_owned()
    }

    fn command(&self, program: &Path, args: &[&str]) -> Ran {
        let mut command = Command::new(program);
        command.env("PYPTO_SRC", self.src()).env("PYPTO_HOME", self.home()).env_remove("PTOKIT_REQUIRE");
        command.args(args).current_dir(self.dir.path()).output().unwrap().into()
    }

    fn xtask(&self, args: &[&str]) -> Ran {
        self.command(Path::new(env!("CARGO_BIN_EXE_xtask")), args)
    }

    /// Builds, and says how: `incremental`, or `fresh`.
    fn build(&self) -> String {
        let built = self.xtask(&["build", "--json"]).expect(0).json();
        built["decision"]["kind"].as_str().unwrap().to_owned()
    }

    /// The objects that are there, with when they were made.
    fn objects(&self) -> Vec<(PathBuf, std::time::SystemTime)> {
        let mut objects = Vec::new();
        let mut dirs = vec![self.src().join("build")];
        while let Some(dir) = dirs.pop() {
            for entry in fs_err::read_dir(dir).unwrap().map(Result::unwrap) {
                let kind = entry.file_type().unwrap();
                match entry.path() {
                    path if kind.is_dir() => dirs.push(path),
                    path if path.extension().is_some_and(|name| name == "o") => {
                        objects.push((path, entry.metadata().unwrap().modified().unwrap()));
                    }
                    _ => {}
                }
            }
        }
        objects.sort();
        objects
    }
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_public_checkout_is_set_up_built_and_works() {
    let Some(public) = Public::new() else { return };
    let _ = public.xtask(&["setup"]).expect(0);
    assert_eq!(public.build(), "fresh");
    let python = public.home().join("venv/bin/python");
    let script = public.dir.path().join("prints.py");
    fs_err::write(&script, PRINTS_A_PROGRAM).unwrap();
    let prints = || {
        let mut command = Command::new(&python);
        command.env("PYTHONPATH", public.src().join("python")).arg(&script).current_dir(public.dir.path());
        Ran::from(command.output().unwrap()).expect(0)
    };
    let printed = prints();
    assert!(printed.stdout.contains("pl.tensor.add(a, b)"), "{printed}");
    let _ = public.command(&python, &["-c", "import simpler, _task_interface"]).expect(0);
    assert_eq!(public.git(&public.src(), &["status", "--porcelain"]), "", "nothing but sources is seen");

    // Nothing changed; then one source.
    let before = public.objects();
    assert_eq!(public.build(), "incremental");
    assert_eq!(public.objects(), before);
    let source = public.src().join("src/core/error.cpp");
    fs_err::write(&source, fs_err::read_to_string(&source).unwrap() + "\n// mine\n").unwrap();
    assert_eq!(public.build(), "incremental");
    let after = public.objects();
    let made = before.iter().zip(&after).filter(|(before, after)| before != after).map(|(_, after)| &after.0);
    let made: Vec<_> = made.collect();
    assert!(matches!(&made[..], [one] if one.ends_with("error.cpp.o")), "{made:?}");
    assert_eq!(prints().stdout, printed.stdout);

    // What doctor says of a build that is there: it is of these sources.
    let doctor = public.xtask(&["doctor", "--only", "native-build,simpler-binding,venv,submodules", "--json"]);
    for check in doctor.json()["checks"].as_array().unwrap() {
        assert_ne!(check["status"], "failed", "{check}");
    }
}
