//! Asks ACL for a device in a process of its own, so that a library that hangs, crashes or prints costs the probe alone.
//!
//! The answer goes through a file that is written step by step: what was reached before a crash is known.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_acl::{Acl, Device, LoadPlan};
use pto_context::Context;
use pto_platform::RunMode;
use pto_process::{Invocation, Status};
use serde::{Deserialize, Serialize};

/// The first argument that makes a program a worker of this probe.
pub const ARGUMENT: &str = "__pto-doctor-acl-probe";

const ANSWER_FILE: &str = "answer.json";
const MB: u64 = 1 << 20;

/// How far the probe came, and with what.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AclAnswer {
    /// The step that was begun last: `load`, `aclrtSetDevice`, `aclrtGetMemInfo`, `done`.
    pub step: String,
    /// The device.
    pub device: u32,
    /// The library that was loaded.
    pub library: Option<PathBuf>,
    /// The SoC's name.
    pub soc: Option<String>,
    /// How many devices this process sees.
    #[serde(default)]
    pub devices: Option<u32>,
    /// Which libraries answered: CANN's model answers with the names of real SoCs.
    #[serde(default)]
    pub run_mode: Option<RunMode>,
    /// Memory in MB: free and all.
    pub memory_mb: Option<(u64, u64)>,
    /// What failed.
    pub error: Option<AclFailure>,
}

/// A call that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AclFailure {
    /// The message.
    pub message: String,
    /// ACL's own code, if the library answered with one.
    pub code: Option<i32>,
    /// What to do.
    pub hint: Option<String>,
}

/// What the probe came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AclProbe {
    /// Nobody asked, or nothing is there to ask.
    #[default]
    NotAsked,
    /// It could not be run, for this reason.
    NotRun(String),
    /// The worker ended early: how, and how far it came.
    Died(String, AclAnswer),
    /// It ran to its end, or to a call that failed.
    Answered(AclAnswer),
}

/// Makes this process the worker, if it was started as one, and then does not return. Belongs into the first lines of
/// `main` of every program that examines machines.
pub fn intercept() {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_none_or(|first| first != ARGUMENT) {
        return;
    }
    let dir = PathBuf::from(args.next().unwrap_or_default());
    let device = args.next().and_then(|text| text.to_str()?.parse().ok()).unwrap_or(0);
    let candidates: Vec<PathBuf> = args.map(PathBuf::from).collect();
    let mut answer = AclAnswer { device, ..AclAnswer::default() };
    if let Err(error) = look(&mut answer, &candidates, &dir) {
        let code = error.acl().map(|acl| acl.code);
        answer.error = Some(AclFailure { message: error.to_string(), code, hint: error.hint().map(str::to_owned) });
    }
    // Without an answer the parent says how this process ended.
    let written = write(&dir, &answer);
    std::process::exit(i32::from(written.is_err()))
}

fn look(answer: &mut AclAnswer, candidates: &[PathBuf], dir: &Path) -> Result<(), pto_acl::Error> {
    begin(answer, "load", dir);
    let acl = Acl::load(&LoadPlan::new(candidates))?;
    answer.library = Some(acl.path().to_owned());
    begin(answer, "aclrtSetDevice", dir);
    let device = Device::open(&acl, answer.device)?;
    answer.soc = device.soc_name().ok();
    answer.devices = acl.device_count().ok();
    answer.run_mode = run_mode(&acl);
    begin(answer, "aclrtGetMemInfo", dir);
    let memory = device.mem_info()?;
    answer.memory_mb = Some((memory.free as u64 / MB, memory.total as u64 / MB));
    begin(answer, "done", dir);
    Ok(())
}

fn run_mode(acl: &Acl) -> Option<RunMode> {
    let maps = fs_err::read("/proc/self/maps").ok()?;
    let mode = RunMode::of_maps(&String::from_utf8_lossy(&maps))?;
    Some(RunMode { played: acl.exports(RunMode::PLAYED_BY), ..mode })
}

fn begin(answer: &mut AclAnswer, step: &str, dir: &Path) {
    step.clone_into(&mut answer.step);
    // A step that cannot be told is not worth ending for: the last answer is checked.
    let _ = write(dir, answer);
}

fn write(dir: &Path, answer: &AclAnswer) -> std::io::Result<()> {
    let partial = dir.join("answer.part");
    fs_err::write(&partial, serde_json::to_vec(answer)?)?;
    fs_err::rename(partial, dir.join(ANSWER_FILE))
}

/// Which device to open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// Counted from 0.
    pub device: u32,
    /// Whether it is counted among all devices of this process, and not among those that `ASCEND_RT_VISIBLE_DEVICES` selects.
    pub among_all: bool,
}

/// Runs the probe: `worker` is a program whose `main` calls [`intercept`].
pub fn run(cx: &Context, worker: &Path, choice: Choice, deadline: Duration) -> AclProbe {
    let dir = match tempfile::Builder::new().prefix("pto-doctor-").tempdir_in(cx.temp_dir()) {
        Ok(dir) => dir,
        Err(error) => return AclProbe::NotRun(format!("no temporary directory for the probe: {error}")),
    };
    let plan = LoadPlan::cann(cx);
    let mut invocation = Invocation::new(worker)
        .args([ARGUMENT.as_ref(), dir.path().as_os_str()])
        .arg(choice.device.to_string())
        .args(plan.candidates())
        .deadline(deadline);
    if choice.among_all {
        invocation = invocation.env_remove("ASCEND_RT_VISIBLE_DEVICES");
    }
    match invocation.run(cx) {
        Err(error) => AclProbe::NotRun(error.to_string()),
        Ok(output) => {
            let answer = fs_err::read(dir.path().join(ANSWER_FILE)).ok();
            let answer = answer.and_then(|bytes| serde_json::from_slice::<AclAnswer>(&bytes).ok()).unwrap_or_default();
            // A library that crashes while it is unloaded has given its answer before.
            let complete = answer.step == "done" || answer.error.is_some();
            match output.status {
                _ if complete => AclProbe::Answered(answer),
                Status::TimedOut { .. } => AclProbe::Died(format!("gave no answer within {deadline:?}"), answer),
                status => AclProbe::Died(status.to_string(), answer),
            }
        }
    }
}

impl AclProbe {
    /// The answer of a probe in which every call succeeded.
    pub fn success(&self) -> Option<&AclAnswer> {
        match self {
            Self::Answered(answer) if answer.error.is_none() => Some(answer),
            _ => None,
        }
    }
}
