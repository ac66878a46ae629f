//! `devices`: the NPUs of this machine, or of one whose `npu-smi info` was saved.

use std::path::PathBuf;

use pto_doctor::ProbeOptions;
use pto_doctor::devices::{Devices, Holder, Npu};
use pto_platform::npu_smi::Activity;
use serde::Serialize;

use crate::exit::{Failure, Outcome};
use crate::kernel::table::{Cell, Table};
use crate::setup::Common;
use crate::{out, style};

/// `devices`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  cargo xtask devices\n  cargo xtask devices --from npu-smi.txt --json\n  \
                  export PYPTO_DEVICE=$(cargo xtask devices --idle)")]
pub struct Args {
    /// Read what `npu-smi info` printed elsewhere instead of running it
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Print the index of one device that is free and well
    #[arg(long)]
    idle: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    /// The index that `--idle` prints.
    idle: Option<u32>,
    #[serde(flatten)]
    devices: &'a Devices,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let devices = look(args)?;
    let idle = devices.idle().and_then(|npu| npu.index);
    if args.common.json {
        out::json(&Document { schema: "ptokit.devices/1", idle, devices: &devices })?;
    } else if args.idle {
        return print_idle(&devices, idle);
    } else if let Some(why) = &devices.unavailable {
        out::text(&format!("no NPU: {why}\n"))?;
    } else {
        out::text(&text(&devices))?;
    }
    Ok(if args.idle && idle.is_none() { Outcome::Blocked } else { Outcome::Passed })
}

fn look(args: &Args) -> Result<Devices, Failure> {
    let cx = args.common.context()?;
    let Some(path) = &args.from else { return Ok(Devices::ask(&cx, &ProbeOptions::new(&cx))) };
    let bytes = fs_err::read(path).map_err(|error| Failure::io(&error))?;
    let devices = Devices::of_text(&String::from_utf8_lossy(&bytes));
    match &devices.unavailable {
        // Without a table this file is not what was asked for; with a failure in it, that is the answer.
        Some(why) if devices.failures.is_empty() => {
            Err(Failure::usage(format!("`{}`: {why}", path.display()), "npu-smi info > FILE writes one".to_owned()))
        }
        _ => Ok(devices),
    }
}

fn print_idle(devices: &Devices, idle: Option<u32>) -> Result<Outcome, Failure> {
    let Some(index) = idle else {
        let why = devices.unavailable.clone().unwrap_or_else(|| "every NPU is in use or not well".to_owned());
        return Err(Failure::blocked(format!("no idle NPU: {why}"), "cargo xtask devices".to_owned()));
    };
    out::text(&format!("{index}\n"))?;
    Ok(Outcome::Passed)
}

fn text(devices: &Devices) -> String {
    let mut table = Table::new(&["index", "NPU", "name", "target", "health", "memory (MB)", "busy", "used by"]);
    for npu in &devices.devices {
        table.row(vec![
            Cell::new(npu.index.map_or_else(|| "?".to_owned(), |index| index.to_string())),
            Cell::new(npu.chip.map_or_else(|| npu.npu.to_string(), |chip| format!("{}.{chip}", npu.npu))),
            Cell::new(npu.soc.clone().unwrap_or_else(|| npu.name.clone())),
            Cell::new(npu.target.map_or("-", |target| target.name())),
            Cell::new(npu.health.clone()),
            Cell::new(memory(npu)),
            Cell::new(npu.utilisation.map_or_else(|| "?".to_owned(), |percent| format!("{percent} %"))),
            Cell::new(users(npu)),
        ]);
    }
    let mut lines = table.lines();
    for npu in &devices.devices {
        if let Some(why) = &npu.no_target {
            let line = format!("NPU {}: {why}", npu.npu);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    let notes =
        devices.notes.iter().map(|note| format!("{} line {}: {}", style::warning("note:"), note.line, note.why));
    lines.extend(notes);
    lines.join("\n") + "\n"
}

fn memory(npu: &Npu) -> String {
    npu.memory_used_mb
        .zip(npu.memory_total_mb)
        .map_or_else(|| "?".to_owned(), |(used, total)| format!("{used}/{total}"))
}

fn users(npu: &Npu) -> String {
    let shown = |holder: &Holder| match &holder.name {
        Some(name) => format!("{} {name}", holder.pid),
        None => holder.pid.to_string(),
    };
    match npu.activity {
        Activity::Processes(_) => npu.processes.iter().map(shown).collect::<Vec<_>>().join(", "),
        Activity::Idle if npu.idle => "idle".to_owned(),
        Activity::Idle => "nobody, and not to be used".to_owned(),
        Activity::Utilised(_) | Activity::MemoryInUse(_) => "somebody who is not listed".to_owned(),
        Activity::Unknown => "?".to_owned(),
    }
}
