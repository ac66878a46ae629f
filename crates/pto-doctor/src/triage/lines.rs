//! Lines of a stream of any size in constant memory.

use std::io::{BufRead, ErrorKind, Result};

/// Bytes of a line that count; what follows is read and dropped. The longest lines with facts, core exceptions with all
/// registers, have about two thousand.
pub const LINE_LIMIT: usize = 16 * 1024;

/// How much was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) lines: u64,
    pub(super) bytes: u64,
    /// Lines that were longer than [`LINE_LIMIT`].
    pub(super) cut: u64,
}

/// Calls `line` with each line, without its end, and the line's number from 1.
///
/// # Errors
/// As the reader; `extent` says how far it came.
pub(super) fn for_each_line(
    mut reader: impl BufRead,
    extent: &mut Extent,
    mut line: impl FnMut(u64, &[u8]),
) -> Result<()> {
    let mut partial: Vec<u8> = Vec::new();
    let mut pending = false; // a line has begun and its end is not seen yet
    let mut length = 0_usize; // of that line, dropped bytes included
    let mut finish = |extent: &mut Extent, bytes: &[u8], length: usize| {
        extent.lines += 1;
        extent.cut += u64::from(length > LINE_LIMIT);
        let bytes = &bytes[..bytes.len().min(LINE_LIMIT)];
        line(extent.lines, bytes.strip_suffix(b"\r").unwrap_or(bytes));
    };
    loop {
        let buffer = match reader.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer.is_empty() {
            break;
        }
        let used = buffer.len();
        let mut rest = buffer;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            if pending {
                append(&mut partial, &rest[..end]);
                finish(extent, &partial, length + end);
                (pending, length) = (false, 0);
                partial.clear();
            } else {
                finish(extent, &rest[..end], end);
            }
            rest = &rest[end + 1..];
        }
        if !rest.is_empty() {
            append(&mut partial, rest);
            (pending, length) = (true, length.saturating_add(rest.len()));
        }
        extent.bytes += used as u64;
        reader.consume(used);
    }
    if pending {
        finish(extent, &partial, length);
    }
    Ok(())
}

fn append(partial: &mut Vec<u8>, bytes: &[u8]) {
    let room = LINE_LIMIT - partial.len();
    partial.extend_from_slice(&bytes[..bytes.len().min(room)]);
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    fn lines(bytes: &[u8], capacity: usize) -> (Vec<(u64, Vec<u8>)>, Extent) {
        let (mut seen, mut extent) = (Vec::new(), Extent::default());
        let reader = BufReader::with_capacity(capacity, bytes);
        for_each_line(reader, &mut extent, |number, line| seen.push((number, line.to_vec()))).unwrap();
        (seen, extent)
    }

    #[test]
    fn a_long_line_is_cut_and_the_next_one_is_whole() {
        let mut text = vec![b'x'; 3 * LINE_LIMIT];
        text.extend_from_slice(b"\nshort\r\n");
        let (seen, extent) = lines(&text, 100);
        assert_eq!((seen[0].1.len(), &seen[1]), (LINE_LIMIT, &(2, b"short".to_vec())));
        assert_eq!(extent, Extent { lines: 2, bytes: text.len() as u64, cut: 1 });
    }

    proptest! {
        #[test]
        fn the_size_of_the_buffer_changes_nothing(text in "[ab\n\r]{0,200}", capacity in 1_usize..40) {
            let (seen, extent) = lines(text.as_bytes(), capacity);
            let expected: Vec<_> =
                text.split_terminator('\n').map(|line| line.strip_suffix('\r').unwrap_or(line).as_bytes().to_vec()).collect();
            let seen: Vec<_> = seen.into_iter().map(|(_, line)| line).collect();
            prop_assert_eq!(seen, expected);
            prop_assert_eq!(extent.bytes, text.len() as u64);
        }
    }
}
