//! A `libascendcl.so` for the host: the ACL C ABI over host memory and threads, so that code written for an NPU runs
//! unchanged on a machine without one, and is watched more closely than a card would watch it.
//!
//! - **Device memory is not host memory.** Each `aclrtMalloc` is a mapping of its own between guard pages. The host
//!   cannot read or write it: it is open only while a copy or a kernel runs. What is written past the end of a buffer
//!   faults, or is found by a canary.
//! - **Streams are ordered and asynchronous**: one worker thread each. Events record time on the stream.
//! - **Errors behave as on hardware**: a kernel's fault shows at the next synchronization, and then the device refuses
//!   everything until it is reset. Every failure has a message (`aclGetRecentErrMsg`).
//! - **Faults can be injected by name** through [`PTO_ACLSIM_FAULT`](config).
//!
//! Its callers reach it through the C ABI alone: this crate must not know who they are, and they must not use its Rust
//! items. A Rust crate depends on it only so that cargo builds the shared library into the `deps` directory of the
//! profile. The environment is its one configuration, because the C ABI has no other; see [`config`] for the variables.
//! `include/aclsim.h` has the symbols beyond ACL by which a kernel runtime for the CPU enqueues its kernels.

pub mod abi;
mod call;
mod callback;
mod codes;
pub mod config;
mod context;
mod copy;
mod event;
mod failure;
mod fault;
mod host;
mod memory;
mod report;
mod runtime;
mod signal;
mod stream;
