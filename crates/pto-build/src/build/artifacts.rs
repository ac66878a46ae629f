//! What a build has made, as CMake's file API names it, and whether it is still that.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::tools::hex;
use super::tree::BuildTree;
use crate::error::Error;

/// Asks CMake to name its targets; made before it configures.
pub(crate) const QUERY: &str = ".cmake/api/v1/query/codemodel-v2";
/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;
const REPLY: &str = ".cmake/api/v1/reply";
pub(crate) const CACHE: &str = "CMakeCache.txt";

/// What a build has left in its two directories.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Artifacts {
    /// Of the project's own extension.
    pub(crate) native: Products,
    /// Of the runtime: its wheel is made of what is there, and none of its parts looks whether that is still its own.
    pub(crate) runtime: Products,
}

/// Products with their digests, and the objects they were linked of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Products {
    /// Path below the build directory, or in full, and SHA-256.
    pub(crate) files: BTreeMap<PathBuf, String>,
    /// Objects by their paths below the build directory, with their sizes. Their contents would take as long to read as a
    /// build that does nothing takes; whoever changes one changes what is linked of it, or its size.
    pub(crate) objects: BTreeMap<PathBuf, u64>,
}

/// A product or object that is not as the build left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArtifactChange {
    /// Which.
    pub path: PathBuf,
    /// What became of it.
    pub change: Became,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Became {
    /// It is not there.
    Missing,
    /// It was not there.
    New,
    /// Something else is in it.
    Changed,
}

impl Artifacts {
    /// Takes down what is in the directories of a build; `None` where CMake has not said what it makes: what is not taken down
    /// can be changed unseen.
    pub(crate) fn of(tree: &BuildTree) -> Result<Option<Self>, Error> {
        let Some(targets) = targets(&tree.native) else { return Ok(None) };
        let named = targets.into_iter().chain([PathBuf::from(CACHE)]);
        Ok(Some(Self {
            native: Products::of(&tree.native, &found_below(tree, &tree.native)?, named),
            runtime: Products::of(&tree.runtime, &found_below(tree, &tree.runtime)?, []),
        }))
    }

    /// What differs from what was taken down. Of the project's own by its path below the build directory, of the runtime in
    /// full.
    pub(crate) fn differences(&self, tree: &BuildTree) -> Result<Vec<ArtifactChange>, Error> {
        let mut changes = self.native.differences(&tree.native, &found_below(tree, &tree.native)?);
        let of_runtime = self.runtime.differences(&tree.runtime, &found_below(tree, &tree.runtime)?);
        changes.extend(of_runtime.into_iter().map(|ArtifactChange { path, change }| {
            let path = tree.runtime.join(path);
            ArtifactChange { path, change }
        }));
        Ok(changes)
    }
}

impl Products {
    fn of(build: &Path, found: &Found, named: impl IntoIterator<Item = PathBuf>) -> Self {
        let files = named.into_iter().chain(found.libraries.iter().cloned());
        let digest = |path: PathBuf| Some((digest(&build.join(&path))?, path));
        let files = files.filter_map(digest).map(|(digest, path)| (path, digest)).collect();
        Self { files, objects: found.objects.clone() }
    }

    fn differences(&self, build: &Path, found: &Found) -> Vec<ArtifactChange> {
        let change = |path: &Path, change| Some(ArtifactChange { path: path.to_owned(), change });
        let of_file = |(path, was): (&PathBuf, &String)| match digest(&build.join(path)) {
            None => change(path, Became::Missing),
            Some(is) if is != *was => change(path, Became::Changed),
            Some(_) => None,
        };
        let of_object = |(path, was): (&PathBuf, &u64)| match found.objects.get(path) {
            None => change(path, Became::Missing),
            Some(is) if is != was => change(path, Became::Changed),
            Some(_) => None,
        };
        let is_known = |path: &&PathBuf| self.objects.contains_key(*path) || self.files.contains_key(*path);
        let new = found.objects.keys().chain(&found.libraries).filter(|path| !is_known(path));
        let changed = self.files.iter().filter_map(of_file).chain(self.objects.iter().filter_map(of_object));
        changed.chain(new.filter_map(|path| change(path, Became::New))).collect()
    }
}

/// SHA-256 of a file; `None` if it is not there.
pub(crate) fn digest(path: &Path) -> Option<String> {
    let mut file = std::fs::File::open(path).ok()?;
    let (mut sum, mut chunk) = (Sha256::new(), vec![0; CHUNK]);
    loop {
        match file.read(&mut chunk).ok()? {
            0 => return Some(hex(&sum.finalize())),
            read => sum.update(&chunk[..read]),
        }
    }
}

/// What the newest reply of CMake says its targets make; `None` if there is no whole one.
pub(crate) fn targets(build: &Path) -> Option<Vec<PathBuf>> {
    let reply = build.join(REPLY);
    let names = std::fs::read_dir(&reply).ok()?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let index = json(&reply.join(names.filter(|name| name.starts_with("index-")).max()?))?;
    let model = index["objects"].as_array()?.iter().find(|object| object["kind"] == "codemodel")?;
    let model = json(&reply.join(model["jsonFile"].as_str()?))?;
    let configurations = model["configurations"].as_array()?.iter();
    let targets = configurations.filter_map(|configuration| configuration["targets"].as_array()).flatten();
    let files = targets.map(|target| json(&reply.join(target["jsonFile"].as_str()?))).collect::<Option<Vec<_>>>()?;
    let artifacts = |target: Value| target["artifacts"].as_array().cloned().unwrap_or_default();
    let paths = files.into_iter().flat_map(artifacts);
    let paths = paths.filter_map(|artifact| Some(PathBuf::from(artifact["path"].as_str()?)));
    // Objects are looked at by themselves.
    Some(paths.filter(|path| !is_object(path)).collect())
}

fn json(path: &Path) -> Option<Value> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

fn is_object(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "o")
}

/// `libx.a`, `libx.so`, `libx.so.1`. CMake names those of its own targets, not those of projects that it only calls.
fn is_library(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".a") || name.ends_with(".so") || name.contains(".so.")
}

/// What lies in a build directory, by paths below it.
#[derive(Debug, Default)]
struct Found {
    libraries: BTreeSet<PathBuf>,
    /// With their sizes.
    objects: BTreeMap<PathBuf, u64>,
}

fn found_below(tree: &BuildTree, build: &Path) -> Result<Found, Error> {
    let mut found = Found::default();
    let products = tree.products(build).into_iter().filter_map(|path| path.file_name().map(PathBuf::from));
    products
        .into_iter()
        .try_for_each(|name| walk(build, name, &mut found))
        .map_err(Error::io("cannot look at what was built"))?;
    Ok(found)
}

/// Links are not followed, and are no products.
fn walk(build: &Path, path: PathBuf, found: &mut Found) -> std::io::Result<()> {
    let metadata = fs_err::symlink_metadata(build.join(&path))?;
    if metadata.is_dir() {
        return fs_err::read_dir(build.join(&path))?
            .try_for_each(|entry| walk(build, path.join(entry?.file_name()), found));
    }
    if metadata.is_file() && is_object(&path) {
        found.objects.insert(path, metadata.len());
    } else if metadata.is_file() && is_library(&path) {
        found.libraries.insert(path);
    }
    Ok(())
}
