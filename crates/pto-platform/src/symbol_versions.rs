//! Symbol versions of a library, as `strings` would find them: `GLIBCXX_3.4.30`.

use memchr::memmem;

/// The highest version behind a prefix, for example `3.4.30` behind `GLIBCXX_`; `None` when the prefix never has one.
pub fn highest_symbol_version(bytes: &[u8], prefix: &str) -> Option<Vec<u32>> {
    memmem::find_iter(bytes, prefix).filter_map(|at| version(&bytes[at + prefix.len()..])).max()
}

/// The dotted numbers that a text begins with.
fn version(bytes: &[u8]) -> Option<Vec<u32>> {
    let end =
        bytes.iter().take(20).position(|byte| !byte.is_ascii_digit() && *byte != b'.').unwrap_or(bytes.len().min(20));
    let text = std::str::from_utf8(&bytes[..end]).ok()?;
    text.split('.').map(|part| part.parse().ok()).collect()
}

/// A version as it is written: `3.4.30`.
pub fn dotted(version: &[u32]) -> String {
    version.iter().map(u32::to_string).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_as_numbers() {
        let bytes = b"\0GLIBCXX_3.4.9\0GLIBCXX_3.4.28\0GLIBCXX_DEBUG_MESSAGE_LENGTH\0GLIBCXX_3.4";
        assert_eq!(highest_symbol_version(bytes, "GLIBCXX_"), Some(vec![3, 4, 28]));
        assert_eq!(highest_symbol_version(bytes, "CXXABI_"), None);
        assert_eq!(dotted(&[3, 4, 28]), "3.4.28");
    }
}
