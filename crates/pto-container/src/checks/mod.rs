//! The checks of a host before a container is created or started on it.

mod cards;
mod driver;
mod finding;
mod subject;

pub(crate) use cards::{cards_of, in_use};
pub use finding::{CheckId, Finding};
pub(crate) use subject::{Subject, TO_FETCH, no_room, other_processor};
