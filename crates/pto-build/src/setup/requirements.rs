//! What a checkout asks of its Python: the version, what builds it, and what it runs with.

use std::path::{Path, PathBuf};

use pto_checkout::{Pins, PythonPin};
use pto_context::Context;
use serde::Deserialize;

use crate::error::{Error, SourceError};
use crate::home;
use crate::venv::PythonVersion;

/// The version that the images have, and that the pinned PTOAS is built for.
const USUAL: PythonVersion = PythonVersion { major: 3, minor: 10 };

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
    #[serde(default)]
    dependencies: Vec<String>,
}

impl Requirements {
    /// Reads what PyPTO and its runtime ask for.
    ///
    /// # Errors
    /// It is no complete checkout, or a file of it cannot be understood.
    pub fn read(cx: &Context, src: &Path) -> Result<Self, Error> {
        let missing = |missing| {
            SourceError::NotACheckout {
                src: src.to_path_buf(),
                missing,
                is_repository: pto_checkout::GitDirs::find(src).is_ok(),
            }
            .into()
        };
        if !home::is_checkout(src) {
            return Err(missing("toolchain/versions.env"));
        }
        let own = project(&src.join("pyproject.toml"))?.ok_or_else(|| missing("pyproject.toml"))?;
        // A checkout whose submodules are not there yet is built later; its runtime's needs are then those of the next setup.
        let runtime = project(&src.join("runtime/pyproject.toml"))?.unwrap_or_default();
        let pins = Pins::read(cx, src)?;
        let python = pins.python.map_or(Ok(USUAL), |pin| version(&pin))?;
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
        Ok(Self { python, packages, constraints: pins.build_constraints })
    }
}

fn project(file: &Path) -> Result<Option<PyProject>, Error> {
    if !file.is_file() {
        return Ok(None);
    }
    let malformed = |why: String| SourceError::Malformed { file: file.to_path_buf(), why }.into();
    let text = fs_err::read_to_string(file).map_err(|error| malformed(error.to_string()))?;
    toml::from_str(&text).map(Some).map_err(|error| malformed(error.to_string().trim_end().to_owned()))
}

/// The version that a checkout names; where it names a lowest one, the usual one if that is not lower.
fn version(pin: &PythonPin) -> Result<PythonVersion, Error> {
    let mut parts = pin.version.split('.').map(str::parse);
    let (Some(Ok(major)), Some(Ok(minor))) = (parts.next(), parts.next()) else {
        let why = format!("it asks for Python `{}`; expected a version such as `3.10`", pin.version);
        return Err(SourceError::Malformed { file: pin.file.clone(), why }.into());
    };
    let named = PythonVersion { major, minor };
    Ok(if pin.exact { named } else { named.max(USUAL) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_version_unless_the_checkout_asks_for_another() {
        let wanted = |text: &str, exact: bool| {
            let pin = PythonPin { version: text.to_owned(), exact, file: "pyproject.toml".into() };
            version(&pin).map(|version| version.to_string())
        };
        for (text, lowest, exact) in [("3.9", "3.10", "3.9"), ("3.10.4", "3.10", "3.10"), ("3.12", "3.12", "3.12")] {
            assert_eq!((wanted(text, false).unwrap(), wanted(text, true).unwrap()), (lowest.into(), exact.into()));
        }
        assert!(wanted("3", true).unwrap_err().to_string().contains("expected a version such as `3.10`"));
    }

    #[test]
    fn what_both_projects_ask_for_is_taken_once() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            fs_err::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
            fs_err::write(dir.path().join(name), text).unwrap();
        };
        let read = || Requirements::read(&Context::fake("/", [("A", "1")]), dir.path());
        assert!(read().unwrap_err().to_string().contains("`toolchain/versions.env`"));
        write("toolchain/versions.env", "");
        write(
            "pyproject.toml",
            "[build-system]\nrequires = [\"cmake>=3.15\", \"nanobind\"]\n[project]\ndependencies = [\"numpy>=2\"]\n",
        );
        write(
            "runtime/pyproject.toml",
            "[build-system]\nrequires = [\"nanobind\"]\n[project]\ndependencies = [\"cloudpickle\"]\n",
        );
        let found = read().unwrap();
        assert_eq!(found.packages, ["cmake>=3.15", "nanobind", "numpy>=2", "cloudpickle"]);
        assert_eq!((found.python, found.constraints), (USUAL, None));
        write("build-constraints.txt", "nanobind==2.1\n");
        assert!(read().unwrap().constraints.is_some());
        write("pyproject.toml", "[build-system\n");
        assert!(read().unwrap_err().to_string().contains("pyproject.toml"));
    }
}
