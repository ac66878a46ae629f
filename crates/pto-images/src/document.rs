//! Documents that this crate writes for itself and reads again, each with its form in `schema`.

use std::path::Path;

use pto_context::files;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::Error;

/// Far above any of them, and far below what would fill the memory.
const LARGEST: u64 = 64 << 20;

/// Reads one of this form. A pipe or a device in its place is refused and not waited for.
pub(crate) fn load<T: DeserializeOwned>(file: &Path, schema: &'static str) -> Result<T, Error> {
    let malformed = |problem: String| Error::Records { file: file.to_owned(), problem };
    let unread = |source| Error::Unread { file: file.to_owned(), source };
    let bytes = files::bytes(file, LARGEST).map_err(unread)?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| malformed(format!("it is no JSON: {error}")))?;
    match value.get("schema").and_then(Value::as_str) {
        Some(found) if found == schema => {}
        Some(found) => return Err(malformed(format!("its schema is `{found}`, expected `{schema}`"))),
        None => return Err(malformed(format!("it has no `schema`, expected `{schema}`"))),
    }
    serde_json::from_value(value).map_err(|error| malformed(error.to_string()))
}
