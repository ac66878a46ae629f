//! Sums as records write them.

use sha2::{Digest, Sha256};

/// SHA-256 in small hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
