//! The table of known error codes, as data: code, name, what it says. From the runtime's published table and the ACL
//! headers.

use std::sync::LazyLock;

/// An error code that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownCode {
    /// The code, for example 207001.
    pub code: i32,
    /// Its name in the headers, for example `ACL_ERROR_RT_MEMORY_ALLOCATION`.
    pub name: &'static str,
    /// What it says, in the runtime's words.
    pub meaning: &'static str,
}

static TABLE: LazyLock<Vec<KnownCode>> = LazyLock::new(|| {
    let mut codes: Vec<_> = include_str!("../data/error-codes.tsv").lines().filter_map(parse_line).collect();
    codes.sort_by_key(|known| known.code);
    codes
});

fn parse_line(line: &'static str) -> Option<KnownCode> {
    let mut fields = line.split('\t');
    let code = fields.next()?.parse().ok()?;
    Some(KnownCode { code, name: fields.next()?, meaning: fields.next()? })
}

/// All known codes, by number.
pub fn known_codes() -> &'static [KnownCode] {
    &TABLE
}

/// What is known about a code.
pub fn known_code(code: i32) -> Option<&'static KnownCode> {
    TABLE.binary_search_by_key(&code, |known| known.code).ok().map(|index| &TABLE[index])
}

/// Why a device is not to be trusted after it gave this code; `None` for a code that says nothing of the device. After one
/// fault of a device everything else on it may fail with codes that have nothing to do with the later kernel.
pub fn suspect_after(code: i32) -> Option<&'static str> {
    let lines = include_str!("../data/suspect-codes.tsv").lines();
    let mut codes = lines.filter_map(|line| line.split_once('\t'));
    codes.find(|(of, _)| of.parse() == Ok(code)).map(|(_, why)| why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_code() {
        let lines = include_str!("../data/error-codes.tsv").lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(known_codes().len(), lines);
        assert!(known_codes().windows(2).all(|pair| pair[0].code < pair[1].code), "no code twice");
    }

    #[test]
    fn every_code_that_makes_a_device_suspect_is_known() {
        let lines = include_str!("../data/suspect-codes.tsv").lines().filter(|line| !line.starts_with('#'));
        let mut count = 0;
        for line in lines {
            let code = line.split('\t').next().unwrap().parse().unwrap();
            assert!(known_code(code).is_some(), "{code}");
            assert!(suspect_after(code).is_some(), "{code}");
            count += 1;
        }
        assert!(count > 30, "{count}");
        // A full card, a device that does not open, a wrong handle: the device is as it was.
        for code in [0, 207_001, 507_033, 107_002] {
            assert_eq!(suspect_after(code), None, "{code}");
        }
    }

    #[test]
    fn codes_of_both_layers_are_known() {
        assert_eq!(known_code(207_001).unwrap().name, "ACL_ERROR_RT_MEMORY_ALLOCATION");
        assert_eq!(known_code(100_002).unwrap().name, "ACL_ERROR_REPEAT_INITIALIZE");
        assert_eq!(known_code(-1), None);
    }
}
