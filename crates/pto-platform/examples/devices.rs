//! What a saved `npu-smi info` says: `npu-smi info | cargo run -p pto-platform --example devices`.
#![allow(clippy::print_stdout, reason = "an example is a program")]

use pto_platform::npu_smi::{Device, NpuSmiInfo, parse_info};

fn main() -> std::io::Result<()> {
    let info = parse_info(&std::io::read_to_string(std::io::stdin())?);
    for device in &info.devices {
        println!("{}", describe(&info, device));
    }
    for failure in &info.failures {
        println!("line {}: {} ({:?})", failure.line, failure.text, failure.code().map(|code| code.meaning));
    }
    for note in &info.notes {
        println!("line {}: {}: {}", note.line, note.why, note.text);
    }
    Ok(())
}

fn describe(info: &NpuSmiInfo, device: &Device) -> String {
    let node = device.node().unwrap_or_else(|| "no node known".to_owned());
    let identity = device.identity();
    let target = match (identity.target, identity.no_target) {
        (Some(target), _) => format!("target {target}"),
        (None, reason) => reason.map_or_else(String::new, |reason| format!("no target: {reason}")),
    };
    format!("{node}: {} {}, {target}, {:?}", device.name, device.health, info.activity(device))
}
