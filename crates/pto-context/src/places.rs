//! Places that several crates look for: what a variable names, else where installers and the published images have it.

use std::path::{Path, PathBuf};

use crate::{Context, files};

/// Where the published images keep PyPTO's checkout.
pub const PYPTO_SOURCE: &str = "/workspace/pypto";
/// Where the published images keep what is installed for it.
pub const PYPTO_HOME: &str = "/opt/pypto";
/// Where the NPU driver is installed, and where images expect it.
pub const DRIVER_ROOT: &str = "/usr/local/Ascend/driver";
/// What every checkout of PyPTO has.
pub const PYPTO_PINS: &str = "toolchain/versions.env";

/// PyPTO's checkout: `PYPTO_SRC`, where the images keep it, or the working directory. `None` if none of them is one.
pub fn pypto_source(cx: &Context) -> Option<PathBuf> {
    if let Some(named) = cx.var_os("PYPTO_SRC") {
        return Some(cx.cwd().join(named));
    }
    let is_checkout = |dir: &Path| files::is_file(cx, dir.join(PYPTO_PINS));
    [Path::new(PYPTO_SOURCE), cx.cwd()].into_iter().find(|dir| is_checkout(dir)).map(Path::to_path_buf)
}

/// The home of what is installed for a checkout: `PYPTO_HOME`, or where the images keep it.
pub fn pypto_home(cx: &Context) -> PathBuf {
    named(cx, "PYPTO_HOME", PYPTO_HOME)
}

/// The NPU driver of this machine: `ASCEND_DRIVER_ROOT`, or where it is installed by default.
pub fn driver_root(cx: &Context) -> PathBuf {
    named(cx, "ASCEND_DRIVER_ROOT", DRIVER_ROOT)
}

fn named(cx: &Context, variable: &str, usual: &str) -> PathBuf {
    cx.var_os(variable).map_or_else(|| PathBuf::from(usual), |named| cx.cwd().join(named))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_counts_before_the_usual_place() {
        let dir = tempfile::tempdir().unwrap();
        let cx = |variables: &[(&str, &str)]| Context::fake(dir.path(), variables.to_vec());
        let none = cx(&[]);
        assert_eq!((pypto_home(&none), driver_root(&none)), (PYPTO_HOME.into(), DRIVER_ROOT.into()));
        assert_eq!(pypto_home(&cx(&[("PYPTO_HOME", "/h")])), Path::new("/h"));
        assert_eq!(driver_root(&cx(&[("ASCEND_DRIVER_ROOT", "d")])), none.cwd().join("d"));
        assert_eq!(pypto_source(&none), None);
        let pins = dir.path().join("workspace/pypto").join(PYPTO_PINS);
        fs_err::create_dir_all(pins.parent().unwrap()).unwrap();
        fs_err::write(pins, "").unwrap();
        assert_eq!(pypto_source(&none), Some(PYPTO_SOURCE.into()));
        assert_eq!(pypto_source(&cx(&[("PYPTO_SRC", "/s")])), Some("/s".into()));
    }
}
