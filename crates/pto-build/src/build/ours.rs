//! Whose a build directory is. What is discarded is gone, so a directory is somebody else's until it says that it is not.

use std::path::{Path, PathBuf};

use super::artifacts::CACHE;
use super::record;

/// A directory that is made in a build directory before anything else. A directory, because making one is whole or not at
/// all: a build that is killed leaves it, or nothing.
pub(crate) const MARK: &str = ".ptokit-build";
/// How names begin that only builds of ours give.
const OWN_NAMES: [&str; 2] = ["ptokit-", ".ptokit-"];
/// How deep below the runtime's build directory CMake is looked for: each of its parts has a cache of its own.
const DEPTH: usize = 6;

/// A setting of a cache of CMake's.
pub(crate) fn setting(cache: &Path, name: &str) -> Option<String> {
    let cache = std::fs::read_to_string(cache).ok()?;
    let value =
        |line: &str| line.strip_prefix(name)?.strip_prefix(':')?.split_once('=').map(|(_, value)| value.to_owned());
    cache.lines().find_map(value)
}

/// Whether the project's own build directory was made by a build of ours, or configured by CMake for this checkout.
pub(crate) fn is_native(build: &Path, root: &Path) -> bool {
    let configured = || Configured::read(&build.join(CACHE));
    build.join(record::FILE).exists()
        || build.join(MARK).exists()
        || configured().is_some_and(|found| found.source == root || found.build == found.source.join("build"))
}

/// The same for the directory of the runtime, in which each part has a directory of its own.
pub(crate) fn is_runtimes(build: &Path, runtime: &Path) -> bool {
    let own = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        OWN_NAMES.iter().any(|own| name.starts_with(own))
    };
    children(build).iter().any(own) || has_part_of(build, build, runtime, DEPTH)
}

fn has_part_of(dir: &Path, build: &Path, runtime: &Path, depth: usize) -> bool {
    let of_the_runtime = |found: Configured| {
        // Where the checkout was before it was moved, or where another container has it.
        let was = dir.strip_prefix(build).ok().and_then(|below| without(&found.build, below)?.parent());
        found.source.starts_with(runtime) || was.is_some_and(|was| found.source.starts_with(was))
    };
    if Configured::read(&dir.join(CACHE)).is_some_and(of_the_runtime) {
        return true;
    }
    let is_dir = |path: &PathBuf| path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    depth > 0 && children(dir).iter().filter(|path| is_dir(path)).any(|dir| has_part_of(dir, build, runtime, depth - 1))
}

/// A path without its last components.
fn without<'a>(path: &'a Path, end: &Path) -> Option<&'a Path> {
    path.ends_with(end).then(|| path.ancestors().nth(end.components().count())).flatten()
}

/// What a cache of CMake's says of itself.
struct Configured {
    source: PathBuf,
    build: PathBuf,
}

impl Configured {
    fn read(cache: &Path) -> Option<Self> {
        let dir = |name| setting(cache, name).map(PathBuf::from);
        Some(Self { source: dir("CMAKE_HOME_DIRECTORY")?, build: dir("CMAKE_CACHEFILE_DIR")? })
    }
}

/// What is in a directory, in full.
pub(crate) fn children(dir: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(dir: &Path, source: &str, build: &str) {
        fs_err::create_dir_all(dir).unwrap();
        let text = format!("CMAKE_HOME_DIRECTORY:INTERNAL={source}\nCMAKE_CACHEFILE_DIR:INTERNAL={build}\n");
        fs_err::write(dir.join(CACHE), text).unwrap();
    }

    #[test]
    fn only_this_checkout_counts_and_where_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let build = root.join("build");
        let here = root.display().to_string();
        for (source, place, expected) in [
            (here.as_str(), "/elsewhere", true),
            ("/before", "/before/build", true),
            ("/thesis", "/thesis/out", false),
            ("/thesis", &*build.display().to_string(), false),
        ] {
            cache(&build, source, place);
            assert_eq!(is_native(&build, root), expected, "{source} in {place}");
        }
        fs_err::create_dir(build.join(MARK)).unwrap();
        assert!(is_native(&build, root));
    }

    #[test]
    fn parts_of_the_runtime_are_found_below() {
        let dir = tempfile::tempdir().unwrap();
        let (root, build) = (dir.path(), dir.path().join("build"));
        fs_err::create_dir_all(build.join("cache/x")).unwrap();
        assert!(!is_runtimes(&build, root));
        cache(&build.join("cache/x"), "/thesis", "/thesis/build");
        assert!(!is_runtimes(&build, root));
        cache(&build.join("cache/x"), "/before/src/a5", "/before/build/cache/x");
        assert!(is_runtimes(&build, root));
        cache(&build.join("cache/x"), &root.join("src/a5").display().to_string(), "/y");
        assert!(is_runtimes(&build, root));
    }
}
