//! Which compiler would be taken on a machine, without building anything.

use std::ffi::OsStr;
use std::path::Path;

use pto_context::Context;

use super::compiler::{Compiler, candidates};
use super::error::Rejected;

/// What a look at the machine's compilers came to.
#[derive(Debug, Default)]
pub struct Survey {
    /// The first one that is a compiler we know how to call. Whether PTO-ISA compiles with it is for
    /// [`Toolchain::configure`](super::Toolchain::configure) to find out.
    pub found: Option<Compiler>,
    /// Those before it, and why they are none.
    pub passed_over: Vec<Rejected>,
}

/// Asks the compilers that `CXX` or `PATH` name what they are, in the order in which a build would, up to the first that
/// answers.
pub fn survey(cx: &Context) -> Survey {
    let mut survey = Survey::default();
    // Nothing of the store is asked, so nothing needs the directory of its caches.
    for candidate in candidates(cx, None, None, Path::new("")) {
        match Compiler::identify(cx, &candidate) {
            Ok(compiler) => {
                survey.found = Some(compiler);
                break;
            }
            Err(reason) => survey.passed_over.push(Rejected {
                compiler: candidate.command.join(OsStr::new(" ")).to_string_lossy().into_owned(),
                why_tried: candidate.why,
                reason,
            }),
        }
    }
    survey
}
