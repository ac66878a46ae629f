//! Which PTOAS a checkout asks for.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_context::places::{PYPTO_PINS as FILE, PYPTO_SOURCE};
use pto_platform::files::parse_versions_env;
use pto_platform::{Machine, Version};

use crate::error::Error;

/// Where to look for the pin; the first that is given counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PinSource {
    /// A `versions.env`.
    pub file: Option<PathBuf>,
    /// A checkout. Without either: `PYPTO_SRC`, where the images have it, the working directory.
    pub checkout: Option<PathBuf>,
}

/// The PTOAS that a checkout pins for this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The version, for example `v0.61`.
    pub version: Version,
    /// sha256 of the release wheel, lower-case hexadecimal.
    pub sha256: String,
    /// The machine it is for.
    pub machine: Machine,
    /// The file that says so, as it was given.
    pub file: PathBuf,
    /// The checkout that the file lies in, if it lies in one.
    pub checkout: Option<PathBuf>,
}

impl Pin {
    /// Reads the pin.
    ///
    /// # Errors
    /// There is no `versions.env`, or none that can be read, or it pins no PTOAS for this machine.
    pub fn read(cx: &Context, source: &PinSource) -> Result<Self, Error> {
        let (file, text) = find(cx, source)?;
        let env = parse_versions_env(&text);
        let machine = Machine::current().ok_or(Error::Machine { found: std::env::consts::ARCH.to_owned() })?;
        let malformed = |key: String| {
            let note = env.notes.first().map(ToString::to_string);
            Error::NoPin { file: file.clone(), key, note }
        };
        let version = env.ptoas.clone().ok_or_else(|| malformed("PTOAS_VERSION".to_owned()))?;
        let key = || format!("PTOAS_SHA256_{}", machine.name().to_uppercase());
        let sha256 = env.sha256_for(machine).ok_or_else(|| malformed(key()))?.to_owned();
        let checkout = file.parent().filter(|dir| dir.ends_with("toolchain")).and_then(Path::parent);
        Ok(Self { version, sha256, machine, checkout: checkout.map(Path::to_path_buf), file })
    }

    /// The version without the `v` of the release's tag: `0.61`.
    pub fn number(&self) -> &str {
        self.version.as_str().trim_start_matches('v')
    }

    /// The file name of the release's wheel for this machine.
    pub fn asset(&self) -> String {
        format!("ptoas-{}-cp310-cp310-manylinux_2_34_{}.whl", self.number(), self.machine)
    }

    /// The release's tag: `v0.61`.
    pub fn tag(&self) -> String {
        format!("v{}", self.number())
    }
}

/// The `versions.env` that is meant.
fn find(cx: &Context, source: &PinSource) -> Result<(PathBuf, String), Error> {
    let places: Vec<PathBuf> = match (&source.file, &source.checkout, cx.var_os("PYPTO_SRC")) {
        (Some(file), ..) => vec![file.clone()],
        (_, Some(checkout), _) => vec![checkout.join(FILE)],
        (_, _, Some(named)) => vec![Path::new(named).join(FILE)],
        _ => vec![Path::new(PYPTO_SOURCE).join(FILE), FILE.into()],
    };
    for place in &places {
        // A relative path is the user's, an absolute one is of the inspected machine.
        let path = if place.is_absolute() { cx.under_root(place) } else { cx.cwd().join(place) };
        match fs_err::read(path) {
            Ok(bytes) => return Ok((place.clone(), String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(source) => return Err(Error::io("cannot read the pins of the checkout", source)),
        }
    }
    Err(Error::NoPins { tried: places })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(versions_env: &str) -> Result<Pin, Error> {
        let dir = tempfile::tempdir().unwrap();
        fs_err::create_dir(dir.path().join("toolchain")).unwrap();
        fs_err::write(dir.path().join(FILE), versions_env).unwrap();
        Pin::read(&Context::fake(dir.path(), [("A", "1")]), &PinSource::default())
    }

    #[test]
    fn the_asset_is_derived_from_the_version() {
        let digest = "ab".repeat(32);
        let pin = read(&format!(
            "PTOAS_VERSION=v0.58\nPTOAS_SHA256_AARCH64={digest}\nPTOAS_SHA256_X86_64={}\n",
            digest.to_uppercase()
        ));
        let pin = pin.unwrap();
        assert_eq!((pin.number(), pin.tag().as_str(), &pin.sha256), ("0.58", "v0.58", &digest));
        assert_eq!(pin.asset(), format!("ptoas-0.58-cp310-cp310-manylinux_2_34_{}.whl", pin.machine));
    }

    #[test]
    fn what_is_missing_is_named() {
        let said = |text: &str| read(text).unwrap_err().to_string();
        assert!(said("UV=1\n").contains("pins no `PTOAS_VERSION`"));
        let machine = Machine::current().unwrap().name().to_uppercase();
        let short = said(&format!("PTOAS_VERSION=0.58\nPTOAS_SHA256_{machine}=12\n"));
        assert!(short.contains(&format!("pins no `PTOAS_SHA256_{machine}`")) && short.contains("line 2"), "{short}");
        let named = PinSource { file: Some("gone.env".into()), ..PinSource::default() };
        let error = Pin::read(&Context::fake("/", [("A", "1")]), &named).unwrap_err();
        assert_eq!(error.to_string(), "there is no checkout that pins PTOAS: no `gone.env`");
    }
}
