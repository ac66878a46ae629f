//! What was installed into an environment, written down in it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::requirements::Requirements;
use crate::error::{Error, SourceError};

/// Its name in the environment.
pub(crate) const FILE: &str = "ptokit-setup.json";

/// What was installed. It is there only while that is whole: taken away before packages are touched, written after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The interpreter's version in full.
    pub python: String,
    /// What was asked for.
    pub packages: Vec<String>,
    /// sha256 of the constraints, in lower-case hexadecimal; empty without constraints.
    pub constraints_sha256: String,
}

impl Receipt {
    /// The receipt of an environment that fulfils these requirements.
    pub(crate) fn of(requirements: &Requirements, python: &str) -> Result<Self, Error> {
        let digest = |file: &PathBuf| {
            pto_context::files::bytes(file, 16 << 20)
                .map(|bytes| Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>())
                .map_err(|error| SourceError::Malformed { file: file.clone(), why: error.to_string() })
        };
        Ok(Self {
            python: python.to_owned(),
            packages: requirements.packages.clone(),
            constraints_sha256: requirements.constraints.as_ref().map(digest).transpose()?.unwrap_or_default(),
        })
    }

    /// The receipt in an environment; `None` without one, or with one that cannot be read.
    pub fn read(venv: &Path) -> Option<Self> {
        serde_json::from_str(&fs_err::read_to_string(venv.join(FILE)).ok()?).ok()
    }

    pub(crate) fn write(&self, venv: &Path) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(self).unwrap_or_default();
        let file = venv.join(FILE);
        pto_context::write_whole(&file, pto_context::Readable::ByUmask, |out| std::io::Write::write_all(out, &text))
            .map_err(Error::in_home("cannot write down what was installed", venv))
    }

    pub(crate) fn take_away(venv: &Path) -> Result<(), Error> {
        match std::fs::remove_file(venv.join(FILE)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::in_home("cannot change the environment", venv)(error))
            }
            _ => Ok(()),
        }
    }

    /// What differs from what is wanted now, for people.
    pub(crate) fn differs_from(&self, wanted: &Self) -> Option<&'static str> {
        match () {
            () if self.packages != wanted.packages => Some("the checkout asks for other packages"),
            () if self.constraints_sha256 != wanted.constraints_sha256 => Some("`build-constraints.txt` has changed"),
            () if self.python != wanted.python => Some("the interpreter is another release"),
            () => None,
        }
    }
}
