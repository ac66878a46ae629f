//! `Key : value` lines, the form of `-l` and of everything behind `-t`.

use super::cell::{Reader, known};
use super::{Failure, failure};
use crate::Note;
use crate::entries::numbered;

const NPU: &str = "NPU ID";
const CHIP: &str = "Chip ID";
/// Fields of one block; real ones have at most some dozens, and looking for a key stays cheap in any other text.
const MOST_FIELDS: usize = 256;

/// The fields that belong to one card or one of its chips.
#[derive(Debug, Default)]
pub(super) struct Block<'a> {
    fields: Vec<Field<'a>>,
    /// The card's id, which a card with several chips names once.
    npu: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Field<'a> {
    line: usize,
    key: &'a str,
    value: &'a str,
}

/// An output in that form.
#[derive(Debug, Default)]
pub(super) struct Fields<'a> {
    pub(super) blocks: Vec<Block<'a>>,
    pub(super) failures: Vec<Failure>,
    pub(super) notes: Vec<Note>,
}

impl<'a> Fields<'a> {
    /// Reads an output. A key that stands in the block already begins the next block: `Chip ID` comes first in some
    /// outputs and last in others, so the key that repeats is the only mark that holds for all of them.
    pub(super) fn read(text: &'a str) -> Self {
        let mut fields = Self::default();
        for (line, text) in numbered(text).filter(|(_, text)| !text.trim().is_empty()) {
            if let Some(failure) = failure::failure(line, text) {
                fields.failures.push(failure);
            } else if let Some((key, value)) = text.split_once(':').filter(|(key, _)| is_key(key)) {
                fields.add(Field { line, key: key.trim(), value: value.trim() });
            } else {
                fields.notes.push(Note::new(line, text, "not of the form `Key : value`"));
            }
        }
        fields
    }

    fn add(&mut self, field: Field<'a>) {
        let card = self.blocks.last().and_then(|block| block.npu);
        if self.blocks.last().is_none_or(|block| block.is_full() || block.find(field.key).is_some()) {
            self.blocks.push(Block { fields: Vec::new(), npu: card });
        }
        let Some(block) = self.blocks.last_mut() else { return };
        if field.key.eq_ignore_ascii_case(NPU) {
            block.npu = Reader { line: field.line, notes: &mut self.notes }.number(field.value);
        }
        block.fields.push(field);
    }
}

/// Keys are words, with a unit in brackets; a time or a path before a colon is none.
fn is_key(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || " ()/%._-".contains(c))
}

impl<'a> Block<'a> {
    const fn is_full(&self) -> bool {
        self.fields.len() >= MOST_FIELDS
    }

    fn find(&self, key: &str) -> Option<Field<'a>> {
        self.fields.iter().find(|field| field.key.eq_ignore_ascii_case(key)).copied()
    }

    /// The value of the first of these keys that stands here and is not "unknown"; drivers rename their keys.
    pub(super) fn get(&self, keys: &[&str]) -> Option<&'a str> {
        keys.iter().find_map(|key| known(self.find(key)?.value))
    }

    pub(super) fn owned(&self, keys: &[&str]) -> Option<String> {
        self.get(keys).map(str::to_owned)
    }

    /// A number, with a note where it is none.
    pub(super) fn number<T: std::str::FromStr>(&self, keys: &[&str], notes: &mut Vec<Note>) -> Option<T> {
        let field = keys.iter().find_map(|key| self.find(key))?;
        Reader { line: field.line, notes }.number(field.value)
    }

    pub(super) const fn npu(&self) -> Option<u32> {
        self.npu
    }

    pub(super) fn chip(&self, notes: &mut Vec<Note>) -> Option<u32> {
        self.number(&[CHIP], notes)
    }

    /// Whether any of the keys stands here, whatever its value.
    pub(super) fn has(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.find(key).is_some())
    }
}
