//! Flags by the names that the source gives them.

use std::fmt;

/// One flag of a core: who sets it, who waits for it, and which of eight.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) event: String,
}

impl Key {
    /// From arguments as written, names already replaced by what they stand for.
    pub(super) fn new(from: &str, to: &str, event: &str) -> Self {
        Self { from: from.to_owned(), to: to.to_owned(), event: canonical_event(event) }
    }

    /// Whether every part is a name of the hardware's, so that two keys are one flag exactly if they are equal.
    pub(super) fn is_literal(&self) -> bool {
        is_pipe(&self.from) && is_pipe(&self.to) && is_event(&self.event)
    }

    /// Whether two keys can be one flag.
    pub(super) fn may_equal(&self, other: &Self) -> bool {
        part(&self.from, &other.from, is_pipe)
            && part(&self.to, &other.to, is_pipe)
            && part(&self.event, &other.event, is_event)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.from, self.to, self.event)
    }
}

fn part(one: &str, other: &str, is_literal: fn(&str) -> bool) -> bool {
    one == other || !is_literal(one) || !is_literal(other)
}

fn is_pipe(word: &str) -> bool {
    word.strip_prefix("PIPE_").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit()))
}

fn is_event(word: &str) -> bool {
    word.strip_prefix("EVENT_ID").is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit()))
}

/// `EVENT_ID0` for `0`, for `(event_t)0` and for `static_cast<event_t>(0)`.
fn canonical_event(written: &str) -> String {
    let bare = without_casts(written);
    if !bare.is_empty() && bare.chars().all(|c| c.is_ascii_digit()) {
        format!("EVENT_ID{bare}")
    } else {
        bare.to_owned()
    }
}

/// An expression without casts to `event_t` and without brackets around the whole.
pub(super) fn without_casts(written: &str) -> &str {
    let mut bare = written.trim();
    loop {
        let inner = ["(event_t)", "static_cast<event_t>", "event_t"].iter().find_map(|cast| bare.strip_prefix(cast));
        let next = inner.or_else(|| bare.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'))).map(str::trim);
        match next {
            Some(next) if next != bare && !next.is_empty() => bare = next,
            _ => return bare,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_known_through_casts() {
        for written in ["EVENT_ID3", "3", "(event_t)3", "static_cast<event_t>(3)", "(event_t)(3)", "event_t(3)"] {
            let key = Key::new("PIPE_V", "PIPE_MTE3", written);
            assert_eq!((key.event.as_str(), key.is_literal()), ("EVENT_ID3", true), "{written}");
        }
    }

    #[test]
    fn a_variable_can_be_any_event() {
        let variable = Key::new("PIPE_V", "PIPE_MTE3", "event");
        assert!(!variable.is_literal());
        assert!(variable.may_equal(&Key::new("PIPE_V", "PIPE_MTE3", "0")));
        assert!(!variable.may_equal(&Key::new("PIPE_V", "PIPE_MTE2", "0")));
        assert!(!Key::new("PIPE_V", "PIPE_MTE3", "1").may_equal(&Key::new("PIPE_V", "PIPE_MTE3", "0")));
    }
}
