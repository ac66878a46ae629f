//! Reading JSON member by member: one of an unexpected type costs itself alone.

use serde_json::Value;

use crate::Note;

/// The JSON in a text. Where a warning precedes it, reading begins at the first bracket.
pub(super) fn value(text: &str) -> Result<Value, Note> {
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text).or_else(|error| {
        let from = text.find(['{', '[']).filter(|&from| from > 0).map(|from| &text[from..]);
        from.and_then(|json| serde_json::from_str(json).ok())
            .ok_or_else(|| Note::new(error.line(), "", format!("not JSON: {error}")))
    })
}

/// A member that is a string and not empty.
pub(super) fn string(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// A member's elements; none where it is null or missing.
pub(super) fn elements<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A member's elements that are strings.
pub(super) fn strings(value: &Value, pointer: &str) -> Vec<String> {
    elements(value, pointer).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A member that is true; a missing one is not.
pub(super) fn flag(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer).and_then(Value::as_bool).unwrap_or(false)
}
