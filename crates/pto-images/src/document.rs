//! The documents that this crate writes and reads again. Each names its form in the field `schema`.

use std::io::Write as _;
use std::path::Path;

use pto_context::{Readable, files, write_whole};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::Error;
use crate::strict::Strict;

/// Far more than any of them has, and far less than would fill the memory.
const LARGEST: u64 = 64 << 20;

/// The form of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A plan.
    Plan,
    /// The results of a validation.
    Results,
    /// The record of a promotion or rollback.
    Record,
}

impl Form {
    /// The value of the field `schema`.
    pub const fn schema(self) -> &'static str {
        match self {
            Self::Plan => "ptokit.images-lock/1",
            Self::Results => "ptokit.images-results/1",
            Self::Record => "ptokit.images-record/1",
        }
    }

    const fn action(self) -> &'static str {
        match self {
            Self::Plan => "write the plan",
            Self::Results => "write the results of a validation",
            Self::Record => "write the records of a publication",
        }
    }
}

/// Reads a document of this form. A pipe or a device is refused, not waited for.
pub(crate) fn load<T: DeserializeOwned>(file: &Path, form: Form) -> Result<T, Error> {
    let malformed = |problem: String| Error::Document { file: file.to_owned(), form, problem };
    let unread = |source| Error::Unread { file: file.to_owned(), form, source };
    let bytes = files::bytes(file, LARGEST).map_err(unread)?;
    let Strict { value, duplicates } =
        serde_json::from_slice(&bytes).map_err(|error| malformed(format!("it is not JSON: {error}")))?;
    if let Some(place) = duplicates.first() {
        return Err(malformed(format!("the key `{place}` is there twice")));
    }
    let expected = form.schema();
    match value.get("schema").and_then(Value::as_str) {
        Some(found) if found == expected => {}
        Some(found) => return Err(malformed(format!("its schema is `{found}`, expected `{expected}`"))),
        None => return Err(malformed(format!("it has no `schema`, expected `{expected}`"))),
    }
    serde_json::from_value(value).map_err(|error| malformed(error.to_string()))
}

/// Writes a document of this form, whole or not at all, and makes its directory. It is on disk when this returns.
pub(crate) fn save(file: &Path, form: Form, document: &impl Serialize) -> Result<(), Error> {
    let failed = || Error::io(form.action());
    let text = serde_json::to_string_pretty(document).map_err(|error| failed()(error.into()))? + "\n";
    if let Some(dir) = file.parent() {
        fs_err::create_dir_all(dir).map_err(failed())?;
    }
    let write = |file: &mut std::fs::File| file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    write_whole(file, Readable::ByUmask, write).map_err(failed())
}
