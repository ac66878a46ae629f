//! Cuts a byte stream into lines as they come.

/// A line longer than this is handed on in pieces, so that a stream without line ends does not fill the memory.
const MAX_LINE: usize = 64 * 1024;

/// The unfinished line of one stream.
#[derive(Default)]
pub(crate) struct Lines(Vec<u8>);

impl Lines {
    /// Takes a chunk and hands on every line that is complete, without its line end.
    pub(crate) fn push(&mut self, chunk: &[u8], mut on_line: impl FnMut(&str)) {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            self.0.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.0.len() >= MAX_LINE {
                self.hand_on(&mut on_line);
            }
        }
    }

    /// Hands on a last line that has no line end.
    pub(crate) fn finish(&mut self, mut on_line: impl FnMut(&str)) {
        if !self.0.is_empty() {
            self.hand_on(&mut on_line);
        }
    }

    fn hand_on(&mut self, on_line: &mut impl FnMut(&str)) {
        let line = self.0.strip_suffix(b"\n").unwrap_or(&self.0);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        on_line(&String::from_utf8_lossy(line));
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(chunks: &[&[u8]]) -> Vec<String> {
        let (mut lines, mut seen) = (Lines::default(), Vec::new());
        chunks.iter().for_each(|chunk| lines.push(chunk, |line| seen.push(line.to_owned())));
        lines.finish(|line| seen.push(line.to_owned()));
        seen
    }

    #[test]
    fn lines_are_cut_at_line_ends_only() {
        assert_eq!(cut(&[b"a\nb", b"c\r\n\n", b"last"]), ["a", "bc", "", "last"]);
    }

    #[test]
    fn an_endless_line_comes_in_pieces() {
        assert_eq!(cut(&[&vec![b'x'; MAX_LINE], b"y"]).iter().map(String::len).collect::<Vec<_>>(), [MAX_LINE, 1]);
    }

    proptest! {
        #[test]
        fn chunk_borders_do_not_matter(text in "[a-z\n]{0,60}", at in 0usize..60) {
            let bytes = text.as_bytes();
            let (left, right) = bytes.split_at(at.min(bytes.len()));
            prop_assert_eq!(cut(&[left, right]), text.lines().map(str::to_owned).collect::<Vec<_>>());
        }
    }
}
