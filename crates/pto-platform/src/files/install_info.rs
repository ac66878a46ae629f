//! `/etc/ascend_install.info`: who installed driver and firmware, and where.

use serde::Serialize;

use crate::Note;
use crate::entries::Entries;

/// `/etc/ascend_install.info`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InstallInfo {
    /// `UserName`: owner of the device nodes, usually `HwHiAiUser`.
    pub user: Option<String>,
    /// `UserGroup`.
    pub group: Option<String>,
    /// Keys that begin with `Driver_`.
    pub driver: InstalledPart,
    /// Keys that begin with `Firmware_`.
    pub firmware: InstalledPart,
    /// What was not understood, or is odd.
    pub notes: Vec<Note>,
}

/// What the file says of the driver or of the firmware.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct InstalledPart {
    /// `_Install_Type`: `full`, `run`, `docker`.
    pub install_type: Option<String>,
    /// `_Install_Path_Param`: the directory above `driver/`.
    pub path: Option<String>,
    /// `_Install_For_All`: whether users outside the group may use the devices.
    pub for_all: Option<bool>,
    /// `_Install_Mode`.
    pub mode: Option<String>,
    /// `_Install_Status`.
    pub status: Option<String>,
}

/// Reads `/etc/ascend_install.info`.
pub fn parse_install_info(text: &str) -> InstallInfo {
    let mut entries = Entries::read(text);
    let mut notes = std::mem::take(&mut entries.notes);
    let driver = part(&entries, "Driver", &mut notes);
    if driver.path.is_none() {
        // Under `set -o pipefail` sourcing `set_env.sh` then ends the shell, and nothing is printed.
        notes.push(Note::whole("`Driver_Install_Path_Param` is missing; CANN's `set_env.sh` looks for it"));
    }
    InstallInfo {
        user: entries.owned("UserName"),
        group: entries.owned("UserGroup"),
        firmware: part(&entries, "Firmware", &mut notes),
        driver,
        notes,
    }
}

fn part(entries: &Entries<'_>, name: &str, notes: &mut Vec<Note>) -> InstalledPart {
    let key = |key: &str| format!("{name}_Install_{key}");
    let owned = |name: &str| entries.owned(&key(name));
    let for_all = entries.find(&key("For_All")).and_then(|entry| match entry.value {
        "yes" => Some(true),
        "no" => Some(false),
        other => {
            notes.push(Note::new(entry.line, other, "expected `yes` or `no`"));
            None
        }
    });
    InstalledPart {
        install_type: owned("Type"),
        path: owned("Path_Param"),
        for_all,
        mode: owned("Mode"),
        status: owned("Status"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_the_drivers_path_is_noted() {
        let info = parse_install_info("UserName=u\nDriver_Install_For_All=maybe\nDriver_Install_Path_Param=\n");
        assert_eq!((info.user.as_deref(), info.driver.for_all, info.driver.path), (Some("u"), None, None));
        assert_eq!(info.notes.len(), 2, "{:?}", info.notes);
    }
}
