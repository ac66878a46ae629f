//! `npu-smi info -t health`, `-t memory` and `-t usages`.

use serde::Serialize;

use super::fields::Block;
use super::{Health, Report};
use crate::Note;

/// What `-t health` says of one chip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HealthStatus {
    /// The card's id.
    pub npu: Option<u32>,
    /// The chip on the card.
    pub chip: Option<u32>,
    /// Health.
    pub health: Health,
    /// `Error Code`: several where several things are wrong, as printed; empty for `NA`.
    pub error_codes: Vec<String>,
    /// `Error Information`.
    pub error_information: Option<String>,
}

/// What `-t memory` says of one chip.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemoryStatus {
    /// The card's id.
    pub npu: Option<u32>,
    /// The chip on the card.
    pub chip: Option<u32>,
    /// DDR in MB; 0 where the chip has none.
    pub ddr_mb: Option<u64>,
    /// Clock of the DDR in MHz.
    pub ddr_clock_mhz: Option<u32>,
    /// HBM in MB.
    pub hbm_mb: Option<u64>,
    /// Clock of the HBM in MHz.
    pub hbm_clock_mhz: Option<u32>,
    /// Temperature of the HBM in °C.
    pub hbm_temperature_c: Option<f64>,
}

/// What `-t usages` says of one chip. Rates are in percent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UsageStatus {
    /// The card's id.
    pub npu: Option<u32>,
    /// The chip on the card.
    pub chip: Option<u32>,
    /// DDR in MB.
    pub ddr_mb: Option<u64>,
    /// Part of the DDR in use.
    pub ddr_rate: Option<u32>,
    /// HBM in MB.
    pub hbm_mb: Option<u64>,
    /// Part of the HBM in use.
    pub hbm_rate: Option<u32>,
    /// Bandwidth of the HBM in use.
    pub hbm_bandwidth_rate: Option<u32>,
    /// AI cores (cube cores, where there are two kinds).
    pub aicore_rate: Option<u32>,
    /// Vector cores.
    pub aivector_rate: Option<u32>,
    /// AI CPU.
    pub aicpu_rate: Option<u32>,
    /// Control CPU.
    pub control_cpu_rate: Option<u32>,
    /// The chip as a whole, as newer drivers sum it up.
    pub npu_rate: Option<u32>,
}

const HEALTH: [&str; 2] = ["Health", "Health Status"];

/// Reads the output of `npu-smi info -t health`.
pub fn parse_health(text: &str) -> Report<HealthStatus> {
    Report::of(text, &HEALTH, health)
}

/// Reads the output of `npu-smi info -t memory`.
pub fn parse_memory(text: &str) -> Report<MemoryStatus> {
    Report::of(text, &["DDR Capacity(MB)", "HBM Capacity(MB)", "Memory Capacity(MB)"], memory)
}

/// Reads the output of `npu-smi info -t usages`.
pub fn parse_usages(text: &str) -> Report<UsageStatus> {
    let rates = ["Aicore Usage Rate(%)", "HBM Usage Rate(%)", "DDR Usage Rate(%)", "Memory Usage Rate(%)"];
    Report::of(text, &rates, usages)
}

fn health(block: &Block<'_>, notes: &mut Vec<Note>) -> HealthStatus {
    let codes = block.get(&["Error Code"]).unwrap_or_default();
    let codes = codes.split([' ', ',', ';', '\t', '[', ']']).filter(|code| !code.is_empty());
    HealthStatus {
        npu: block.npu(),
        chip: block.chip(notes),
        health: block.get(&HEALTH).map_or(Health::Unknown, Health::of),
        error_codes: codes.map(str::to_owned).collect(),
        error_information: block.owned(&["Error Information"]),
    }
}

fn memory(block: &Block<'_>, notes: &mut Vec<Note>) -> MemoryStatus {
    MemoryStatus {
        npu: block.npu(),
        chip: block.chip(notes),
        ddr_mb: block.number(&["DDR Capacity(MB)", "Memory Capacity(MB)"], notes),
        ddr_clock_mhz: block.number(&["DDR Clock Speed(MHz)", "Memory Clock Speed(MHz)"], notes),
        hbm_mb: block.number(&["HBM Capacity(MB)"], notes),
        hbm_clock_mhz: block.number(&["HBM Clock Speed(MHz)"], notes),
        hbm_temperature_c: block.number(&["HBM Temperature(C)"], notes),
    }
}

fn usages(block: &Block<'_>, notes: &mut Vec<Note>) -> UsageStatus {
    UsageStatus {
        npu: block.npu(),
        chip: block.chip(notes),
        ddr_mb: block.number(&["DDR Capacity(MB)", "Memory Capacity(MB)"], notes),
        ddr_rate: block.number(&["DDR Usage Rate(%)", "Memory Usage Rate(%)"], notes),
        hbm_mb: block.number(&["HBM Capacity(MB)"], notes),
        hbm_rate: block.number(&["HBM Usage Rate(%)"], notes),
        hbm_bandwidth_rate: block.number(&["HBM Bandwidth Usage Rate(%)"], notes),
        aicore_rate: block.number(&["Aicore Usage Rate(%)"], notes),
        aivector_rate: block.number(&["Aivector Usage Rate(%)"], notes),
        aicpu_rate: block.number(&["Aicpu Usage Rate(%)"], notes),
        control_cpu_rate: block.number(&["Ctrlcpu Usage Rate(%)"], notes),
        npu_rate: block.number(&["NPU Utilization(%)", "NPU Util(%)"], notes),
    }
}
