//! From an artifact and its buffers to outputs and a verdict.
//!
//! One path for every machine: a `libascendcl.so` is loaded, buffers are allocated and filled, the artifact's launcher
//! symbol is called, the stream is synchronized, outputs come back. On a card the library is CANN's, for the CPU it is
//! `pto-aclsim`, so the code that runs on a laptop is the code that runs on the card.
//!
//! A kernel runs in a process of its own, never in the caller's: whatever it does to that process (crash, `exit()`, a
//! hang, writing to stdout) becomes a [`Verdict`], and the next launch is not affected. The program that calls
//! [`launch`] is its own worker; its `main` begins with [`worker::intercept`].
//!
//! This crate must not know of manifests, nor of how outputs are judged.

mod args;
mod call;
mod error;
mod exchange;
mod host_acl;
mod request;
mod supervise;
mod verdict;
pub mod worker;

pub use args::{Argument, Buffer, Init, Scalar};
pub use error::LaunchError;
pub use host_acl::{HOST_ACL_VARIABLE, host_acl};
pub use request::LaunchRequest;
pub use supervise::{Launched, Worker, launch};
pub use verdict::{Note, Phase, Verdict};
