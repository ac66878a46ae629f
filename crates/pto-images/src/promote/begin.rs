//! Whether a new publication may use the records of the one before.

use pto_context::Context;

use super::promotion::standing;
use super::record::Kind;
use super::records::Records;
use crate::error::Error;
use crate::registry::Options;

/// Keeps records aside that came to their end, and those of tags that somebody else has moved since: nothing can be done with
/// them. An upload that was never compared is simply done again.
///
/// # Errors
/// [`Error::Begun`] if there is something that can be finished or taken back; it is not known whether there is.
pub(super) fn make_way(cx: &Context, records: &Records, registry: &Options) -> Result<(), Error> {
    let Some(record) = records.load()? else { return Ok(()) };
    if record.has_moved_all() {
        return records.set_aside();
    }
    if record.before.is_none() {
        return Ok(());
    }
    let begun = Error::Begun { dir: records.dir().to_owned(), kind: record.kind.name() };
    if record.kind != Kind::Promotion {
        return Err(begun);
    }
    match standing(cx, records, registry, record) {
        Ok(_) => Err(begun),
        Err(Error::MovedByOther { .. }) => records.set_aside(),
        Err(error) => Err(error),
    }
}
