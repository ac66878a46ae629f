//! Room where the engine keeps its data.

use std::path::Path;

use pto_context::Context;
use pto_docker::Docker;
use pto_platform::docker::DockerInfo;

/// What an image that is not here needs, and a build: a published one of 16.7 GB is there nearly twice while it is unpacked. How
/// large the one is that is meant is known only once it is here.
pub(crate) const NEEDED: u64 = 30_000_000_000;

/// Bytes that are free for the engine; `None` where its directory is not on this machine or cannot be seen.
pub(crate) fn free(cx: &Context, docker: &Docker, info: &DockerInfo) -> Option<u64> {
    let dir = info.root_dir.as_deref().filter(|_| is_local(docker))?;
    let found = rustix::fs::statvfs(nearest(&cx.under_root(dir))).ok()?;
    Some(found.f_bavail * found.f_frsize)
}

/// Whether the engine is on this machine: it is asked over a socket of it.
pub(crate) fn is_local(docker: &Docker) -> bool {
    docker.host().is_none_or(|host| host.starts_with("unix:"))
}

/// For people.
pub(crate) fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}

/// The directory itself, or the nearest one above that can be looked at: the engine's own is often root's alone.
fn nearest(dir: &Path) -> std::path::PathBuf {
    dir.ancestors().find(|dir| dir.exists()).unwrap_or(Path::new("/")).to_owned()
}
