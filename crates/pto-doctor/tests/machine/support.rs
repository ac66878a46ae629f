//! A machine made of a temporary file tree, stand-ins for programs on a `PATH` of its own, and variables.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pto_context::Context;
use pto_doctor::{Finding, ProbeOptions, Probes, Report, Source, check, checks, judge};

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
    /// Linux on x86_64, with libraries new enough for PTOAS and nothing else.
    pub fn bare() -> Self {
        let alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let dir = tempfile::tempdir().unwrap();
        let mut host = Self { dir, variables: Vec::new(), _alone: alone };
        host.libc(62, "GLIBC_2.35").file("/usr/lib64/libstdc++.so.6", "\0GLIBCXX_3.4.9\0GLIBCXX_3.4.30\0");
        host.file("/proc/meminfo", "MemTotal:       32000000 kB\nMemAvailable:   16000000 kB\n");
        host.file("/proc/sys/kernel/osrelease", "6.1.0-test\n");
        fs_err::create_dir_all(host.bin()).unwrap();
        let path = host.bin().display().to_string();
        host.var("PATH", &path);
        host
    }

    /// A C library of this ELF machine with this symbol version.
    pub fn libc(&mut self, machine: u8, version: &str) -> &mut Self {
        let mut bytes = vec![0; 18];
        bytes.extend([machine, 0, 0]);
        bytes.extend(version.as_bytes());
        bytes.push(0);
        self.write("/usr/lib64/libc.so.6", &bytes);
        self
    }

    fn bin(&self) -> PathBuf {
        self.dir.path().join("stand-ins")
    }

    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    fn write(&self, path: &str, bytes: &[u8]) -> PathBuf {
        let path = self.dir.path().join(path.trim_start_matches('/'));
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(&path, bytes).unwrap();
        path
    }

    pub fn file(&mut self, path: &str, text: &str) -> &mut Self {
        self.write(path, text.as_bytes());
        self
    }

    pub fn mode(&mut self, path: &str, mode: u32) -> &mut Self {
        let path = self.dir.path().join(path.trim_start_matches('/'));
        fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        self
    }

    pub fn executable(&mut self, path: &str) -> &mut Self {
        self.file(path, "#!/bin/sh\n").mode(path, 0o755)
    }

    pub fn var(&mut self, name: &str, value: &str) -> &mut Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A program on `PATH` that notes how it was called and runs this script.
    pub fn script(&mut self, name: &str, script: &str) -> &mut Self {
        let log = self.dir.path().join("calls");
        let text = format!("#!/bin/sh\necho \"{name} $*\" >> '{}'\n{script}\n", log.display());
        let path = format!("/stand-ins/{name}");
        self.file(&path, &text).mode(&path, 0o755)
    }

    /// A program on `PATH` that prints this and ends with this code.
    pub fn program(&mut self, name: &str, stdout: &str, code: i32) -> &mut Self {
        let said = self.write(&format!("/said/{name}"), stdout.as_bytes());
        self.script(name, &format!("/bin/cat '{}'; exit {code}", said.display()))
    }

    /// A Python that answers like this one.
    pub fn python(&mut self, modules: &str, build_commit: &str) -> &mut Self {
        let answer = format!(
            "noise\nptokit-facts:{{\"version\":\"3.10.12\",\"implementation\":\"CPython\",\"executable\":\"/venv/bin/python3\",\
             \"cwd\":\"/home/me\",\"modules\":{{{modules}}},\"build_commit\":{build_commit}}}\n"
        );
        self.program("python3", &answer, 0)
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
        fs_err::read_to_string(self.dir.path().join("calls")).unwrap_or_default()
    }

    pub fn cx(&self) -> Context {
        Context::fake(self.dir.path(), self.variables.clone())
    }

    pub fn probes(&self, wanted: &[Source]) -> Probes {
        let mut probes = self.probes_within(wanted, PATIENCE);
        // The room of the machine that runs the test is none of the test's business.
        probes.room = pto_doctor::Room { disk_free: Some(100 << 30), shm: Some(16 << 30), docker_free: None };
        probes
    }

    pub fn probes_within(&self, wanted: &[Source], deadline: Duration) -> Probes {
        let cx = self.cx();
        let wanted: BTreeSet<Source> = wanted.iter().copied().collect();
        Probes::gather(&cx, &wanted, &ProbeOptions { worker: None, deadline })
    }

    /// One check, after its own sources were asked and `set` had its say.
    pub fn judge(&self, id: &str, set: impl FnOnce(&mut Probes)) -> Finding {
        let check = check(id).unwrap_or_else(|| panic!("no check `{id}`"));
        let mut probes = self.probes(check.needs);
        set(&mut probes);
        check.judge(&self.cx(), &probes)
    }

    /// All checks.
    pub fn report(&self, set: impl FnOnce(&mut Probes)) -> Report {
        let chosen: Vec<_> = checks().collect();
        let needs: Vec<Source> = chosen.iter().flat_map(|check| check.needs).copied().collect();
        let mut probes = self.probes(&needs);
        set(&mut probes);
        judge(&self.cx(), &probes, &chosen, false)
    }
}
