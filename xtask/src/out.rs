//! Results on stdout: text for people or one JSON document, written at once when the work is done.

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
    progress::end();
    let mut stdout = anstream::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::blocked(format!("cannot write to stdout: {error}"), None))
        }
        _ => Ok(()),
    }
}

/// Writes one document.
///
/// # Errors
/// As [`text`].
pub fn json(document: &impl Serialize) -> Result<(), Failure> {
    let document = serde_json::to_string_pretty(document).map_err(|error| Failure::io(&error.into()))?;
    text(&(document + "\n"))
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
        return refuse("its directory does not exist", format!("`mkdir -p {}` makes it", dir.display()));
    }
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => refuse("it is there and is no regular file", "name another file".to_owned()),
        _ => Ok(()),
    }
}
