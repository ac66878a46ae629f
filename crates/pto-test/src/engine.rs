//! A Docker engine, and images made of what is on this machine: registries are not needed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_process::{Invocation, Output};

use crate::{machine, skip};

/// What every image of ours is named below, so that nobody takes one for something else.
pub const NAMESPACE: &str = "ptokit-test";

/// An engine that answers.
#[derive(Debug, Clone)]
pub struct Engine {
    cx: Context,
}

/// The engine of `DOCKER_HOST`, or at the usual address. `None`, said on stderr, where none answers.
///
/// # Panics
/// As [`skip`].
#[track_caller]
pub fn engine() -> Option<Engine> {
    let cx = machine();
    let asked = Invocation::new("docker").args(["version", "--format", "{{.Server.Version}}"]).run(&cx);
    match asked {
        Ok(output) if output.success() => return Some(Engine { cx }),
        Ok(output) => skip(&format!("no Docker engine answers: {}", output.last_words(2))),
        Err(error) => skip(&format!("no Docker engine: {error}")),
    }
    None
}

impl Engine {
    /// The machine, with the engine's address in its environment.
    pub fn cx(&self) -> &Context {
        &self.cx
    }

    /// Runs `docker` with these arguments.
    pub fn docker(&self, args: &[&str]) -> Output {
        Invocation::new("docker").args(args.iter().copied()).run(&self.cx).expect("the client was there before")
    }

    /// The same, and what it printed.
    ///
    /// # Panics
    /// It fails.
    #[track_caller]
    pub fn ok(&self, args: &[&str]) -> String {
        let output = self.docker(args);
        assert!(output.success(), "docker {}: {}", args.join(" "), output.last_words(20));
        output.stdout.text().trim().to_owned()
    }

    /// An image built of a directory with a `Dockerfile`, by the classic builder, which every engine has.
    ///
    /// # Panics
    /// It cannot be built.
    #[track_caller]
    pub fn build(&self, context: &Path, tag: &str, args: &[&str]) {
        // Without the cache, another test's image is no layer of this one, and may be removed while this one is built.
        let build = Invocation::new("docker").args(["build", "--no-cache", "--force-rm", "--quiet", "--tag", tag]);
        let build = build.args(args.iter().copied());
        let output = build.arg(context).env("DOCKER_BUILDKIT", "0").run(&self.cx).expect("the client was there before");
        assert!(output.success(), "{}: {}", output.line, output.last_words(20));
    }

    /// An image with these programs of this machine, by name or path, the libraries they need, and further lines of a `Dockerfile`. Its shell
    /// is bash, and `/tmp`, `/root` and `/workspace` are there.
    ///
    /// # Panics
    /// A program is not on this machine, or the image cannot be built.
    #[track_caller]
    pub fn image_of(&self, tag: &str, programs: &[&str], lines: &str) {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let root = dir.path().join("root");
        for place in ["tmp", "root", "workspace", "etc", "usr/bin"] {
            fs_err::create_dir_all(root.join(place)).expect("a fresh directory");
        }
        fs_err::os::unix::fs::symlink("usr/bin", root.join("bin")).expect("a fresh directory");
        fs_err::write(root.join("etc/passwd"), "root:x:0:0::/root:/bin/bash\n").expect("a fresh directory");
        let mut libraries = BTreeSet::new();
        for program in programs.iter().chain(&["bash", "sh"]) {
            let found = self.which(program);
            copy(&found, &root.join("usr/bin").join(Path::new(program).file_name().expect("a program has a name")));
            libraries.extend(self.libraries(&found));
        }
        for library in &libraries {
            copy(library, &root.join(library.strip_prefix("/").unwrap_or(library)));
        }
        let text = format!("FROM scratch\nCOPY root /\nENV PATH=/usr/bin\n{lines}\n");
        fs_err::write(dir.path().join("Dockerfile"), text).expect("a fresh directory");
        self.build(dir.path(), tag, &[]);
    }

    fn which(&self, program: &str) -> PathBuf {
        pto_process::find_program(&self.cx, program).unwrap_or_else(|error| panic!("{error}"))
    }

    /// What the loader would take for a program, the loader itself included; nothing for one that is static.
    fn libraries(&self, program: &Path) -> Vec<PathBuf> {
        let output = Invocation::new("ldd").arg(program).run(&self.cx).expect("`ldd` comes with the C library");
        let text = output.stdout.text();
        let paths = text.split_whitespace().filter(|word| word.starts_with('/'));
        paths.map(|word| PathBuf::from(word.trim_end_matches(':'))).collect()
    }
}

/// A container or image that is removed in the end, also of a test that fails.
#[derive(Debug)]
pub struct Removed<'a> {
    engine: &'a Engine,
    args: Vec<String>,
}

impl Engine {
    /// Removes a container with the volumes that have no name, now and in the end.
    pub fn container(&self, name: &str) -> Removed<'_> {
        self.removed(&["rm", "--force", "--volumes", name])
    }

    /// Removes a named volume, now and in the end. Declare it before the container that uses it.
    pub fn volume(&self, name: &str) -> Removed<'_> {
        self.removed(&["volume", "rm", "--force", name])
    }

    /// Removes an image's name in the end.
    pub fn image(&self, tag: &str) -> Removed<'_> {
        Removed { engine: self, args: ["rmi", "--force", tag].map(str::to_owned).to_vec() }
    }

    fn removed(&self, args: &[&str]) -> Removed<'_> {
        let removed = Removed { engine: self, args: args.iter().map(|&arg| arg.to_owned()).collect() };
        removed.now();
        removed
    }
}

impl Removed<'_> {
    fn now(&self) {
        let args: Vec<&str> = self.args.iter().map(String::as_str).collect();
        self.engine.docker(&args);
    }
}

impl Drop for Removed<'_> {
    fn drop(&mut self) {
        self.now();
    }
}

fn copy(from: &Path, to: &Path) {
    fs_err::create_dir_all(to.parent().expect("a file has a directory")).expect("a fresh directory");
    fs_err::copy(from, to).expect("a program of this machine can be read");
}
