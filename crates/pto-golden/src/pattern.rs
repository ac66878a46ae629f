//! How an output is wrong: shapes of faults that kernels have, found in the data and named with their evidence.

use serde::Serialize;

use crate::compare::{Options, Report, Rule};
use crate::Tensor;

/// A fault that the data look like.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pattern {
    /// A stable name.
    pub id: &'static str,
    /// The same for people.
    pub title: &'static str,
    /// What in the data speaks for it.
    pub evidence: String,
    /// What usually causes it in a PTO kernel.
    pub cause: &'static str,
}

pub(crate) fn find(_: &Tensor, _: &Tensor, _: &Rule, _: &Options, _: &Report) -> Vec<Pattern> {
    Vec::new()
}
