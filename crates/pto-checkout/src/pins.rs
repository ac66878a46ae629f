//! What a checkout pins.

use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_context::files::{Reading, read};
use pto_platform::files::{
    PtoIsaPin, VersionsEnv, lowest_python, parse_pto_isa_pin, parse_python_version_file, parse_requires_python,
    parse_versions_env,
};
use serde::Serialize;

use crate::error::Error;

const VERSIONS: &str = "toolchain/versions.env";
const PTO_ISA: &str = "runtime/pto_isa.pin";
const CONSTRAINTS: &str = "build-constraints.txt";
const PYTHON_FILE: &str = ".python-version";
const PYPROJECT: &str = "pyproject.toml";
/// A key of `versions.env`.
const PYTHON_KEY: &str = "PYTHON_VERSION";

/// The files with which a checkout says what it needs. What a checkout does not have is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Pins {
    /// `toolchain/versions.env`: the assembler.
    pub versions: Option<VersionsEnv>,
    /// `runtime/pto_isa.pin`: the commit of PTO-ISA; `None` also where the submodule was not initialised.
    pub pto_isa: Option<PtoIsaPin>,
    /// Which Python.
    pub python: Option<PythonPin>,
    /// `build-constraints.txt`, by its path: the versions of build tools.
    pub build_constraints: Option<PathBuf>,
}

/// The Python that a checkout asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PythonPin {
    /// `3.10`, or with a third number where the checkout names one.
    pub version: String,
    /// Whether it is this version that is asked for, or this and later ones.
    pub exact: bool,
    /// The file that says so.
    pub file: PathBuf,
}

impl Pins {
    /// Reads what there is below the top level of a checkout.
    ///
    /// # Errors
    /// A file is there and cannot be read.
    pub fn read(cx: &Context, root: &Path) -> Result<Self, Error> {
        let text = |file: &str| match read(cx, root.join(file)) {
            Reading::Text(text) => Ok(Some(text)),
            Reading::Absent => Ok(None),
            Reading::Unreadable(why) => {
                Err(Error::Io { action: "cannot read a pin of the checkout", source: std::io::Error::other(why) })
            }
        };
        let versions = text(VERSIONS)?.map(|text| parse_versions_env(&text));
        let named = versions.as_ref().and_then(|env| env.other.get(PYTHON_KEY).cloned());
        let by_file = text(PYTHON_FILE)?.and_then(|text| parse_python_version_file(&text));
        let by_project = text(PYPROJECT)?.and_then(|text| lowest_python(&parse_requires_python(&text)?));
        let pin = |exact: bool, file: &'static str| {
            move |version: String| PythonPin { version, exact, file: root.join(file) }
        };
        Ok(Self {
            pto_isa: text(PTO_ISA)?.map(|text| parse_pto_isa_pin(&text)),
            python: named
                .map(pin(true, VERSIONS))
                .or_else(|| by_file.map(pin(true, PYTHON_FILE)))
                .or_else(|| by_project.map(pin(false, PYPROJECT))),
            build_constraints: text(CONSTRAINTS)?.map(|_| root.join(CONSTRAINTS)),
            versions,
        })
    }
}
