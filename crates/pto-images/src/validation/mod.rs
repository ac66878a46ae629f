//! The validation of an image on a card, and what it came to.

mod results;

pub use results::{CaseResult, CaseStatus, Results};
