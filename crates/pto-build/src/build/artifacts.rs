//! What a build has made, as CMake's file API names it, and whether it is still that.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::tools::hex;
use crate::error::Error;

/// Asks CMake to name its targets; made before it configures.
pub(crate) const QUERY: &str = ".cmake/api/v1/query/codemodel-v2";
/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;
const REPLY: &str = ".cmake/api/v1/reply";
pub(crate) const CACHE: &str = "CMakeCache.txt";

/// Products with their digests, and the objects they were linked of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Artifacts {
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
    /// Takes down what is in a build directory that CMake has configured; `None` where CMake has not said what it makes: what
    /// is not taken down can be changed unseen.
    pub(crate) fn of(build: &Path) -> Result<Option<Self>, Error> {
        let Some(targets) = targets(build) else { return Ok(None) };
        let files = targets.into_iter().chain([PathBuf::from(CACHE)]);
        let digest = |path: PathBuf| Some((digest(&build.join(&path))?, path));
        let files = files.filter_map(digest).map(|(digest, path)| (path, digest)).collect();
        Ok(Some(Self { files, objects: objects(build)? }))
    }

    /// What differs from what was taken down.
    pub(crate) fn differences(&self, build: &Path) -> Result<Vec<ArtifactChange>, Error> {
        let of_file = |(path, was): (&PathBuf, &String)| match digest(&build.join(path)) {
            None => Some(ArtifactChange { path: path.clone(), change: Became::Missing }),
            Some(is) => (is != *was).then(|| ArtifactChange { path: path.clone(), change: Became::Changed }),
        };
        let mut found: Vec<_> = self.files.iter().filter_map(of_file).collect();
        let now = objects(build)?;
        let of_object = |(path, was): (&PathBuf, &u64)| match now.get(path) {
            None => Some(ArtifactChange { path: path.clone(), change: Became::Missing }),
            Some(is) => (is != was).then(|| ArtifactChange { path: path.clone(), change: Became::Changed }),
        };
        found.extend(self.objects.iter().filter_map(of_object));
        let new = now.keys().filter(|path| !self.objects.contains_key(*path));
        found.extend(new.map(|path| ArtifactChange { path: path.clone(), change: Became::New }));
        Ok(found)
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

/// All objects below a directory, with their sizes.
fn objects(build: &Path) -> Result<BTreeMap<PathBuf, u64>, Error> {
    fn walk(build: &Path, below: &Path, found: &mut BTreeMap<PathBuf, u64>) -> std::io::Result<()> {
        for entry in fs_err::read_dir(build.join(below))? {
            let entry = entry?;
            let (path, kind) = (below.join(entry.file_name()), entry.file_type()?);
            if kind.is_dir() {
                walk(build, &path, found)?;
            } else if kind.is_file() && is_object(&path) {
                found.insert(path, entry.metadata()?.len());
            }
        }
        Ok(())
    }
    let mut found = BTreeMap::new();
    walk(build, Path::new(""), &mut found).map_err(Error::io("cannot look at what was built"))?;
    Ok(found)
}
