//! The small files of a driver, of CANN and of a PyPTO checkout, as values. What is not understood becomes a
//! [`crate::Note`], and the rest is still read.
//!
//! ```
//! let driver = pto_platform::files::parse_driver_info("Version=26.0.rc1\ncompatible_version_fw=[7.0.0,8.9.9]\n");
//! assert_eq!(driver.version.map(|version| version.to_string()).as_deref(), Some("26.0.rc1"));
//! ```

mod cann;
mod dist_manifest;
mod dist_state;
mod driver;
mod install_info;
mod platform_ini;
mod pto_isa_pin;
mod requires_python;
mod testing_env;
mod versions_env;

pub use cann::{CannFile, CannFileKind, CannPackage, parse_cann_file};
pub use dist_manifest::{DistManifest, parse_dist_manifest};
pub use dist_state::{DistState, parse_dist_state};
pub use driver::{DriverInfo, FirmwareInfo, VersionRange, parse_driver_info, parse_firmware_info};
pub use install_info::{InstallInfo, InstalledPart, parse_install_info};
pub use platform_ini::{Difference, IniSection, PlatformIni, parse_platform_ini};
pub use pto_isa_pin::{PtoIsaPin, parse_pto_isa_pin};
pub use requires_python::{lowest_python, parse_python_version_file, parse_requires_python};
pub use testing_env::{TestingEnv, parse_testing_env};
pub use versions_env::{VersionsEnv, parse_versions_env};

/// Whether a text is a hexadecimal digest or commit of this many digits.
fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Digits of a full Git commit.
const COMMIT_DIGITS: usize = 40;
/// Digits of a SHA-256.
const SHA256_DIGITS: usize = 64;
