//! The assembler's launcher below an installation. Releases have three layouts: up to v0.50 `ptoas` is the launcher
//! itself; from v0.51 `ptoas` is a directory, the Python package, and the launcher is `bin/ptoas`; from v0.55 there may be
//! `ptoas.sh`, which finds the Python that `bin/ptoas` wants.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use pto_platform::Version;
use serde::Serialize;

/// Which layout an installation has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// `ptoas` is the launcher.
    LauncherFile,
    /// `ptoas.sh` is the launcher.
    LauncherScript,
    /// `bin/ptoas` is the launcher; `ptoas`, if there is one, is a directory.
    PackageDirectory,
}

impl Layout {
    /// In the order in which they are looked for: `bin/ptoas` of the oldest releases does not find its libraries by
    /// itself, and that of the newest not its Python, so what stands above it comes first.
    pub const ALL: [Self; 3] = [Self::LauncherFile, Self::LauncherScript, Self::PackageDirectory];

    /// The launcher, relative to the installation.
    pub const fn launcher(self) -> &'static str {
        match self {
            Self::LauncherFile => "ptoas",
            Self::LauncherScript => "ptoas.sh",
            Self::PackageDirectory => "bin/ptoas",
        }
    }
}

/// A launcher that is there and can be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    /// The file.
    pub path: PathBuf,
    /// How the installation is laid out.
    pub layout: Layout,
}

impl Launcher {
    /// The launcher of an installation: the first of the three that is an executable regular file.
    pub fn find(root: &Path) -> Option<Self> {
        Layout::ALL
            .iter()
            .map(|&layout| Self { path: root.join(layout.launcher()), layout })
            .find(|it| is_program(&it.path))
    }
}

/// Whether a path is a regular file, perhaps behind a link, that may be executed.
pub(crate) fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// The version in what `ptoas --version` prints: the first word that is one, with a dot in it, among words such as
/// `ptoas` and `(build 7)`.
pub fn version_in(text: &str) -> Option<Version> {
    let trimmed = |word: &str| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned();
    text.split_whitespace().map(trimmed).filter(|word| word.contains('.')).find_map(|word| Version::parse(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let (name, mode) = file.split_once(':').unwrap_or((file, "755"));
            let path = dir.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(&path, "").unwrap();
            let mode = u32::from_str_radix(mode, 8).unwrap();
            fs_err::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        dir
    }

    #[test]
    fn the_three_layouts_are_told_apart() {
        let layout = |files: &[&str]| Launcher::find(tree(files).path()).map(|found| found.layout);
        assert_eq!(layout(&["ptoas", "bin/ptoas"]), Some(Layout::LauncherFile));
        assert_eq!(layout(&["ptoas/__init__.py", "bin/ptoas"]), Some(Layout::PackageDirectory));
        assert_eq!(layout(&["ptoas/__init__.py", "ptoas.sh", "bin/ptoas"]), Some(Layout::LauncherScript));
        assert_eq!(layout(&["ptoas:644", "bin/ptoas"]), Some(Layout::PackageDirectory));
        assert_eq!(layout(&["bin/ptoas:644"]), None);
        assert_eq!(layout(&[]), None);
    }

    #[test]
    fn the_version_is_found_among_other_words() {
        let version = |text: &str| version_in(text).map(|version| version.to_string());
        assert_eq!(version("ptoas 0.61\n").as_deref(), Some("0.61"));
        assert_eq!(version("PTO assembler, version v0.57 (build 7)").as_deref(), Some("v0.57"));
        assert_eq!(version("LLVM (http://llvm.org/):\n  ptoas 0.1.1,").as_deref(), Some("0.1.1"));
        assert_eq!(version("no such option"), None);
    }
}
