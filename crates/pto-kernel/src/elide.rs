//! Long texts in messages.

/// An expression longer than this hides what is said of it.
const MOST: usize = 120;

/// The text, or its beginning and its end.
pub(crate) fn elided(text: &str) -> String {
    let length = text.chars().count();
    if length <= MOST {
        return text.to_owned();
    }
    let end: String = text.chars().skip(length - MOST / 3).collect();
    let begin: String = text.chars().take(MOST - MOST / 3).collect();
    format!("{begin} ... {end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_left_out() {
        assert_eq!(elided("x + y"), "x + y");
        let text = elided(&format!("begin{}ä{}end", " + x".repeat(500), " + y".repeat(500)));
        assert!(text.starts_with("begin + x") && text.contains(" ... ") && text.ends_with("+ yend"), "{text}");
        assert_eq!(text.chars().count(), MOST + " ... ".len());
    }
}
