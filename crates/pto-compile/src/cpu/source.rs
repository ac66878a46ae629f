//! Kernel sources after the rewrite, with the headers of the user that hold launches themselves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::error::CpuError;
use super::rewrite::{Include, Rewritten, escape, rewrite};
use crate::key::{Key, sha256};

const RENAMED_DETAIL: &str =
    "namespace `detail` is ambiguous with PTO-ISA's own, the device compiler refuses it; renamed here";

/// Everything of the user's that one source is compiled from.
#[derive(Debug)]
pub(super) struct Source {
    /// The text to compile; includes of rewritten headers name files of `headers`.
    pub(super) text: String,
    /// Rewritten headers: file name in the build directory, and text.
    pub(super) headers: BTreeMap<String, String>,
    /// Directories in which quoted includes of the original files were looked up.
    pub(super) quote_dirs: Vec<PathBuf>,
    /// What was done to the text that the user should know, as lines of compiler warnings.
    pub(super) notes: String,
    /// Paths and hashes of the originals read.
    originals: BTreeMap<PathBuf, String>,
}

impl Source {
    /// Reads and rewrites a source and, through its quoted includes, the user's headers that hold launches.
    pub(super) fn load(path: &Path, cwd: &Path, include_dirs: &[PathBuf]) -> Result<Self, CpuError> {
        let mut loading = Loading {
            include_dirs,
            source: Self {
                text: String::new(),
                headers: BTreeMap::new(),
                quote_dirs: Vec::new(),
                notes: String::new(),
                originals: BTreeMap::new(),
            },
        };
        loading.source.text = loading.file(path, &cwd.join(path))?.text;
        Ok(loading.source)
    }

    /// Rewrites a generated source, whose quoted includes are looked up in `quote_dirs`.
    pub(super) fn generated(
        name: &Path,
        text: &str,
        quote_dirs: Vec<PathBuf>,
        include_dirs: &[PathBuf],
    ) -> Result<Self, CpuError> {
        let dirs: Vec<PathBuf> = quote_dirs.iter().chain(include_dirs).cloned().collect();
        let source = Self {
            text: String::new(),
            headers: BTreeMap::new(),
            quote_dirs,
            notes: String::new(),
            originals: BTreeMap::new(),
        };
        let mut loading = Loading { include_dirs: &dirs, source };
        loading.source.text = loading.text(Path::new("/"), name, text)?.text;
        Ok(loading.source)
    }

    /// What this source contributes to the key of a build.
    pub(super) fn add_to(&self, key: Key) -> Key {
        let originals = self.originals.iter();
        originals.fold(key.with(&self.text), |key, (path, hash)| key.path(path).with(hash))
    }
}

struct Loading<'a> {
    include_dirs: &'a [PathBuf],
    source: Source,
}

/// One file after the rewrite.
struct File {
    text: String,
    /// Whether it has to be compiled in place of the original.
    changed: bool,
}

