//! `devices`: the NPUs of this machine, or of one whose `npu-smi info` was saved.

use std::io::{Read as _, stdin};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pto_context::with_causes;
use pto_doctor::ProbeOptions;
use pto_doctor::devices::{Devices, Holder, Look, Npu, Probed, SetAside};
use pto_platform::npu_smi::{self, Activity};
use pto_quarantine::{Quarantine, Record};
use serde::Serialize;

use crate::exit::{Failure, Outcome};
use crate::kernel::table::{Cell, Table};
use crate::setup::Common;
use crate::{out, style};

/// `devices`.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  cargo xtask devices --probe\n  cargo xtask devices --from npu-smi.txt --json\n  \
                  export PYPTO_DEVICE=$(cargo xtask devices --idle)"
)]
pub struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Read what `npu-smi info` printed elsewhere instead of running it; `-` is standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Print the index of one device that is free, well and not set aside
    #[arg(long)]
    idle: bool,
    /// Open each device through ACL as well, in a process of its own; what ACL says is believed before `npu-smi`
    #[arg(long, conflicts_with = "from")]
    probe: bool,
    #[command(flatten)]
    common: Common,
}

/// The verbs below `devices`.
#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Take a device out of quarantine: it is well again
    #[command(after_help = "Example:\n  cargo xtask devices release 3")]
    Release {
        /// The N of `/dev/davinciN`
        #[arg(value_name = "INDEX", value_parser = index)]
        index: u32,
    },
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    /// The index that `--idle` prints.
    idle: Option<u32>,
    #[serde(flatten)]
    devices: &'a Devices,
}

#[derive(Debug, Serialize)]
struct ReleaseDocument<'a> {
    schema: &'static str,
    index: u32,
    released: &'a [Record],
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    if let Some(Verb::Release { index }) = args.verb {
        return release(args, index);
    }
    let devices = look(args)?;
    let idle = devices.idle().and_then(|npu| npu.index);
    if args.common.json {
        out::json(&Document { schema: "ptokit.devices/1", idle, devices: &devices })?;
    } else if args.idle {
        return print_idle(args, &devices, idle);
    } else {
        out::text(&text(args, &devices))?;
    }
    let blind = devices.npu_smi_failed && devices.devices.is_empty();
    Ok(if blind || args.idle && idle.is_none() { Outcome::Blocked } else { Outcome::Passed })
}

/// A device as people name it: `3`, `davinci3`, or its node.
fn index(word: &str) -> Result<u32, String> {
    let name = word.strip_prefix("/dev/").unwrap_or(word);
    let number = name.strip_prefix("davinci").unwrap_or(name);
    number.parse().map_err(|_| "expected the N of `/dev/davinciN`, such as `3` or `davinci3`".to_owned())
}

fn look(args: &Args) -> Result<Devices, Failure> {
    let cx = args.common.context()?;
    let Some(path) = &args.from else {
        let mut probes = ProbeOptions::new(&cx);
        // The probe of ACL is this same program.
        probes.worker = std::env::current_exe().ok();
        let devices = Devices::ask(&cx, &Look { probes, acl: args.probe });
        // What was ended early says nothing.
        return if pto_process::interrupt::requested() { Err(Failure::interrupted()) } else { Ok(devices) };
    };
    let devices = Devices::of_text(&saved(path)?);
    match &devices.unavailable {
        // Without a table this file is not what was asked for; with a failure in it, that is the answer.
        Some(why) if devices.failures.is_empty() => {
            Err(Failure::usage(format!("`{}`: {why}", path.display()), "npu-smi info > FILE writes one".to_owned()))
        }
        _ => Ok(devices),
    }
}

