//! Words of a shell's text: quotes, backslashes and plain references are understood, everything that would be run is not.

use std::iter::Peekable;
use std::str::CharIndices;

/// What ends a word outside quotes.
const ENDS: &str = " \t\n;&|<>()";

/// A word as it stands, and what it is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) line: usize,
    pub(super) raw: &'a str,
    pub(super) parts: Vec<Part>,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Characters, without their quotes.
    Text(String),
    /// `$NAME`, `${NAME}`, or with what stands for it: `${NAME-4}`, and `${NAME:-4}` for an empty one as well.
    Variable { name: String, instead: Option<(Vec<Part>, Empty)> },
    /// What only a shell can tell.
    Unknown,
}

/// Whether a default also stands for an empty value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Empty {
    Counts,
    IsUnset,
}

/// The text ended in the middle of something.
#[derive(Debug)]
pub(super) struct Unended;

impl Word<'_> {
    /// The characters that are no reference, as they read without quotes.
    pub(super) fn text(&self) -> String {
        let text = |part: &Part| if let Part::Text(text) = part { text.clone() } else { " ".to_owned() };
        self.parts.iter().map(text).collect()
    }

    /// Whether a shell sees nothing here: the line goes on.
    pub(super) fn is_nothing(&self) -> bool {
        self.raw.replace("\\\n", "").is_empty()
    }

    /// Name and value, if the word is an assignment wherever it stands: its name has no quotes.
    pub(super) fn assignment(&self) -> Option<(&str, Vec<Part>)> {
        let (name, _) = self.raw.split_once('=').filter(|(name, _)| is_name(name))?;
        let mut parts = self.parts.clone();
        let Some(Part::Text(first)) = parts.first_mut() else { return None };
        *first = first.strip_prefix(name)?.strip_prefix('=')?.to_owned();
        Some((name, parts))
    }
}

