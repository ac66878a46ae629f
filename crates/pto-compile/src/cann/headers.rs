//! Which PTO headers a kernel is compiled with.

use std::path::{Path, PathBuf};

use pto_context::Context;

use super::located::open_path;
use super::{CannError, Located, Rule, Tried};

/// The header that every PTO kernel includes.
const ENTRY: &str = "pto/pto-inst.hpp";
const VARIABLE: &str = "PTO_LIB_PATH";

/// The include directory that holds `pto/pto-inst.hpp`.
pub(super) fn find(cx: &Context, explicit: Option<&Path>, cann: &Path) -> Result<Located, CannError> {
    let (base, rule) = base(cx, explicit, cann);
    let include = base.join("include");
    let candidates = [base, include];
    let holds_entry = |dir: &&PathBuf| open_path(cx, &dir.join(ENTRY)).is_file();
    match candidates.iter().find(holds_entry) {
        Some(dir) => Ok(Located { path: dir.clone(), rule, exists: true }),
        None => Err(CannError::NoHeaders { tried: candidates.map(|dir| Tried::absent(&dir.join(ENTRY))).into(), rule }),
    }
}

/// The include directory that is meant; where nothing is there, the layout of a PTO-ISA checkout and of CANN.
pub(super) fn assume(cx: &Context, explicit: Option<&Path>, cann: &Path) -> Located {
    find(cx, explicit, cann).unwrap_or_else(|_| {
        let (base, rule) = base(cx, explicit, cann);
        Located::missing(base.join("include"), rule)
    })
}

fn base(cx: &Context, explicit: Option<&Path>, cann: &Path) -> (PathBuf, Rule) {
    match (explicit, cx.var_os(VARIABLE)) {
        (Some(dir), _) => (dir.to_path_buf(), Rule::Explicit),
        (None, Some(dir)) => (dir.into(), Rule::Variable(VARIABLE)),
        (None, None) => (cann.to_path_buf(), Rule::InsideCann),
    }
}
