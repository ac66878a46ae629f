//! What git prints for programs, as values: the state of a work tree, the submodules an index records, the refs of a
//! remote.
//!
//! ```
//! let status = pto_platform::git::parse_status("# branch.oid (initial)\0# branch.head main\0? notes.txt\0");
//! assert_eq!((status.branch.as_deref(), status.head), (Some("main"), None));
//! assert_eq!(status.untracked, ["notes.txt"]);
//! ```

mod index;
mod refs;
mod status;

pub use index::{Gitlink, parse_gitlinks};
pub use refs::{RemoteRef, parse_remote_refs, resolve_ref};
pub use status::{GitStatus, UpstreamState, parse_status};

/// Whether a text is the full name of a commit: 40 hexadecimal digits, or 64 in a repository of SHA-256.
pub fn is_full_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
