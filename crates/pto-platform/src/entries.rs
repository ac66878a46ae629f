//! Lines of `KEY=VALUE`, the form of nearly every small file of the vendor.

use crate::Note;

/// One `KEY=VALUE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    /// Line, from 1.
    pub(crate) line: usize,
    /// Left of the first `=`, trimmed.
    pub(crate) key: &'a str,
    /// Right of it, trimmed, without the quotes around it.
    pub(crate) value: &'a str,
}

/// The entries of a text, in order, and the lines that are none.
#[derive(Debug, Default)]
pub(crate) struct Entries<'a> {
    pub(crate) all: Vec<Entry<'a>>,
    pub(crate) notes: Vec<Note>,
}

impl<'a> Entries<'a> {
    /// Reads a text. Blank lines and `#` comments are passed over, and so are a byte order mark, `export` before a key,
    /// and the line numbers of a text that went through `cat -n`.
    pub(crate) fn read(text: &'a str) -> Self {
        let mut entries = Self::default();
        for (line, text) in numbered(text) {
            let content = without_line_number(text);
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            match entry(line, content) {
                Some(entry) => entries.all.push(entry),
                None => entries.notes.push(Note::new(line, text, "not of the form `KEY=VALUE`")),
            }
        }
        entries
    }

    /// The value of the first entry with exactly this key, unless it is empty.
    pub(crate) fn get(&self, key: &str) -> Option<&'a str> {
        self.find(key).map(|entry| entry.value)
    }

    /// The first entry with exactly this key, unless its value is empty.
    pub(crate) fn find(&self, key: &str) -> Option<Entry<'a>> {
        self.all.iter().find(|entry| entry.key == key && !entry.value.is_empty()).copied()
    }

    /// [`Self::get`] as an owned string, which is what results hold.
    pub(crate) fn owned(&self, key: &str) -> Option<String> {
        self.get(key).map(str::to_owned)
    }
}

/// The lines of a text with their numbers from 1, without a byte order mark.
pub(crate) fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.trim_start_matches('\u{feff}').lines().enumerate().map(|(index, line)| (index + 1, line))
}

fn entry(line: usize, content: &str) -> Option<Entry<'_>> {
    let content = content.strip_prefix("export ").unwrap_or(content);
    let (key, value) = content.split_once('=')?;
    let key = key.trim();
    (!key.is_empty()).then(|| Entry { line, key, value: unquoted(value.trim()) })
}

/// The text between a pair of quotes, or the text itself.
fn unquoted(value: &str) -> &str {
    ['"', '\''].into_iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote)).map_or(value, str::trim)
}

/// The line without the number that `cat -n` puts before it.
fn without_line_number(line: &str) -> &str {
    let line = line.trim();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() < line.len() && rest.starts_with(char::is_whitespace) { rest.trim_start() } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_paste_is_read() {
        let text = "\u{feff}# a comment\r\n     1\tVersion=26.0.rc1\r\nexport A=\"8.5\"\n\nodd line\n=x\nB=\n0=zero\n";
        let entries = Entries::read(text);
        let all: Vec<_> = entries.all.iter().map(|entry| (entry.line, entry.key, entry.value)).collect();
        assert_eq!(all, [(2, "Version", "26.0.rc1"), (3, "A", "8.5"), (7, "B", ""), (8, "0", "zero")]);
        assert_eq!(entries.notes.iter().map(|note| note.line).collect::<Vec<_>>(), [5, 6]);
        assert_eq!((entries.get("A"), entries.get("B"), entries.get("C")), (Some("8.5"), None, None));
    }
}
