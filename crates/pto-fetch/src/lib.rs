//! Pinned artifacts, fetched into a store.
//!
//! A [`WheelPin`] names one file of the Python package registry by name, version, size and sha256. [`WheelPin::fetch`]
//! gets it with the ordinary client that is on the machine (`uv`, else `pip`), so the user's mirrors, proxies and
//! credentials work as always; nothing is unpacked into the [`Store`](pto_store::Store) unless the file is the pinned
//! one, bit by bit.
//!
//! # What an interrupted download costs
//! - A file that has arrived is not fetched again: `pip`'s wheel is kept beside the store until it is unpacked, and
//!   `uv` keeps what it has unpacked in a cache of its own, in the same place.
//! - Within one run the clients resume or repeat a connection that breaks (`pip` 25.1 and later continue where it
//!   broke; `PIP_RESUME_RETRIES` is set for that).
//! - A run that is killed in the middle of a file starts that file again: neither client continues a half file of an
//!   earlier run.
//!
//! This crate must not know what an artifact is for: the pins live with those who use them.
//!
//! ```
//! use pto_context::Context;
//! use pto_fetch::WheelPin;
//! use pto_store::Store;
//!
//! const TINY: WheelPin = WheelPin {
//!     name: "ptokit-tiny",
//!     version: "1.0",
//!     file: "ptokit_tiny-1.0-py3-none-any.whl",
//!     sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
//!     size: 700,
//!     unpacked_size: 1500,
//!     python: "3.11",
//!     platform: "manylinux2014_x86_64",
//!     keep: Some("tiny/include"),
//! };
//!
//! # let dir = tempfile::tempdir().unwrap();
//! # let root = dir.path();
//! let store = Store::open(root);
//! assert_eq!(TINY.find(&store), None);
//! // On a machine without any client:
//! let cx = Context::fake("/", [("PATH", "/nowhere")]);
//! let error = TINY.fetch(&cx, &store).unwrap_err();
//! assert!(error.hint().unwrap().contains("python3 -m ensurepip --user"));
//! ```

mod client;
mod digest;
mod error;
mod file;
mod http;
mod interpreters;
mod pin;
mod progress;
mod release;
mod unpack;
mod wheel;

pub use digest::of_file as sha256;
pub use error::{Attempt, Error, Refusal};
pub use file::FilePin;
pub use http::{Failure, Fetched, Http, HttpProblem, Limits, tls};
pub use interpreters::interpreters;
pub use pin::WheelPin;
pub use release::{Release, says_unreachable, uv_with_mirrors};
pub use unpack::{RecordLine, WheelFacts, check_wheel, record};
pub use wheel::settle;
