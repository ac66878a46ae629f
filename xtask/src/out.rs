//! Results on stdout: text for people or one JSON document, written at once when the work is done; and what is said beside
//! them on stderr.
//!
//! Names, messages and records come from files that anybody may have written, so what is for people holds no control
//! character but our own styles: a terminal obeys the others.

use std::io::{ErrorKind, Write as _};
use std::path::Path;

use pto_context::{Readable, write_whole};
use serde::Serialize;

use crate::exit::Failure;
use crate::progress;

/// Writes text, styled or not as stdout wants it.
///
/// # Errors
/// Stdout cannot be written: a full disk. A reader that went away (`| head`) wanted no more and is no error.
pub fn text(text: &str) -> Result<(), Failure> {
    print(&visible(text))
}

/// Writes one document.
///
/// # Errors
/// As [`text`].
pub fn json(document: &impl Serialize) -> Result<(), Failure> {
    let document = serde_json::to_string_pretty(document).map_err(|error| Failure::io(&error.into()))?;
    print(&(document + "\n"))
}

fn print(text: &str) -> Result<(), Failure> {
    progress::end();
    let mut stdout = anstream::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::blocked(format!("cannot write to stdout: {error}"), None))
        }
        _ => Ok(()),
    }
}

/// Says something on stderr, in lines of its own. That nobody can read it is no error.
pub fn say(text: &str) {
    let _ = writeln!(anstream::stderr(), "{}", visible(text));
}

/// A text without what a terminal would obey or show elsewhere than it stands: control characters but line ends and tabs,
/// and marks that turn the direction of writing. Styles stay.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match style_length(rest) {
            0 => c.len_utf8(),
            length => length,
        };
        let (piece, after) = rest.split_at(length);
        let stays = length > c.len_utf8() || matches!(c, '\n' | '\t') || !is_obeyed(c);
        out.push_str(if stays { piece } else { "\u{fffd}" });
        rest = after;
    }
    out
}

/// A text that somebody else wrote, on one line: not even styles and line ends stay.
pub fn plain(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\r' | '\t' => ' ',
        c if is_obeyed(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    text.chars().map(shown).collect()
}

fn is_obeyed(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// How long the style is that a text begins with, as ECMA-48 has it: `ESC [ 1 ; 31 m`.
fn style_length(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\x1b[") else { return 0 };
    let digits = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
    if rest[digits..].starts_with('m') { "\x1b[".len() + digits + 1 } else { 0 }
}

/// Writes a file that the user named: whole, or not at all. What is no regular file is refused, since a pipe without a reader
/// would wait for good.
///
/// # Errors
/// It cannot be written.
pub fn file(path: &Path, text: &str) -> Result<(), Failure> {
    write_whole(path, Readable::ByUmask, |file| file.write_all(text.as_bytes())).map_err(|error| Failure::io(&error))
}

/// Refuses a place where no file can be, before the work is done whose results it is to hold.
///
/// # Errors
/// There is no such directory, or something else than a file lies there.
pub fn refuse_unwritable(path: &Path) -> Result<(), Failure> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let refuse =
        |what: &str, hint: String| Err(Failure::usage(format!("cannot write `{}`: {what}", path.display()), hint));
    if !dir.is_dir() {
        return refuse(
            "its directory does not exist",
            format!("`mkdir -p {}` makes it", pto_process::shell_word(&dir.to_string_lossy())),
        );
    }
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => refuse("it is there and is no regular file", "name another file".to_owned()),
        Err(error) if error.kind() != ErrorKind::NotFound => refuse(&error.to_string(), "name another file".to_owned()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_nothing_but_styles() {
        let styled = "\x1b[1m\x1b[31merror:\x1b[0m `a`\tb\n";
        assert_eq!(visible(styled), styled);
        assert_eq!(visible("\x1b[2J\x1b]0;title\x07a\rb\u{9b}c\u{202e}d\x1b[1"), "�[2J�]0;title�a�b�c�d�[1");
        assert_eq!(plain("\x1b[31mred\nä"), "�[31mred ä");
    }
}
