//! `npu-smi info -t board -i N -c M`: the only text from which the full name of the SoC can be put together.

use serde::Serialize;

use super::Report;
use super::fields::Block;
use crate::Note;
use crate::Soc;
use crate::generation::{ChipIdentity, identify};

/// What is needed of a board's data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Board {
    /// The card's id.
    pub npu: Option<u32>,
    /// The chip on the card.
    pub chip: Option<u32>,
    /// `Chip Type`: `Ascend` on A2.
    pub chip_type: Option<String>,
    /// `Chip Name`: `910B4` on A2, `Ascend910` on A3, `Ascend950PR` on 950.
    pub chip_name: Option<String>,
    /// `NPU Name`: `9392` on A3, `9579` on 950.
    pub npu_name: Option<String>,
    /// `Software Version`: of the driver.
    pub software_version: Option<String>,
    /// `Firmware Version`.
    pub firmware_version: Option<String>,
}

impl Board {
    /// The name of the SoC as ACL reports it: `Ascend910B4`, `Ascend910_9392`, `Ascend950PR_9579`.
    ///
    /// Of the ways to put the parts together, the one that the SoC table knows is taken; where it knows none, the first.
    pub fn soc_name(&self) -> Option<String> {
        let chip = self.chip_name.as_deref()?;
        let prefix = self.chip_type.as_deref().unwrap_or("Ascend");
        let family =
            if chip.to_ascii_lowercase().starts_with("ascend") { chip.to_owned() } else { format!("{prefix}{chip}") };
        let member = self.npu_name.as_ref().map(|npu| format!("{family}_{npu}"));
        let names: Vec<String> = member.into_iter().chain([family]).map(|name| name.replace(' ', "")).collect();
        let known = names.iter().find_map(|name| Soc::by_name(name).ok()).map(|soc| soc.name.to_owned());
        known.or_else(|| names.into_iter().next())
    }

    /// Generation and target of the chip.
    pub fn identity(&self) -> Option<ChipIdentity> {
        self.soc_name().map(|name| identify(&name))
    }
}

/// Reads the output of `npu-smi info -t board`.
pub fn parse_board(text: &str) -> Report<Board> {
    Report::of(text, &["Chip Name", "NPU Name", "Chip Type"], board)
}

fn board(block: &Block<'_>, notes: &mut Vec<Note>) -> Board {
    Board {
        npu: block.npu(),
        chip: block.chip(notes),
        chip_type: block.owned(&["Chip Type"]),
        chip_name: block.owned(&["Chip Name"]),
        npu_name: block.owned(&["NPU Name"]),
        software_version: block.owned(&["Software Version"]),
        firmware_version: block.owned(&["Firmware Version"]),
    }
}
