//! Reads a TOML table field by field: wrong types and unknown keys become findings, reading goes on.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::diagnostic::{Sink, nearest, nearest_help};

/// A TOML value and where it stands.
pub(crate) type Node<'a> = Spanned<DeValue<'a>>;

/// A value and where it stands in the manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct At<T> {
    pub(crate) span: Range<usize>,
    pub(crate) value: T,
}

impl<T> At<T> {
    pub(crate) fn new(span: Range<usize>, value: T) -> Self {
        Self { span, value }
    }

    pub(crate) fn map<U>(self, f: impl FnOnce(T) -> U) -> At<U> {
        At { span: self.span, value: f(self.value) }
    }
}

/// One table of the manifest.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    /// How the table is called in messages: `[kernel]`, `[[arg]]`.
    pub(crate) name: &'a str,
    /// Where the table stands.
    pub(crate) at: usize,
    table: &'a DeTable<'a>,
}

impl<'a> Fields<'a> {
    /// Opens a table and reports every key it should not have.
    pub(crate) fn open(
        name: &'a str,
        at: Range<usize>,
        table: &'a DeTable<'a>,
        known: &[&'static str],
        sink: &mut Sink<'_>,
    ) -> Self {
        for key in table.keys() {
            let word = key.get_ref().as_ref();
            if !known.contains(&word) {
                let help = nearest_help(word, known.iter().copied());
                sink.error_with(key.span(), format!("unknown key `{word}` in {name}"), help);
            }
        }
        Self { name, at: at.start, table }
    }

    /// The place of the whole table, for what is missing in it.
    pub(crate) fn span(&self) -> Range<usize> {
        self.at..self.at
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'a Node<'a>> {
        self.table.get(key)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Whether a key of the table that is not `known` can only be meant for this one.
    pub(crate) fn misspells(&self, key: &str, known: &[&'static str]) -> bool {
        let words = self.table.keys().map(|key| key.get_ref().as_ref());
        words.filter(|word| !known.contains(word)).any(|word| nearest(word, known.iter().copied()) == Some(key))
    }

    /// Reports a key that has to be there.
    pub(crate) fn require(&self, key: &str, sink: &mut Sink<'_>) -> Option<&'a Node<'a>> {
        let node = self.get(key);
        if node.is_none() {
            sink.error(self.span(), format!("{} has no `{key}`", self.name));
        }
        node
    }

    /// A string, if the key is there and holds one.
    pub(crate) fn string(&self, key: &str, sink: &mut Sink<'_>) -> Option<At<String>> {
        self.get(key).and_then(|node| string(node, &self.what(key), sink))
    }

    /// A string that has to be there and must not be empty.
    pub(crate) fn required_string(&self, key: &str, sink: &mut Sink<'_>) -> Option<At<String>> {
        let found = string(self.require(key, sink)?, &self.what(key), sink)?;
        if found.value.trim().is_empty() {
            sink.error(found.span, format!("{} is empty", self.what(key)));
            return None;
        }
        Some(found)
    }

    /// A list of strings that has to be there and must not be empty.
    pub(crate) fn required_strings(&self, key: &str, sink: &mut Sink<'_>) -> Vec<At<String>> {
        let Some(node) = self.require(key, sink) else { return Vec::new() };
        let Some(items) = array(node, &self.what(key), sink) else { return Vec::new() };
        if items.is_empty() {
            sink.error(node.span(), format!("{} is empty", self.what(key)));
        }
        items.iter().filter_map(|item| string(item, &format!("an item of {}", self.what(key)), sink)).collect()
    }

    /// How a field is called in messages.
    pub(crate) fn what(&self, key: &str) -> String {
        format!("`{key}` of {}", self.name)
    }
}

/// The value as a string, or a finding.
pub(crate) fn string(node: &Node<'_>, what: &str, sink: &mut Sink<'_>) -> Option<At<String>> {
    match node.get_ref() {
        DeValue::String(text) => Some(At::new(node.span(), text.to_string())),
        other => wrong_type(node, what, "a string", other, sink),
    }
}

/// The value as an array, or a finding.
pub(crate) fn array<'a>(node: &'a Node<'a>, what: &str, sink: &mut Sink<'_>) -> Option<&'a [Node<'a>]> {
    match node.get_ref() {
        DeValue::Array(items) => Some(items),
        other => wrong_type(node, what, "an array", other, sink),
    }
}

/// The value as a table, or a finding.
pub(crate) fn table<'a>(node: &'a Node<'a>, what: &str, sink: &mut Sink<'_>) -> Option<&'a DeTable<'a>> {
    match node.get_ref() {
        DeValue::Table(table) => Some(table),
        other => wrong_type(node, what, "a table", other, sink),
    }
}

/// The value as an integer, or a finding.
pub(crate) fn integer(node: &Node<'_>, what: &str, sink: &mut Sink<'_>) -> Option<At<i64>> {
    let DeValue::Integer(digits) = node.get_ref() else {
        return wrong_type(node, what, "an integer", node.get_ref(), sink);
    };
    match i64::from_str_radix(digits.as_str(), digits.radix()) {
        Ok(value) => Some(At::new(node.span(), value)),
        Err(_) => {
            sink.error(node.span(), format!("{what} is `{digits}`, expected an integer of 64 bits"));
            None
        }
    }
}

/// The value as a number, or a finding.
pub(crate) fn number(node: &Node<'_>, what: &str, sink: &mut Sink<'_>) -> Option<At<f64>> {
    match node.get_ref() {
        DeValue::Float(digits) => {
            let parsed = digits.as_str().replace('_', "").parse().ok();
            parsed.map(|value| At::new(node.span(), value))
        }
        #[expect(clippy::cast_precision_loss, reason = "numbers in a manifest are written by hand and far below 2^53")]
        DeValue::Integer(_) => integer(node, what, sink).map(|at| at.map(|value| value as f64)),
        other => wrong_type(node, what, "a number", other, sink),
    }
}

pub(crate) fn wrong_type<T>(
    node: &Node<'_>,
    what: &str,
    expected: &str,
    found: &DeValue<'_>,
    sink: &mut Sink<'_>,
) -> Option<T> {
    sink.error(node.span(), format!("{what} is {}, expected {expected}", kind(found)));
    None
}

/// A value's type with its article.
pub(crate) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}
