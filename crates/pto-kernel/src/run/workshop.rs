//! What this machine offers for building and running kernels.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_compile::cann::{self, ToolchainOptions};
use pto_compile::cpu::{CpuError, Toolchain, ToolchainRequest};
use pto_context::Context;
use pto_launch::Worker;
use pto_platform::Target;
use pto_store::Store;
use serde::Serialize;

use super::error::RunError;
use super::pins;

/// A whole process on a device: launching, running, teardown. In seconds.
const PROCESS_TIMEOUT_S: u64 = 60;
/// The same on the CPU, where 48 cores share what processors there are.
const CPU_PROCESS_TIMEOUT_S: u64 = 120;
/// One synchronization. In seconds.
const SYNC_TIMEOUT_S: u64 = 60;
/// Overrides of both, in seconds.
pub(super) const PROCESS_TIMEOUT_VARIABLE: &str = "PTO_PROCESS_TIMEOUT_S";
pub(super) const SYNC_TIMEOUT_VARIABLE: &str = "PTO_SYNC_TIMEOUT_S";

/// Whether missing packages may be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fetching {
    /// Yes, with the Python package client.
    Allowed,
    /// No: what is missing is an error.
    Offline,
}

/// What the user wants of the machine.
#[derive(Debug, Clone)]
pub struct Setup {
    /// A PTO-ISA checkout or include directory.
    pub pto_isa: Option<PathBuf>,
    /// A C++ compiler for the CPU target.
    pub cxx: Option<String>,
    /// Whether packages may be fetched.
    pub fetching: Fetching,
    /// `-O<n>` on the CPU.
    pub opt_level: u8,
    /// The store shared by all workspaces.
    pub shared: Store,
    /// The store of this workspace's kernels.
    pub artifacts: Store,
    /// The program that runs launches.
    pub worker: Worker,
}

/// Which PTO-ISA headers, and why these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeaderSource {
    /// The directory that holds `pto/pto-inst.hpp`.
    pub dir: PathBuf,
    /// For people.
    pub why: String,
}

/// What this machine offers, found out once.
#[derive(Debug, Clone)]
pub struct Workshop {
    /// What was asked for.
    pub setup: Setup,
    /// What the CPU target needs; found only for that target, as the others need none of it.
    pub cpu: Option<CpuTools>,
}

/// What the CPU target needs.
#[derive(Debug, Clone)]
pub struct CpuTools {
    /// PTO-ISA.
    pub headers: HeaderSource,
    /// The compiler.
    pub toolchain: Toolchain,
}

impl Workshop {
    /// Makes ready for a target. For the CPU it finds headers and a compiler, and fetches what is missing if that is
    /// allowed.
    ///
    /// # Errors
    /// Something is missing and may not or cannot be fetched; a place or compiler that the user named is of no use.
    pub fn open(cx: &Context, setup: Setup, target: Target) -> Result<Self, RunError> {
        let cpu = if target == Target::Cpu { Some(CpuTools::find(cx, &setup)?) } else { None };
        Ok(Self { setup, cpu })
    }
}

/// How long a launch may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadlines {
    /// The whole process.
    pub(super) process: Duration,
    /// One synchronization.
    pub(super) sync: Duration,
}

impl Deadlines {
    /// Those of a target, unless the environment says otherwise.
    pub(super) fn of(cx: &Context, target: Target) -> Result<Self, RunError> {
        let process = if target == Target::Cpu { CPU_PROCESS_TIMEOUT_S } else { PROCESS_TIMEOUT_S };
        Ok(Self {
            process: seconds(cx, PROCESS_TIMEOUT_VARIABLE, process)?,
            sync: seconds(cx, SYNC_TIMEOUT_VARIABLE, SYNC_TIMEOUT_S)?,
        })
    }
}

fn seconds(cx: &Context, variable: &'static str, default: u64) -> Result<Duration, RunError> {
    let Some(value) = cx.var(variable) else { return Ok(Duration::from_secs(default)) };
    let given = value.trim().parse().ok().filter(|seconds: &f64| *seconds > 0.0);
    given.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).ok_or(RunError::BadDeadline { variable, value })
}

impl CpuTools {
    /// Finds headers and compiler for the CPU target, and fetches what is missing if that is allowed.
    ///
    /// # Errors
    /// As [`Workshop::open`].
    pub fn find(cx: &Context, setup: &Setup) -> Result<Self, RunError> {
        let headers = find_headers(cx, setup)?;
        let toolchain = find_compiler(cx, setup, &headers.dir)?;
        Ok(Self { headers, toolchain })
    }
}

/// `--pto-isa`, `PTO_LIB_PATH`, the CANN install, the pinned package.
fn find_headers(cx: &Context, setup: &Setup) -> Result<HeaderSource, RunError> {
    let options = ToolchainOptions { cann: None, pto_headers: setup.pto_isa.clone() };
    let named = setup.pto_isa.is_some() || cx.var_os("PTO_LIB_PATH").is_some();
    match cann::find_headers(cx, &options) {
        Ok(found) => return Ok(HeaderSource { dir: cx.cwd().join(&found.path), why: found.rule.to_string() }),
        Err(error) if named => return Err(error.into()),
        Err(_) => {}
    }
    let pin = pins::PTO_ISA;
    let why = format!("pinned package {} {}", pin.name, pin.version);
    if let Some(dir) = pin.find(&setup.shared) {
        return Ok(HeaderSource { dir, why });
    }
    match setup.fetching {
        Fetching::Allowed => Ok(HeaderSource { dir: pin.fetch(cx, &setup.shared)?, why }),
        Fetching::Offline => {
            Err(RunError::Offline { what: "PTO-ISA headers", package: why, store: setup.shared.root().to_path_buf() })
        }
    }
}

/// A compiler of the machine that passes the probe, else the pinned one.
fn find_compiler(cx: &Context, setup: &Setup, headers: &Path) -> Result<Toolchain, RunError> {
    let stored = pins::zig().and_then(|pin| pin.find(&setup.shared));
    let request = |fallback: Option<Vec<OsString>>| ToolchainRequest {
        headers: headers.to_path_buf(),
        cxx: setup.cxx.clone(),
        fallback,
    };
    let first = Toolchain::configure(cx, &setup.shared, &request(stored.as_deref().map(zig_command)));
    match (first, pins::zig()) {
        (Err(CpuError::NoCompiler { .. }), Some(pin)) if stored.is_none() && setup.fetching == Fetching::Allowed => {
            let dir = pin.fetch(cx, &setup.shared)?;
            Ok(Toolchain::configure(cx, &setup.shared, &request(Some(zig_command(&dir))))?)
        }
        (result, _) => Ok(result?),
    }
}

fn zig_command(dir: &Path) -> Vec<OsString> {
    vec![dir.join("zig").into_os_string(), "c++".into()]
}
