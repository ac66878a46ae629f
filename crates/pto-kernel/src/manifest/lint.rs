//! `[lint]`: rules that are off for this kernel.

use super::diagnostic::{Sink, nearest_help};
use super::fields::Node;
use super::open_table;
use crate::lint::Rule;

const KEYS: [&str; 1] = ["allow"];

pub(super) fn read(node: Option<&Node<'_>>, sink: &mut Sink<'_>) -> Vec<Rule> {
    let Some(fields) = node.and_then(|node| open_table(node, "[lint]", &KEYS, sink)) else { return Vec::new() };
    let mut allow = Vec::new();
    for word in fields.required_strings("allow", sink) {
        match word.value.parse() {
            Ok(rule) => allow.push(rule),
            Err(_) => {
                let help = nearest_help(&word.value, Rule::ALL.map(Rule::id));
                sink.error_with(word.span, format!("`allow` lists `{}`, which is no rule", word.value), help);
            }
        }
    }
    allow
}
