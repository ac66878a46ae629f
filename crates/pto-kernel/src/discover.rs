//! `kernel list`: every `kernel.toml` under a directory. A malformed one does not hide the others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::manifest::FILE_NAME;
use crate::{KernelError, Manifest};

/// The kernels under a directory.
#[derive(Debug, Default)]
pub struct Discovery {
    /// The manifests that are valid, in the order of their paths.
    pub kernels: Vec<Manifest>,
    /// What could not be read, each with its path, in the order of the paths.
    pub failures: Vec<(PathBuf, KernelError)>,
    /// Names that several valid manifests have, each with their paths.
    pub collisions: Vec<Collision>,
}

/// A name that several manifests have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collision {
    /// The name.
    pub name: String,
    /// Two or more manifests.
    pub paths: Vec<PathBuf>,
}

impl std::fmt::Display for Collision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let paths: Vec<String> = self.paths.iter().map(|path| path.display().to_string()).collect();
        write!(f, "kernel `{}` is defined by {}", self.name, paths.join(" and by "))
    }
}

impl Discovery {
    /// The kernel of this name, if it is the only one.
    pub fn by_name(&self, name: &str) -> Option<&Manifest> {
        let mut found = self.kernels.iter().filter(|kernel| kernel.name == name);
        found.next().filter(|_| found.next().is_none())
    }
}

impl Discovery {
    /// What to say to somebody who named a kernel that is not here: the nearest name, or all of them.
    pub fn advice(&self, name: &str) -> String {
        let known = || self.kernels.iter().map(|kernel| kernel.name.as_str());
        crate::manifest::nearest_help(name, known())
            .unwrap_or_else(|| format!("the kernels are {}", crate::manifest::quoted(known())))
    }
}

/// Reads every manifest under `root`; or the one manifest that `root` is.
///
/// Hidden directories and `target` are not entered, symbolic links to directories are not followed.
pub fn discover(root: &Path) -> Discovery {
    let mut discovery = Discovery::default();
    let mut manifests = Vec::new();
    if root.is_file() {
        manifests.push(root.to_path_buf());
    } else {
        walk(root, &mut manifests, &mut discovery.failures);
    }
    manifests.sort();
    // `.` is where one stands: paths below it are shown as they would be typed.
    for path in manifests.into_iter().map(|path| path.strip_prefix(".").map(Path::to_path_buf).unwrap_or(path)) {
        match Manifest::load(&path) {
            Ok(manifest) => discovery.kernels.push(manifest),
            Err(error) => discovery.failures.push((path, error)),
        }
    }
    discovery.failures.sort_by(|a, b| a.0.cmp(&b.0));
    discovery.collisions = collisions(&discovery.kernels);
    discovery
}

fn walk(root: &Path, manifests: &mut Vec<PathBuf>, failures: &mut Vec<(PathBuf, KernelError)>) {
    let mut directories = vec![root.to_path_buf()];
    while let Some(directory) = directories.pop() {
        let entries = fs_err::read_dir(&directory).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
        let entries = match entries {
            Ok(entries) => entries,
            Err(source) => {
                failures.push((directory.clone(), KernelError::Read { path: directory, source }));
                continue;
            }
        };
        for entry in entries {
            let name = entry.file_name();
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_directory && !is_skipped(&name.to_string_lossy()) {
                directories.push(entry.path());
            } else if !is_directory && name == FILE_NAME {
                manifests.push(entry.path());
            }
        }
    }
}

/// Build output and what tools keep for themselves.
fn is_skipped(directory: &str) -> bool {
    directory.starts_with('.') || directory == "target"
}

fn collisions(kernels: &[Manifest]) -> Vec<Collision> {
    let mut by_name: BTreeMap<&str, Vec<PathBuf>> = BTreeMap::new();
    for kernel in kernels {
        by_name.entry(&kernel.name).or_default().push(kernel.path.clone());
    }
    let several = by_name.into_iter().filter(|(_, paths)| paths.len() > 1);
    several.map(|(name, paths)| Collision { name: name.to_owned(), paths }).collect()
}
