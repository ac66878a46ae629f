//! Many kernels, one after the other. Whatever is wrong with one does not keep the rest from being tried.

use std::path::{Path, PathBuf};

use pto_context::{Context, Fault};

use super::error::RunError;
use super::kernel_result::{KernelResult, KernelStatus, NotTried, Problem};
use super::report::Report;
use super::workshop::Workshop;
use super::{TestOptions, test_kernel};
use crate::discover::Discovery;
use crate::{KernelError, Manifest};

/// The kernels of a run.
#[derive(Debug, Default)]
pub struct Suite {
    /// Those that can be worked on.
    pub kernels: Vec<Manifest>,
    /// Manifests that do not load, and why.
    pub refused: Vec<(PathBuf, KernelError)>,
    /// Whether each was asked for, by name or path. Who asks for all means those that are written for the target.
    pub named: bool,
}

/// What came of one kernel.
#[derive(Debug, Clone)]
pub struct Tried<T> {
    /// Its name, or that of its directory where its manifest does not load.
    pub name: String,
    /// Its manifest.
    pub path: PathBuf,
    /// What the work gave, or why it could not be done.
    pub result: Result<T, NotTried>,
}

impl From<Discovery> for Suite {
    fn from(found: Discovery) -> Self {
        Self { kernels: found.kernels, refused: found.failures, named: false }
    }
}

impl Suite {
    /// Works on one kernel after the other; manifests that do not load come last.
    ///
    /// # Errors
    /// The user asked for the end.
    pub fn each<T>(self, work: impl Fn(&Manifest) -> Result<T, RunError>) -> Result<Vec<Tried<T>>, RunError> {
        let mut tried = Vec::new();
        for kernel in &self.kernels {
            let result = match work(kernel) {
                Ok(done) => Ok(done),
                Err(error) => Err(not_tried(error, self.named)?),
            };
            tried.push(Tried { name: kernel.name.clone(), path: kernel.path.clone(), result });
        }
        for (path, error) in self.refused {
            let name = path.parent().and_then(Path::file_name).unwrap_or(path.as_os_str());
            let result = Err(not_tried(error.into(), true)?);
            tried.push(Tried { name: name.to_string_lossy().into_owned(), path, result });
        }
        Ok(tried)
    }
}

fn not_tried(error: RunError, named: bool) -> Result<NotTried, RunError> {
    let status = match error.fault() {
        Fault::Interrupt => return Err(error),
        Fault::Input if !named && error.is_about_the_target() => KernelStatus::Skipped,
        Fault::Verdict => KernelStatus::NotBuilt,
        Fault::Input => KernelStatus::Malformed,
        Fault::Machine => KernelStatus::Blocked,
    };
    Ok(NotTried { status, problem: Problem::from(&error), usage: error.is_usage() })
}

/// Builds and tests all kernels of a suite. Once the user has asked for the end nothing new is begun, and the report says
/// what was done by then.
///
/// # Errors
/// As [`Suite::each`], but for an interrupt: whatever is wrong with a kernel is a result.
pub fn test_kernels(
    cx: &Context,
    workshop: &Workshop,
    suite: Suite,
    options: &TestOptions,
) -> Result<Report, RunError> {
    let result = |name, path, why| KernelResult::not_tried(name, path, workshop.target(), why);
    let tried = suite.each(|kernel| {
        let tested = match pto_process::interrupt::requested() {
            true => Err(RunError::Interrupted),
            false => test_kernel(cx, workshop, kernel, options, &|_| {}),
        };
        match tested {
            Err(error) if error.fault() == Fault::Interrupt => {
                let why = NotTried { status: KernelStatus::Interrupted, problem: Problem::from(&error), usage: false };
                Ok(result(kernel.name.clone(), kernel.path.clone(), why))
            }
            tested => tested,
        }
    })?;
    let results = tried
        .into_iter()
        .map(|Tried { name, path, result: tested }| tested.unwrap_or_else(|why| result(name, path, why)));
    Ok(Report::new(results.collect()))
}
