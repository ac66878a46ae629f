//! The PTOAS installer: the pinned assembler on the machine, or nothing changed.
//!
//! A checkout of PyPTO pins a release of PTOAS for each processor in `toolchain/versions.env` ([`Pin`]). [`install()`] gets
//! that release's wheel, verifies it before anything is touched, installs it into an environment of its own, starts it
//! there, and only then makes it the one that everybody sees, in one step ([`Prefix`]). Whatever fails, and whenever the
//! process is killed, the previous installation still works.
//!
//! An [`Assembler`] makes C++ of a `.pto` source with the one that a build would use.
//!
//! This crate must not know how PyPTO itself is built, nor the command line.

mod activation;
mod assemble;
mod environment;
mod error;
mod host;
mod install;
mod isolated;
mod launcher;
mod mentions;
mod pin;
mod prefix;
mod probe;
mod python;
mod receipt;
mod status;
mod wheel_name;

pub use activation::{Activation, ActivationOptions, Shell, activation};
pub use assemble::{AssembleError, AssembleOptions, Assembler, Level, PtoArch, declared_arch};
pub use environment::Tool;
pub use error::{Attempt, Error};
pub use install::{Action, InstallOptions, Installation, RELEASES, Source, install};
pub use launcher::{Launcher, Layout, version_in};
pub use mentions::{Mention, mentions_in};
pub use pin::{Pin, PinSource};
pub use prefix::Prefix;
pub use pto_context::Fault;
pub use python::{Interpreter, PythonFacts, Unfit};
pub use status::{Found, Pinned, Place, Status, Verdict, status};
pub use wheel_name::{LibcTag, NotAWheel, WheelName};
