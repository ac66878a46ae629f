//! The part of a command line that is the same for everything.

use std::ffi::OsString;
use std::path::Path;

use pto_process::Invocation;

use super::compiler::{Compiler, Family};
use super::resources::Resources;

/// Language level, definitions and include directories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) compiler: Compiler,
    pub(super) args: Vec<OsString>,
}

impl Flags {
    pub(super) fn new(compiler: &Compiler, resources: &Resources, overlay: Option<&Path>, headers: &Path) -> Self {
        let mut args: Vec<OsString> = compiler.standard().iter().map(OsString::from).collect();
        if compiler.family == Family::Clang {
            // About loops of PTO-ISA that ask to be vectorized and cannot be: nothing a kernel author could change.
            args.push("-Wno-pass-failed".into());
        }
        args.extend(["-D__CPU_SIM", "-DPTO_CPU_MAX_THREADS=1u", "-fPIC"].map(OsString::from));
        if compiler.family == Family::Gcc {
            // Unique symbols are shared between all libraries of a process: the two sides of a mix kernel must not be.
            args.push("-fno-gnu-unique".into());
        }
        // System directories, so that warnings are about the kernel alone. Ours come first: they stand before <cassert>.
        let include = resources.path("include");
        for dir in [Some(include.as_path()), overlay, Some(headers)].into_iter().flatten() {
            args.extend(["-isystem".into(), dir.into()]);
        }
        Self { compiler: compiler.clone(), args }
    }

    pub(super) fn invocation(&self) -> Invocation {
        self.compiler.invocation().args(self.args.iter().cloned())
    }
}
