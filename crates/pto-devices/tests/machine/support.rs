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

pub struct Host {
    dir: tempfile::TempDir,
    variables: Vec<(String, String)>,
    _alone: MutexGuard<'static, ()>,
}

impl Host {
    /// With nothing on it.
    pub fn bare() -> Self {
        let alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut host = Self { dir: tempfile::tempdir().unwrap(), variables: Vec::new(), _alone: alone };
        let bin = host.root().join("stand-ins");
        fs_err::create_dir_all(&bin).unwrap();
        host.var("PATH", bin.to_str().unwrap());
        host
    }

    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.root().join(path.trim_start_matches('/'));
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(&path, text).unwrap();
        path
    }

    pub fn file(&mut self, path: &str, text: &str) -> &mut Self {
        self.write(path, text);
        self
    }

    pub fn var(&mut self, name: &str, value: &str) -> &mut Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A program on `PATH` that prints this and ends with this code.
    pub fn program(&mut self, name: &str, stdout: &str, code: i32) -> &mut Self {
        let said = self.write(&format!("/said/{name}"), stdout);
        let script = format!("#!/bin/sh\n/bin/cat '{}'; exit {code}\n", said.display());
        let path = self.write(&format!("/stand-ins/{name}"), &script);
        fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    /// Device nodes, as a driver makes them.
    pub fn nodes(&mut self, names: &[&str]) -> &mut Self {
        names.iter().for_each(|name| drop(self.write(&format!("/dev/{name}"), "")));
        self
    }

    pub fn cx(&self) -> Context {
        Context::fake(self.root(), self.variables.clone())
    }
}

// What programs print, in their own form with values of our own.

pub const A2: &str = "\
+------------------------------------------------------------------------------------------------+
| npu-smi 26.0.rc1                 Version: 26.0.rc1                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 1     910B2               | OK            | 91.5        41                0    / 0             |
| 0                         | 0000:11:00.0  | 0           0    / 0          3401 / 65536         |
+===========================+===============+====================================================+
| 6     910B2               | OK            | 98.0        43                0    / 0             |
| 0                         | 0000:16:00.0  | 35          0    / 0          61234/ 65536         |
+===========================+===============+====================================================+
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| 6       0                 | 4711          | trainer                  | 57700                   |
+===========================+===============+====================================================+
";

pub const A5: &str = "\
+-------------------------------------------------------------------------------------------------+
| npu-smi 25.7.rc1.12                     Version: 25.7.rc1.12                                    |
+---------------------------+---------------+-----------------------------------------------------+
| NPU ID | Name             | Health        | Power(W)    Temp(C)           Hugepages-Usage(page) |
|        |                  | Bus-Id        | NPU Util(%) Memory-Usage(MB)  HBM-Usage(MB)         |
+========+==================+===============+=====================================================+
| 0      | Ascend950PR      | OK            | 201.0       51                0     / 0             |
|        |                  | 0000:81:00.0  | 0           0    / 0          5001  / 114688        |
+========+==================+===============+=====================================================+
| 1      | Ascend950PR      | Alarm         | 240.0       80                0     / 0             |
|        |                  | 0000:82:00.0  | 0           0    / 0          4001  / 131072        |
+========+==================+===============+=====================================================+
";
