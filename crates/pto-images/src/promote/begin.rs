//! Whether a new publication may begin in a directory of records.

use pto_context::Context;

use super::promotion::standing;
use super::record::Kind;
use super::records::Records;
use crate::error::Error;
use crate::registry::Options;

/// Sets a record aside that is over, or whose tags somebody else has moved since, as nothing can be done with it any more. The
/// record of an upload that was not compared stays: the next upload replaces it.
///
/// # Errors
/// [`Error::Begun`] if there is something to finish or to take back; it cannot be found out whether there is.
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
