//! What the user has chosen of a build: whoever builds again for him, or compares, has to choose the same.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pto_context::Context;
use serde::{Deserialize, Serialize};

use super::hands::Hands;
use super::ours::MARK;
use super::plan::BuildOptions;
use crate::error::Error;

/// In the mark of a build directory, which a build that is killed leaves.
const FILE: &str = "options.json";

/// Of the options those that make it another build.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Chosen {
    build_type: Option<String>,
    cmake_args: Vec<String>,
}

impl Chosen {
    pub(crate) fn of(options: &BuildOptions) -> Self {
        Self { build_type: options.build_type.clone(), cmake_args: options.cmake_args.clone() }
    }

    /// What the build that is there was made with; nothing of the user's where none is noted.
    fn read(build: &Path) -> Result<Self, Error> {
        let failed = |source| Error::io("cannot read the options of the build that is there")(source);
        let text = match fs_err::read(path(build)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            read => read.map_err(failed)?,
        };
        let named = |error| std::io::Error::other(format!("`{}`: {error}", path(build).display()));
        serde_json::from_slice(&text).map_err(|error| failed(named(error)))
    }

    /// Notes it in a build directory that is claimed, where it is not yet.
    pub(crate) fn note(&self, cx: &Context, hands: &Hands, build: &Path) -> Result<(), Error> {
        if Self::read(build).is_ok_and(|noted| noted == *self) {
            return Ok(());
        }
        let failed = |error: serde_json::Error| Error::io("cannot note the options")(error.into());
        hands.write(cx, &path(build), &serde_json::to_vec_pretty(self).map_err(failed)?)
    }
}

impl BuildOptions {
    /// The same with what the build that is there was made with, if that is asked for.
    pub(crate) fn resolved(&self, root: &Path) -> Result<Self, Error> {
        if !self.as_recorded {
            return Ok(self.clone());
        }
        let Chosen { build_type, cmake_args } = Chosen::read(&root.join("build"))?;
        Ok(Self { build_type, cmake_args, ..self.clone() })
    }
}

fn path(build: &Path) -> PathBuf {
    build.join(MARK).join(FILE)
}
