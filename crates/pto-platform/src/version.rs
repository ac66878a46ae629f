//! Versions as the vendor writes them: `24.1.rc2.2`, `8.0.RC2.alpha001`, `25.6.rc1.b108`, `9.1.T500`.

use std::cmp::Ordering;
use std::fmt;

use serde::{Serialize, Serializer};

/// A version of a driver, a firmware, CANN or a tool, kept as it is written and ordered as it is meant.
///
/// A part that begins with letters (`rc1`, `RC2`, `alpha001`, `T500`) comes before the release it leads to, so
/// `26.0.rc1 < 26.0.0`; `b023` is a build of what stands before it and comes after it. Missing parts are zeros:
/// `9.2 == 9.2.0`. Upper and lower case are the same.
#[derive(Debug, Clone)]
pub struct Version {
    text: String,
    parts: Vec<Part>,
}

impl Version {
    /// The version in a text such as `24.1.rc2.2` or `v0.57`; `None` when it does not begin with a number, or holds
    /// anything but letters, digits, `.`, `-`, `_` and `+`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let bare = text.strip_prefix('v').unwrap_or(text);
        let plain = |c: char| c.is_ascii_alphanumeric() || SEPARATORS.contains(&c);
        if !bare.starts_with(|c: char| c.is_ascii_digit()) || !bare.chars().all(plain) {
            return None;
        }
        let parts = bare.split(SEPARATORS).filter(|part| !part.is_empty()).map(Part::of).collect();
        Some(Self { text: text.to_owned(), parts })
    }

    /// The version as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the parts of `other` are the first parts of this version: `8.9.9.1.200` begins with `8.9.9`.
    pub fn begins_with(&self, other: &Self) -> bool {
        self.parts.starts_with(&other.parts)
    }

    /// Whether the version leads to a release and is none yet: it has an `rc`, `alpha`, `beta` or `T` part.
    pub fn is_prerelease(&self) -> bool {
        self.parts.iter().any(|part| part.class == PRERELEASE)
    }
}

const SEPARATORS: [char; 4] = ['.', '-', '_', '+'];
const PRERELEASE: u8 = 0;
const RELEASE: u8 = 1;

/// One part, in fields whose order is the order of versions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    class: u8,
    /// The number of a plain part, the stage (alpha, beta, rc) of a prerelease.
    major: u64,
    /// The build after a number, the count within a stage.
    minor: u64,
    /// Letters that no rule is known for, so that different versions are not equal.
    letters: String,
}

impl Part {
    const ZERO: Self = Self { class: RELEASE, major: 0, minor: 0, letters: String::new() };

    fn of(text: &str) -> Self {
        let folded = text.to_ascii_lowercase();
        let digits_from = folded.find(|c: char| c.is_ascii_digit()).unwrap_or(folded.len());
        let (letters, digits) = folded.split_at(digits_from);
        match (letters, digits.parse::<u64>()) {
            ("", Ok(number)) => Self { major: number, ..Self::ZERO },
            ("b", Ok(build)) => Self { minor: build.saturating_add(1), ..Self::ZERO },
            (letters, number) => Self {
                class: PRERELEASE,
                major: stage(letters),
                minor: number.as_ref().copied().unwrap_or(0),
                letters: if number.is_ok() { letters.to_owned() } else { folded.clone() },
            },
        }
    }
}

/// How near a stage is to the release.
fn stage(letters: &str) -> u64 {
    match letters {
        "alpha" | "a" => 1,
        "beta" => 2,
        "rc" => 3,
        _ => 0,
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let length = self.parts.len().max(other.parts.len());
        let part = |version: &Self, index: usize| version.parts.get(index).cloned().unwrap_or(Part::ZERO);
        (0..length)
            .map(|index| part(self, index).cmp(&part(other, index)))
            .find(|ordering| ordering.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn version(text: &str) -> Version {
        Version::parse(text).unwrap_or_else(|| panic!("`{text}` is a version"))
    }

    #[test]
    fn versions_stand_in_their_order() {
        let ordered = [
            "8.0.T63",
            "8.0.RC1.alpha001",
            "8.0.RC1.alpha002",
            "8.0.RC1",
            "8.0.RC3",
            "8.0.0",
            "8.5.0",
            "8.5.0.2.220",
            "9.0.0-beta.1",
            "9.0.0",
            "24.1.rc1",
            "24.1.rc2",
            "24.1.rc2.2",
            "24.1.0",
            "24.1.0.1",
            "25.6.rc1",
            "25.6.rc1.b108",
            "25.6.rc1.b169",
            "25.6.rc2.b023",
            "25.7.rc1.12",
            "26.0.rc1",
            "26.0.0",
            "26.1.0",
            "26.1.0.b061",
            "26.1.1",
        ];
        for pair in ordered.windows(2) {
            assert!(version(pair[0]) < version(pair[1]), "{} < {}", pair[0], pair[1]);
        }
    }

    #[test]
    fn one_version_in_two_spellings() {
        for (left, right) in [("9.2", "9.2.0"), ("8.2.RC1", "8.2.rc1"), ("v0.57", "0.57"), ("24.01.rc1", "24.1.rc1")] {
            assert_eq!(version(left), version(right));
        }
        assert_ne!(version("9.1.T500"), version("9.1.0"));
        assert!(version("9.1.T500").is_prerelease() && !version("26.1.0.b061").is_prerelease());
    }

    #[test]
    fn what_is_no_version() {
        for text in ["", "v", "x.x.x", "V100R001C23", "NA", "[7.0.0]", "1 2", "latest"] {
            assert!(Version::parse(text).is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_order_is_total(a in "[0-9]{1,2}(\\.(rc|b|T|alpha)?[0-9]{0,30}){0,3}", b in "[0-9](\\.[a-z0-9]{1,3}){0,3}", c in "[0-9](\\.[a-z0-9]{1,3}){0,3}") {
            let (a, b, c) = (version(&a), version(&b), version(&c));
            prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
            if a <= b && b <= c {
                prop_assert!(a <= c);
            }
        }

        #[test]
        fn never_panics(text in "\\PC{0,40}") {
            let _ = Version::parse(&text).map(|version| version.is_prerelease());
        }
    }
}
