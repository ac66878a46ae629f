//! The store: a directory of kinds, each a directory of entries.

use std::path::{Path, PathBuf};

use pto_context::Context;

use crate::entry::Entry;
use crate::error::Error;

/// The longest kind or key: with what is put before it for locks and builds it stays below the 255 bytes of a name.
const MAX_NAME: usize = 200;

/// A content-addressed store. Opening it touches nothing; directories are made when something is built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// The store at a directory, which need not exist yet.
    pub fn open(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Where the store is unless the user says otherwise: `$PTOKIT_HOME`, else `$XDG_CACHE_HOME/ptokit`, else
    /// `$HOME/.cache/ptokit`. A relative `PTOKIT_HOME` is relative to the context's directory; a relative
    /// `XDG_CACHE_HOME` is ignored, as the XDG base directory specification demands.
    ///
    /// # Errors
    /// [`Error::NoHome`].
    pub fn default_root(cx: &Context) -> Result<PathBuf, Error> {
        if let Some(home) = cx.var_os("PTOKIT_HOME") {
            return Ok(cx.cwd().join(home));
        }
        let xdg = cx.var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let cache = xdg.or_else(|| cx.var_os("HOME").map(|home| Path::new(home).join(".cache")));
        cache.map(|cache| cache.join("ptokit")).ok_or(Error::NoHome)
    }

    /// The store's directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A handle on an entry, there or not.
    ///
    /// # Errors
    /// [`Error::BadName`] if kind or key cannot be a file name.
    pub fn entry(&self, kind: &str, key: &str) -> Result<Entry, Error> {
        for name in [kind, key] {
            let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
            if !plain || name.is_empty() || name.len() > MAX_NAME || name.starts_with('.') {
                return Err(Error::BadName { name: name.to_owned() });
            }
        }
        Ok(Entry::new(self.root.join(kind), key.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_root_follows_the_variables_in_order() {
        let root = |vars: &[(&str, &str)]| Store::default_root(&Context::fake("/cwd", vars.iter().copied()));
        let (home, xdg) = (("HOME", "/h"), ("XDG_CACHE_HOME", "/x"));
        assert_eq!(root(&[home, xdg, ("PTOKIT_HOME", "/p")]).unwrap(), Path::new("/p"));
        assert_eq!(root(&[home, ("PTOKIT_HOME", "p")]).unwrap(), Path::new("/cwd/p"));
        assert_eq!(root(&[home, xdg]).unwrap(), Path::new("/x/ptokit"));
        assert_eq!(root(&[home, ("XDG_CACHE_HOME", "x")]).unwrap(), Path::new("/h/.cache/ptokit"));
        assert!(matches!(root(&[("PATH", "/bin")]), Err(Error::NoHome)));
    }

    #[test]
    fn names_that_are_no_plain_file_names_are_refused() {
        let store = Store::open("/s");
        for name in ["", ".", "..", ".x", "a/b", "a b", "ä", &"x".repeat(201)] {
            assert!(matches!(store.entry("kind", name), Err(Error::BadName { .. })), "{name}");
            assert!(matches!(store.entry(name, "key"), Err(Error::BadName { .. })), "{name}");
        }
        assert!(store.entry("kind", "a-1.2_b").is_ok());
    }
}
