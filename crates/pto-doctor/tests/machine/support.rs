//! What the doctor finds on a made-up machine.

use std::collections::BTreeSet;
use std::time::Duration;

use pto_doctor::{Finding, ProbeOptions, Probes, Report, Source, check, checks, judge};
pub use pto_test::host::{Host, PATIENCE};

/// Linux on x86_64, with libraries new enough for PTOAS and nothing else.
pub fn bare() -> Host {
    let mut host = Host::empty();
    host.libc(62, "GLIBC_2.35").file("/usr/lib64/libstdc++.so.6", "\0GLIBCXX_3.4.9\0GLIBCXX_3.4.30\0");
    host.file("/proc/meminfo", "MemTotal:       32000000 kB\nMemAvailable:   16000000 kB\n");
    host.file("/proc/sys/kernel/osrelease", "6.1.0-test\n");
    host
}

/// What a Python answers.
pub fn python_facts(modules: &str, build_commit: &str) -> String {
    format!(
        "noise\nptokit-facts:{{\"version\":\"3.10.12\",\"implementation\":\"CPython\",\"executable\":\"/venv/bin/python3\",\
         \"cwd\":\"/home/me\",\"modules\":{{{modules}}},\"build_commit\":{build_commit}}}\n"
    )
}

/// What the doctor looks at, and what it says.
pub trait Examined {
    /// A C library of this ELF machine with this symbol version.
    fn libc(&mut self, machine: u8, version: &str) -> &mut Self;
    /// A Python that answers like this one.
    fn python(&mut self, modules: &str, build_commit: &str) -> &mut Self;
    fn probes(&self, wanted: &[Source]) -> Probes;
    fn probes_within(&self, wanted: &[Source], deadline: Duration) -> Probes;
    /// One check, after its own sources were asked and `set` had its say.
    fn judge(&self, id: &str, set: impl FnOnce(&mut Probes)) -> Finding;
    /// All checks.
    fn report(&self, set: impl FnOnce(&mut Probes)) -> Report;
}

impl Examined for Host {
    fn libc(&mut self, machine: u8, version: &str) -> &mut Self {
        let mut bytes = vec![0; 18];
        bytes.extend([machine, 0, 0]);
        bytes.extend(version.as_bytes());
        bytes.push(0);
        self.bytes("/usr/lib64/libc.so.6", &bytes)
    }

    fn python(&mut self, modules: &str, build_commit: &str) -> &mut Self {
        self.program("python3", &python_facts(modules, build_commit), 0)
    }

    fn probes(&self, wanted: &[Source]) -> Probes {
        let mut probes = self.probes_within(wanted, PATIENCE);
        // The room of the machine that runs the test is none of the test's business.
        probes.room = pto_doctor::Room { disk_free: Some(100 << 30), shm: Some(16 << 30), docker_free: None };
        probes
    }

    fn probes_within(&self, wanted: &[Source], deadline: Duration) -> Probes {
        let cx = self.cx();
        let wanted: BTreeSet<Source> = wanted.iter().copied().collect();
        Probes::gather(&cx, &wanted, &ProbeOptions { worker: None, deadline })
    }

    fn judge(&self, id: &str, set: impl FnOnce(&mut Probes)) -> Finding {
        let check = check(id).unwrap_or_else(|| panic!("no check `{id}`"));
        let mut probes = self.probes(check.needs);
        set(&mut probes);
        check.judge(&self.cx(), &probes)
    }

    fn report(&self, set: impl FnOnce(&mut Probes)) -> Report {
        let chosen: Vec<_> = checks().collect();
        let needs: Vec<Source> = chosen.iter().flat_map(|check| check.needs).copied().collect();
        let mut probes = self.probes(&needs);
        set(&mut probes);
        judge(&self.cx(), &probes, &chosen, false)
    }
}
