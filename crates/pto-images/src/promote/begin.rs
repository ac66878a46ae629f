//! Whether a new publication may take the place of the one that is recorded.

use pto_context::Context;

use super::moving::standing;
use super::record::Kind;
use super::records::Records;
use crate::error::Error;
use crate::registry::Options;

/// Checks that the records hold nothing that can still be finished or taken back. That is so for a record that is over, for one
/// whose tags somebody else has moved since, and for an upload whose promotion was not begun, which is simply done again.
///
/// # Errors
/// [`Error::Begun`] if they do; it cannot be found out whether they do.
pub(super) fn require_nothing_begun(cx: &Context, records: &Records, registry: &Options) -> Result<(), Error> {
    let Some(record) = records.last()? else { return Ok(()) };
    if record.is_over() || record.before.is_none() {
        return Ok(());
    }
    let begun = records.begun(record.kind);
    if record.kind != Kind::Promotion {
        return Err(begun);
    }
    let is_settled = record.outcome().is_some();
    match standing(cx, records, registry, record) {
        Ok(_) if is_settled => Ok(()),
        Ok(_) => Err(begun),
        Err(Error::MovedByOther { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
