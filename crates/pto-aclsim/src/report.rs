//! Lines on stderr, for what no return code can carry. Written with one `write` and no lock or allocation, so that a
//! signal handler may use it.

use std::fmt::{self, Write};

/// A line put together on the stack. What does not fit is cut off.
pub(crate) struct Line {
    bytes: [u8; 512],
    len: usize,
}

impl Line {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; 512], len: 0 }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Writes the line to stderr. Nobody is left to tell when that fails.
    pub(crate) fn print(mut self) {
        self.len = self.len.min(self.bytes.len() - 1);
        self.bytes[self.len] = b'\n';
        // SAFETY: the buffer holds `len + 1` initialised bytes; descriptor 2 may be closed, which is an error code.
        unsafe { libc::write(2, self.bytes.as_ptr().cast(), self.len + 1) };
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.bytes[self.len..];
        let taken = text.len().min(room.len());
        room[..taken].copy_from_slice(&text.as_bytes()[..taken]);
        self.len += taken;
        Ok(())
    }
}

/// Prints `aclsim: MESSAGE` on stderr.
pub(crate) fn say(message: fmt::Arguments<'_>) {
    let mut line = Line::new();
    let _ = write!(line, "aclsim: {message}"); // a `Line` never fails
    line.print();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_does_not_fit_is_cut() {
        let mut line = Line::new();
        write!(line, "{}", "x".repeat(2000)).unwrap();
        assert_eq!(line.as_bytes().len(), 512);
    }
}
