//! The Python that a project is built with.

use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_process::Invocation;

use super::{Project, copy_tree};

/// What building takes, besides CMake and Ninja.
const PACKAGES: [&str; 5] = ["nanobind", "pybind11", "scikit_build_core", "packaging", "pathspec"];

/// Prints the interpreter behind a venv, its version, where `Python.h` is, where each package is, and uv.
const QUESTION: &str = "
import importlib.util, os, sys, sysconfig
print(getattr(sys, '_base_executable', sys.executable))
print('%d.%d' % sys.version_info[:2])
print(os.path.join(sysconfig.get_paths()['include'], 'Python.h'))
for name in sys.argv[1:]:
    spec = importlib.util.find_spec(name)
    print(list(spec.submodule_search_locations)[0] if spec else '')
try:
    from uv import find_uv_bin
    print(find_uv_bin())
except Exception:
    print('')
";

/// Fails without `Python.h`, else prints the version.
const USABLE: &str = "
import os, sys, sysconfig
open(os.path.join(sysconfig.get_paths()['include'], 'Python.h'))
print('%d.%d' % sys.version_info[:2])
";

/// An interpreter with `Python.h`, build packages, and uv.
#[derive(Debug, Clone)]
pub struct Python {
    interpreter: PathBuf,
    version: String,
    packages: Vec<PathBuf>,
    uv: PathBuf,
    /// Whether packages and programs are copied: every user has to reach them, or a test changes them.
    copied: bool,
}

impl Python {
    /// The one on `PATH`; `None`, said on stderr, if it lacks something.
    ///
    /// # Panics
    /// As [`skip`](crate::skip).
    #[track_caller]
    pub fn find() -> Option<Self> {
        let found = Self::ask(&crate::machine(), "python3");
        if let Err(why) = &found {
            crate::skip(why);
        }
        found.ok()
    }

    /// One that every user of this machine may start, with the packages of the one on `PATH`; `None`, said on stderr, if
    /// there is none.
    ///
    /// # Panics
    /// As [`skip`](crate::skip).
    #[track_caller]
    pub fn for_everybody(uid: u32) -> Option<Self> {
        let cx = crate::machine();
        let mine = Self::find()?;
        let started = |program: &Path, args: &[&str]| {
            let ids = [format!("--reuid={uid}"), format!("--regid={uid}"), "--clear-groups".to_owned()];
            // A program that `setpriv` itself starts is looked up with root's rights; what that one starts is not.
            let user = Invocation::new("setpriv").args(ids).args(["--", "sh", "-c", "exec \"$0\" \"$@\""]);
            let run = user.arg(program).args(args).cwd("/");
            let output = run.deadline(crate::host::PATIENCE).run(&cx).ok().filter(|output| output.success())?;
            Some(output.stdout.text().trim().to_owned())
        };
        for tool in ["cmake", "ninja", "git"] {
            // The one that a build finds, and not the next on `PATH` that this user could start.
            let found = pto_process::find_program(&cx, tool);
            if found.map_or(true, |path| started(&path, &["--version"]).is_none()) {
                crate::skip(&format!("another user cannot start this machine's `{tool}`"));
                return None;
            }
        }
        let usable = |python: PathBuf| Some((started(&python, &["-c", USABLE])?, python));
        let found = [mine.interpreter.clone(), "/usr/bin/python3".into()].into_iter().find_map(usable);
        let Some((version, interpreter)) = found else {
            crate::skip("another user cannot start this machine's Python");
            return None;
        };
        Some(Self { interpreter, version, copied: true, ..mine })
    }

    /// The same with packages of its own, which may be changed.
    #[must_use]
    pub fn copied(self) -> Self {
        Self { copied: true, ..self }
    }

    fn ask(cx: &Context, python: &str) -> Result<Self, String> {
        let question =
            Invocation::new(python).args(["-I", "-c", QUESTION]).args(PACKAGES).deadline(crate::host::PATIENCE);
        let output = question.run(cx).map_err(|error| error.to_string())?;
        let text = output.stdout.text();
        let lines: Vec<&str> = text.lines().collect();
        let [interpreter, version, header, packages @ .., uv] = &lines[..] else {
            return Err(format!("`{python}` cannot be asked: {}", output.last_words(3)));
        };
        if !Path::new(header).is_file() {
            return Err(format!("`{python}` has no `Python.h`: install `python3-dev`"));
        }
        let missing: Vec<&str> =
            PACKAGES.iter().zip(packages).filter(|(_, place)| place.is_empty()).map(|(name, _)| *name).collect();
        if !missing.is_empty() || uv.is_empty() {
            return Err(format!(
                "`{python}` lacks {}: `pip install nanobind pybind11 scikit-build-core uv`",
                missing.join(", ")
            ));
        }
        Ok(Self {
            interpreter: interpreter.into(),
            version: (*version).to_owned(),
            packages: packages.iter().map(PathBuf::from).collect(),
            uv: uv.into(),
            copied: false,
        })
    }
}

impl Project {
    /// Sets `PYPTO_HOME` up as `setup` does: a venv with the build tools, and uv.
    ///
    /// # Panics
    /// Python cannot make a venv.
    pub fn install(&self, python: &Python) {
        let home = self.home();
        let venv = home.join("venv");
        self.run(Invocation::new(&python.interpreter).args(["-m", "venv", "--without-pip"]).arg(&venv));
        let site = venv.join("lib").join(format!("python{}", python.version)).join("site-packages");
        for package in &python.packages {
            let place = site.join(package.file_name().unwrap());
            if python.copied {
                copy_tree(package, &place);
            } else {
                fs_err::os::unix::fs::symlink(package, place).unwrap();
            }
        }
        let bin = home.join("bin");
        fs_err::create_dir_all(&bin).unwrap();
        if python.copied {
            fs_err::copy(&python.uv, bin.join("uv")).unwrap();
        } else {
            fs_err::os::unix::fs::symlink(&python.uv, bin.join("uv")).unwrap();
        }
    }

    /// What the project's Python prints for a program.
    #[track_caller]
    pub fn python(&self, program: &str) -> String {
        let python = self.home().join("venv/bin/python");
        let run = Invocation::new(python).args(["-c", program]).env("PYTHONPATH", self.checkout().join("python"));
        self.run(run.env("PYTHONDONTWRITEBYTECODE", "1")).stdout.text().trim().to_owned()
    }
}
