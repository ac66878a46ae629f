//! `ASCEND_VISIBLE_DEVICES`, which Ascend Docker Runtime reads, and its like.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use serde::Serialize;

use crate::Note;

/// Indices from here on are a mistake: ids of cards are as big as 32800.
const MOST_DEVICES: u32 = 65_536;
/// Devices in one range; more is a mistake and would fill the memory. The largest host has 16, a supernode 384.
const MOST_IN_RANGE: u32 = 1024;

/// The devices of a list such as `0-3,8`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct VisibleDevices {
    /// The indices, in the order of the list: of the host for `ASCEND_VISIBLE_DEVICES`, of the process's container for
    /// `ASCEND_RT_VISIBLE_DEVICES`. The first of them is device 0 to the program.
    pub indices: Vec<u32>,
    /// What was not understood.
    pub notes: Vec<Note>,
}

/// Reads a list of devices: `0,1`, `0-3,8`, and the scheduler's `Ascend910-4`. `void` and an empty text are no devices.
pub fn parse_visible_devices(text: &str) -> VisibleDevices {
    let mut devices = VisibleDevices::default();
    let mut seen = BTreeSet::new();
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty() && !item.eq_ignore_ascii_case("void"));
    for item in items {
        match range(item) {
            Some(range) => devices.extend(item, range, &mut seen),
            None => devices.notes.push(Note::new(1, item, "expected an index, or a range such as `0-3`")),
        }
    }
    devices
}

impl VisibleDevices {
    fn extend(&mut self, item: &str, range: RangeInclusive<u32>, seen: &mut BTreeSet<u32>) {
        for index in range {
            if !seen.insert(index) {
                self.notes.push(Note::new(1, item, format!("device {index} is named twice")));
                return;
            }
            self.indices.push(index);
        }
    }
}

fn range(item: &str) -> Option<RangeInclusive<u32>> {
    let index = |text: &str| text.trim().parse::<u32>().ok().filter(|&index| index < MOST_DEVICES);
    let Some((from, to)) = item.rsplit_once('-') else {
        return index(item).map(|index| index..=index);
    };
    let to = index(to)?;
    match index(from) {
        Some(from) => (from <= to && to - from < MOST_IN_RANGE).then_some(from..=to),
        // `Ascend910-4`: a product's name, and the index behind it.
        None => from.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(to..=to),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_ranges_and_names() {
        let indices = |text| parse_visible_devices(text).indices;
        assert_eq!(indices("4,5"), [4, 5]);
        assert_eq!(indices("0-2, 8"), [0, 1, 2, 8]);
        assert_eq!(indices("Ascend910-4,Ascend910-6"), [4, 6]);
        assert_eq!((indices("void"), indices("")), (vec![], vec![]));
        for text in ["3-1", "all", "-1", "0-99999999", "1-2-3", "4294967296"] {
            let devices = parse_visible_devices(text);
            assert_eq!((devices.indices.len(), devices.notes.len()), (0, 1), "{text}");
        }
        assert_eq!(parse_visible_devices("1,1").notes.len(), 1);
    }

    proptest! {
        #[test]
        fn never_panics(text in "([0-9]{0,6}[-,]?){0,9}\\PC{0,8}") {
            parse_visible_devices(&text);
        }
    }
}
