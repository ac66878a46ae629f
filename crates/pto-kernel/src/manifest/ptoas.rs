//! `[ptoas]`: how `.pto` sources are assembled.

use std::path::PathBuf;

use pto_ptoas::Level;
use toml::de::DeValue;

use super::diagnostic::{Sink, nearest_help};
use super::fields::{Fields, Node, wrong_type};
use super::model::{Manifest, Ptoas};
use super::open_table;

const KEYS: [&str; 2] = ["level", "insert_sync"];

pub(super) fn read(node: Option<&Node<'_>>, sources: Option<&[PathBuf]>, sink: &mut Sink<'_>) -> Ptoas {
    let Some(fields) = node.and_then(|node| open_table(node, "[ptoas]", &KEYS, sink)) else { return Ptoas::default() };
    if sources.is_some_and(|sources| !sources.iter().any(|source| Manifest::is_assembly(source))) {
        sink.warn(fields.span(), "[ptoas] says how `.pto` sources are assembled, and there is none".to_owned(), None);
    }
    Ptoas { level: level(&fields, sink), insert_sync: insert_sync(&fields, sink) }
}

fn level(fields: &Fields<'_>, sink: &mut Sink<'_>) -> Option<Level> {
    let word = fields.string("level", sink)?;
    let level = Level::ALL.into_iter().find(|level| level.name() == word.value);
    if level.is_none() {
        let help = nearest_help(&word.value, Level::ALL.map(Level::name));
        sink.error_with(
            word.span,
            format!("`level` is `{}`, expected `level1`, `level2` or `level3`", word.value),
            help,
        );
    }
    level
}

fn insert_sync(fields: &Fields<'_>, sink: &mut Sink<'_>) -> bool {
    match fields.get("insert_sync").map(|node| (node, node.get_ref())) {
        None => false,
        Some((_, DeValue::Boolean(insert))) => *insert,
        Some((node, other)) => {
            wrong_type(node, &fields.what("insert_sync"), "a boolean", other, sink).unwrap_or_default()
        }
    }
}
