//! The validation of an image on cards.
//!
//! Cards are shared by everybody on a host, so nothing runs without a reservation of `task-submit`: one card for strict doctor and
//! a model, two cards for a distributed case. The verdict rests on files that the commands themselves write, with their exit code
//! and output, because the queue's exit code is not always that of the task.

mod cases;
mod clean_up;
mod judge;
mod preflight;
mod results;
mod run;

pub use clean_up::{CleanedUp, clean_up};
pub use preflight::{Preflight, preflight};
pub use results::{CaseResult, CaseStatus, Results, Settings};
pub use run::{RESULTS, Run, Validated, Validation};
