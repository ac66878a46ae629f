//! A small project shaped like PyPTO: real git repositories with their remotes, submodules and pins, an extension that
//! CMake builds, and a runtime whose wheel carries the revision it was built from.
//!
//! Its sources lie in `pypto/` of this crate. A [`Project`] copies them into a temporary directory:
//!
//! ```text
//! remotes/{pypto,runtime,third,pto-isa}.git    what is fetched from
//! pypto/                                       the primary checkout, on `main`, with its submodules
//! home/                                        `PYPTO_HOME`
//! ```

mod python;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_process::{Invocation, Output};

pub use python::Python;

/// Remotes, and the directory of this crate's `pypto/` that each begins with.
const REPOSITORIES: [&str; 4] = ["pto-isa", "third", "runtime", "pypto"];
/// Submodules of the checkout: name of the remote, path.
const SUBMODULES: [(&str, &str); 2] = [("third", "3rdparty/third"), ("runtime", "runtime")];

/// What the project's own extension is written with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// Python's C API: compiles in no time.
    Plain,
    /// pybind11, as far as Python has it; takes some seconds.
    Pybind11,
    /// nanobind, as far as Python has it, as PyPTO is written; takes longest, since its library is compiled as well.
    Nanobind,
}

impl Binding {
    fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Pybind11 => "pybind11",
            Self::Nanobind => "nanobind",
        }
    }
}

/// The project. Everything below panics where it cannot do its work, as a test does.
#[derive(Debug)]
pub struct Project {
    dir: tempfile::TempDir,
    cx: Context,
}

