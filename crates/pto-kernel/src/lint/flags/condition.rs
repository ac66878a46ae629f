//! Conditions as texts: which are the same, which are constant.

use super::super::tree::one_line;

/// `x` and whether the condition was `!x`.
pub(super) fn normalized(condition: &str) -> (String, bool) {
    let mut bare = one_line(condition);
    let mut negated = false;
    loop {
        let inner = bare.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).filter(|inner| is_balanced(inner));
        if let Some(inner) = inner {
            bare = inner.trim().to_owned();
        } else if let Some(rest) = bare.strip_prefix('!').filter(|rest| is_one_operand(rest)) {
            negated = !negated;
            bare = rest.trim().to_owned();
        } else {
            return (bare, negated);
        }
    }
}

pub(super) fn is_balanced(text: &str) -> bool {
    let mut depth = 0;
    text.chars().all(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth >= 0
    }) && depth == 0
}

pub(super) fn is_one_operand(text: &str) -> bool {
    let is_word = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let in_brackets = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).is_some_and(is_balanced);
    let call = text
        .split_once('(')
        .is_some_and(|(name, rest)| is_word(name) && rest.strip_suffix(')').is_some_and(is_balanced));
    is_word(text) || in_brackets || call
}

pub(super) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.filter(|word| {
        !word.starts_with(|c: char| c.is_ascii_digit()) && !matches!(*word, "true" | "false" | "defined")
    })
}

/// Macros, template parameters and constants are written in capitals.
pub(super) fn is_constant(name: &str) -> bool {
    !name.chars().any(|c| c.is_ascii_lowercase())
}
