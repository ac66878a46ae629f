//! The C++ that this crate brings, written to the store once so that compilers can read it.

use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_store::Store;

use super::error::CpuError;
use crate::key::Key;

/// Path below the crate's `cpu/` directory, and content.
macro_rules! resources {
    ($($path:literal),* $(,)?) => { &[$(($path, include_str!(concat!("../../cpu/", $path)))),*] };
}

const FILES: &[(&str, &str)] = resources![
    "include/acl/acl.h",
    "include/assert.h",
    "include/cassert",
    "include/ptocpu_assert.h",
    "include/runtime/rt.h",
    "include/runtime/rt_ffts.h",
    "include/stdfloat",
    "prelude/builtins.hpp",
    "prelude/conversions.hpp",
    "prelude/fixes.hpp",
    "prelude/launch.hpp",
    "prelude/memory.hpp",
    "prelude/prelude.hpp",
    "prelude/simulator.hpp",
    "prelude/transfers.hpp",
    "prelude/waiting.hpp",
    "probes/acc_phase.cpp",
    "probes/base.cpp",
    "probes/bf16.cpp",
    "probes/event.cpp",
    "probes/get_block_num.cpp",
    "probes/pipe_global.cpp",
    "probes/pipe_hook.cpp",
    "probes/probe.hpp",
    "probes/syncall.cpp",
    "probes/tmatmul_acc3.cpp",
    "probes/tmov_phase.cpp",
    "probes/trowsum_shapes.cpp",
    "probes/tstore_converts.cpp",
    "runtime/blocking.hpp",
    "runtime/ptocpu.h",
    "runtime/report.hpp",
    "runtime/run.hpp",
    "runtime/runtime.cpp",
    "runtime/state.hpp",
];

/// What the store calls them.
pub(crate) const KIND: &str = "cpu-prelude";

/// Where the files lie in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resources {
    dir: PathBuf,
}

impl Resources {
    /// Writes the files, unless this version of them is there.
    pub(super) fn materialize(cx: &Context, store: &Store) -> Result<Self, CpuError> {
        let dir = store.entry(KIND, &digest())?.get_or_build(cx, |dir| {
            FILES.iter().try_for_each(|(path, text)| {
                let path = dir.join(path);
                fs_err::create_dir_all(path.parent().expect("every file has a directory")).map_err(CpuError::Write)?;
                fs_err::write(path, text).map_err(CpuError::Write)
            })
        })?;
        Ok(Self { dir })
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

/// Names this version of the files.
pub(super) fn digest() -> String {
    Key::new("resources").all(FILES.iter().flat_map(|(path, text)| [path, text])).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_directory_is_embedded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cpu");
        let mut found = Vec::new();
        let mut pending = vec![root.clone()];
        while let Some(dir) = pending.pop() {
            for entry in fs_err::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { pending.push(path) } else { found.push(path) }
            }
        }
        let mut found: Vec<_> = found.iter().map(|path| path.strip_prefix(&root).unwrap().to_str().unwrap()).collect();
        found.sort_unstable();
        assert_eq!(found, FILES.iter().map(|(path, _)| *path).collect::<Vec<_>>());
    }
}
