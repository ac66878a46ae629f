//! What an error code or a log means: the first cause, what followed from it, and the cheapest next check.
//!
//! Codes and any mix of logs go in (host log, plog, device log, compiler, linker, simulator, docker, `npu-smi`), one
//! [`Triage`] comes out. Logs are streams: memory stays the same however long they are.
//!
//! ```
//! use pto_doctor::triage::{Machine, Role, Triager};
//!
//! let log = "[ERROR] run: rtStreamSynchronize (AICPU) failed: 507018\n\
//!            [ERROR] rtMalloc failed: 507899 (size=4096)\n";
//! let mut triager = Triager::new(Machine::default());
//! triager.log("host.log", log.as_bytes())?;
//! let triage = triager.finish();
//! assert_eq!(triage.first_cause().unwrap().id, "aicpu-exception");
//! assert_eq!(triage.findings[1].role, Role::Fallout);
//! # Ok::<(), pto_doctor::triage::TriageError>(())
//! ```
//!
//! What is promised:
//! - The order in which files and codes are given does not change the findings. Within a file lines count, between
//!   files the time stamps, where both have them.
//! - Bytes that are not UTF-8 and lines of any length are read; of a line the first [`LINE_LIMIT`] bytes count.
//! - A code that no table names is reported as unknown, never guessed.
//! - What is quoted from a log has terminal escapes dropped, and user parts of URLs masked.
//!
//! Rules are data, one file for each family, see [`rules`].

mod causality;
mod code;
mod compiler_output;
mod device_fault;
mod error;
mod evidence;
mod fields;
mod ledger;
mod lines;
mod machine;
mod matcher;
mod mentions;
mod rule;
pub mod rules;
mod tables;
mod triager;
mod value;

pub use code::{Code, CodeScheme};
pub use error::TriageError;
pub use evidence::Evidence;
pub use fields::{CoreKind, Fields};
pub use lines::LINE_LIMIT;
pub use machine::{DeviceNodes, Machine};
pub use rule::{Family, Rule, Severity};
pub use triager::Triager;
pub use value::{Cause, Finding, Lifted, Role, Source, Step, Triage, Verdict};
