//! A content-addressed store: a directory of kinds, each a directory of entries, each there whole or not at all.
//!
//! An entry is built in a directory beside its place, under a lock that dies with its process, and then renamed. Two
//! processes that want the same entry build it once; a process that is killed leaves nothing that anyone could take for
//! an entry. The whole store can be deleted at any time.
//!
//! This crate must not know what an entry holds, nor how it is made.
//!
//! ```
//! use pto_context::Context;
//! use pto_store::Store;
//!
//! # fn main() -> Result<(), pto_store::Error> {
//! # let dir = tempfile::tempdir().unwrap();
//! # let home = dir.path().to_str().unwrap();
//! let cx = Context::fake("/", [("PTOKIT_HOME", home)]);
//! let store = Store::open(Store::default_root(&cx)?);
//! let build = |dir: &std::path::Path| {
//!     std::fs::write(dir.join("answer"), "42").expect("a fresh directory can be written");
//!     Ok::<(), pto_store::Error>(())
//! };
//! let entry = store.entry("answers", "0f3a")?.get_or_build(&cx, build)?;
//! assert_eq!(std::fs::read_to_string(entry.join("answer")).unwrap(), "42");
//! # Ok(())
//! # }
//! ```

mod entry;
mod error;
mod inventory;
mod lock;
mod slot;
mod store;
mod sums;

pub use entry::Entry;
pub use error::{Error, stop_if_interrupted};
pub use inventory::{Finding, GcOptions, Item, Removed};
pub use lock::Lock;
pub use slot::{Slot, Staging};
pub use store::Store;
