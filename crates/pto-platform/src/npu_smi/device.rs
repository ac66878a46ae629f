//! One device of the table.

use serde::Serialize;

use super::{Health, Usage};
use crate::generation::{ChipIdentity, identify};

/// One device, which is one chip (on A3: one die) with a device node of its own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Device {
    /// Line of the device's first row, from 1.
    pub line: usize,
    /// `NPU` or `NPU ID`: the card, for `npu-smi -i`. It has gaps, and on 310P it is as big as 32800.
    pub npu: u32,
    /// `Chip`: the chip on the card, for `npu-smi -c`; `None` on 950, whose `npu-smi` has no such option.
    pub chip: Option<u32>,
    /// The N of `/dev/davinciN`: `Phy-ID` on A3, `Device` on 310P, else the card's id; `None` when the text does not tell.
    pub index: Option<u32>,
    /// The name as printed: `910B3`, `Ascend910`, `Ascend950PR`, `310P3`; empty where the cell is.
    pub name: String,
    /// Health.
    pub health: Health,
    /// Power in W; on A3 only the first die of a card has it.
    pub power_w: Option<f64>,
    /// Temperature in °C.
    pub temperature_c: Option<f64>,
    /// Huge pages, in pages.
    pub hugepages: Option<Usage>,
    /// PCI address as printed, perhaps masked (`0000:xx:00.0`).
    pub bus_id: Option<String>,
    /// `AICore(%)`, or `NPU Util(%)` on 950: utilisation in percent.
    pub utilisation: Option<u32>,
    /// `Memory-Usage(MB)`, the DDR, in MB; 310P has no other memory, A2 and later have none of this.
    pub memory: Option<Usage>,
    /// `HBM-Usage(MB)`, in MB; `None` on 310P.
    pub hbm: Option<Usage>,
}

impl Device {
    pub(super) fn new(line: usize, npu: u32) -> Self {
        Self {
            line,
            npu,
            chip: None,
            index: None,
            name: String::new(),
            health: Health::Unknown,
            power_w: None,
            temperature_c: None,
            hugepages: None,
            bus_id: None,
            utilisation: None,
            memory: None,
            hbm: None,
        }
    }

    /// The device node, `/dev/davinciN`.
    pub fn node(&self) -> Option<String> {
        self.index.map(|index| format!("/dev/davinci{index}"))
    }

    /// The memory kernels work in: HBM, or the DDR where there is none.
    pub fn main_memory(&self) -> Option<Usage> {
        self.hbm.or(self.memory)
    }

    /// What the name says about generation and target.
    pub fn identity(&self) -> ChipIdentity {
        identify(&self.name)
    }

    /// The options that make `npu-smi` speak of this device alone; 950 refuses `-c`.
    pub fn query_options(&self) -> Vec<String> {
        let mut options = vec!["-i".to_owned(), self.npu.to_string()];
        if let Some(chip) = self.chip {
            options.extend(["-c".to_owned(), chip.to_string()]);
        }
        options
    }
}
