//! The checks, by what they are about. Order: a cause stands before what it causes.

mod binding;
mod cann;
mod container;
mod cpu;
mod driver;
mod environment;
mod home;
mod host;
mod nodes;
mod npu;
mod npu_smi;
mod pypto;
mod python;
mod sources;

use pto_context::Context;

use crate::check::{Check, Source};
use crate::finding::Finding;
use crate::probes::Probes;

/// Every group, in order.
pub(crate) const GROUPS: [&[Check]; 14] = [
    host::CHECKS,
    cpu::CHECKS,
    environment::CHECKS,
    cann::CHECKS,
    driver::CHECKS,
    nodes::CHECKS,
    npu_smi::CHECKS,
    npu::CHECKS,
    container::CHECKS,
    home::CHECKS,
    python::CHECKS,
    pypto::CHECKS,
    binding::CHECKS,
    sources::CHECKS,
];

/// A check whose line is `title: evidence`.
const fn new(
    id: &'static str,
    title: &'static str,
    needs: &'static [Source],
    docs: &'static str,
    judge: fn(&Context, &Probes) -> Finding,
) -> Check {
    Check { id, title, joint: ": ", needs, docs, judge }
}

/// A check whose line reads as a sentence: `driver libs present ...`.
const fn sentence(check: Check) -> Check {
    Check { joint: " ", ..check }
}

/// Digits of a commit that are shown.
const SHORT: usize = 12;

fn short(commit: &str) -> &str {
    commit.get(..SHORT).unwrap_or(commit)
}

/// `a`, `a and b`, `a, b and c`, each in backticks.
fn quoted_list<T: std::fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| format!("`{item}`")).collect::<Vec<_>>().join(", ")
}
