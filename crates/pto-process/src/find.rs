//! Finds the program a name stands for, as a shell would, on the path the *child* will see.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use pto_context::Context;

use crate::error::Error;

/// The executable file that a name stands for on the context's `PATH`.
///
/// # Errors
/// There is none; the error says where it was looked for.
pub fn find_program(cx: &Context, program: impl AsRef<OsStr>) -> Result<PathBuf, Error> {
    find(program.as_ref(), cx.var_os("PATH"), cx.cwd())
}

/// The executable file, or everything that was searched for it. A name with a `/` is a path relative to `cwd`.
pub(crate) fn find(program: &OsStr, path: Option<&OsStr>, cwd: &Path) -> Result<PathBuf, Error> {
    which::which_in(program, path, cwd).map_err(|_| {
        let searched = if Path::new(program).components().count() > 1 {
            vec![cwd.join(program)]
        } else {
            path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default()
        };
        Error::NotFound { program: program.to_string_lossy().into_owned(), searched }
    })
}