impl Project {
    /// All repositories, and a checkout of the project with its submodules. Nothing is built and no Python is set up.
    ///
    /// # Panics
    /// A temporary directory cannot be written, or git cannot do its work.
    pub fn new(binding: Binding) -> Self {
        // Resolved, as git and CMake tell paths.
        let dir = tempfile::Builder::new().prefix("pypto-").tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        // Others have to reach what is theirs below it.
        open_to_all(&root);
        let config = root.join("gitconfig");
        fs_err::write(&config, GIT_CONFIG).unwrap();
        let mut cx = crate::machine();
        for (name, value) in [
            ("GIT_CONFIG_GLOBAL", config.into_os_string()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("PYPTO_HOME", root.join("home").into()),
            ("PYPTO_SRC", root.join("pypto").into()),
            ("CCACHE_DIR", root.join("ccache").into()),
        ] {
            cx = cx.with_var(name, value);
        }
        let project = Self { dir, cx };
        fs_err::create_dir_all(project.home()).unwrap();
        for name in REPOSITORIES {
            project.make_remote(name, binding);
        }
        let remote = project.remote("pypto");
        project.git(&root, &["clone", "--quiet", "--recurse-submodules", &text(&remote), "pypto"]);
        project
    }

    /// The directory that holds everything.
    pub fn dir(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    /// The primary checkout.
    pub fn checkout(&self) -> PathBuf {
        self.dir().join("pypto")
    }

    /// `PYPTO_HOME`.
    pub fn home(&self) -> PathBuf {
        self.dir().join("home")
    }

    /// A bare repository: `pypto`, `runtime`, `third`, `pto-isa`.
    pub fn remote(&self, name: &str) -> PathBuf {
        self.dir().join("remotes").join(format!("{name}.git"))
    }

    /// The machine, with `PYPTO_SRC`, `PYPTO_HOME` and a configuration of git's own: users have names and remotes may be
    /// directories.
    pub fn cx(&self) -> Context {
        self.cx.clone()
    }

    /// Runs git in a directory and returns what it prints, trimmed.
    #[track_caller]
    pub fn git(&self, dir: &Path, args: &[&str]) -> String {
        self.run(Invocation::new("git").args(args).cwd(dir)).stdout.text().trim().to_owned()
    }

    /// Runs anything that has to succeed.
    #[track_caller]
    pub fn run(&self, command: Invocation) -> Output {
        let output = command.deadline(crate::host::PATIENCE).run(&self.cx()).unwrap();
        assert!(output.success(), "{}: {}\n{}", output.line, output.status, output.last_words(30));
        output
    }

    /// A linked worktree on a new branch, with its submodules.
    pub fn worktree(&self, name: &str) -> PathBuf {
        let path = self.dir().join(name);
        self.git(&self.checkout(), &["worktree", "add", "--quiet", "-b", name, &text(&path)]);
        self.git(&path, &["submodule", "update", "--quiet", "--init", "--recursive"]);
        path
    }

    /// Writes a file of a remote's `main` and returns the commit, as if somebody else had pushed it.
    pub fn push(&self, remote: &str, file: &str, contents: &str) -> String {
        let clone = tempfile::tempdir_in(self.dir.path()).unwrap();
        let dir = clone.path();
        self.git(dir, &["clone", "--quiet", &text(&self.remote(remote)), "."]);
        fs_err::create_dir_all(dir.join(file).parent().unwrap()).unwrap();
        fs_err::write(dir.join(file), contents).unwrap();
        self.commit(dir, &format!("Write {file}"));
        self.git(dir, &["push", "--quiet", "origin", "HEAD:main"]);
        self.git(dir, &["rev-parse", "HEAD"])
    }

    /// Makes the `main` of the project's remote record another commit of a submodule, and returns the new commit.
    pub fn push_submodule(&self, path: &str, commit: &str) -> String {
        let clone = tempfile::tempdir_in(self.dir.path()).unwrap();
        let dir = clone.path();
        self.git(dir, &["clone", "--quiet", &text(&self.remote("pypto")), "."]);
        self.git(dir, &["update-index", "--cacheinfo", &format!("160000,{commit},{path}")]);
        self.git(dir, &["commit", "--quiet", "-m", &format!("Move {path}")]);
        self.git(dir, &["push", "--quiet", "origin", "HEAD:main"]);
        self.git(dir, &["rev-parse", "HEAD"])
    }

    /// Commits all that changed in a directory.
    pub fn commit(&self, dir: &Path, message: &str) {
        self.git(dir, &["add", "--all"]);
        self.git(dir, &["commit", "--quiet", "-m", message]);
    }

    /// Gives a tree to a user of this number, who may have no name here. Only root can.
    pub fn give_to(&self, tree: &Path, uid: u32) {
        self.run(Invocation::new("chown").args(["--recursive", "--no-dereference", &format!("{uid}:{uid}")]).arg(tree));
    }

    fn make_remote(&self, name: &str, binding: Binding) {
        let (work, bare) = (self.dir().join("made").join(name), self.remote(name));
        copy_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join("pypto").join(name), &work);
        self.git(&work, &["init", "--quiet", "--initial-branch", "main"]);
        match name {
            "runtime" => {
                let pin = self.git(&self.remote("pto-isa"), &["rev-parse", "main"]);
                fs_err::write(work.join("pto_isa.pin"), pin + "\n").unwrap();
            }
            "pypto" => {
                let chosen = format!("set(PYPTO_BINDING {})\n", binding.name());
                fs_err::create_dir_all(work.join("cmake")).unwrap();
                fs_err::write(work.join("cmake/binding.cmake"), chosen).unwrap();
            }
            _ => {}
        }
        self.git(&work, &["add", "."]);
        if name == "pypto" {
            self.record_submodules(&work);
        }
        self.git(&work, &["commit", "--quiet", "-m", "Begin"]);
        self.git(&work, &["clone", "--quiet", "--bare", ".", &text(&bare)]);
        fs_err::remove_dir_all(&work).unwrap();
    }

    /// What `git submodule add` records, without a clone.
    fn record_submodules(&self, work: &Path) {
        let entry = |(name, path)| {
            let commit = self.git(&self.remote(name), &["rev-parse", "main"]);
            self.git(work, &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},{path}")]);
            format!("[submodule \"{name}\"]\n\tpath = {path}\n\turl = {}\n", text(&self.remote(name)))
        };
        fs_err::write(work.join(".gitmodules"), SUBMODULES.map(entry).concat()).unwrap();
        self.git(work, &["add", ".gitmodules"]);
    }
}

/// No system-wide settings, a name for commits, and remotes that are directories. Nothing waits for the disk: no test cuts the
/// power, and a busy disk takes longer than everything else together.
const GIT_CONFIG: &str = "\
[core]
fsync = none
[user]
name = Test
email = test@example.org
[init]
defaultBranch = main
templateDir =
[maintenance]
auto = false
[protocol \"file\"]
allow = always
[advice]
detachedHead = false
";

/// Copies a tree of files.
///
/// # Panics
/// It cannot be read or written.
pub fn copy_tree(from: &Path, to: &Path) {
    fs_err::create_dir_all(to).unwrap();
    for entry in fs_err::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy_tree(&from, &to);
        } else {
            fs_err::copy(&from, &to).unwrap();
        }
    }
}

fn open_to_all(dir: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs_err::set_permissions(dir, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn text(path: &Path) -> String {
    OsString::from(path).into_string().unwrap()
}