/// What was saved, or comes through a pipe.
fn saved(path: &Path) -> Result<String, Failure> {
    const LARGEST: u64 = 16 << 20;
    let mut bytes = Vec::new();
    let read = match path.to_str() {
        Some("-") => stdin().lock().take(LARGEST + 1).read_to_end(&mut bytes),
        _ => fs_err::File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes)),
    };
    read.map_err(|error| Failure::usage(with_causes(&error), None))?;
    if bytes.len() as u64 > LARGEST {
        return Err(Failure::usage(
            format!("`{}` has more than {} MB, so it is no table of `npu-smi info`", path.display(), LARGEST >> 20),
            "a log goes to `cargo xtask triage --log FILE`".to_owned(),
        ));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn release(args: &Args, index: u32) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let released =
        Quarantine::of(&cx).release(index).map_err(|error| Failure::blocked(with_causes(&error), error.hint()))?;
    if args.common.json {
        out::json(&ReleaseDocument { schema: "ptokit.devices-release/1", index, released: &released })?;
    } else if released.is_empty() {
        out::text(&format!("device {index} was not set aside\n"))?;
    } else {
        let why = released.iter().map(|record| format!("\n  {}", record.why)).collect::<String>();
        out::text(&format!("device {index} is free again; it was set aside because:{why}\n"))?;
    }
    Ok(Outcome::Passed)
}

fn print_idle(args: &Args, devices: &Devices, idle: Option<u32>) -> Result<Outcome, Failure> {
    let Some(index) = idle else {
        let why =
            devices.unavailable.clone().unwrap_or_else(|| "every NPU is in use, not well, or set aside".to_owned());
        let hint = if devices.npu_smi_failed { next(args, devices) } else { "cargo xtask devices".to_owned() };
        return Err(Failure::blocked(format!("no idle NPU: {why}"), hint));
    };
    out::text(&format!("{index}\n"))?;
    Ok(Outcome::Passed)
}

fn text(args: &Args, devices: &Devices) -> String {
    let mut lines = Vec::new();
    if let Some(why) = &devices.unavailable {
        lines.push(match (devices.npu_smi_failed, devices.devices.is_empty()) {
            // Its own lines follow.
            (true, _) if !devices.failures.is_empty() => "no table: `npu-smi` failed".to_owned(),
            (false, true) => format!("no NPU: {why}"),
            _ => format!("no table: {why}"),
        });
    }
    if devices.npu_smi_failed {
        lines.extend(devices.failures.iter().map(failure));
        lines.push(format!("{} {}", style::hint("next:"), next(args, devices)));
    }
    if !devices.devices.is_empty() {
        lines.extend(table(devices).lines());
    }
    for npu in &devices.devices {
        lines.extend(remarks(npu).into_iter().filter(|line| !lines.contains(line)).collect::<Vec<_>>());
    }
    let notes =
        devices.notes.iter().map(|note| format!("{} line {}: {}", style::warning("note:"), note.line, note.why));
    lines.extend(notes);
    lines.join("\n") + "\n"
}

/// `line 2: ... ret is -8020 (resource occupied)`.
fn failure(failure: &npu_smi::Failure) -> String {
    let meaning = failure.code().map(|code| format!(" ({})", code.meaning)).unwrap_or_default();
    format!("  line {}: {}{meaning}", failure.line, failure.text)
}

/// The command that explains why `npu-smi` failed.
fn next(args: &Args, devices: &Devices) -> String {
    match (&args.from, devices.telling().map(|failure| &failure.kind)) {
        (Some(path), _) if path != Path::new("-") => {
            format!("cargo xtask triage --log {}", pto_process::shell_word(&path.to_string_lossy()))
        }
        (_, Some(npu_smi::FailureKind::Code(code))) => format!("cargo xtask triage {code}"),
        (Some(_), _) => "give the same text to `cargo xtask triage`".to_owned(),
        (None, _) => "cargo xtask doctor --only npu-smi".to_owned(),
    }
}

fn table(devices: &Devices) -> Table {
    let mut table = Table::new(&["index", "NPU", "name", "target", "health", "memory (MB)", "busy", "used by"]);
    for npu in &devices.devices {
        let card = npu.npu.map_or_else(|| "?".to_owned(), |card| card.to_string());
        let name = npu.soc.clone().unwrap_or_else(|| npu.name.clone());
        table.row(vec![
            Cell::new(npu.index.map_or_else(|| "?".to_owned(), |index| index.to_string())),
            Cell::new(npu.chip.map_or_else(|| card.clone(), |chip| format!("{card}.{chip}"))),
            Cell::new(if name.is_empty() { "?".to_owned() } else { name }),
            Cell::new(npu.target.map_or("-", |target| target.name())),
            health(npu),
            Cell::new(memory(npu)),
            Cell::new(npu.utilisation.map_or_else(|| "?".to_owned(), |percent| format!("{percent} %"))),
            Cell::new(users(npu)),
        ]);
    }
    table
}