/// The value of some parts; `None` if a shell is needed for it.
pub(super) fn value(parts: &[Part], known: &dyn Fn(&str) -> Option<Option<String>>) -> Option<String> {
    let one = |part: &Part| match part {
        Part::Text(text) => Some(text.clone()),
        Part::Unknown => None,
        Part::Variable { name, instead } => match (known(name)?, instead) {
            (Some(found), Some((parts, Empty::IsUnset))) if found.is_empty() => value(parts, known),
            (Some(found), _) => Some(found),
            (None, Some((parts, _))) => value(parts, known),
            (None, None) => Some(String::new()),
        },
    };
    parts.iter().map(one).collect()
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Reads words out of a text.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) chars: Peekable<CharIndices<'a>>,
    pub(super) line: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, chars: text.char_indices().peekable(), line: 1 }
    }

    pub(super) fn at(&mut self) -> usize {
        self.chars.peek().map_or(self.text.len(), |(at, _)| *at)
    }

    pub(super) fn peek(&mut self) -> Option<char> {
        self.chars.peek().map(|(_, char)| *char)
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let (_, char) = self.chars.next()?;
        self.line += usize::from(char == '\n');
        Some(char)
    }

    pub(super) fn take(&mut self, wanted: char) -> bool {
        let is_next = self.peek() == Some(wanted);
        if is_next {
            self.next();
        }
        is_next
    }

    /// The word that begins here.
    pub(super) fn word(&mut self) -> Result<Word<'a>, Unended> {
        let (line, begin) = (self.line, self.at());
        let parts = self.parts(ENDS, false)?;
        let end = self.at();
        Ok(Word { line, raw: &self.text[begin..end], parts })
    }

    /// Parts up to one of the characters that end them, which stays.
    fn parts(&mut self, ends: &'static str, in_quotes: bool) -> Result<Vec<Part>, Unended> {
        let mut parts = vec![Part::Text(String::new())];
        while let Some(char) = self.peek().filter(|char| !ends.contains(*char)) {
            self.next();
            match char {
                '\\' => self.escaped(in_quotes, &mut parts)?,
                '\'' if !in_quotes => {
                    let quoted = self.until('\'')?;
                    push(&mut parts, quoted);
                }
                '"' => {
                    // Within braces that are within quotes, quotes change nothing of what counts here.
                    let quoted = self.parts("\"", true)?;
                    self.take('"').then_some(()).ok_or(Unended)?;
                    quoted.into_iter().for_each(|part| join(&mut parts, part));
                }
                '`' => {
                    self.until('`')?;
                    parts.push(Part::Unknown);
                }
                '$' => {
                    let part = self.reference(in_quotes)?;
                    join(&mut parts, part);
                }
                char => push(&mut parts, char),
            }
        }
        Ok(parts)
    }

    fn escaped(&mut self, in_quotes: bool, parts: &mut Vec<Part>) -> Result<(), Unended> {
        match self.next().ok_or(Unended)? {
            // The line goes on.
            '\n' => {}
            char if in_quotes && !"$`\"\\".contains(char) => push(parts, format!("\\{char}")),
            char => push(parts, char),
        }
        Ok(())
    }

    /// What follows a `$`.
    fn reference(&mut self, in_quotes: bool) -> Result<Part, Unended> {
        match self.peek() {
            Some('(') => {
                self.next();
                self.skip(')').map(|()| Part::Unknown)
            }
            Some('{') => {
                self.next();
                self.braces(in_quotes)
            }
            Some(char) if char.is_ascii_alphabetic() || char == '_' => {
                Ok(Part::Variable { name: self.name(), instead: None })
            }
            // `$'...'` and `$"..."` are not of every shell; `$?` and its like are of what was run.
            Some(char) if !ENDS.contains(char) && char != '"' => Ok(Part::Unknown),
            Some('"') if !in_quotes => Ok(Part::Unknown),
            _ => Ok(Part::Text("$".to_owned())),
        }
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(char) = self.peek().filter(|char| char.is_ascii_alphanumeric() || *char == '_') {
            self.next();
            name.push(char);
        }
        name
    }

    /// What follows `${`.
    fn braces(&mut self, in_quotes: bool) -> Result<Part, Unended> {
        let name = self.name();
        let is_plain = is_name(&name) && self.peek() == Some('}');
        let empty = if self.take(':') { Empty::IsUnset } else { Empty::Counts };
        let has_default = is_name(&name) && !is_plain && self.take('-');
        if !is_plain && !has_default {
            return self.skip('}').map(|()| Part::Unknown);
        }
        let instead = if has_default { Some((self.parts("}", in_quotes)?, empty)) } else { None };
        self.take('}').then_some(Part::Variable { name, instead }).ok_or(Unended)
    }

    /// Passes over all up to the bracket that closes this, which goes too.
    fn skip(&mut self, close: char) -> Result<(), Unended> {
        let mut open = vec![close];
        let mut before = ' ';
        while let Some(wanted) = open.last().copied() {
            let char = self.next().ok_or(Unended)?;
            let is_reference = std::mem::replace(&mut before, char) == '$';
            match char {
                char if char == wanted => drop(open.pop()),
                '\\' => drop(self.next()),
                '\'' => drop(self.until('\'')?),
                '"' => {
                    self.parts("\"", true)?;
                    self.take('"').then_some(()).ok_or(Unended)?;
                }
                '(' if is_reference || wanted == ')' => open.push(')'),
                '{' if is_reference => open.push('}'),
                _ => {}
            }
        }
        Ok(())
    }

    fn until(&mut self, end: char) -> Result<String, Unended> {
        let mut text = String::new();
        loop {
            match self.next().ok_or(Unended)? {
                char if char == end => return Ok(text),
                char => text.push(char),
            }
        }
    }
}

fn push(parts: &mut Vec<Part>, text: impl ToString) {
    join(parts, Part::Text(text.to_string()));
}

/// Adds a part, text to text.
fn join(parts: &mut Vec<Part>, part: Part) {
    match (parts.last_mut(), part) {
        (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
        (_, part) => parts.push(part),
    }
}
