//! The functions that a library offers.

use cpp_demangle::Symbol;
use object::{Object, ObjectSymbol, SymbolKind};
use serde::Serialize;

use super::Elf;

/// An exported function.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct Export {
    /// The symbol, as `dlsym` wants it.
    pub symbol: String,
    /// As C++ writes it; `None` for an `extern "C"` function, whose symbol tells no types. Every launcher is one.
    pub signature: Option<String>,
}

/// Names longer than this are made by nobody's hand, and demangling takes time that grows faster than they do.
const LONGEST_NAME: usize = 4096;

pub(super) fn exports(file: &Elf<'_>) -> Vec<Export> {
    let functions = file.dynamic_symbols().filter(|symbol| {
        symbol.is_definition() && symbol.is_global() && !symbol.is_weak() && symbol.kind() == SymbolKind::Text
    });
    let symbols = functions.filter_map(|symbol| symbol.name().ok()).filter(|name| !is_of_the_linker(name));
    let mut exports: Vec<Export> =
        symbols.map(|symbol| Export { symbol: symbol.to_owned(), signature: demangled(symbol) }).collect();
    exports.sort();
    exports.dedup();
    exports
}

/// Functions that start and end every library.
fn is_of_the_linker(name: &str) -> bool {
    matches!(name, "_init" | "_fini")
}

/// A C++ name as C++ writes it.
pub(super) fn demangled(symbol: &str) -> Option<String> {
    (symbol.starts_with("_Z") && symbol.len() <= LONGEST_NAME)
        .then(|| Symbol::new(symbol).ok()?.demangle().ok())
        .flatten()
}
