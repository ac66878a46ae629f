//! A machine made of a temporary file tree, stand-ins for programs on a `PATH` of its own, and variables.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pto_context::Context;

/// A script that was just written cannot be started while another thread forks and holds it open, so machines come one
/// after the other.
static ONE: Mutex<()> = Mutex::new(());

/// Long enough for a stand-in on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A machine.
#[derive(Debug)]
pub struct Host {
    dir: tempfile::TempDir,
    variables: Vec<(String, String)>,
    _alone: MutexGuard<'static, ()>,
}

impl Host {
    /// With nothing on it but an empty directory on `PATH`.
    ///
    /// # Panics
    /// The temporary directory cannot be written, as in all that follows.
    pub fn empty() -> Self {
        let alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut host = Self { dir: tempfile::tempdir().unwrap(), variables: Vec::new(), _alone: alone };
        let bin = host.root().join("stand-ins");
        fs_err::create_dir_all(&bin).unwrap();
        host.var("PATH", &bin.display().to_string());
        host
    }

    /// What stands for `/`.
    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    /// Where a path of the machine lies.
    pub fn place(&self, path: &str) -> PathBuf {
        self.root().join(path.trim_start_matches('/'))
    }

    /// A text file.
    pub fn file(&mut self, path: &str, text: &str) -> &mut Self {
        self.bytes(path, text.as_bytes())
    }

    /// A file, with the directories above it.
    pub fn bytes(&mut self, path: &str, contents: &[u8]) -> &mut Self {
        let path = self.place(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(&path, contents).unwrap();
        self
    }

    /// The permissions of a file that is there.
    pub fn mode(&mut self, path: &str, mode: u32) -> &mut Self {
        fs_err::set_permissions(self.place(path), std::fs::Permissions::from_mode(mode)).unwrap();
        self
    }

    /// A program that does nothing.
    pub fn executable(&mut self, path: &str) -> &mut Self {
        self.file(path, "#!/bin/sh\n").mode(path, 0o755)
    }

    /// A variable of the environment.
    pub fn var(&mut self, name: &str, value: &str) -> &mut Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A program on `PATH` that notes how it was called and runs this script.
    pub fn script(&mut self, name: &str, script: &str) -> &mut Self {
        let log = self.root().join("calls");
        let text = format!("#!/bin/sh\necho \"{name} $*\" >> '{}'\n{script}\n", log.display());
        let path = format!("/stand-ins/{name}");
        self.file(&path, &text).mode(&path, 0o755)
    }

    /// A program on `PATH` that prints this and ends with this code.
    pub fn program(&mut self, name: &str, stdout: &str, code: i32) -> &mut Self {
        let said = format!("/said/{name}");
        let script = format!("/bin/cat '{}'; exit {code}", self.place(&said).display());
        self.file(&said, stdout).script(name, &script)
    }

    /// Device nodes, as a driver makes them.
    pub fn nodes(&mut self, names: &[&str]) -> &mut Self {
        for name in names {
            let path = format!("/dev/{name}");
            self.file(&path, "").mode(&path, 0o660);
        }
        self
    }

    /// How programs were called, one per line.
    pub fn calls(&self) -> String {
        fs_err::read_to_string(self.root().join("calls")).unwrap_or_default()
    }

    /// What a library is told of it.
    pub fn cx(&self) -> Context {
        Context::fake(self.root(), self.variables.clone())
    }
}