impl Loading<'_> {
    /// Rewrites one file. `shown` is how the user named it, `path` where it is.
    fn file(&mut self, shown: &Path, path: &Path) -> Result<File, CpuError> {
        let bytes = fs_err::read(path).map_err(CpuError::Source)?;
        self.source.originals.insert(path.to_path_buf(), sha256(&bytes));
        let dir = path.parent().unwrap_or(Path::new("/")).to_path_buf();
        if !self.source.quote_dirs.contains(&dir) {
            self.source.quote_dirs.push(dir.clone());
        }
        let text = String::from_utf8(bytes)
            .map_err(|e| CpuError::NotText { path: shown.to_path_buf(), offset: e.utf8_error().valid_up_to() })?;
        self.text(&dir, shown, &text)
    }

    /// Rewrites a text whose quoted includes are looked up in `dir` first.
    fn text(&mut self, dir: &Path, shown: &Path, text: &str) -> Result<File, CpuError> {
        let rewritten = rewrite(shown, text)?;
        if let Some(line) = rewritten.renamed_detail {
            self.source.notes.push_str(&format!("{}:{line}: warning: {RENAMED_DETAIL}\n", shown.display()));
        }
        let own = !rewritten.launches.is_empty() || rewritten.renamed_detail.is_some();
        let included = self.includes(dir, shown, rewritten)?;
        let text = format!("#line 1 \"{}\"\n{}", escape(&shown.display().to_string()), included.text);
        Ok(File { text, changed: own || included.changed })
    }

    /// Follows the quoted includes; a header that had to change is replaced by its rewritten copy.
    fn includes(&mut self, dir: &Path, shown: &Path, rewritten: Rewritten) -> Result<File, CpuError> {
        let mut done = File { text: rewritten.text, changed: false };
        for include in rewritten.includes.iter().rev() {
            let Some(path) = self.find(dir, include) else { continue };
            let name = header_name(&path);
            if !self.source.originals.contains_key(&path) {
                let shown = shown.parent().map_or_else(|| include.name.clone().into(), |dir| dir.join(&include.name));
                let header = self.file(&shown, &path)?;
                if header.changed {
                    self.source.headers.insert(name.clone(), header.text);
                }
            }
            if self.source.headers.contains_key(&name) {
                done.text.replace_range(include.range.clone(), &name);
                done.changed = true;
            }
        }
        Ok(done)
    }

    fn find(&self, dir: &Path, include: &Include) -> Option<PathBuf> {
        let dirs = std::iter::once(dir).chain(self.include_dirs.iter().map(PathBuf::as_path));
        dirs.map(|dir| dir.join(&include.name)).find(|path| path.is_file())
    }
}

/// The name of a rewritten header in the build directory: one per original.
fn header_name(path: &Path) -> String {
    format!("ptocpu-header-{}.hpp", &Key::new("header").path(path).finish()[..12])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        dir
    }

    #[test]
    fn a_header_with_a_launch_is_rewritten_too() {
        let dir = tree(&[
            ("k.cpp", "#include \"a/mid.hpp\"\nint x;\n"),
            ("a/mid.hpp", "#include \"leaf.hpp\"\n"),
            ("a/leaf.hpp", "void f() { k<<<1>>>(); }\n"),
        ]);
        let source = Source::load(Path::new("k.cpp"), dir.path(), &[]).unwrap();
        assert_eq!(source.headers.len(), 2, "{:?}", source.headers);
        assert!(source.text.contains("#include \"ptocpu-header-"), "{}", source.text);
        let leaf = source.headers.values().find(|text| text.contains("ptocpu::site")).unwrap();
        assert!(leaf.starts_with("#line 1 \"a/leaf.hpp\"\n"), "{leaf}");
    }

    #[test]
    fn a_plain_header_stays_where_it_is_but_counts_in_the_key() {
        let dir = tree(&[("k.cpp", "#include \"a.hpp\"\n"), ("a.hpp", "int a;\n")]);
        let load = || Source::load(Path::new("k.cpp"), dir.path(), &[]).unwrap();
        let source = load();
        assert!(source.headers.is_empty() && source.text.contains("#include \"a.hpp\""));
        let key = |source: &Source| source.add_to(Key::new("t")).finish();
        let before = key(&source);
        fs_err::write(dir.path().join("a.hpp"), "int b;\n").unwrap();
        assert_ne!(before, key(&load()));
    }

    #[test]
    fn headers_that_include_each_other_end() {
        let dir = tree(&[
            ("k.cpp", "#include \"a.hpp\"\n"),
            ("a.hpp", "#include \"b.hpp\"\n"),
            ("b.hpp", "#include \"a.hpp\"\n"),
        ]);
        assert!(Source::load(Path::new("k.cpp"), dir.path(), &[]).unwrap().headers.is_empty());
    }

    #[test]
    fn a_source_that_is_no_text_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs_err::write(dir.path().join("k.cpp"), b"int a;\xff").unwrap();
        let error = Source::load(Path::new("k.cpp"), dir.path(), &[]).unwrap_err();
        assert_eq!(error.to_string(), "`k.cpp` is not UTF-8 at byte 6");
    }
}
