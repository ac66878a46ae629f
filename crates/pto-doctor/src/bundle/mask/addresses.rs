//! IP addresses, and what only looks like one: versions, times, bus ids, names of C++.

use std::net::Ipv6Addr;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Where a version is meant and not an address: `Version=24.1.0.1`, `npu-smi 22.0.0.4`.
const BEFORE_VERSIONS: [&str; 2] = ["version", "npu-smi"];
/// As far before a number as such a word may stand.
const NEAR: usize = 40;

static NUMBERS_WITH_DOTS: LazyLock<Regex> = LazyLock::new(|| literal(r"\d+(?:\.\d+)*"));
static WORDS_WITH_COLONS: LazyLock<Regex> = LazyLock::new(|| literal(r"[0-9A-Za-z_.:]*:[0-9A-Za-z_.:]*"));

fn literal(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of this file is valid")
}

/// Masks addresses. `versions` are texts that must stay.
pub(super) fn mask(text: &str, versions: &[String]) -> String {
    let text = ipv4(text, versions);
    WORDS_WITH_COLONS.replace_all(&text, |found: &Captures<'_>| ipv6(&found[0])).into_owned()
}

fn ipv4(text: &str, versions: &[String]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut from = 0;
    for found in NUMBERS_WITH_DOTS.find_iter(text) {
        let before = &text[..found.start()];
        let is_part_of_a_word = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let is_version = || versions.iter().any(|version| version == found.as_str()) || stands_for_a_version(before);
        if is_address(found.as_str()) && !is_part_of_a_word && !is_version() {
            masked.push_str(&text[from..found.start()]);
            masked.push_str("*.*.*.*");
            from = found.end();
        }
    }
    masked.push_str(&text[from..]);
    masked
}

fn stands_for_a_version(before: &str) -> bool {
    let is_between = |c: &char| c.is_whitespace() && *c != '\n' || matches!(c, ':' | '=' | '"' | '\'' | '`' | '[');
    let backwards: String = before.chars().rev().take(NEAR).skip_while(is_between).collect();
    let word: String = backwards.chars().rev().collect::<String>().to_ascii_lowercase();
    BEFORE_VERSIONS.iter().any(|name| word.ends_with(name))
}

fn is_address(number: &str) -> bool {
    let parts: Vec<&str> = number.split('.').collect();
    let is_octet = |part: &&str| part.len() <= 3 && part.parse::<u8>().is_ok();
    let is_local = parts[0] == "127" || number == "0.0.0.0" || number == "255.255.255.255";
    parts.len() == 4 && parts.iter().all(is_octet) && !is_local
}

/// A word with colons in it, masked if it is an address: not a time, a bus id or a name of C++.
fn ipv6(word: &str) -> String {
    let bare = word.trim_end_matches(['.', ':']);
    let bare = if word[bare.len()..].starts_with("::") { &word[..bare.len() + 2] } else { bare };
    match bare.parse::<Ipv6Addr>() {
        Ok(address)
            if !address.is_loopback() && !address.is_unspecified() && bare.contains(|c: char| c.is_ascii_digit()) =>
        {
            format!("*:*:*{}", &word[bare.len()..])
        }
        _ => word.to_owned(),
    }
}
