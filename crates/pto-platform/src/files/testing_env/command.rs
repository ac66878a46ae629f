//! Commands of a shell's text, and which of them surely run, once and in their order.

use super::word::{Reader, Unended, Word};

/// What stands before a command and changes nothing of it.
const LEADING: [&str; 5] = ["if", "while", "until", "{", "!"];
/// The same within something, with what that ends with.
const MIDDLE: [(&str, &str); 4] = [("then", "fi"), ("elif", "fi"), ("else", "fi"), ("do", "done")];
/// What begins something that ends with the second of each.
const PAIRS: [(&str, &str); 8] = [
    ("if", "fi"),
    ("while", "done"),
    ("until", "done"),
    ("for", "done"),
    ("select", "done"),
    ("case", "esac"),
    ("{", "}"),
    ("(", ")"),
];
/// What follows one of these may not run, or may be read as something else.
const TURNS: [&str; 5] = ["return", "exit", "exec", "alias", "function"];

/// A simple command: words between separators.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Command<'a> {
    pub(super) line: usize,
    pub(super) words: Vec<Word<'a>>,
    /// Whether it may not run, or not in this shell: it is part of something.
    pub(super) is_doubtful: bool,
}

/// The commands of a text. With the line from which nothing can be understood, if there is one.
pub(super) fn commands(text: &str) -> (Vec<Command<'_>>, Option<usize>) {
    let mut parser = Parser {
        reader: Reader::new(text),
        done: Vec::new(),
        current: Command::default(),
        open: vec![],
        turned: false,
    };
    let ended = parser.all();
    let line = parser.reader.line;
    parser.end();
    let is_whole = ended.is_ok() && parser.open.is_empty();
    (parser.done, (!is_whole).then_some(line))
}

struct Parser<'a> {
    reader: Reader<'a>,
    done: Vec<Command<'a>>,
    current: Command<'a>,
    /// What has to come, innermost last.
    open: Vec<&'static str>,
    /// Whether what follows may not run.
    turned: bool,
}

impl<'a> Parser<'a> {
    fn all(&mut self) -> Result<(), Unended> {
        while let Some(char) = self.reader.peek() {
            match char {
                ' ' | '\t' => drop(self.reader.next()),
                '#' => {
                    while self.reader.peek().is_some_and(|char| char != '\n') {
                        self.reader.next();
                    }
                }
                '\n' => {
                    self.reader.next();
                    // `a &&` goes on in the next line.
                    if !self.current.words.is_empty() {
                        self.end();
                    }
                }
                ';' | '&' | '|' | '<' | '>' | '(' | ')' => self.operator(char)?,
                _ => self.word()?,
            }
        }
        Ok(())
    }

    fn operator(&mut self, char: char) -> Result<(), Unended> {
        self.reader.next();
        let is_double = matches!(char, ';' | '&' | '|' | '<') && self.reader.take(char);
        match (char, is_double) {
            (';', false) => self.end(),
            (';', true) => {
                self.end();
                return (self.open.last() == Some(&"esac")).then_some(()).ok_or(Unended);
            }
            ('&', false) => {
                self.current.is_doubtful = true;
                self.end();
            }
            ('&' | '|', _) => {
                self.current.is_doubtful = true;
                self.end();
                self.current.is_doubtful = true;
            }
            ('(', _) => {
                self.current.is_doubtful = true;
                self.end();
                self.open.push(")");
            }
            (')', _) => {
                self.end();
                match self.open.last() {
                    Some(&")") => drop(self.open.pop()),
                    // Of a pattern.
                    Some(&"esac") => {}
                    _ => return Err(Unended),
                }
            }
            _ => {
                // The lines of a document that follows are no commands.
                self.turned |= is_double;
                self.current.is_doubtful = true;
            }
        }
        Ok(())
    }

    fn word(&mut self) -> Result<(), Unended> {
        let word = self.reader.word()?;
        if word.is_nothing() {
            return Ok(());
        }
        if self.current.words.is_empty() {
            if let Some((_, close)) = PAIRS.iter().find(|(begin, _)| *begin == word.raw) {
                self.open.push(close);
            } else if PAIRS.iter().any(|(_, close)| *close == word.raw) {
                let is_wanted = self.open.pop().is_some_and(|wanted| wanted == word.raw);
                return is_wanted.then_some(()).ok_or(Unended);
            }
            if let Some((_, close)) = MIDDLE.iter().find(|(middle, _)| *middle == word.raw) {
                return (self.open.last() == Some(close)).then_some(()).ok_or(Unended);
            }
            if LEADING.contains(&word.raw) {
                return Ok(());
            }
            self.current.line = word.line;
        }
        self.turned |= turns(&self.current, &word);
        self.current.words.push(word);
        Ok(())
    }

    /// The current command is whole.
    fn end(&mut self) {
        let mut command = std::mem::take(&mut self.current);
        if !command.words.is_empty() {
            command.is_doubtful |= self.turned || !self.open.is_empty();
            self.done.push(command);
        }
    }
}

/// Whether a word of a command is one of [`TURNS`], which quotes do not hide, nor do words before it.
fn turns(command: &Command<'_>, word: &Word<'_>) -> bool {
    let text = word.text();
    let is_evaluated = command.words.first().is_some_and(|first| first.text() == "eval");
    let mut inside = text.split(|char: char| !char.is_ascii_alphanumeric());
    TURNS.contains(&text.as_str()) || is_evaluated && inside.any(|word| TURNS.contains(&word))
}
