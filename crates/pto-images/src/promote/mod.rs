//! Moving the tags of a published image, so that it can always be finished or taken back.
//!
//! Registries have no transactions: each tag is moved by a request of its own. Four rules make that safe:
//!
//! - `previous` is moved before `current`, so that the image behind `current` never loses its last tag;
//! - before each request both tags are read and compared with where they led at the beginning, so that a tag which somebody else
//!   moved is left alone;
//! - manifests, digests and the next step are [recorded](Records) before each request, so that another run can finish or take
//!   back what a killed one began. It goes by where the tags lead, not by what the record says was done;
//! - a tag counts as absent only if the registry says so twice: its manifest is unknown, and the list of tags does not have it.

mod begin;
mod moving;
mod names;
mod promotion;
mod public;
mod publish;
mod record;
mod records;
mod removing;
mod report;
mod rollback;
mod state;
mod status;
mod tags;
mod upload;
mod upstream;

pub use names::Names;
pub use promotion::{Action, Promotion};
pub use public::Public;
pub use publish::{Publication, PublicationReport};
pub use record::{Candidate, Entry, Kind, Outcome, Recipe, Record, Step, TagDigests};
pub use records::Records;
pub use report::{Moved, PromotionReport, Temporary};
pub use rollback::{Rollback, RollbackReport};
pub use state::State;
pub use status::{Begun, Status, TagFact, TemporaryFact, Upload, status};
pub use upload::{Tested, Uploaded};
pub use upstream::Upstream;
