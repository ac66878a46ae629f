//! Headers that an older compiler refuses, made acceptable in a copy that comes first on the include path.
//!
//! GCC before 13 evaluates `static_assert(false)` in a template branch that is never taken (the rule changed with C++
//! paper P2593). In the copies such an assertion becomes a violation at run time, should the branch ever be reached.

use std::path::{Path, PathBuf};

use super::error::CpuError;

/// The directories of PTO-ISA whose headers the CPU simulator reads.
const DIRS: [&str; 2] = ["pto/cpu", "pto/common"];

/// Writes the copies that are needed below `overlay`; how many there are.
pub(super) fn write(headers: &Path, overlay: &Path) -> Result<usize, CpuError> {
    let mut written = 0;
    for dir in DIRS {
        let Ok(listing) = fs_err::read_dir(headers.join(dir)) else { continue };
        for path in listing.flatten().map(|entry| entry.path()) {
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let Some(changed) = without_false_assertions(&text) else { continue };
            let target: PathBuf = overlay.join(dir).join(path.file_name().expect("a listed file has a name"));
            fs_err::create_dir_all(overlay.join(dir)).map_err(CpuError::Write)?;
            fs_err::write(target, changed).map_err(CpuError::Write)?;
            written += 1;
        }
    }
    Ok(written)
}

/// The text with `static_assert(false, "...")` replaced, or nothing if there is none.
fn without_false_assertions(text: &str) -> Option<String> {
    const WHAT: &str = "static_assert(false,";
    text.contains(WHAT).then(|| {
        let run_time = "ptocpu_violation(\"unsupported template argument\", __FILE__, __LINE__), (void)sizeof(";
        // `static_assert(false, "text");` becomes `ptocpu_violation(...), (void)sizeof( "text");`, still one statement.
        text.replace(WHAT, run_time)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_false_assertion_becomes_a_violation() {
        let changed = without_false_assertions("else { static_assert(false, \"no\"); }\n").unwrap();
        assert_eq!(
            changed,
            "else { ptocpu_violation(\"unsupported template argument\", __FILE__, __LINE__), (void)sizeof( \"no\"); }\n"
        );
        assert_eq!(without_false_assertions("static_assert(x > 0, \"no\");"), None);
    }
}
