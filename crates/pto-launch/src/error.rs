//! What keeps a launch from being tried at all.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use pto_quarantine::Holder;

use crate::host_acl::HOST_ACL_VARIABLE;

/// Why there is no verdict: the machine lacks something, or the request does not fit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The host ACL library is not where cargo puts it.
    #[error("the host ACL library `libascendcl.so` was not found; looked at {}", list(.looked_at))]
    NoHostAcl {
        /// Every path tried.
        looked_at: Vec<PathBuf>,
    },
    /// The request contradicts itself.
    #[error("{message}")]
    Request {
        /// What does not fit what.
        message: String,
    },
    /// The worker could not set up the launch: no ACL library, no device. Its own words.
    #[error("{message}")]
    Setup {
        /// What was missing or did not fit.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// A variable of the environment has a value that the ACL library does not understand. Its own words.
    #[error("{message}")]
    Environment {
        /// What it found, and where.
        message: String,
    },
    /// The kernel's library does not load.
    #[error("`{}` does not load: {reason}", .library.display())]
    NotLoaded {
        /// The library.
        library: PathBuf,
        /// What the loader said.
        reason: String,
    },
    /// The kernel's library has no such launcher.
    #[error("`{}` has no symbol `{symbol}`", .library.display())]
    NoSymbol {
        /// The library.
        library: PathBuf,
        /// What was looked for.
        symbol: String,
    },
    /// The program that was started as the worker did something else.
    #[error("`{}` does not act as a worker (it exited with code {code})", .program.display())]
    NotAWorker {
        /// The program.
        program: PathBuf,
        /// How it ended.
        code: i32,
    },
    /// A worker was asked to launch: it did not notice that it is one, and would go on starting workers for ever.
    #[error("a launch inside of a worker")]
    Nested,
    /// A file of the launch could not be written or read.
    #[error("cannot exchange files with the worker")]
    Exchange(#[source] io::Error),
    /// The simulator ended without having started the worker.
    #[error("`{line}` {status} without having started the program{}", said(.last_words))]
    NotSimulated {
        /// The command.
        line: String,
        /// How it ended.
        status: String,
        /// The last lines it wrote.
        last_words: String,
    },
    /// The worker could not be started.
    #[error("cannot start the worker")]
    Start(#[source] pto_process::Error),
    /// Every device that could be used is set aside.
    #[error("no device can be trusted: {}", reasons(.devices))]
    SetAside {
        /// Each device with the reason.
        devices: Vec<(u32, String)>,
    },
    /// Somebody else uses the device, and goes on to.
    #[error("device {device} was not free within {} s: {}", .waited.as_secs(), Holder::who_has_it(.holder.as_ref(), SystemTime::now()))]
    Busy {
        /// The device.
        device: u32,
        /// Who uses it.
        holder: Option<Holder>,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The queue of the machine did not run the launch.
    #[error("`task-submit` did not run the launch, it {status}{}", said(.last_words))]
    Queue {
        /// The command.
        line: String,
        /// How it ended.
        status: String,
        /// The last lines it wrote.
        last_words: String,
    },
    /// The lock of a device could not be asked for.
    #[error("cannot share the devices with other users of this machine")]
    Lock(#[source] pto_quarantine::Error),
    /// The user asked for the end.
    #[error("interrupted")]
    Interrupted,
}

impl LaunchError {
    /// Whether the kernel's library is at fault, and not this machine or the caller.
    pub fn is_the_kernels(&self) -> bool {
        matches!(self, Self::NotLoaded { .. } | Self::NoSymbol { .. })
    }

    /// Whether what the caller gave is wrong, and neither the machine nor the kernel.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Environment { .. })
    }

    /// Whether there is no device to launch on, for now.
    pub fn is_about_devices(&self) -> bool {
        matches!(self, Self::SetAside { .. } | Self::Busy { .. } | Self::Queue { .. })
    }

    /// What to do about it, for people; `None` if the error says all.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoHostAcl { .. } => {
                Some(format!("build it with `cargo build -p pto-aclsim`, or name it in `{HOST_ACL_VARIABLE}`"))
            }
            Self::Setup { hint, .. } => hint.clone(),
            Self::NoSymbol { .. } => {
                Some("declare the launcher `extern \"C\"`; `nm -D` lists what there is".to_owned())
            }
            Self::NotAWorker { .. } | Self::Nested => {
                Some("begin the program's `main` with `pto_launch::worker::intercept()`".to_owned())
            }
            Self::NotSimulated { .. } => Some(
                "run the command by hand; `cargo xtask doctor --only simulator` shows what CANN has here".to_owned(),
            ),
            Self::Start(error) => error.hint(),
            Self::Exchange(error) if pto_context::is_disk_full(error) => {
                Some("free some space, or set `TMPDIR` to a directory on another disk".to_owned())
            }
            Self::SetAside { devices } => devices
                .first()
                .map(|(device, _)| format!("once it is well again: `cargo xtask devices release {device}`")),
            Self::Queue { .. } => Some("`task-submit --list` shows what is before it".to_owned()),
            Self::Busy { .. } => Some("`PTO_DEVICE_WAIT_S` waits longer, `NPU_DEVICE` names another device".to_owned()),
            Self::Lock(error) => error.hint(),
            Self::Environment { .. } => Some("correct the variable, or unset it".to_owned()),
            Self::Request { .. } | Self::NotLoaded { .. } | Self::Exchange(_) | Self::Interrupted => None,
        }
    }
}

fn said(last_words: &str) -> String {
    if last_words.is_empty() { String::new() } else { format!(": {last_words}") }
}

fn reasons(devices: &[(u32, String)]) -> String {
    if devices.is_empty() {
        return "there is none".to_owned();
    }
    devices.iter().map(|(device, why)| format!("device {device} is set aside: {why}")).collect::<Vec<_>>().join("; ")
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ")
}
