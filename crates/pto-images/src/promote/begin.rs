//! Whether a new publication may take the place of the one that is recorded.

use pto_context::Context;

use super::moving::standing;
use super::record::Kind;
use super::records::Records;
use crate::error::Error;
use crate::registry::Options;

/// That the records hold nothing which can still be finished or taken back. Nothing can be done with one that came to its end,
/// nor with one whose tags somebody else has moved since, and an upload that was never compared is simply done again.
///
/// # Errors
/// [`Error::Begun`] if there is; it is not known whether there is.
pub(super) fn make_way(cx: &Context, records: &Records, registry: &Options) -> Result<(), Error> {
    let Some(record) = records.load()? else { return Ok(()) };
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
