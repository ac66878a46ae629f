//! Which library really implemented ACL. The name of the SoC does not tell: a simulator gives that of a real one.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What the memory map of a worker says about the libraries it ran with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunMode {
    /// The `libascendcl.so` that was loaded, links followed.
    pub acl: PathBuf,
    /// A library of CANN's simulator that was loaded beside it, when there was one: the card is modelled, not real.
    pub simulator: Option<PathBuf>,
    /// Whether the library itself plays the device, in memory and on threads of the host.
    #[serde(default)]
    pub played: bool,
}

/// What a kernel really ran on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RanOn {
    /// An NPU.
    Silicon,
    /// CANN's cycle-accurate model of one.
    Model,
    /// The processor of the host, which plays a device.
    Host,
}

impl RanOn {
    /// The word for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Silicon => "silicon",
            Self::Model => "model",
            Self::Host => "host",
        }
    }
}

impl fmt::Display for RanOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl RunMode {
    /// A function that only the library exports which plays devices on the host.
    pub const PLAYED_BY: &str = "aclsimLaunchKernel";

    /// Reads a `/proc/PID/maps`. `None` when no ACL library is mapped.
    pub fn of_maps(maps: &str) -> Option<Self> {
        let files = || maps.lines().filter_map(mapped_file);
        let acl = files().find(|path| has_name(path, "libascendcl.so"))?.to_owned();
        Some(Self { acl, simulator: files().find(|path| is_simulator(path)).map(Path::to_owned), played: false })
    }

    /// What it ran on. A simulator that is loaded counts before all else: nothing of such a process reaches an NPU.
    pub const fn ran_on(&self) -> RanOn {
        match (&self.simulator, self.played) {
            (Some(_), _) => RanOn::Model,
            (None, true) => RanOn::Host,
            (None, false) => RanOn::Silicon,
        }
    }
}

/// The file of a line: `ADDRESSES PERMISSIONS OFFSET DEVICE INODE   PATH`, where the path may hold blanks (proc_pid_maps(5)).
fn mapped_file(line: &str) -> Option<&Path> {
    let path = &line[line.find('/')?..];
    Some(Path::new(path.strip_suffix(" (deleted)").unwrap_or(path)))
}

/// Whether it is this library, also with a version behind its name.
fn has_name(path: &Path, name: &str) -> bool {
    let file = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
    file.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The model's runtime, or anything from `tools/simulator/SOC/lib` (older toolkits) or `ARCH-linux/simulator/CORE/lib`.
fn is_simulator(path: &Path) -> bool {
    let directory = |up: usize| path.ancestors().nth(up).and_then(Path::file_name);
    has_name(path, "libruntime_camodel.so")
        || (directory(1) == Some("lib".as_ref()) && directory(3) == Some("simulator".as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACL: &str = "7f00-7f01 r-xp 00001000 fd:01 42    /opt/my cann/lib64/libascendcl.so\n";

    fn simulator(path: &str) -> Option<PathBuf> {
        let maps = format!("55e0-55e1 r--p 00000000 00:00 0\n{ACL}7f02-7f03 r--p 00000000 fd:01 43   {path}\n");
        let mode = RunMode::of_maps(&maps).unwrap();
        assert_eq!(mode.acl, Path::new("/opt/my cann/lib64/libascendcl.so"));
        mode.simulator
    }

    #[test]
    fn both_layouts_of_the_simulator_are_known() {
        for path in [
            "/opt/cann/lib64/libruntime_camodel.so",
            "/opt/cann/tools/simulator/Ascend910B1/lib/libnpu_drv.so",
            "/opt/cann/x86_64-linux/simulator/dav_3510/lib/libtsch.so.1",
        ] {
            assert_eq!(simulator(path), Some(path.into()));
        }
    }

    #[test]
    fn a_directory_of_that_name_is_no_simulator() {
        for path in ["/home/me/simulator/kernel.so", "/opt/cann/lib64/libruntime.so", "[stack]", ""] {
            assert_eq!(simulator(path), None, "{path}");
        }
    }

    #[test]
    fn a_simulator_counts_before_all_else() {
        let mode = |simulator: Option<&str>, played| RunMode {
            acl: "/lib/libascendcl.so".into(),
            simulator: simulator.map(PathBuf::from),
            played,
        };
        assert_eq!(mode(None, false).ran_on(), RanOn::Silicon);
        assert_eq!(mode(None, true).ran_on(), RanOn::Host);
        assert_eq!(mode(Some("libruntime_camodel.so"), false).ran_on(), RanOn::Model);
        assert_eq!(mode(Some("libruntime_camodel.so"), true).ran_on(), RanOn::Model);
    }

    #[test]
    fn no_acl_no_mode() {
        assert_eq!(RunMode::of_maps(""), None);
        assert_eq!(RunMode::of_maps("7f00-7f01 r--p 0 fd:01 42 /lib/libascendcl_impl.so\n"), None);
    }

    #[test]
    fn a_library_that_was_rebuilt_meanwhile_is_named() {
        let mode = RunMode::of_maps(&ACL.replace('\n', " (deleted)\n")).unwrap();
        assert_eq!(mode.acl, Path::new("/opt/my cann/lib64/libascendcl.so"));
    }
}
