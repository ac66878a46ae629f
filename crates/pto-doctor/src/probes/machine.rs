//! What the kernel says: who examines, and how much room there is.

use std::path::Path;

use pto_context::Context;
use pto_store::Store;

use crate::files;
use pto_devices::Answer;

/// Who examines: decides which device nodes can be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Effective user id.
    pub uid: u32,
    /// Effective and supplementary group ids.
    pub gids: Vec<u32>,
}

/// Room on this machine, in bytes; `None` where the kernel does not tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Room {
    /// Free for this user where artifacts are kept.
    pub disk_free: Option<u64>,
    /// Size of `/dev/shm`.
    pub shm: Option<u64>,
    /// Free where docker keeps its images, if docker tells where that is.
    pub docker_free: Option<u64>,
}

impl User {
    pub(super) fn of_this_process() -> Self {
        let groups = rustix::process::getgroups().unwrap_or_default();
        let mut gids: Vec<u32> = groups.iter().map(|gid| gid.as_raw()).collect();
        gids.push(rustix::process::getegid().as_raw());
        Self { uid: rustix::process::geteuid().as_raw(), gids }
    }
}

impl Room {
    pub(super) fn of(cx: &Context) -> Self {
        let store = Store::default_root(cx).unwrap_or_else(|_| cx.cwd().to_path_buf());
        Self {
            disk_free: existing_parent(&store).and_then(statvfs).map(|fs| fs.0),
            shm: statvfs(&cx.under_root("/dev/shm")).map(|fs| fs.1),
            docker_free: None,
        }
    }
}

/// Free where docker says that it keeps its images.
pub(super) fn docker_free(cx: &Context, docker: &Answer) -> Option<u64> {
    let root = pto_platform::docker::parse_docker_info(docker.stdout()?).root_dir?;
    statvfs(&files::open_path(cx, root.as_ref())).map(|fs| fs.0)
}

fn existing_parent(path: &Path) -> Option<&Path> {
    path.ancestors().find(|dir| dir.is_dir())
}

/// Bytes free for an ordinary user, and bytes in all.
fn statvfs(path: &Path) -> Option<(u64, u64)> {
    let fs = rustix::fs::statvfs(path).ok()?;
    Some((fs.f_bavail * fs.f_frsize, fs.f_blocks * fs.f_frsize))
}
