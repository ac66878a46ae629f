//! A directory to make mistakes in, and the real program run there.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]
#![expect(clippy::disallowed_methods, reason = "a test is the caller whom the rules are for")]

use std::path::{Path, PathBuf};
use std::process::Output;

use pto_kernel::scaffold;

/// A directory outside of the workspace, with kernels below it.
pub struct Scratch {
    dir: tempfile::TempDir,
    headers: PathBuf,
}

/// What a run gave.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Scratch {
    /// An empty one; `None`, said on stderr, where kernels cannot be built.
    pub fn new() -> Option<Self> {
        Some(Self { headers: pto_test::headers()?, dir: tempfile::tempdir().unwrap() })
    }

    /// With other headers.
    #[must_use]
    pub fn with_headers(mut self, headers: PathBuf) -> Self {
        self.headers = headers;
        self
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Where `report.json` and built kernels go.
    pub fn generated(&self) -> PathBuf {
        self.path().join("target/pto")
    }

    /// A kernel from the template, replacing one of that name.
    pub fn kernel(&self, name: &str) -> PathBuf {
        let _ = fs_err::remove_dir_all(self.path().join(name));
        scaffold::create(self.path(), name).unwrap()
    }

    /// A copy of an example of this workspace.
    pub fn example(&self, name: &str) -> PathBuf {
        let to = self.path().join(name);
        fs_err::create_dir_all(&to).unwrap();
        for entry in fs_err::read_dir(examples().join(name)).unwrap().map(Result::unwrap) {
            fs_err::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
        to
    }

    pub fn write(&self, file: &str, text: &str) {
        let path = self.path().join(file);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    /// Replaces what has to be there.
    pub fn edit(&self, file: &str, find: &str, replace: &str) {
        let path = self.path().join(file);
        let text = fs_err::read_to_string(&path).unwrap();
        assert!(text.contains(find), "`{find}` is not in {file}:\n{text}");
        fs_err::write(path, text.replacen(find, replace, 1)).unwrap();
    }

    /// The program, to be run here, without network.
    pub fn command(&self, args: &[&str]) -> assert_cmd::Command {
        let mut command = assert_cmd::Command::from_std(self.plain_command(args));
        command.timeout(std::time::Duration::from_secs(300));
        command
    }

    /// The same, for tests that send signals.
    pub fn plain_command(&self, args: &[&str]) -> std::process::Command {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.args(args).current_dir(self.path());
        for name in ["CXX", "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "PTO_SYNC_TIMEOUT_S", "PTO_PROCESS_TIMEOUT_S"] {
            command.env_remove(name);
        }
        command.env("PTO_LIB_PATH", &self.headers).env("CARGO_TARGET_DIR", self.path().join("target"));
        // A closed port: what is missing has to be answered, not fetched.
        command.env("PIP_INDEX_URL", "http://127.0.0.1:9/simple").env("UV_INDEX_URL", "http://127.0.0.1:9/simple");
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        self.command(args).output().unwrap().into()
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }
}

impl Ran {
    /// The one document on stdout.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self}"))
    }

    /// Fails the test, with all that was said, unless the exit code is this.
    #[must_use]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// Whether one of the streams has it.
    pub fn says(&self, text: &str) -> bool {
        self.stdout.contains(text) || self.stderr.contains(text)
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit code {:?}\n--- stdout\n{}\n--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}

/// The examples of this workspace.
pub fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples")
}
