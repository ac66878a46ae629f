//! What a checkout asks of its Python: the version, what builds it, and what it runs with.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::error::SetupError;
use crate::home;
use crate::venv::PythonVersion;

/// The version that the images have, and that the pinned PTOAS is built for.
const USUAL: PythonVersion = PythonVersion { major: 3, minor: 10 };
/// No version beyond this one is tried for a checkout that excludes [`USUAL`].
const HIGHEST_MINOR: u32 = 30;

/// What the environment has to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirements {
    /// CPython's version.
    pub python: PythonVersion,
    /// What is installed, as `pyproject.toml` says it; each once.
    pub packages: Vec<String>,
    /// `build-constraints.txt`, where the checkout has one.
    pub constraints: Option<PathBuf>,
}

#[derive(Deserialize, Default)]
struct PyProject {
    #[serde(default, rename = "build-system")]
    build_system: BuildSystem,
    #[serde(default)]
    project: Project,
}

#[derive(Deserialize, Default)]
struct BuildSystem {
    #[serde(default)]
    requires: Vec<String>,
}

#[derive(Deserialize, Default)]
struct Project {
    #[serde(default, rename = "requires-python")]
    requires_python: Option<String>,
    #[serde(default)]
    dependencies: Vec<String>,
}

impl Requirements {
    /// Reads what PyPTO and its runtime ask for.
    ///
    /// # Errors
    /// It is no complete checkout, or a file of it cannot be understood.
    pub fn read(src: &Path) -> Result<Self, SetupError> {
        let missing = |missing| SetupError::NotACheckout { src: src.to_path_buf(), missing };
        if !home::is_checkout(src) {
            return Err(missing("toolchain/versions.env"));
        }
        let own = project(&src.join("pyproject.toml"))?.ok_or_else(|| missing("pyproject.toml"))?;
        // A checkout whose submodules are not there yet is built later; its runtime's needs are then those of the next setup.
        let runtime = project(&src.join("runtime/pyproject.toml"))?.unwrap_or_default();
        let python = version(src, own.project.requires_python.as_deref())?;
        let mut packages: Vec<String> = Vec::new();
        for package in [&own.build_system.requires, &runtime.build_system.requires]
            .into_iter()
            .chain([&own.project.dependencies, &runtime.project.dependencies])
            .flatten()
        {
            if !packages.contains(package) {
                packages.push(package.clone());
            }
        }
        let constraints = Some(src.join("build-constraints.txt")).filter(|file| file.is_file());
        Ok(Self { python, packages, constraints })
    }
}

fn project(file: &Path) -> Result<Option<PyProject>, SetupError> {
    if !file.is_file() {
        return Ok(None);
    }
    let malformed = |why: String| SetupError::Malformed { file: file.to_path_buf(), why };
    let text = fs_err::read_to_string(file).map_err(|error| malformed(error.to_string()))?;
    toml::from_str(&text).map(Some).map_err(|error| malformed(error.to_string().trim_end().to_owned()))
}

/// What `.python-version` says; else the usual one, unless `requires-python` excludes it: then the lowest that it allows.
fn version(src: &Path, requires: Option<&str>) -> Result<PythonVersion, SetupError> {
    let file = src.join(".python-version");
    if let Ok(text) = fs_err::read_to_string(&file) {
        let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
        return first.and_then(parse_version).ok_or_else(|| SetupError::Malformed {
            file,
            why: "expected a version of Python such as `3.10`".to_owned(),
        });
    }
    let Some(requires) = requires else { return Ok(USUAL) };
    let file = src.join("pyproject.toml");
    let malformed = || SetupError::Malformed {
        file: file.clone(),
        why: format!("`requires-python` is `{requires}`; expected bounds such as `>=3.10`"),
    };
    let bounds: Vec<Bound> =
        requires.split(',').map(|part| Bound::parse(part.trim())).collect::<Option<_>>().ok_or_else(malformed)?;
    let allowed = |minor: &u32| bounds.iter().all(|bound| bound.allows((3, *minor)));
    let minor = Some(USUAL.minor).filter(&allowed).or_else(|| (0..HIGHEST_MINOR).find(&allowed));
    minor.map(|minor| PythonVersion { major: 3, minor }).ok_or_else(malformed)
}

/// `3.10`, `3.10.4`, `cpython-3.10`.
fn parse_version(text: &str) -> Option<PythonVersion> {
    let text = text.strip_prefix("cpython").map_or(text, |rest| rest.trim_start_matches(['-', '@']));
    let mut parts = text.split('.').map(str::parse);
    Some(PythonVersion { major: parts.next()?.ok()?, minor: parts.next()?.ok()? })
}

