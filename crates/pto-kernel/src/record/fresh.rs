//! Whether a record still speaks of what is there.

use std::path::Path;

use serde::Serialize;

use super::digest;
use super::model::Record;

/// Whether what a record speaks of is still what it was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Freshness {
    /// Whether nothing changed.
    pub fresh: bool,
    /// Each file that changed or is gone, in one line.
    pub changes: Vec<String>,
}

impl Freshness {
    /// Reads every file that the record speaks of.
    pub fn of(record: &Record) -> Self {
        let dir = record.manifest.parent().unwrap_or(Path::new("/"));
        let digests = &record.digests;
        let files = digests.sources.iter().map(|file| (dir.join(&file.path), file));
        let files = files.chain(digests.artifact.iter().map(|file| (file.path.clone(), file)));
        let mut changes: Vec<String> = Vec::new();
        for (path, file) in files {
            match digest::file(&path, path.clone()) {
                Ok(now) if now.sha256 == file.sha256 => {}
                Ok(_) => changes.push(format!("`{}` has changed", path.display())),
                Err(_) if !path.exists() => changes.push(format!("`{}` is gone", path.display())),
                Err(error) => changes.push(error.to_string()),
            }
        }
        if let Some(tree) = &digests.headers {
            match digest::tree_of(&tree.path, tree.files) {
                Ok(Some(now)) if now.sha256 == tree.sha256 => {}
                Ok(_) => changes.push(format!("PTO-ISA's headers in `{}` have changed", tree.path.display())),
                Err(error) => changes.push(format!("PTO-ISA's headers: {error}")),
            }
        }
        Self { fresh: changes.is_empty(), changes }
    }
}
