//! Digests: how a registry names content.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// `sha256:` and 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(String);

/// A text that is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a digest; expected `sha256:` and 64 lower-case hexadecimal digits")]
pub struct BadDigest(pub String);

const ALGORITHM: &str = "sha256:";

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Self(format!("{ALGORITHM}{hex}"))
    }

    /// With its algorithm.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The hexadecimal digits alone.
    pub fn hex(&self) -> &str {
        &self.0[ALGORITHM.len()..]
    }
}

impl TryFrom<String> for Digest {
    type Error = BadDigest;

    fn try_from(text: String) -> Result<Self, BadDigest> {
        let is_hex = |c: u8| matches!(c, b'0'..=b'9' | b'a'..=b'f');
        let sound = text.strip_prefix(ALGORITHM).is_some_and(|hex| hex.len() == 64 && hex.bytes().all(is_hex));
        if sound { Ok(Self(text)) } else { Err(BadDigest(text)) }
    }
}

impl std::str::FromStr for Digest {
    type Err = BadDigest;

    fn from_str(text: &str) -> Result<Self, BadDigest> {
        text.to_owned().try_into()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.0
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_of_bytes_and_lower_case() {
        let known = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").as_str(), known);
        assert_eq!(known.parse::<Digest>().unwrap(), Digest::of(b""));
        for bad in [&known.to_uppercase(), &known[..70], "", "sha512:00", &format!("{known}0"), "sha256:"] {
            assert!(bad.parse::<Digest>().is_err(), "{bad}");
        }
    }
}
