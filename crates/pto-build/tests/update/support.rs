//! A project with its remotes, and the state of a tree to hold against a later one.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use pto_build::{Error, Move, Pull, PullOptions, UpdateError, plan_pull, pull};
use pto_process::Invocation;
use pto_test::pypto::{Binding, Project};
use tempfile::TempDir;

pub(crate) struct World {
    pub(crate) project: Project,
}

/// Every file below a directory with its content; directories and links too.
pub(crate) type Snapshot = BTreeMap<PathBuf, (u32, Vec<u8>)>;

impl World {
    pub(crate) fn new() -> Self {
        Self { project: Project::new(Binding::Plain) }
    }

    /// The same with a `pypto-lib` beside the checkout.
    pub(crate) fn with_lib() -> Self {
        let world = Self::new();
        let remote = world.project.remote("pypto-lib");
        world.git(
            &world.project.dir(),
            &["clone", "--quiet", "--bare", &text(&world.project.remote("third")), &text(&remote)],
        );
        world.git(&world.project.dir(), &["clone", "--quiet", &text(&remote), "pypto-lib"]);
        world
    }

    pub(crate) fn src(&self) -> PathBuf {
        self.project.checkout()
    }

    pub(crate) fn lib(&self) -> PathBuf {
        self.project.dir().join("pypto-lib")
    }

    pub(crate) fn runtime(&self) -> PathBuf {
        self.src().join("runtime")
    }

    pub(crate) fn git(&self, dir: &Path, args: &[&str]) -> String {
        self.project.git(dir, args)
    }

    /// A commit at each remote: the project's own, and one of the runtime that it records. Returns both.
    pub(crate) fn push_both(&self) -> (String, String) {
        let runtime = self.project.push("runtime", "src/news.txt", "new\n");
        (self.project.push_submodule("runtime", &runtime), runtime)
    }

    pub(crate) fn options(&self) -> PullOptions {
        PullOptions { home: Some(self.project.home()), src: Some(self.src()), ..PullOptions::default() }
    }

    pub(crate) fn pull(&self) -> Result<Pull, Error> {
        pull(&self.project.cx(), &self.options())
    }

    pub(crate) fn plan(&self) -> Result<Pull, Error> {
        plan_pull(&self.project.cx(), &self.options())
    }

    /// Puts a directory aside as it is: making a project anew takes longer than putting one back.
    pub(crate) fn keep(&self, dir: &Path) -> TempDir {
        let kept = tempfile::tempdir().unwrap();
        copy(&self.project, dir, kept.path());
        kept
    }

    /// Makes the directory what it was then.
    pub(crate) fn put_back(&self, dir: &Path, kept: &TempDir) {
        self.project.run(Invocation::new("find").arg(dir).args(["-mindepth", "1", "-delete"]));
        copy(&self.project, kept.path(), dir);
    }

    /// What a plan and an update say, both of which leave everything as it is.
    pub(crate) fn refused(&self, what: &str) -> [Error; 2] {
        let before = snapshot(&self.project.dir());
        let errors = [self.plan(), self.pull()].map(|result| result.expect_err(what));
        for error in &errors {
            let is_blocked = matches!(error, Error::Update(UpdateError::Blocked(_)));
            assert!(is_blocked, "{what}: {}", pto_context::with_causes(error));
        }
        assert_same(&before, &snapshot(&self.project.dir()), what);
        errors
    }

    pub(crate) fn head(&self, dir: &Path) -> String {
        self.git(dir, &["rev-parse", "HEAD"])
    }

    pub(crate) fn write(&self, path: &Path, contents: &str) {
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, contents).unwrap();
    }

    /// Where an update of the checkout writes down what it does.
    pub(crate) fn journal(&self) -> PathBuf {
        self.src().join(".git/ptokit-update.json")
    }

    /// Writes that down, as an update that was killed, and saw the checkout at another place.
    pub(crate) fn write_journal(&self, planned: &Pull) {
        self.write_moves(&serde_json::to_value(moves(planned)).unwrap());
    }

    /// The same for these moves.
    pub(crate) fn write_moves(&self, moves: &serde_json::Value) {
        let entry = serde_json::json!({ "schema": "ptokit.update-journal/1", "root": self.src(), "moves": moves });
        self.write(&self.journal(), &entry.to_string().replace(&text(&self.src()), "/in/a/container"));
    }

    /// The example program, which does the same in a process of its own.
    pub(crate) fn example(&self) -> Invocation {
        let tests = std::env::current_exe().unwrap();
        let example = tests.ancestors().nth(2).unwrap().join("examples/update");
        assert!(example.exists(), "`{}` is missing: cargo build -p pto-build --examples", example.display());
        Invocation::new(example).arg(self.project.home()).arg(self.src())
    }
}

fn copy(project: &Project, from: &Path, to: &Path) {
    project.run(Invocation::new("cp").arg("-a").arg(from.join(".")).arg(to));
}

pub(crate) fn moves(pull: &Pull) -> Vec<&Move> {
    pull.repositories.iter().flat_map(|repository| &repository.moves).collect()
}

pub(crate) fn snapshot(dir: &Path) -> Snapshot {
    let mut found = Snapshot::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in fs_err::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let meta = path.symlink_metadata().unwrap();
            let content = match () {
                () if meta.is_dir() => {
                    open.push(path.clone());
                    Vec::new()
                }
                () if meta.is_symlink() => fs_err::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
                () => fs_err::read(&path).unwrap(),
            };
            found.insert(path, (meta.mode(), content));
        }
    }
    found
}

/// What differs between two snapshots.
#[track_caller]
pub(crate) fn assert_same(before: &Snapshot, after: &Snapshot, what: &str) {
    let differs = |path: &&PathBuf| before.get(*path) != after.get(*path);
    let paths: Vec<_> = before.keys().chain(after.keys()).filter(differs).collect();
    assert!(paths.is_empty(), "{what}: {paths:?}");
}

pub(crate) fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}
