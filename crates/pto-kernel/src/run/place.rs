//! Where in `kernel.toml` something stands that turned out not to hold only when a case was computed.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::error::RunError;
use crate::KernelError;
use crate::cases::Quantity;
use crate::manifest::Manifest;

impl RunError {
    /// The same error with the file and line that it is about, if it is about a line of the manifest.
    pub(crate) fn in_manifest(self, manifest: &Manifest) -> Self {
        let Some(line) = line(&self, manifest) else { return self };
        Self::InManifest { path: manifest.path.clone(), line, source: Box::new(self) }
    }
}

fn line(error: &RunError, manifest: &Manifest) -> Option<usize> {
    let text = std::fs::read_to_string(&manifest.path).ok()?;
    let document = DeTable::parse(&text).ok()?;
    let span = span(error, document.get_ref())?;
    Some(text.get(..span.start)?.matches('\n').count() + 1)
}

/// The line of a key of a section, from 1.
pub(super) fn line_of(manifest: &Manifest, name: &str, key: &str) -> Option<usize> {
    let text = std::fs::read_to_string(&manifest.path).ok()?;
    let document = DeTable::parse(&text).ok()?;
    let span = section(document.get_ref(), name, key)?;
    Some(text.get(..span.start)?.matches('\n').count() + 1)
}

fn span(error: &RunError, root: &DeTable<'_>) -> Option<Range<usize>> {
    match error {
        RunError::Kernel(KernelError::Evaluate { what, .. }) => match what {
            Quantity::Extent(name) => arg(root, name, "shape"),
            Quantity::Valid(name) => valid(root, name),
            Quantity::Value(name) => arg(root, name, "value"),
            Quantity::BlockDim => section(root, "launch", "block_dim"),
            Quantity::Cost(key) => section(root, "bench", key),
        },
        RunError::Kernel(KernelError::Extent { arg: name, .. } | KernelError::TooLarge { arg: name, .. }) => {
            arg(root, name, "shape")
        }
        RunError::Kernel(KernelError::Valid { arg: name, .. }) => valid(root, name),
        RunError::Kernel(KernelError::ScalarRange { arg: name, .. }) => arg(root, name, "value"),
        RunError::Kernel(KernelError::BlockDim { .. }) => section(root, "launch", "block_dim"),
        RunError::GoldenExpr { output, .. } | RunError::GoldenShape { output, .. } => {
            let exprs = root.get("golden")?.get_ref().as_table()?.get("expr")?;
            Some(exprs.get_ref().as_table()?.get(output.as_str())?.span())
        }
        RunError::NoSymbol { .. } => section(root, "kernel", "entry").or_else(|| section(root, "kernel", "global")),
        _ => None,
    }
}

fn valid(root: &DeTable<'_>, output: &str) -> Option<Range<usize>> {
    let outputs = root.get("tolerance")?.get_ref().as_table()?;
    Some(outputs.get(output)?.get_ref().as_table()?.get("valid")?.span())
}

fn arg(root: &DeTable<'_>, name: &str, key: &str) -> Option<Range<usize>> {
    let named = |table: &&DeTable<'_>| table.get("name").and_then(|value| value.get_ref().as_str()) == Some(name);
    let args = root.get("arg")?.get_ref().as_array()?;
    let table = args.iter().filter_map(|arg| arg.get_ref().as_table()).find(named)?;
    Some(table.get(key)?.span())
}

fn section(root: &DeTable<'_>, name: &str, key: &str) -> Option<Range<usize>> {
    let DeValue::Table(table) = root.get(name)?.get_ref() else { return None };
    Some(table.get(key)?.span())
}
