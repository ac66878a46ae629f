//! Where the host ACL library lies: cargo puts it beside the programs that depend on `pto-aclsim`.

use std::path::{Path, PathBuf};

use pto_context::Context;

use crate::error::LaunchError;

// So that the dependency is there: see Cargo.toml.
use ascendcl as _;

/// Names the host ACL library when it is somewhere else.
pub const HOST_ACL_VARIABLE: &str = "PTOKIT_HOST_ACL";
const FILE: &str = "libascendcl.so";

/// The `libascendcl.so` that plays a device on this machine, for a program at `executable`.
///
/// # Errors
/// It is nowhere; every path tried is named.
pub fn host_acl(cx: &Context, executable: &Path) -> Result<PathBuf, LaunchError> {
    let named = cx.var_os(HOST_ACL_VARIABLE).map(PathBuf::from);
    let dir = executable.parent().unwrap_or(Path::new("/"));
    // target/debug/xtask, target/debug/deps/test-0123, target/debug/examples/x, and an installed bin/ beside lib/.
    let usual = ["deps", ".", "../deps", "../lib"].map(|place| dir.join(place).join(FILE));
    let candidates: Vec<PathBuf> = named.map_or(usual.to_vec(), |path| vec![path]);
    let found = candidates.iter().find(|path| path.is_file()).and_then(|path| path.canonicalize().ok());
    found.ok_or(LaunchError::NoHostAcl { looked_at: candidates })
}
