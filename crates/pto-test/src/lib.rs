//! What the tests of this workspace need of the machine, and what they say where it is not there. `PTOKIT_REQUIRE=1`,
//! which the CI sets, makes a missing part a failure: a test that passes without running is a lie.
//!
//! It also holds what takes the place of the rest: a [stand-in](cann) for CANN's programs, a [machine](host) that is
//! made up, what `npu-smi` [prints](npu_smi), a [writer](elf) of ELF files, and a project that is shaped like [PyPTO](pypto).
//! A Docker [engine] and a [registry] are real ones.
//!
//! This crate must not know what is tested. Only `[dev-dependencies]` name it.
//!
//! ```
//! let Some(headers) = pto_test::headers() else { return };
//! assert!(headers.join("pto/pto-inst.hpp").is_file());
//! ```

pub mod cann;
pub mod elf;
pub mod engine;
pub mod host;
pub mod npu_smi;
pub mod pypto;
pub mod registry;

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use pto_context::{Context, Silent};
use pto_store::Store;

/// PTO-ISA's headers: set by `cargo xtask test`.
pub const HEADERS: &str = "PTOKIT_TEST_HEADERS";
/// A second set of them, of another generation, with which kernels are built as well.
pub const SECOND_HEADERS: &str = "PTOKIT_TEST_HEADERS_2";
/// The launcher of a PTOAS that works here. No package of the registry carries one, so nothing sets it.
pub const PTOAS: &str = "PTOKIT_TEST_PTOAS";
/// A directory with a library of kernels that was built for an NPU: set by `cargo xtask test`.
pub const ARTIFACTS: &str = "PTOKIT_TEST_ARTIFACTS";
/// Makes a part that the set-up provides and that is missing a failure.
pub const REQUIRE: &str = "PTOKIT_REQUIRE";

/// The header that every PTO kernel includes.
const ENTRY: &str = "pto/pto-inst.hpp";

/// Says that a test cannot do its work here, because something is missing that `.ci/run` or `cargo xtask test` sets up.
///
/// # Panics
/// Where [`REQUIRE`] is set.
#[track_caller]
pub fn skip(why: &str) {
    assert!(machine().var_os(REQUIRE).is_none(), "cannot run, and `{REQUIRE}` is set: {why}");
    absent(why);
}

/// The same where nobody can ask for it: the right to mount a file system, outputs of real devices.
pub fn absent(why: &str) {
    let thread = std::thread::current();
    // Past the harness, which keeps what a passing test prints to itself.
    let _ = writeln!(std::io::stderr(), "SKIPPED {}: {why}", thread.name().unwrap_or("a test"));
}

/// PTO-ISA's headers, those named or those in the user's store. `None`, said on stderr, where there are none.
///
/// # Panics
/// As [`skip`].
#[track_caller]
pub fn headers() -> Option<PathBuf> {
    let named = machine().var_os(HEADERS).map(PathBuf::from);
    let found = named.or_else(in_default_store);
    if found.is_none() {
        skip(&format!("no PTO-ISA headers are here; `cargo xtask test` gets them, and `{HEADERS}` names them"));
    }
    found
}

/// The second set, where one is named.
pub fn second_headers() -> Option<PathBuf> {
    machine().var_os(SECOND_HEADERS).map(PathBuf::from)
}

/// A real assembler, where one is named.
pub fn ptoas() -> Option<PathBuf> {
    let named = machine().var_os(PTOAS).map(PathBuf::from);
    if named.is_none() {
        absent(&format!("no assembler is named in `{PTOAS}`"));
    }
    named
}

/// A directory with a library that CANN's compiler made. `None`, said on stderr, where there is none.
///
/// # Panics
/// As [`skip`].
#[track_caller]
pub fn artifacts() -> Option<PathBuf> {
    let named = machine().var_os(ARTIFACTS).map(PathBuf::from);
    if named.is_none() {
        skip(&format!(
            "no library for an NPU is here; `cargo xtask test` gets one, and `{ARTIFACTS}` names its directory"
        ));
    }
    named
}

/// The machine as it is: tests are programs of their own.
pub fn machine() -> Context {
    Context::from_process(Arc::new(Silent)).expect("a test has a working directory")
}

fn in_default_store() -> Option<PathBuf> {
    let wheels = Store::default_root(&machine()).ok()?.join("wheels");
    let entries = std::fs::read_dir(wheels).ok()?.flatten().map(|entry| entry.path());
    entries.into_iter().find(|dir| dir.join(ENTRY).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_those_that_a_kernel_includes() {
        let Some(headers) = headers() else { return };
        assert!(headers.join(ENTRY).is_file(), "{}", headers.display());
    }
}
