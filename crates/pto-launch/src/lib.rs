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
//! What a worker leaves behind is ended with it, also processes that a kernel moved to a session of their own.
//!
//! Which device a kernel runs on, and whether it is one at all or CANN's model of it, is a [choice](choose_path) that keeps
//! kernels off silicon of another generation. On the model a [simulator](Simulation) starts the worker, and the verdict is still
//! the worker's.
//!
//! A launch is repeated on request, in the same process, with all buffers filled anew; the bits of all repeats are
//! compared: see [`Variants`].
//!
//! This crate must not know of manifests, nor of how outputs are judged.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use pto_context::Context;
//! use pto_launch::{Argument, Buffer, Init, LaunchRequest, Limits, Verdict, Worker, host_acl, launch};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! pto_launch::worker::intercept();
//! let cx = Context::from_process(std::sync::Arc::new(pto_context::Silent))?;
//! let worker = Worker::this_program()?;
//! // extern "C" void call_fill(uint32_t blocks, void *stream, int32_t *y);
//! let y = Buffer { name: "y".into(), bytes: 4096, init: Init::Pattern(vec![0xa5]), output: true };
//! let launched = launch(&cx, &worker, &LaunchRequest {
//!     library: "fill.so".into(),
//!     symbol: "call_fill".into(),
//!     arguments: vec![Argument::BlockDim(8), Argument::Stream, Argument::Buffer(y)],
//!     acl: vec![host_acl(&cx, worker.program())?],
//!     device: 0,
//!     memory_limit: Some(16 << 30),
//!     repeats: 5,
//!     timing: None,
//!     limits: Limits {
//!         process: Duration::from_secs(60),
//!         launch: Duration::from_secs(20),
//!         sync: Duration::from_secs(30),
//!         teardown: Duration::from_secs(20),
//!     },
//! })?;
//! assert_eq!(launched.verdict, Verdict::Completed);
//! assert_eq!(launched.outputs["y"].len(), 4096);
//! assert_eq!(launched.variants.count(), 1, "all repeats gave the same bits");
//! # Ok(())
//! # }
//! ```

mod args;
mod barrier;
mod call;
mod error;
mod exchange;
mod host_acl;
mod linked;
mod path;
mod phase;
mod pool;
mod queue;
mod request;
mod run;
mod said;
mod simulation;
mod supervise;
mod timing;
mod verdict;
pub mod worker;

pub use args::{Argument, Buffer, Init, Scalar};
pub use error::LaunchError;
pub use host_acl::{HOST_ACL_VARIABLE, host_acl};
pub use linked::host_program;
pub use path::{
    Asked, BadDevice, Candidate, Choice, Host, LaunchPath, NoDevice, NoPath, Tools, UnknownPath, choose_path,
    rank_devices,
};
pub use phase::Phase;
pub use pool::{DevicePool, Slot};
pub use pto_platform::{RanOn, RunMode};
pub use request::{LaunchRequest, Limits};
pub use run::{Run, Variants};
pub use simulation::{SIMULATOR_VARIABLE, Simulated, Simulation, Simulator};
pub use supervise::{Launched, Worker, launch, simulate};
pub use timing::Timing;
pub use verdict::{Note, Verdict};
