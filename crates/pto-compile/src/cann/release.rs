//! Which release a CANN root holds, for messages.

use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_platform::{Machine, cann_release};

use super::open_path;

/// A release and what says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// For example `8.5.0`, `8.2.RC1` or `9.0.0-beta.1`.
    pub version: String,
    /// The file that says so, or the root itself where its name is all there is.
    pub source: PathBuf,
}

/// The release in the first version file that names one, else in the name of the root. Releases put the file in
/// different places; `None` is no reason to stop.
pub fn release(cx: &Context, root: &Path) -> Option<Release> {
    let by_machine = Machine::ALL.iter().flat_map(|machine| machine.cann_dirs());
    let mut files = vec![PathBuf::from("version.cfg")];
    files.extend(by_machine.map(|dir| Path::new(dir).join("ascend_toolkit_install.info")));
    files.extend(["compiler/version.info", "opp/version.info"].map(PathBuf::from));
    files.into_iter().find_map(|file| from_file(cx, root.join(file))).or_else(|| from_name(root))
}

fn from_file(cx: &Context, file: PathBuf) -> Option<Release> {
    let text = fs_err::read_to_string(open_path(cx, &file)).ok()?;
    cann_release(&text).map(|version| Release { version: version.to_owned(), source: file })
}

fn from_name(root: &Path) -> Option<Release> {
    let version = root.file_name()?.to_str()?.strip_prefix("cann-")?;
    Some(Release { version: version.to_owned(), source: root.to_path_buf() })
}
