//! The verification record: what was run, with what, on what, and what came of it.
//!
//! [`Record`] is a value of its own and not a report of a run: it is kept for months, read back by other versions of these
//! tools, and held against the files that it speaks of ([`Freshness`]). A [`Logbook`] is the directory of all records of a
//! workspace, with a Markdown log beside them. [`definition_of_done`] says what a kernel still lacks.
//!
//! A run that could not be done is recorded like any other: its blockers are what the next machine has to offer.

mod bench;
mod book;
mod coverage;
mod digest;
mod done;
mod fresh;
mod git;
mod make;
mod markdown;
mod model;
mod versions;

pub use bench::{RecordedBench, RecordedTimes};
pub use book::{Contents, Entry, Logbook, Unreadable};
pub use done::{DoneReport, Item, ItemStatus, VERIFICATION, definition_of_done};
pub use fresh::Freshness;
pub use make::{Circumstances, place, record};
pub use markdown::delivery;
pub use model::{
    BlockDim, Commands, Digests, Dims, FileDigest, Record, RecordedCase, Revision, ToleranceUsed, TreeDigest, Versions,
};
