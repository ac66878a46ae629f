//! What was typed and must not be shown again.

use std::ffi::OsString;

const MASK: &str = "***";

/// The user parts of the addresses on a command line. Whoever mistypes such a line gets it back in an error, and that error
/// is kept in logs, which a command line with a password in it is not.
#[derive(Debug, Clone, Default)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// Of all words, in whatever option they are: one that was not understood may hold an address too.
    pub fn of(words: &[OsString]) -> Self {
        let mut found: Vec<String> = words.iter().filter_map(|word| user_of(&word.to_string_lossy())).collect();
        // The longest first: a user part that begins with another one must not be torn apart by it.
        found.sort_by_key(|user| std::cmp::Reverse(user.len()));
        Self(found)
    }

    /// The text with each of them replaced.
    pub fn mask(&self, text: &str) -> String {
        let hide = |text: String, user: &String| text.replace(&format!("{user}@"), &format!("{MASK}@"));
        self.0.iter().fold(text.to_owned(), hide)
    }
}

/// `user:password` of `--option=scheme://user:password@host/path`. Without a scheme only what has a password, or a path behind the
/// host, is one: names and digests have an `@` as well.
fn user_of(word: &str) -> Option<String> {
    let address = match word.strip_prefix('-').and_then(|option| option.split_once('=')) {
        Some((_, value)) => value,
        None => word,
    };
    let address = address.rsplit_once("@sha256:").map_or(address, |(image, _)| image);
    let (scheme, rest) = address.split_once("://").map_or((None, address), |(scheme, rest)| (Some(scheme), rest));
    let (user, place) = rest.rsplit_once('@')?;
    let is_address = scheme.is_some() || user.contains(':') || place.contains('/');
    (!user.is_empty() && is_address).then(|| user.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_users_are_secret() {
        for (word, user) in [
            ("http://u:pw@h/x", Some("u:pw")),
            ("--proxy=https://u:p@ss@h:1", Some("u:p@ss")),
            ("--index=token://t@h", Some("t")),
            ("u:p/w@h.x/a", Some("u:p/w")),
            ("u:pw@h.x/a@sha256:00", Some("u:pw")),
            ("token@h.x/a", Some("token")),
            ("h.x:5000/a@sha256:00", None),
            ("http://h/x", None),
            ("case@2", None),
            ("git@h.x", None),
            ("@", None),
        ] {
            assert_eq!(user_of(word).as_deref(), user, "{word}");
        }
    }

    #[test]
    fn a_secret_is_hidden_wherever_it_stands() {
        let words =
            ["x", "--proxy", "http://u:pw@h", "--index=http://u:pw@h2/s", "http://u:pw@h@h3"].map(OsString::from);
        let text = Secrets::of(&words).mask("error: 'http://u:pw@h' and u:pw@h2; tip: http://u:pw@h@h3, and u is fine");
        assert_eq!(text, "error: 'http://***@h' and ***@h2; tip: http://***@h3, and u is fine");
    }
}
