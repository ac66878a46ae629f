//! The common shape of what `npu-smi info -t ...` prints: one entry per chip.

use serde::Serialize;

use super::Failure;
use super::fields::{Block, Fields};
use crate::Note;

/// The entries of one output, with what else was in it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report<T> {
    /// One per chip, in the order of the text.
    pub entries: Vec<T>,
    /// Lines in which something failed.
    pub failures: Vec<Failure>,
    /// What was not understood.
    pub notes: Vec<Note>,
}

impl<T> Report<T> {
    /// Reads each block that has one of `keys`; blocks without any of them speak of something else.
    pub(super) fn of(text: &str, keys: &[&str], entry: impl Fn(&Block<'_>, &mut Vec<Note>) -> T) -> Self {
        let Fields { blocks, failures, mut notes } = Fields::read(text);
        let entries = blocks.iter().filter(|block| block.has(keys)).map(|block| entry(block, &mut notes)).collect();
        Self { entries, failures, notes }
    }
}
