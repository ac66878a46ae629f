//! What this machine offers for building and running kernels.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use pto_compile::cann::{self, ToolchainOptions};
use pto_compile::cpu::{CpuError, Toolchain, ToolchainRequest};
use pto_context::Context;
use pto_launch::Worker;
use pto_platform::Target;
use pto_store::Store;
use serde::Serialize;

use super::error::RunError;
use super::launching::HostFacts;
use super::pins;

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

/// What this machine offers for one target, found out once.
#[derive(Debug, Clone)]
pub struct Workshop {
    pub(super) setup: Setup,
    pub(super) tools: Tools,
    host: OnceLock<HostFacts>,
}

/// What a target is built with.
#[derive(Debug, Clone)]
pub(super) enum Tools {
    /// Found, or fetched, when the workshop was opened.
    Cpu(Box<CpuTools>),
    /// CANN's compiler, for this target; looked for when a kernel is built.
    Bisheng(Target),
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
        let tools = match target {
            Target::Cpu => Tools::Cpu(Box::new(CpuTools::find(cx, &setup)?)),
            npu => Tools::Bisheng(npu),
        };
        Ok(Self { setup, tools, host: OnceLock::new() })
    }

    /// A workshop for the CPU with tools that were found before.
    pub fn for_cpu(setup: Setup, tools: CpuTools) -> Self {
        Self { setup, tools: Tools::Cpu(Box::new(tools)), host: OnceLock::new() }
    }

    /// With what is known of the machine already, so that nobody is asked again.
    #[must_use]
    pub fn with_host(mut self, host: HostFacts) -> Self {
        self.host = host.into();
        self
    }

    /// What this machine has to run kernels on, asked the first time that somebody wants to know.
    pub(super) fn host(&self, cx: &Context) -> &HostFacts {
        self.host.get_or_init(|| HostFacts::ask(cx, &self.setup.worker))
    }

    /// The target it builds for.
    pub fn target(&self) -> Target {
        match self.tools {
            Tools::Cpu(_) => Target::Cpu,
            Tools::Bisheng(target) => target,
        }
    }
}

impl Setup {
    /// Where CANN and PTO-ISA's headers are, as far as the user said it.
    pub(super) fn cann(&self) -> ToolchainOptions {
        ToolchainOptions { cann: None, pto_headers: self.pto_isa.clone() }
    }
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

/// Named by the user, in `PTO_LIB_PATH`, in CANN, in the pinned package.
fn find_headers(cx: &Context, setup: &Setup) -> Result<HeaderSource, RunError> {
    let named = setup.pto_isa.is_some() || cx.var_os("PTO_LIB_PATH").is_some();
    match cann::find_headers(cx, &setup.cann()) {
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
