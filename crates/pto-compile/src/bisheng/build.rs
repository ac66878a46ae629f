//! A kernel library in the store, built with bisheng unless it is there.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pto_context::Context;
use pto_store::Store;

use super::{BishengRequest, headers, kernel_plan};
use crate::cann::{Toolchain, open_path, release};
use crate::deps::Dependencies;
use crate::key::Key;
use crate::plan::RunError;

/// A library that bisheng has built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The library that holds the launcher.
    pub library: PathBuf,
    /// Whether it was in the store already.
    pub cached: bool,
    /// How long it took to get it.
    pub duration: Duration,
}

/// Builds a kernel, unless `store` has it for exactly these sources, headers, flags and this compiler. Outputs go into the
/// store; the request's own `out_dir` does not count.
///
/// # Errors
/// There is no plan for the request, a step of it fails, or the store cannot be written.
pub fn build(cx: &Context, store: &Store, toolchain: &Toolchain, request: &BishengRequest) -> Result<Built, RunError> {
    let start = Instant::now();
    // Read before the compiler does: a change in between then counts as one afterwards.
    let users = headers::of_the_user(cx, request).and_then(Dependencies::read).map_err(RunError::Read)?;
    let entry = store.entry("bisheng", &key(cx, toolchain, request, &users)?)?;
    let fresh = Dependencies::get_fresh(cx, &entry)?;
    let cached = fresh.is_some();
    let dir = match fresh {
        Some(dir) => dir,
        None => entry.get_or_build(cx, |dir| build_in(cx, toolchain, request, dir))?,
    };
    let library = BishengRequest { out_dir: dir, ..request.clone() }.library().path();
    Ok(Built { library, cached, duration: start.elapsed() })
}

fn build_in(cx: &Context, toolchain: &Toolchain, request: &BishengRequest, dir: &Path) -> Result<(), RunError> {
    let request = BishengRequest { out_dir: dir.to_path_buf(), ..request.clone() };
    let headers = headers::of_pto_isa(cx, toolchain).and_then(Dependencies::read).map_err(RunError::Read)?;
    kernel_plan(cx, &request, toolchain)?.run(cx)?;
    headers.save(dir).map_err(RunError::Write)
}

/// Names everything but the contents of PTO-ISA's headers, which are too many to be read for each build. Of the plan all
/// words count, made for an output directory that is the same for all.
fn key(
    cx: &Context,
    toolchain: &Toolchain,
    request: &BishengRequest,
    users: &Dependencies,
) -> Result<String, RunError> {
    let plan = kernel_plan(cx, &BishengRequest { out_dir: "out".into(), ..request.clone() }, toolchain)?;
    let words = serde_json::to_vec(&plan).map_err(|error| RunError::Read(error.into()))?;
    // CANN's own headers are thousands of files that change with a release only.
    let release = release(cx, &toolchain.cann.path).map(|release| release.version).unwrap_or_default();
    let key = Key::new("bisheng").with(words).with(release).path(cx.cwd()).with(users.digest());
    Ok(key.file(&open_path(cx, &toolchain.bisheng.path)).map_err(RunError::Read)?.finish())
}
