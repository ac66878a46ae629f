//! Making text that comes from a registry safe to show.

/// Enough for any message of a registry; a page of HTML is longer.
const LONGEST: usize = 300;

/// The text as one line without control characters, without users in addresses, and not too long.
pub(super) fn shown(text: &str) -> String {
    // However much was sent, only this much is processed.
    let start: String = text.chars().take(8 * LONGEST).collect();
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    let plain: String = start.chars().filter(|c| !is_unseen(*c)).map(visible).collect();
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = pto_process::masked(&line);
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

/// Characters that are invisible or change the order in which others are shown.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_clean_line_is_left() {
        assert_eq!(shown("no\n \u{1b}[2Jsuch\ttag at https://me:pw@h/"), "no [2Jsuch tag at https://***@h/");
        assert_eq!(shown("a\u{202e}b"), "ab");
        assert_eq!(shown(&"x".repeat(2 << 20)), format!("{}...", "x".repeat(LONGEST)));
    }

    proptest! {
        #[test]
        fn nothing_moves_the_cursor(text in any::<String>()) {
            let shown = shown(&text);
            prop_assert!(!shown.contains(char::is_control) && shown.chars().count() <= LONGEST + 3);
        }
    }
}
