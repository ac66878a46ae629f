//! Tables of codes beside those of ACL, which `pto-acl` has.

use std::sync::LazyLock;

/// A line of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry<K> {
    pub(super) key: K,
    pub(super) name: &'static str,
    pub(super) meaning: &'static str,
}

fn parse<K>(text: &'static str, key: impl Fn(&'static str) -> Option<K>) -> Vec<Entry<K>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let entries = lines.map(|line| {
        let mut fields = line.split('\t');
        let key = key(fields.next()?)?;
        let (first, second) = (fields.next()?, fields.next());
        Some(Entry { key, name: if second.is_some() { first } else { "" }, meaning: second.unwrap_or(first) })
    });
    entries.collect::<Option<_>>().expect("a table of this crate is well-formed")
}

/// Codes of the device management interface and of `npu-smi`, all negative.
pub(super) static DCMI: LazyLock<Vec<Entry<i64>>> =
    LazyLock::new(|| parse(include_str!("../../data/dcmi-codes.tsv"), |key| key.parse().ok()));

/// Codes with letters.
pub(super) static MESSAGES: LazyLock<Vec<Entry<&'static str>>> =
    LazyLock::new(|| parse(include_str!("../../data/message-codes.tsv"), Some));

/// `retCode` of a task; the name is the ACL code that goes with it.
pub(super) static TASK_RESULTS: LazyLock<Vec<Entry<u64>>> =
    LazyLock::new(|| parse(include_str!("../../data/task-results.tsv"), number));

/// What the PyPTO runtime latches on the device.
pub(super) static LATCHED: LazyLock<Vec<Entry<i64>>> =
    LazyLock::new(|| parse(include_str!("../../data/latched-codes.tsv"), |key| key.parse().ok()));

/// `error code` of a core exception.
pub(super) static AICORE_ERRORS: LazyLock<Vec<Entry<u64>>> =
    LazyLock::new(|| parse(include_str!("../../data/aicore-errors.tsv"), number));

pub(super) fn find<K: PartialEq>(table: &'static [Entry<K>], key: &K) -> Option<&'static Entry<K>> {
    table.iter().find(|entry| entry.key == *key)
}

/// `0x2a` or `42`.
pub(super) fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_read_whole() {
        assert_eq!(find(&DCMI, &-8020).unwrap().meaning, "resource occupied");
        assert_eq!(find(&MESSAGES, &"EL0005").unwrap().name, "Resource_Busy");
        assert_eq!(find(&TASK_RESULTS, &0x2a).unwrap().name, "507018");
        assert_eq!(find(&LATCHED, &100).unwrap().name, "SCHEDULER_TIMEOUT");
        assert!(find(&AICORE_ERRORS, &95).unwrap().meaning.contains("out of range"));
    }

    #[test]
    fn each_task_result_leads_to_a_known_code() {
        for entry in TASK_RESULTS.iter() {
            assert!(pto_acl::known_code(entry.name.parse().unwrap()).is_some(), "{entry:?}");
        }
    }

    #[test]
    fn no_two_codes_of_the_device_management_share_an_exit_status() {
        let mut statuses: Vec<_> = DCMI.iter().map(|entry| entry.key.rem_euclid(256)).collect();
        statuses.sort_unstable();
        statuses.dedup();
        assert_eq!(statuses.len(), DCMI.len());
    }
}
