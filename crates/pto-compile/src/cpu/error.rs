//! What can go wrong on the way from a kernel source to a CPU library.

use std::io;
use std::path::PathBuf;

use pto_context::{BadSeconds, is_disk_full};

use super::rewrite::RewriteError;

/// Why a kernel was not built for the CPU.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CpuError {
    /// The headers are not where they were said to be.
    #[error("no PTO-ISA headers: `{}` is not there", .looked_for.display())]
    NoHeaders {
        /// The header that every kernel includes.
        looked_for: PathBuf,
    },
    /// No compiler of this machine can do it.
    #[error("no C++ compiler that takes PTO-ISA's CPU headers{}", list(.tried))]
    NoCompiler {
        /// What was tried, in order.
        tried: Vec<Rejected>,
    },
    /// The compiler that the user named cannot do it.
    #[error("the compiler named is no use{}", list(std::slice::from_ref(.rejected)))]
    NamedCompiler {
        /// Which, and why not.
        rejected: Rejected,
    },
    /// A source is not there or cannot be read.
    #[error("cannot read the kernel source")]
    Source(#[source] io::Error),
    /// A source is not UTF-8.
    #[error("`{}` is not UTF-8 at byte {offset}", .path.display())]
    NotText {
        /// The source as the user named it.
        path: PathBuf,
        /// The first bad byte.
        offset: usize,
    },
    /// A launch that cannot be rewritten.
    #[error(transparent)]
    Rewrite(#[from] RewriteError),
    /// The compiler refused the kernel; its messages name the user's file and line.
    #[error("the kernel does not compile\n{messages}")]
    Compile {
        /// What the compiler said, without what concerns only our own headers.
        messages: String,
        /// The command, to be pasted.
        line: String,
    },
    /// The objects do not link.
    #[error("the kernel does not link\n{messages}")]
    Link {
        /// What the linker said.
        messages: String,
        /// The command, to be pasted.
        line: String,
    },
    /// Our own runtime or prelude does not compile with a compiler that passed the probe.
    #[error("{what} does not compile with this compiler\n{messages}")]
    Support {
        /// Which part.
        what: &'static str,
        /// What the compiler said.
        messages: String,
        /// The command, to be pasted.
        line: String,
    },
    /// PTO-ISA's headers are there and cannot be read.
    #[error("cannot read the PTO-ISA headers")]
    Headers(#[source] io::Error),
    /// What the compiler has read or written is gone or cannot be read.
    #[error("cannot read a file of the build")]
    Read(#[source] io::Error),
    /// A file of the build could not be written.
    #[error("cannot write a file of the build")]
    Write(#[source] io::Error),
    /// The variable for the deadline holds no number of seconds.
    #[error(transparent)]
    BadDeadline(#[from] BadSeconds),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] pto_store::Error),
    /// A compiler could not be run, or was ended.
    #[error(transparent)]
    Process(#[from] pto_process::Error),
}

/// A compiler that was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The command.
    pub compiler: String,
    /// Why it was tried.
    pub why_tried: String,
    /// What it could not do.
    pub reason: String,
}

impl CpuError {
    /// What to do about it, for people; `None` if the error says all.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoHeaders { .. } => {
                "give a PTO-ISA checkout with `--pto-isa DIR` or `PTO_LIB_PATH`, or run `cargo xtask quickstart`, which fetches the pinned headers".to_owned()
            }
            Self::NoCompiler { .. } => {
                "install clang 17 or newer, or g++ 13 or newer; or run `cargo xtask quickstart`, which fetches a compiler without root".to_owned()
            }
            Self::NamedCompiler { .. } => "name another one with `--cxx` or `CXX`, or unset them to let one be chosen".to_owned(),
            Self::Write(source) if is_disk_full(source) => {
                "free some space, or set `PTOKIT_HOME` to a directory on another disk".to_owned()
            }
            Self::Compile { line, .. } | Self::Link { line, .. } | Self::Support { line, .. } => format!("the command was: {line}"),
            Self::Store(error) => return error.hint(),
            Self::Process(error) => return error.hint(),
            Self::Source(_) | Self::NotText { .. } | Self::Rewrite(_) => return None,
            Self::Headers(_) | Self::Read(_) | Self::Write(_) | Self::BadDeadline(_) => return None,
        })
    }

    /// Whether the user asked for the end.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Self::Store(error) => error.is_interrupted(),
            Self::Process(error) => error.is_interrupted(),
            _ => false,
        }
    }

    /// Whether the kernel's source is at fault, not the machine.
    pub fn is_the_kernels(&self) -> bool {
        matches!(
            self,
            Self::Source(_) | Self::NotText { .. } | Self::Rewrite(_) | Self::Compile { .. } | Self::Link { .. }
        )
    }
}

fn list(tried: &[Rejected]) -> String {
    let line = |r: &Rejected| format!("\n  `{}` ({}): {}", r.compiler, r.why_tried, r.reason.replace('\n', "\n    "));
    if tried.is_empty() { ": none found on `PATH`".to_owned() } else { tried.iter().map(line).collect() }
}