fn health(npu: &Npu) -> Cell {
    match npu.health.as_str() {
        "OK" => Cell::new("OK"),
        "unknown" => Cell::new("?"),
        sick => Cell::styled(sick, |text| style::error(text)),
    }
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
    let users = match npu.activity {
        Activity::Processes(_) => npu.processes.iter().map(shown).collect::<Vec<_>>().join(", "),
        Activity::Idle if npu.idle => "idle".to_owned(),
        Activity::Idle => "nobody, and not to be used".to_owned(),
        Activity::Utilised(_) | Activity::MemoryInUse(_) => "somebody who is not listed".to_owned(),
        Activity::Unknown => "?".to_owned(),
    };
    if npu.quarantined { format!("{users}; set aside") } else { users }
}

/// What does not fit into a row.
fn remarks(npu: &Npu) -> Vec<String> {
    let name = match (npu.index, npu.npu) {
        (Some(index), _) => format!("davinci{index}"),
        (None, Some(card)) => format!("NPU {card}"),
        (None, None) => "?".to_owned(),
    };
    let mut lines: Vec<String> = npu.quarantine.iter().map(|record| set_aside(&name, record)).collect();
    if let (true, Some(index)) = (npu.quarantined, npu.index) {
        lines.push(format!("  {} cargo xtask devices release {index}   # once it is well", style::hint("do:")));
    }
    lines.extend(npu.probed.iter().flat_map(|probed| probed_lines(&name, probed)));
    // Once for all devices that have the same reason.
    lines.extend(npu.no_target.iter().map(|why| format!("no target: {why}")));
    let hint = pto_platform::identify(&npu.name).no_target.filter(|_| npu.target.is_none());
    lines.extend(hint.map(|why| format!("  {} {}", style::hint("do:"), why.hint())));
    lines
}

fn set_aside(name: &str, record: &SetAside) -> String {
    let SetAside { why, pid, uid, since: _, until } = record;
    let by = pid.zip(*uid).map(|(pid, uid)| format!(" (process {pid} of user {uid})")).unwrap_or_default();
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or(Duration::ZERO).as_secs();
    let minutes = |until: u64| until.saturating_sub(now).div_ceil(60);
    let rest = until.map(|until| format!(" for {} min more", minutes(until))).unwrap_or_default();
    format!("{name} is {}{rest}: {why}{by}", style::warning("set aside"))
}

fn probed_lines(name: &str, probed: &Probed) -> Vec<String> {
    let Probed { error, soc, memory_free_mb, memory_total_mb, platform, disagreements, opened: _, model } = probed;
    let mut said = vec![match error {
        Some(error) => format!("{} {error}", style::error("cannot be opened:")),
        None => "opens".to_owned(),
    }];
    said.extend(soc.clone());
    said.extend(memory_free_mb.zip(*memory_total_mb).map(|(free, all)| format!("{free} of {all} MB free")));
    if let Some(file) = platform {
        let cores = file.cube_cores.zip(file.vector_cores);
        let cores = cores.map(|(cube, vector)| format!("{cube} cube and {vector} vector cores, "));
        said.push(format!("{}by `{}`", cores.unwrap_or_default(), file.file.display()));
    }
    let line = format!("{name}, by ACL: {}", said.join(", "));
    let modelled = model.iter().map(|library| {
        format!("{name} {}: CANN's model answers, `{}` is loaded", style::warning("is no device"), library.display())
    });
    let doubts = disagreements.iter().map(|text| format!("{name}: {text}; ACL is believed"));
    std::iter::once(line).chain(modelled).chain(doubts).collect()
}
