use std::fmt::{Display, Formatter, Result};

/// A number of things in words: `1 card`, `2 cards`, `3 directories`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted<'a> {
    count: u64,
    noun: &'a str,
}

/// So many of what a noun in the singular names.
pub fn counted(count: impl TryInto<u64>, noun: &str) -> Counted<'_> {
    Counted { count: count.try_into().unwrap_or(u64::MAX), noun }
}

impl Display for Counted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self { count, noun } = self;
        let stem = noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
        match (*count, stem) {
            (1, _) => write!(f, "1 {noun}"),
            (count, Some(stem)) => write!(f, "{count} {stem}ies"),
            (count, None) => write!(f, "{count} {noun}s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_is_one() {
        for (count, noun, words) in
            [(0, "card", "0 cards"), (1, "card", "1 card"), (2, "directory", "2 directories"), (3, "key", "3 keys")]
        {
            assert_eq!(counted(count, noun).to_string(), words);
        }
        assert_eq!(counted(1_usize, "entry").to_string(), "1 entry");
    }
}
