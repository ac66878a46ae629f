//! What an installation says of its own making, and whether it is still whole.

use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_platform::Version;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::launcher::{Launcher, is_program};
use crate::pin::Pin;
use crate::prefix::Prefix;
use crate::{environment, probe};

/// The receipt's file in the installation.
const FILE: &str = "ptokit-install.json";

/// Written last into a finished installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Receipt {
    /// The version that it says itself.
    pub(crate) version: String,
    /// The wheel's file name.
    pub(crate) wheel: String,
    /// The wheel's sha256.
    pub(crate) sha256: String,
    /// Where the wheel came from, in the end; secrets masked.
    pub(crate) origin: String,
    /// The interpreter that the environment was made with.
    pub(crate) python: PathBuf,
}

impl Receipt {
    /// The receipt of an installation, if it has one.
    pub(crate) fn read(root: &Path) -> Option<Self> {
        serde_json::from_slice(&fs_err::read(root.join(FILE)).ok()?).ok()
    }

    pub(crate) fn write(&self, root: &Path) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(self).map_err(|e| Error::io("cannot write the receipt", e.into()))?;
        fs_err::write(root.join(FILE), text).map_err(|e| Error::write("cannot write the receipt", root, e))
    }
}

/// An installation of the pinned version that works.
pub(crate) struct Sound {
    pub(crate) launcher: Launcher,
    pub(crate) version: Version,
    pub(crate) receipt: Option<Receipt>,
}

/// The installation, if it is the pinned one and sound: its environment is whole, and the assembler says the version. `Err`
/// says in a few words what is wrong with it.
pub(crate) fn examine(cx: &Context, prefix: &Prefix, pin: &Pin) -> Result<Result<Sound, String>, Error> {
    let root = prefix.root();
    let Some(launcher) = Launcher::find(root) else { return Ok(Err("there is none".to_owned())) };
    if let Some(part) = missing_part(root) {
        return Ok(Err(format!("its environment has no working `{part}`")));
    }
    if let Some(damaged) = damaged_file(root) {
        return Ok(Err(format!("`{}` is missing or has changed its size", damaged.display())));
    }
    let receipt = Receipt::read(root);
    Ok(match probe::version(cx, &launcher)? {
        Err(silent) => Err(format!("its `ptoas` {}", silent.ended)),
        Ok(version) if version != pin.version => Err(format!("it is {version}")),
        // The same version was published again with another content.
        Ok(_) if receipt.as_ref().is_some_and(|receipt| receipt.sha256 != pin.sha256) => {
            Err("it was made from another wheel than the pinned one".to_owned())
        }
        Ok(version) => Ok(Sound { launcher, version, receipt }),
    })
}

/// What every environment must have, whoever made it.
fn missing_part(root: &Path) -> Option<&'static str> {
    let python = root.join("bin/python");
    [("pyvenv.cfg", root.join("pyvenv.cfg").is_file()), ("bin/activate", root.join("bin/activate").is_file())]
        .into_iter()
        .chain([("bin/python", is_program(&python))])
        .find_map(|(part, is_there)| (!is_there).then_some(part))
}

/// The first file of the distribution that is not there with the size that its `RECORD` states.
fn damaged_file(root: &Path) -> Option<PathBuf> {
    environment::site_packages(root).into_iter().find_map(|site| {
        let info = std::fs::read_dir(&site).ok()?.flatten().find(|item| {
            let name = item.file_name().to_string_lossy().into_owned();
            name.starts_with("ptoas-") && name.ends_with(".dist-info")
        })?;
        let record = fs_err::read_to_string(info.path().join("RECORD")).ok()?;
        pto_fetch::record(&record).find_map(|line| {
            let path = site.join(&line.path);
            let same = path.metadata().is_ok_and(|meta| line.size.is_none_or(|size| size == meta.len()));
            (!same).then_some(path)
        })
    })
}
