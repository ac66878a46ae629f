//! The validation of an image on cards, and what it came to.
//!
//! Cards belong to everybody on a host, so nothing runs without a reservation of `task-submit`: one card for strict doctor and a
//! model, two cards for a distributed case. What decides is written by the commands themselves, exit code and output: the
//! queue's own exit code is not always that of the task.

mod cases;
mod clean_up;
mod preflight;
mod results;
mod run;

pub use cases::{Case, Reservation};
pub use clean_up::{CleanedUp, clean_up};
pub use preflight::preflight;
pub use results::{CaseResult, CaseStatus, Results};
pub use run::{Run, Validation};
