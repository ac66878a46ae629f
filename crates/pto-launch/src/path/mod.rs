//! The ways in which a kernel gets to run, and which of them is right on a machine.

mod choice;
mod device;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use choice::{Choice, Host, NoPath, Tools, choose_path};
pub use device::{Asked, BadDevice, Candidate, NoDevice, rank_devices};

/// A way in which a kernel gets to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaunchPath {
    /// On the host, through the library that plays a device: kernels built for `cpu`.
    Cpu,
    /// On an NPU of this machine, through CANN's `libascendcl`.
    Direct,
    /// On the CA model, below `msprof op simulator`.
    Msprof,
    /// On the CA model, below `cannsim record`.
    Cannsim,
    /// On the CA model, in a host program that is linked with `-lruntime_camodel`.
    Linked,
}

impl LaunchPath {
    /// Every path.
    pub const ALL: [Self; 5] = [Self::Cpu, Self::Direct, Self::Msprof, Self::Cannsim, Self::Linked];
    /// Those that run on the CA model, the one to prefer first: `msprof` knows every SoC, and traces besides.
    pub const MODELS: [Self; 3] = [Self::Msprof, Self::Cannsim, Self::Linked];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Direct => "direct",
            Self::Msprof => "msprof",
            Self::Cannsim => "cannsim",
            Self::Linked => "linked",
        }
    }

    /// Whether it runs on the CA model, which is deterministic and slow.
    pub const fn is_model(self) -> bool {
        matches!(self, Self::Msprof | Self::Cannsim | Self::Linked)
    }

    /// Whether it can launch a case so often in one process, and time it after that.
    ///
    /// # Errors
    /// The host program of `linked` makes one launch.
    pub const fn check_launches(self, repeats: u32, timed: bool) -> Result<(), NoPath> {
        if matches!(self, Self::Linked) && (repeats > 1 || timed) { Err(NoPath::Once { path: self }) } else { Ok(()) }
    }
}

impl fmt::Display for LaunchPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No path has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a launch path; they are `direct`, `msprof`, `cannsim` and `linked`, and `cpu` for that target")]
pub struct UnknownPath(String);

impl FromStr for LaunchPath {
    type Err = UnknownPath;

    fn from_str(given: &str) -> Result<Self, Self::Err> {
        let meant = given.trim().to_ascii_lowercase();
        Self::ALL.into_iter().find(|path| path.name() == meant).ok_or_else(|| UnknownPath(given.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_paths() {
        for path in LaunchPath::ALL {
            assert_eq!(path.name().to_uppercase().parse(), Ok(path));
            assert_eq!(serde_json::to_value(path).unwrap(), path.name());
        }
        assert!("npu".parse::<LaunchPath>().unwrap_err().to_string().contains("`npu`"));
    }

    #[test]
    fn every_path_but_linked_launches_again_and_again() {
        for path in LaunchPath::ALL {
            assert_eq!(path.check_launches(1, false), Ok(()));
            for (repeats, timed) in [(2, false), (1, true)] {
                assert_eq!(path.check_launches(repeats, timed).is_err(), path == LaunchPath::Linked, "{path}");
            }
        }
    }
}
