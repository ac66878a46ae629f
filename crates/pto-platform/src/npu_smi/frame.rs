//! The frame that `npu-smi info` draws: what kind of line a line is.

/// Bars that a line needs to count as a row when something stands before the first one.
const BARS_OF_A_ROW: usize = 2;
/// Dashes and corners at the end of a line that make it a border.
const SHORTEST_BORDER: usize = 5;

/// One line of the output.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// Nothing, or only blanks.
    Blank,
    /// `+-----+` or `+=====+`.
    Border,
    /// The cells between bars, trimmed.
    Row(Vec<&'a str>),
    /// Anything else, trimmed.
    Text(&'a str),
}

impl<'a> Line<'a> {
    /// Recognises a line by its bars and corners alone: widths differ between drivers, a log puts its prefix in front, and
    /// a truncated file loses the last bar.
    pub(super) fn of(line: &'a str) -> Self {
        let line = line.trim();
        if line.is_empty() {
            Self::Blank
        } else if is_border(line) {
            Self::Border
        } else {
            row(line).map_or(Self::Text(line), Self::Row)
        }
    }
}

fn is_border(line: &str) -> bool {
    let before = line.trim_end_matches(['+', '-', '=']);
    let border = &line[before.len()..];
    border.len() >= SHORTEST_BORDER && border.trim_start_matches(['-', '=']).starts_with('+') && !before.contains('|')
}

fn row(line: &str) -> Option<Vec<&str>> {
    let from = line.find('|')?;
    let framed = from == 0 || (line.ends_with('|') && line.matches('|').count() >= BARS_OF_A_ROW);
    framed.then(|| {
        let inner = &line[from + 1..];
        inner.strip_suffix('|').unwrap_or(inner).split('|').map(str::trim).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart_whatever_their_width() {
        assert_eq!(Line::of(" \t"), Line::Blank);
        for border in ["+-----+-----+", "+====+", "2026-01-01T00:00:00+08:00 +------+", "+----------"] {
            assert_eq!(Line::of(border), Line::Border, "{border}");
        }
        assert_eq!(Line::of("| a   b| c |\r"), Line::Row(vec!["a   b", "c"]));
        assert_eq!(Line::of("12:00:01 | a | b |"), Line::Row(vec!["a", "b"]));
        assert_eq!(Line::of("| a | b"), Line::Row(vec!["a", "b"]));
        for text in ["$ npu-smi info | grep 910", "dcmi init failed", "-----", "a--"] {
            assert_eq!(Line::of(text), Line::Text(text));
        }
    }
}
