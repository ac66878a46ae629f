//! Captured streams: bounded memory, head and tail kept.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Deref;

use crate::mask::Mask;

/// What a child wrote to one stream. Dereferences to its bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Captured {
    bytes: Vec<u8>,
    dropped: u64,
    mask: Mask,
}

impl Captured {
    /// The bytes. If [`dropped`](Self::dropped) is not 0, a line between head and tail says how much is missing.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes as text, invalid UTF-8 replaced. Secrets are *not* masked: this is for parsing.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }

    /// The text for people: declared secrets and the user part of URLs replaced by `***`.
    pub fn masked(&self) -> String {
        self.mask.apply(&self.text())
    }

    /// How many bytes were left out in the middle because the stream was longer than the capture limit. Whoever parses
    /// a stream should refuse it unless this is 0.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl Deref for Captured {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl std::fmt::Debug for Captured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.masked())
    }
}

/// Collects one stream.
pub(crate) struct Recorder {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    half: usize,
    dropped: u64,
}

impl Recorder {
    pub(crate) fn new(limit: usize) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), half: limit / 2, dropped: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let (to_head, to_tail) = bytes.split_at(bytes.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(to_head);
        self.tail.extend(to_tail);
        let excess = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..excess);
        self.dropped += excess as u64;
    }

    pub(crate) fn finish(self, mask: Mask) -> Captured {
        let mut bytes = self.head;
        if self.dropped > 0 {
            bytes.extend_from_slice(format!("\n[... {} bytes left out ...]\n", self.dropped).as_bytes());
        }
        bytes.extend(self.tail);
        Captured { bytes, dropped: self.dropped, mask }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(limit: usize, chunks: &[&str]) -> Captured {
        let mut recorder = Recorder::new(limit);
        chunks.iter().for_each(|chunk| recorder.push(chunk.as_bytes()));
        recorder.finish(Mask::default())
    }

    #[test]
    fn short_streams_are_whole() {
        let captured = record(8, &["abc", "de", "fgh"]);
        assert_eq!((captured.text().as_ref(), captured.dropped()), ("abcdefgh", 0));
    }

    #[test]
    fn long_streams_keep_head_and_tail() {
        let captured = record(8, &["abcdef", "ghi", "jklm"]);
        assert_eq!((captured.text().as_ref(), captured.dropped()), ("abcd\n[... 5 bytes left out ...]\njklm", 5));
    }
}
