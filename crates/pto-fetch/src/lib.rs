//! Pinned artifacts, and the store they live in.
//!
//! A [`WheelPin`] names one file of the Python package registry by name, version, size and sha256. [`Store::wheel`]
//! gets it with the ordinary client that is on the machine (`uv`, else `pip`), so the user's mirrors, proxies and
//! credentials work as always; nothing is unpacked into the store unless the file is the pinned one, bit by bit.
//!
//! The [`Store`] is a directory of entries. An entry is there whole or not at all: it is built in a directory beside its
//! place, under a lock that dies with its process, and then renamed. Caches of other kinds use the same primitive,
//! [`Entry::get_or_build`]. The whole store can be deleted at any time.
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
//! use pto_fetch::Store;
//!
//! # fn main() -> Result<(), pto_fetch::Error> {
//! # let dir = tempfile::tempdir().unwrap();
//! # let home = dir.path().to_str().unwrap();
//! let cx = Context::fake("/", [("PTOKIT_HOME", home)]);
//! let store = Store::open(Store::default_root(&cx)?);
//! let build = |dir: &std::path::Path| {
//!     std::fs::write(dir.join("answer"), "42").expect("a fresh directory can be written");
//!     Ok::<(), pto_fetch::Error>(())
//! };
//! let entry = store.entry("answers", "0f3a")?.get_or_build(&cx, build)?;
//! assert_eq!(std::fs::read_to_string(entry.join("answer")).unwrap(), "42");
//! # Ok(())
//! # }
//! ```

mod client;
mod digest;
mod entry;
mod error;
mod lock;
mod pin;
mod progress;
mod store;
mod unpack;
mod wheel;

pub use entry::Entry;
pub use error::{Attempt, Error, Refusal};
pub use pin::WheelPin;
pub use store::Store;
