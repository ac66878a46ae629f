//! Masking: what people see must not hold a password.

use std::sync::Arc;

const MASK: &str = "***";

/// The text with the user part of every URL, and what follows `Basic` or `Bearer` in a header, replaced by `***`: for text
/// that comes from elsewhere than a child.
pub fn masked(text: &str) -> String {
    mask_headers(&mask_urls(text))
}

/// The secrets of one invocation. Cheap to clone; its `Debug` output shows no secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Mask(Arc<Vec<String>>);

impl Mask {
    pub(crate) fn add(&mut self, secret: String) {
        // An empty secret would match between any two letters.
        if !secret.is_empty() {
            let secrets = Arc::make_mut(&mut self.0);
            secrets.push(secret);
            // The longest first: a secret that contains another one must not be torn apart by it.
            secrets.sort_by_key(|s| std::cmp::Reverse(s.len()));
        }
    }

    /// The text with every declared secret, and all that [`masked`] replaces, replaced by `***`.
    pub(crate) fn apply(&self, text: &str) -> String {
        let mut masked = masked(text);
        for secret in self.0.iter() {
            if masked.contains(secret.as_str()) {
                masked = masked.replace(secret.as_str(), MASK);
            }
        }
        masked
    }
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mask({} secrets)", self.0.len())
    }
}

/// `Basic dXNlcjpwYXNz` becomes `Basic ***`: some servers repeat the header that they refuse.
fn mask_headers(text: &str) -> String {
    let mut masked = text.to_owned();
    for scheme in ["Basic ", "Bearer "] {
        let mut from = 0;
        while let Some(found) = masked[from..].find(scheme) {
            let start = from + found + scheme.len();
            let rest = &masked[start..];
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+/=-_.~".contains(c))).unwrap_or(rest.len());
            from = start;
            if is_token(&rest[..end]) {
                masked.replace_range(start..start + end, MASK);
                from += MASK.len();
            }
        }
    }
    masked
}

/// Whether it is no word of a language: those have no digits, and capitals at their beginning alone.
fn is_token(word: &str) -> bool {
    const SHORTEST: usize = 4;
    let is_odd = |c: char| c.is_ascii_digit() || c.is_ascii_uppercase() || c == '=';
    word.len() >= SHORTEST && word.chars().skip(1).any(is_odd)
}

/// `http://user:pass@host/` becomes `http://***@host/`. The authority of a URL ends at `/`, `?`, `#`, a blank or a
/// quote (RFC 3986, section 3.2), and its user part at the last `@` in it.
fn mask_urls(text: &str) -> String {
    const SCHEME_END: &str = "://";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(SCHEME_END) {
        let (before, after) = rest.split_at(at + SCHEME_END.len());
        out.push_str(before);
        let end = after
            .find(|c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '<' | '>'))
            .unwrap_or(after.len());
        let (authority, tail) = after.split_at(end);
        match authority.rfind('@') {
            Some(user_end) => {
                out.push_str(MASK);
                out.push_str(&authority[user_end..]);
            }
            None => out.push_str(authority),
        }
        rest = tail;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn user_parts_of_urls_are_masked() {
        for (given, expected) in [
            ("http://user:pass@host/simple", "http://***@host/simple"),
            ("get https://tok@h:8080?x=a@b now", "get https://***@h:8080?x=a@b now"),
            ("two http://a:b@c ssh://d@e/f", "two http://***@c ssh://***@e/f"),
            ("http://p@ss@host", "http://***@host"),
            ("no user http://host/a@b", "no user http://host/a@b"),
            ("'http://u:p@h' \"x\"", "'http://***@h' \"x\""),
            ("git@host:path", "git@host:path"),
            ("://", "://"),
            ("401 (bad Basic dXNlcjpwYXNz) and Bearer eyJh.b-c_d=, no", "401 (bad Basic ***) and Bearer ***, no"),
            ("Basic usage; Bearer of news; Basic ", "Basic usage; Bearer of news; Basic "),
        ] {
            assert_eq!(Mask::default().apply(given), expected);
        }
    }

    #[test]
    fn the_longest_secret_wins() {
        let mut mask = Mask::default();
        for secret in ["", "abc", "abcdef"] {
            mask.add(secret.to_owned());
        }
        assert_eq!(mask.apply("x abcdef y abc z"), "x *** y *** z");
        assert_eq!(format!("{mask:?}"), "Mask(2 secrets)");
    }

    proptest! {
        #[test]
        fn no_secret_survives(before in ".{0,20}", secret in "[a-z0-9]{4,12}", after in ".{0,20}") {
            let mut mask = Mask::default();
            mask.add(secret.clone());
            let masked = mask.apply(&format!("{before}{secret}{after} http://u:{secret}@h/"));
            prop_assert!(!masked.contains(&secret), "{}", masked);
        }
    }
}
