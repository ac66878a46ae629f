//! What is wrong on a machine, and what to do about it.
//!
//! - [`checks`]: every check with its stable id, [`examine`] judges a machine by them;
//! - [`Probes`]: what programs, devices and the kernel say of the machine, gathered in parallel and with deadlines;
//! - [`Snapshot`] and [`diff`]: what was found, kept, and compared with another machine or another day;
//! - [`devices`]: the NPUs, one by one;
//! - [`bundle`]: what a problem report should carry, in one file without secrets;
//! - [`triage`]: what an error code or a log means, the first cause before its fallout.
//!
//! A check is a pure function of a [`Context`](pto_context::Context) and of [`Probes`], so each can be tried on a made-up
//! machine. Nothing here changes the machine, and nothing needs root: what cannot be read is skipped, with the reason.
//!
//! This crate must not know the command line: it returns values, and whoever called renders them.

pub mod bundle;
mod check;
mod checks;
pub mod diff;
mod digest;
mod elf_strings;
mod error;
mod examine;
mod facts;
mod finding;
mod names;
mod probes;
mod python;
mod redact;
mod report;
mod snapshot;
pub mod triage;

use pto_context::files;

pub use pto_devices as devices;
pub use pto_devices::{Answer, ProbeOptions, Said, acl_probe};

pub use check::{Check, Source, check, checks};
pub use elf_strings::SymbolVersion;
pub use error::DoctorError;
pub use examine::{Examination, examine, judge};
pub use finding::{Finding, Status};
pub use probes::{NextBuild, Pinned, Probes, Room, RuntimeGit, User};
pub use python::{BuildCommit, ModuleOrigin, PythonFacts};
pub use report::{CheckReport, Readiness, Report};
pub use snapshot::Snapshot;
