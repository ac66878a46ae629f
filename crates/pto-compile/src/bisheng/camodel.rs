//! The CA model: where CANN keeps a SoC's simulator, and the environment a program needs to run on it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_platform::{Machine, Soc};

use super::BishengError;
use crate::cann::{Located, Rule, Tried, open_path};

/// The library that marks a simulator directory as usable.
const MODEL: &str = "libruntime_camodel.so";

/// The simulator of one SoC in one CANN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simulator {
    lib: Located,
    cann: PathBuf,
}

impl Simulator {
    /// Looks in both layouts: by SoC in `tools/simulator` of older releases, by architecture below `<machine>-linux`
    /// since 9.2.0.
    ///
    /// # Errors
    /// Neither layout holds a simulator for this SoC; the error lists the places.
    pub fn find(cx: &Context, cann: &Path, soc: &Soc, machine: Machine) -> Result<Self, BishengError> {
        let dirs = library_dirs(cann, soc, machine);
        match dirs.iter().find(|dir| open_path(cx, &dir.join(MODEL)).is_file()) {
            Some(dir) => {
                Ok(Self { lib: Located { path: dir.clone(), rule: Rule::InsideCann, exists: true }, cann: cann.into() })
            }
            None => Err(BishengError::NoSimulator {
                soc: soc.name,
                tried: dirs.iter().map(|dir| Tried::absent(&dir.join(MODEL))).collect(),
            }),
        }
    }

    /// The simulator, or where the older layout would have it: enough to print a plan.
    pub fn assume(cx: &Context, cann: &Path, soc: &Soc, machine: Machine) -> Self {
        Self::find(cx, cann, soc, machine)
            .unwrap_or_else(|_| Self { lib: Located::missing(by_soc(cann, soc), Rule::InsideCann), cann: cann.into() })
    }

    /// The directory with the model's libraries.
    pub fn dir(&self) -> &Path {
        &self.lib.path
    }

    /// What a program needs in its environment: the model before every other runtime on `LD_LIBRARY_PATH`, then the
    /// driver stubs, then what the context has; no empty element, which would mean the working directory.
    ///
    /// # Errors
    /// A directory has a colon in its name.
    pub fn environment(&self, cx: &Context) -> Result<BTreeMap<OsString, OsString>, BishengError> {
        let path = self.library_path(cx, &[self.cann.join("runtime/lib64/stub")])?;
        Ok(BTreeMap::from([("LD_LIBRARY_PATH".into(), path), ("PTO_SIMULATOR".into(), "1".into())]))
    }

    /// `LD_LIBRARY_PATH` for a program that runs on the model: the model first, then `next`, then what the context has; no
    /// directory twice, and no empty element.
    ///
    /// # Errors
    /// A directory has a colon in its name.
    pub fn library_path(&self, cx: &Context, next: &[PathBuf]) -> Result<OsString, BishengError> {
        let mut dirs = vec![self.lib.path.clone()];
        dirs.extend_from_slice(next);
        for dir in cx.var_os("LD_LIBRARY_PATH").into_iter().flat_map(std::env::split_paths) {
            if !dir.as_os_str().is_empty() && !dirs.contains(&dir) {
                dirs.push(dir);
            }
        }
        // Elements of an existing path hold no colon, so those of ours are the only ones that can.
        std::env::join_paths(&dirs).map_err(|_| BishengError::ColonInDir { dir: self.lib.path.clone() })
    }

    pub(super) fn note(&self) -> Option<String> {
        let dir = self.lib.path.display();
        (!self.lib.exists).then(|| format!("not on this machine: the simulator, `{dir}` ({})", self.lib.rule))
    }
}

fn library_dirs(cann: &Path, soc: &Soc, machine: Machine) -> Vec<PathBuf> {
    let by_arch = |top: &&str| cann.join(top).join(format!("simulator/dav_{}/lib", soc.arch.number()));
    let mut dirs = vec![by_soc(cann, soc)];
    dirs.extend(machine.cann_dirs().iter().map(by_arch));
    dirs
}

fn by_soc(cann: &Path, soc: &Soc) -> PathBuf {
    cann.join("tools/simulator").join(soc.name).join("lib")
}
