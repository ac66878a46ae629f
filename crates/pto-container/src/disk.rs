//! The room where the engine keeps its data.

use std::path::Path;

use pto_context::Context;
use pto_docker::Docker;
use pto_platform::docker::DockerInfo;

/// The room for a build, or for fetching an image: a published image of 16.7 GB takes nearly twice that while it is unpacked. The
/// size of an image is only known once it is here.
pub(crate) const NEEDED: u64 = 30_000_000_000;

/// The bytes that are free for the engine; `None` if its directory is not on this machine or cannot be seen.
pub(crate) fn free(cx: &Context, docker: &Docker, info: &DockerInfo) -> Option<u64> {
    let dir = info.root_dir.as_deref().filter(|_| docker.is_local())?;
    let found = rustix::fs::statvfs(nearest(&cx.under_root(dir))).ok()?;
    Some(found.f_bavail * found.f_frsize)
}

/// A size for people.
pub(crate) fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}

/// The directory, or the nearest parent that this user can see: often only root can see the engine's own.
fn nearest(dir: &Path) -> std::path::PathBuf {
    dir.ancestors().find(|dir| dir.exists()).unwrap_or(Path::new("/")).to_owned()
}
