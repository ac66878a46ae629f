//! Guesses in a manifest that nobody has gone through yet: the lines that `kernel adopt` marked.

use std::fmt;

/// What begins the mark, at the end of a line.
pub(crate) const MARK: &str = " # check: ";

/// A line that holds a guess of `kernel adopt`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The line, from 1.
    pub line: usize,
    /// What is guessed: "shape of `y`", "`core`", "golden".
    pub what: String,
    /// Why it is a guess, or what to write.
    pub text: String,
    /// Whether it decides what the kernel is given or compared with, so that a wrong guess looks like a wrong kernel.
    pub decides: bool,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", super::FILE_NAME, self.line, self.what, self.text)
    }
}

impl Check {
    /// The marks left in a manifest's text. It is read by lines, because its author may be in the middle of changing it.
    pub fn all(text: &str) -> Vec<Self> {
        let (mut section, mut arg, mut checks) = ("", "", Vec::new());
        for (index, line) in text.lines().enumerate() {
            if line.starts_with('[') {
                (section, arg) = (line.trim(), "");
                continue;
            }
            let Some((key, value)) = line.split_once('=').map(|(key, value)| (key.trim(), value)) else { continue };
            if section == "[[arg]]" && key == "name" {
                arg = value.split('#').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
            }
            if let Some((_, why)) = value.split_once(MARK) {
                let what = subject(section, key, arg);
                let decides = !matches!(key, "summary" | "targets");
                checks.push(Self { line: index + 1, what, text: why.trim().to_owned(), decides });
            }
        }
        checks
    }
}

fn subject(section: &str, key: &str, arg: &str) -> String {
    match section {
        "[[arg]]" => format!("{key} of `{arg}`"),
        "[golden]" => "golden".to_owned(),
        "[cases]" => "cases".to_owned(),
        "[dims]" => format!("dim `{key}`"),
        _ => format!("`{key}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mark_says_where_it_stands_and_what_it_is_about() {
        let text = "[kernel]\nsummary = \"\" # check: a\n[dims]\nn = 1 # check: b\n[[arg]]\nname = \"y\"\n\
                    shape = [\"n\"] # check: c\ndtype = \"f16\" # checked\n[golden]\nexpr = { y = \"x\" } # check: d\n";
        let found: Vec<String> = Check::all(text).iter().map(ToString::to_string).collect();
        let expected = [
            "kernel.toml:2: `summary`: a",
            "kernel.toml:4: dim `n`: b",
            "kernel.toml:7: shape of `y`: c",
            "kernel.toml:10: golden: d",
        ];
        assert_eq!(found, expected);
        assert_eq!(Check::all(text).iter().filter(|check| check.decides).count(), 3);
    }
}
