//! Where a checkout and the home of what is installed for it are.

use std::path::{Path, PathBuf};

use pto_context::{Context, files};

/// Where the published images keep them.
const DEFAULT_SOURCE: &str = "/workspace/pypto";
const DEFAULT_HOME: &str = "/opt/pypto";

/// PyPTO's checkout: `PYPTO_SRC`, where the images keep it, or the working directory. `None` if none of them is one.
pub fn pypto_source(cx: &Context) -> Option<PathBuf> {
    if let Some(named) = cx.var_os("PYPTO_SRC") {
        return Some(cx.cwd().join(named));
    }
    let is_checkout = |dir: &Path| files::is_file(cx, dir.join("toolchain/versions.env"));
    [Path::new(DEFAULT_SOURCE), cx.cwd()].into_iter().find(|dir| is_checkout(dir)).map(Path::to_path_buf)
}

/// The home of what is installed: `PYPTO_HOME`, or where the images keep it.
pub fn pypto_home(cx: &Context) -> PathBuf {
    cx.var_os("PYPTO_HOME").map_or_else(|| PathBuf::from(DEFAULT_HOME), |home| cx.cwd().join(home))
}
