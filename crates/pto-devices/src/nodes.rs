//! The driver's nodes in `/dev`, and the directories of its libraries.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use pto_context::places::driver_root;
use pto_context::{Context, files};

/// A device node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its name in `/dev`.
    pub name: String,
    /// Its owner.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Its permissions.
    pub mode: u32,
}

/// Everything of the driver in `/dev`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Nodes(pub Vec<Node>);

impl Nodes {
    /// The N of each `/dev/davinciN`.
    pub fn indices(&self) -> Vec<u32> {
        let mut indices: Vec<u32> =
            self.0.iter().filter_map(|node| node.name.strip_prefix("davinci")?.parse().ok()).collect();
        indices.sort_unstable();
        indices
    }

    /// Whether there is a node of this name.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|node| node.name == name)
    }
}

/// The driver's nodes in `/dev`.
pub fn device_nodes(cx: &Context) -> Nodes {
    const MANAGERS: [&str; 3] = ["davinci_manager", "devmm_svm", "hisi_hdc"];
    let is_ours = |name: &String| {
        MANAGERS.contains(&name.as_str())
            || name
                .strip_prefix("davinci")
                .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let node = |name: String| {
        let metadata = fs_err::metadata(cx.under_root(Path::new("/dev").join(&name))).ok()?;
        Some(Node { name, uid: metadata.uid(), gid: metadata.gid(), mode: metadata.mode() & 0o777 })
    };
    Nodes(files::names(cx, "/dev").into_iter().filter(is_ours).filter_map(node).collect())
}

/// The driver's library directories, as `LD_LIBRARY_PATH` wants them.
pub fn driver_library_path(cx: &Context) -> String {
    let root = driver_root(cx);
    ["lib64/common", "lib64/driver", "lib64"].map(|dir| root.join(dir).display().to_string()).join(":")
}
