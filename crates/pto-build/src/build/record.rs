//! The record of a build: what it was made with and what it made.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::artifacts::{ArtifactChange, Artifacts};
use super::inputs::{Change, Inputs, changes};
use super::tree::BuildTree;
use crate::error::Error;

/// Below the build directory, so that it goes and comes with what it describes.
pub(crate) const FILE: &str = ".ptokit-build.json";
const SCHEMA: &str = "ptokit.build-record/2";

/// What is written down of a build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    schema: String,
    pub(crate) inputs: Inputs,
    pub(crate) artifacts: Artifacts,
    /// When the build of the project's own extension began, if it went well.
    #[serde(default)]
    pub(crate) begun: Option<SystemTime>,
}

/// How the next build begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Decision {
    /// With what is there: all inputs are as they were, and nobody has changed what was built.
    Incremental,
    /// With nothing: what is there is removed first.
    Fresh {
        /// Why.
        reason: Reason,
    },
}

/// Why a build begins with nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Reason {
    /// There is no build.
    NoBuild,
    /// It was asked for.
    Asked,
    /// There is a build and no record of it: somebody else's, or one that was killed.
    Unrecorded,
    /// The record is none that this version reads.
    Unreadable,
    /// It was made with other inputs.
    Inputs {
        /// Which.
        changes: Vec<Change>,
    },
    /// Somebody changed what was built.
    Artifacts {
        /// Which files.
        changes: Vec<ArtifactChange>,
    },
}

impl Record {
    pub(crate) fn new(inputs: Inputs, artifacts: Artifacts, begun: Option<SystemTime>) -> Self {
        Self { schema: SCHEMA.to_owned(), inputs, artifacts, begun }
    }

    /// The record in a build directory; `Err` says why there is none.
    pub(crate) fn read(build: &Path) -> Result<Self, Reason> {
        let bytes = std::fs::read(Self::path(build)).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Reason::Unrecorded,
            _ => Reason::Unreadable,
        })?;
        let record: Option<Self> = serde_json::from_slice(&bytes).ok();
        record.filter(|record| record.schema == SCHEMA).ok_or(Reason::Unreadable)
    }

    pub(crate) fn path(build: &Path) -> PathBuf {
        build.join(FILE)
    }

    pub(crate) fn to_json(&self) -> Result<Vec<u8>, Error> {
        let failed = |error: serde_json::Error| Error::io("cannot record the build")(error.into());
        let mut bytes = serde_json::to_vec_pretty(self).map_err(failed)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Whether a build with these inputs can begin with what is there.
    pub(crate) fn compare(&self, inputs: &Inputs, tree: &BuildTree) -> Result<Decision, Error> {
        let changed = changes(&self.inputs, inputs);
        if !changed.is_empty() {
            return Ok(Decision::Fresh { reason: Reason::Inputs { changes: changed } });
        }
        let touched = self.artifacts.differences(tree)?;
        if !touched.is_empty() {
            return Ok(Decision::Fresh { reason: Reason::Artifacts { changes: touched } });
        }
        Ok(Decision::Incremental)
    }
}

impl Decision {
    /// Whether what is there is kept.
    pub fn is_incremental(&self) -> bool {
        *self == Self::Incremental
    }
}

impl std::fmt::Display for Reason {
    /// Completes "from scratch: ", in one line.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoBuild => f.write_str("there is no build yet"),
            Self::Asked => f.write_str("that was asked for"),
            Self::Unrecorded => f.write_str("there is no record of the build that is there"),
            Self::Unreadable => f.write_str("the record of the build that is there cannot be read"),
            Self::Inputs { changes } => {
                let names: Vec<String> = changes.iter().map(|change| format!("`{}`", change.input)).collect();
                write!(f, "{} changed", names.join(", "))
            }
            Self::Artifacts { changes } => {
                let first = changes.first().map(|change| change.path.display().to_string()).unwrap_or_default();
                write!(f, "`{first}` was changed since it was built")?;
                if changes.len() > 1 { write!(f, ", and {} more", changes.len() - 1) } else { Ok(()) }
            }
        }
    }
}
