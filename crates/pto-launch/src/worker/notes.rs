//! What the CPU runtime counted, when the kernel was built with it.

use std::ffi::c_char;

use libloading::os::unix::Library;

use crate::verdict::Note;

/// The runtime's function: writes JSON, and says how long that is.
const SYMBOL: &[u8] = b"ptocpu_report";

/// More than this many bytes no runtime has to say.
const LIMIT: usize = 16 << 20;

pub(super) fn read(kernel: &Library) -> Vec<Note> {
    type Report = unsafe extern "C" fn(*mut c_char, usize) -> usize;
    // SAFETY: the symbol, where it exists, is the CPU runtime's and has this signature.
    let Ok(report) = (unsafe { kernel.get::<Report>(SYMBOL) }) else { return Vec::new() };
    // SAFETY: with size 0 nothing is written.
    let size = unsafe { report(std::ptr::null_mut(), 0) }.min(LIMIT);
    let mut text = vec![0u8; size + 1];
    // SAFETY: the buffer has the size that is given.
    unsafe { report(text.as_mut_ptr().cast(), text.len()) };
    parse(&text)
}

/// What cannot be read is left out: notes never decide.
fn parse(text: &[u8]) -> Vec<Note> {
    let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
    serde_json::from_str(&String::from_utf8_lossy(text)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_end_at_the_first_nul_and_survive_foreign_bytes() {
        let notes = parse(b"[{\"text\":\"a\xff\",\"file\":\"f.cpp\",\"line\":3,\"count\":7}]\0garbage");
        assert_eq!(notes, [Note { text: "a\u{fffd}".into(), file: "f.cpp".into(), line: 3, count: 7 }]);
    }

    #[test]
    fn garbage_is_no_note() {
        for garbage in [&b""[..], b"\0", b"[{", b"{\"launched\":1}", b"[1]"] {
            assert_eq!(parse(garbage), []);
        }
    }
}
