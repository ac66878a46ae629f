//! Moving the tags of a published image: never half way, and if so, known to be half way.
//!
//! Registries have no transactions: each tag is moved by a request of its own. What makes it safe all the same:
//!
//! - `previous` is moved before `current`, so whatever `current` led to stays reachable by a name;
//! - before each request both tags are read and compared with what this began with, so a tag that somebody else moved is left
//!   alone;
//! - the manifests of before, the digests and the step are [recorded](Records) before each request, so a run that was killed
//!   can be finished or taken back by another one, which looks at the registry, not at what the first one hoped;
//! - a tag is taken for absent only if the registry says so itself, twice, in two ways.

mod begin;
mod promotion;
mod public;
mod publish;
mod record;
mod records;
mod report;
mod rollback;
mod state;
mod status;
mod tags;
mod upload;
mod upstream;

pub use promotion::{Action, Promotion};
pub use public::Public;
pub use publish::{Publication, PublicationReport};
pub use record::{Candidate, Entry, Kind, Recipe, Record, Step, TagDigests};
pub use records::Records;
pub use report::{Moved, PromotionReport, Temporary};
pub use rollback::{Rollback, RollbackReport};
pub use state::State;
pub use status::{Begun, Status, TagFact, TemporaryFact, Upload, status};
pub use tags::{Names, lock};
pub use upload::{Tested, Uploaded};
pub use upstream::Upstream;
