//! No parser panics or hangs, whatever the text: noise, and fixtures with rows dropped, repeated, widened and cut.

mod support;

use proptest::prelude::*;
use support::{fixtures, parse_with_everything};

/// A change to a text.
#[derive(Debug, Clone)]
enum Mutation {
    DropLine(prop::sample::Index),
    RepeatLine(prop::sample::Index),
    SwapLines(prop::sample::Index, prop::sample::Index),
    Truncate(prop::sample::Index),
    Widen(prop::sample::Index),
    Replace(prop::sample::Index, char),
    Insert(prop::sample::Index, String),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let index = any::<prop::sample::Index>;
    let telling =
        prop::sample::select(vec!['|', '/', ':', '=', '-', '+', '[', ']', ',', '"', '\0', 'é', '9', ' ', '\n']);
    prop_oneof![
        index().prop_map(Mutation::DropLine),
        index().prop_map(Mutation::RepeatLine),
        (index(), index()).prop_map(|(a, b)| Mutation::SwapLines(a, b)),
        index().prop_map(Mutation::Truncate),
        index().prop_map(Mutation::Widen),
        (index(), telling).prop_map(|(at, with)| Mutation::Replace(at, with)),
        (index(), "\\PC{0,30}").prop_map(|(at, text)| Mutation::Insert(at, text)),
    ]
}

fn mutate(text: &str, mutation: &Mutation) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut chars: Vec<char> = text.chars().collect();
    if lines.is_empty() || chars.is_empty() {
        return text.to_owned();
    }
    match mutation {
        Mutation::DropLine(at) => drop(lines.remove(at.index(lines.len()))),
        Mutation::RepeatLine(at) => {
            let at = at.index(lines.len());
            lines.insert(at, lines[at].clone());
        }
        Mutation::SwapLines(a, b) => {
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            lines.swap(a, b);
        }
        Mutation::Widen(at) => {
            let at = at.index(lines.len());
            lines[at] = lines[at].replace('|', "      |").replace("--", "------").replace("==", "======");
        }
        Mutation::Insert(at, text) => lines.insert(at.index(lines.len()), text.clone()),
        Mutation::Truncate(at) => {
            chars.truncate(at.index(chars.len()));
            return chars.into_iter().collect();
        }
        Mutation::Replace(at, with) => {
            let at = at.index(chars.len());
            chars[at] = *with;
            return chars.into_iter().collect();
        }
    }
    lines.join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn arbitrary_text(text in "(\\PC|\n|\t|\r){0,400}") {
        parse_with_everything(&text);
    }

    #[test]
    fn text_of_the_right_characters(text in "[|+=:/,.\\-\\[\\]{}\" \n0-9A-Za-c]{0,400}") {
        parse_with_everything(&text);
    }

    #[test]
    fn damaged_fixtures(which in any::<prop::sample::Index>(), mutations in prop::collection::vec(mutation(), 1..8)) {
        let fixtures = fixtures();
        let (_, text) = &fixtures[which.index(fixtures.len())];
        let text = mutations.iter().fold(text.clone(), |text, mutation| mutate(&text, mutation));
        parse_with_everything(&text);
    }

    /// Dropping one row of a table never costs more than the device or process the row belongs to.
    #[test]
    fn one_lost_row_costs_one_device_at_most(which in 0usize..7, at in any::<prop::sample::Index>()) {
        let names = ["a2", "a2-wide", "a3", "950", "950-container-pids", "310p", "first-generation"];
        let text = support::fixture(&format!("info-{}.txt", names[which]));
        let whole = pto_platform::npu_smi::parse_info(&text);
        let without = mutate(&text, &Mutation::DropLine(at));
        let info = pto_platform::npu_smi::parse_info(&without);
        prop_assert!(info.devices.len() + 1 >= whole.devices.len());
        prop_assert!(info.processes.len() + 1 >= whole.processes.len());
        for device in &info.devices {
            prop_assert!(whole.devices.iter().any(|known| known.npu == device.npu), "phantom: {:?}", device);
            prop_assert!(device.index.is_none() || whole.devices.iter().any(|known| known.index == device.index));
        }
    }
}

/// Quadratic work on a long log would take very long; this takes a second, and the limit leaves room for a busy machine.
#[test]
fn a_long_text_is_read_in_linear_time() {
    let started = std::time::Instant::now();
    parse_with_everything(&support::fixture("info-damaged.txt").repeat(100));
    parse_with_everything(&"|".repeat(200_000));
    parse_with_everything(&"[".repeat(200_000));
    let many = |line: fn(usize) -> String| (0..5_000).map(line).collect::<String>();
    parse_with_everything(&many(|n| format!("Key {n} : {n}\n")));
    parse_with_everything(&many(|n| format!("| {n} 910B3 | OK | 9 1 0/0 |\n| 0 {n} | 0000:01:00.0 | 0 0/0 1/2 |\n")));
    assert!(started.elapsed().as_secs() < 120, "{:?}", started.elapsed());
}
