//! Which CANN release a version file speaks of.

use crate::entries::{Entries, Entry};

/// The release in the text of `version.cfg`, `ascend_toolkit_install.info` or a package's `version.info`, for example
/// `8.0.RC3`, `8.5.0` or `9.0.0`.
///
/// `version.cfg` holds pairs, `toolkit_running_version=[7.6.0.1.220:8.0.0]`: an internal number and the release. The line
/// of the toolkit counts, or the first such line where there is none. The others name the release directory
/// (`version_dir=8.5.0`, beside an internal `Version=8.5.0.2.220`) or just `version=8.2.RC1`.
pub fn cann_release(text: &str) -> Option<&str> {
    release_of(&Entries::read(text).all)
}

/// The release that the entries of a version file name.
pub(crate) fn release_of<'a>(entries: &[Entry<'a>]) -> Option<&'a str> {
    let running = entries
        .iter()
        .find(|entry| entry.key == "toolkit_running_version")
        .or_else(|| entries.iter().find(|entry| entry.key.ends_with("_running_version")))
        .and_then(|entry| entry.value.strip_prefix('[')?.strip_suffix(']')?.rsplit(':').next());
    let named = |name: &str| entries.iter().find(|entry| entry.key.eq_ignore_ascii_case(name)).map(|entry| entry.value);
    running
        .or_else(|| named("version_dir"))
        .or_else(|| named("version"))
        .map(str::trim)
        .filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_kind_of_version_file() {
        let cfg = "# version: 1.0\nruntime_running_version=[7.2.T11.0.B218:8.0.RC2.alpha001]\nruntime_upgrade_version=[x:y]\n";
        let info = "package_name=Ascend-cann-toolkit\nversion=8.2.RC1\ninnerversion=V100R001C22SPC001B231\n";
        let package = "Version=8.5.0.2.220\nversion_dir=8.5.0\ntimestamp=20251117_000024591\n";
        assert_eq!(cann_release(cfg), Some("8.0.RC2.alpha001"));
        assert_eq!(cann_release(info), Some("8.2.RC1"));
        assert_eq!(cann_release(package), Some("8.5.0"));
    }

    #[test]
    fn the_toolkits_line_counts_where_packages_differ() {
        let cfg = "opp_running_version=[7.5.0:8.0.RC3]\ntoolkit_running_version=[7.6.0.1.220:8.0.0]\n";
        assert_eq!(cann_release(cfg), Some("8.0.0"));
    }

    #[test]
    fn other_text_has_none() {
        for text in ["", "version=", "toolkit_running_version=[", "toolkit_running_version=7", "innerversion=V1"] {
            assert_eq!(cann_release(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in "(([a-z_]{0,9}_running_version|version|Version_dir)=\\PC{0,12}\r?\n){0,5}") {
            let _ = cann_release(&text);
        }
    }
}