/// One condition of `requires-python`, looked at for whole minor versions: `>=3.10.2` allows 3.10.
struct Bound<'a> {
    operator: &'a str,
    version: (u32, u32),
    /// Whether it names a patch release, or all of a minor one.
    is_patch: bool,
}

impl<'a> Bound<'a> {
    const OPERATORS: [&'static str; 8] = ["===", "~=", "==", "!=", "<=", ">=", "<", ">"];

    fn parse(text: &'a str) -> Option<Self> {
        let operator = Self::OPERATORS.into_iter().find(|operator| text.starts_with(operator))?;
        let version = text[operator.len()..].trim();
        let mut parts = version.split('.');
        let major = parts.next()?.parse().ok()?;
        let minor = parts.next().filter(|part| *part != "*").map_or(Some(0), |part| part.parse().ok())?;
        let is_patch = parts.next().is_some_and(|part| part != "*");
        Some(Self { operator, version: (major, minor), is_patch })
    }

    fn allows(&self, minor: (u32, u32)) -> bool {
        match self.operator {
            ">=" => minor >= self.version,
            ">" if self.is_patch => minor >= self.version,
            ">" => minor > self.version,
            "<=" => minor <= self.version,
            "<" if self.is_patch => minor <= self.version,
            "<" => minor < self.version,
            "!=" => self.is_patch || minor != self.version,
            "~=" if self.is_patch => minor == self.version,
            "~=" => minor.0 == self.version.0 && minor >= self.version,
            _ => minor == self.version,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wanted(requires: &str) -> Option<String> {
        version(Path::new("/gone"), Some(requires)).ok().map(|version| version.to_string())
    }

    #[test]
    fn the_usual_version_unless_the_checkout_excludes_it() {
        for (requires, expected) in [
            (">=3.10", "3.10"),
            (">=3.9", "3.10"),
            (">=3.9,<4", "3.10"),
            (">=3.10.2, <3.13", "3.10"),
            (">=3.11", "3.11"),
            (">3.10", "3.11"),
            ("~=3.12.1", "3.12"),
            ("==3.9.*", "3.9"),
            ("<3.10", "3.0"),
            (">=3.8,!=3.10.*", "3.8"),
        ] {
            assert_eq!(wanted(requires).as_deref(), Some(expected), "{requires}");
        }
        for bad in ["3.10", ">=three", ">=3.10,<3.9", "~3.10", ""] {
            assert_eq!(wanted(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_file_of_the_checkout_counts_before_that() {
        let dir = tempfile::tempdir().unwrap();
        let read = |text: &str| {
            fs_err::write(dir.path().join(".python-version"), text).unwrap();
            version(dir.path(), Some(">=3.10")).map(|version| version.to_string())
        };
        assert_eq!(read("# for all\n3.11.7\n").unwrap(), "3.11");
        assert_eq!(read("cpython-3.12\n").unwrap(), "3.12");
        assert!(read("pypy").unwrap_err().to_string().contains(".python-version"));
    }

    #[test]
    fn what_both_projects_ask_for_is_taken_once() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            fs_err::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
            fs_err::write(dir.path().join(name), text).unwrap();
        };
        assert!(Requirements::read(dir.path()).unwrap_err().to_string().contains("`toolchain/versions.env`"));
        write("toolchain/versions.env", "");
        write(
            "pyproject.toml",
            "[build-system]\nrequires = [\"cmake>=3.15\", \"nanobind\"]\n[project]\ndependencies = [\"numpy>=2\"]\n",
        );
        write(
            "runtime/pyproject.toml",
            "[build-system]\nrequires = [\"nanobind\"]\n[project]\ndependencies = [\"cloudpickle\"]\n",
        );
        let read = Requirements::read(dir.path()).unwrap();
        assert_eq!(read.packages, ["cmake>=3.15", "nanobind", "numpy>=2", "cloudpickle"]);
        assert_eq!((read.python, read.constraints), (USUAL, None));
        write("build-constraints.txt", "nanobind==2.1\n");
        assert!(Requirements::read(dir.path()).unwrap().constraints.is_some());
        write("pyproject.toml", "[build-system\n");
        assert!(Requirements::read(dir.path()).unwrap_err().to_string().contains("pyproject.toml"));
    }

    proptest! {
        #[test]
        fn never_panics(text in "[<>=!~0-9., *x-]{0,24}") {
            let _ = (wanted(&text), parse_version(&text));
        }
    }
}
