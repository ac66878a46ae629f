//! Pins: which file, exactly.

/// One wheel of the Python package registry. Nothing but this very file is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WheelPin {
    /// The distribution's name, for example `ziglang`.
    pub name: &'static str,
    /// Its exact version.
    pub version: &'static str,
    /// The wheel's file name.
    pub file: &'static str,
    /// The file's sha256, 64 lower-case hexadecimal digits.
    pub sha256: &'static str,
    /// The file's size in bytes.
    pub size: u64,
    /// The sizes of all files in it, added up, in bytes: what unpacking may write at most, and what progress is
    /// measured against when a client unpacks while it downloads.
    pub unpacked_size: u64,
    /// The Python version it is chosen for, for example `3.11`.
    pub python: &'static str,
    /// The platform it is chosen for, as `pip` has it: `manylinux2014_aarch64`. Need not be this machine's.
    pub platform: &'static str,
    /// The one directory of it to keep, for example `ziglang`. `None` keeps everything but the installer's own
    /// top-level directories (`*.dist-info`, `*.data`, `bin`).
    pub keep: Option<&'static str>,
}

impl WheelPin {
    /// `name==version`, as clients take it.
    pub(crate) fn requirement(&self) -> String {
        format!("{}=={}", self.name, self.version)
    }

    /// The step's name in events.
    pub(crate) fn task(&self) -> String {
        format!("fetch:{}", self.name)
    }

    /// The name of its store entry: readable, and different for every file and every subtree.
    pub(crate) fn key(&self) -> String {
        let short = |hex: &str| hex.chars().take(16).collect::<String>();
        let subtree = self.keep.map(|keep| format!("-{}", short(&crate::digest::of_bytes(keep.as_bytes()))));
        format!("{}-{}-{}{}", self.name, self.version, short(self.sha256), subtree.unwrap_or_default())
    }
}

/// `50.7 MB`, for people.
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
