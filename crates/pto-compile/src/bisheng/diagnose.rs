//! What a failed compile means, where the compiler's own words mislead.
//!
//! Pure functions over what the compiler wrote; the caller knows the versions.

use serde::Serialize;

/// The versions that a diagnosis names. Unknown ones are said to be unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Versions<'a> {
    /// The CANN release, see [`crate::cann::release`].
    pub cann: Option<&'a str>,
    /// The PTOAS assembler, if it made the source.
    pub ptoas: Option<&'a str>,
}

/// What one trouble means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Diagnosis {
    /// Stable, kebab-case.
    pub id: &'static str,
    /// One line for people.
    pub summary: String,
    /// The compiler's lines that show it, unchanged.
    pub evidence: Vec<String>,
    /// What to do.
    pub remedy: &'static str,
}

/// What the compiler's output means, the likeliest cause first; empty when it holds no error and nothing known.
///
/// | id | what |
/// |---|---|
/// | `backend-lacks-instruction` | the device compiler is older than what generated the code |
/// | `memory-macro-redefined` | a source defines `MEMORY_BASE` or `REGISTER_BASE`, which every build passes |
/// | `identifier-is-a-macro` | an identifier of the kernel is a macro of this CANN release |
/// | `compile-error` | any other error: the first one, with the release it occurred under |
pub fn diagnose(output: &str, versions: Versions<'_>) -> Vec<Diagnosis> {
    let lines: Vec<&str> = output.lines().collect();
    let mut found: Vec<_> = [backend(&lines, versions), memory_macro(&lines)].into_iter().flatten().collect();
    let macro_name = macro_in_the_way(&lines, versions);
    if macro_name.is_some() || found.iter().all(|diagnosis| !diagnosis.explains_an_error()) {
        found.extend(macro_name.or_else(|| first_error(&lines, versions)));
    }
    found
}

/// The output without the request to report a crash to LLVM and the dump that goes with it: neither helps against a
/// compiler that is older than its input. Other output is returned whole.
pub fn without_crash_report(output: &str) -> String {
    let is_report = |line: &str| {
        line.starts_with("PLEASE submit a bug report") || line.starts_with("and include the crash backtrace")
    };
    let mut kept: Vec<&str> = Vec::new();
    let mut in_dump = false;
    for line in output.lines() {
        in_dump = line.starts_with("Stack dump:") || in_dump && is_dump_line(line);
        if !in_dump && !is_report(line) {
            kept.push(line);
        }
    }
    kept.join("\n").trim_end().to_owned()
}

/// Numbered entries of a dump, their continuation lines and the blank lines between them.
fn is_dump_line(line: &str) -> bool {
    let begins_with_digit = line.starts_with(|c: char| c.is_ascii_digit() || c == '#');
    begins_with_digit || line.starts_with(' ') || line.is_empty()
}

impl Diagnosis {
    fn explains_an_error(&self) -> bool {
        self.evidence.iter().any(|line| is_error(line))
    }
}

fn backend(lines: &[&str], versions: Versions<'_>) -> Option<Diagnosis> {
    let (line, instruction) = lines.iter().find_map(|line| {
        let rest = line.split_once("Cannot select: intrinsic ")?.1;
        Some((line, rest.split_whitespace().next()?.trim_start_matches('%')))
    })?;
    let function = lines.iter().find(|line| line.contains("on function '"));
    let source = versions.ptoas.map_or_else(|| "the code".to_owned(), |version| format!("PTOAS {version}"));
    Some(Diagnosis {
        id: "backend-lacks-instruction",
        summary: format!(
            "{source} uses `{instruction}`, which the device compiler of {} does not have",
            cann(versions)
        ),
        evidence: std::iter::once(line).chain(function).map(|line| (*line).to_owned()).collect(),
        remedy: "use a CANN release as new as the code generator, or the PTOAS release pinned for this CANN",
    })
}

fn memory_macro(lines: &[&str]) -> Option<Diagnosis> {
    let names = ["MEMORY_BASE", "REGISTER_BASE"];
    let (index, name) = lines.iter().enumerate().find_map(|(index, line)| {
        let name = names.into_iter().find(|name| line.contains(&format!("'{name}' macro redefined")))?;
        Some((index, name))
    })?;
    let place = lines[index].split_once(": ").map_or("a source", |(place, _)| place);
    Some(Diagnosis {
        id: "memory-macro-redefined",
        summary: format!("`{name}` is defined in `{place}` and on the command line, where every build passes it"),
        evidence: following(lines, index),
        remedy: "take the definition out of the source, or put it between `#ifndef` and `#endif`: without the macro on the \
                 command line, symbols would be undefined",
    })
}

/// An error at an identifier that a header of the compiler defines as a macro: the line that names the header is the
/// only sign of it.
fn macro_in_the_way(lines: &[&str], versions: Versions<'_>) -> Option<Diagnosis> {
    let index = lines.iter().position(|line| is_error(line))?;
    let evidence = following(lines, index);
    let origin =
        evidence.iter().skip(1).find(|line| line.contains("__clang_cce") || line.contains("expanded from macro"))?;
    let name = origin.split_once("expanded from macro '").and_then(|(_, rest)| rest.split('\'').next());
    let what = name.map_or_else(|| "an identifier of the kernel".to_owned(), |name| format!("`{name}`"));
    Some(Diagnosis {
        id: "identifier-is-a-macro",
        summary: format!(
            "{what} is a macro in the compiler's headers of {}: {}",
            cann(versions),
            message(lines[index])
        ),
        evidence,
        remedy: "rename the identifier in the kernel; another patch release of CANN may not define the macro",
    })
}

fn first_error(lines: &[&str], versions: Versions<'_>) -> Option<Diagnosis> {
    let index = lines.iter().position(|line| is_error(line))?;
    Some(Diagnosis {
        id: "compile-error",
        summary: format!("{} under {}", message(lines[index]), cann(versions)),
        evidence: following(lines, index),
        remedy: "correct the source; the first error counts, later ones often follow from it",
    })
}

/// A diagnostic and what belongs to it: source line, caret, notes, up to the next diagnostic.
fn following(lines: &[&str], index: usize) -> Vec<String> {
    let ends = |line: &&&str| is_error(line) || line.contains(": warning: ") || line.contains(" generated.");
    let more = lines[index + 1..].iter().take_while(|line| !ends(line) && !line.trim().is_empty());
    std::iter::once(&lines[index]).chain(more).map(|line| (*line).to_owned()).collect()
}

fn is_error(line: &str) -> bool {
    line.contains(" error: ") || line.starts_with("error: ")
}

fn message(line: &str) -> &str {
    line.split_once("error: ").map_or(line, |(_, message)| message)
}

fn cann(versions: Versions<'_>) -> String {
    versions.cann.map_or_else(|| "this CANN (release unknown)".to_owned(), |version| format!("CANN {version}"))
}
