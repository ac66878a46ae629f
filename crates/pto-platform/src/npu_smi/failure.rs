//! What `npu-smi` says when it fails, and its exit status.

use serde::Serialize;

use super::codes::{self, ErrorCode};
use crate::entries::numbered;

/// A line in which the tool, its loader or the shell says that something failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Line, from 1.
    pub line: usize,
    /// The line as it stands.
    pub text: String,
    /// What it says.
    pub kind: FailureKind,
}

/// What a failure line says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FailureKind {
    /// `ret is -8020` and the like: a code of DCMI (the management library) or of the tool.
    Code(i32),
    /// `DrvMngGetConsoleLogLevel failed`: a by-product wherever only some cards are exposed, no cause of anything.
    ConsoleLogLevel,
    /// The loader does not find a library: the tool is installed, the shell's `LD_LIBRARY_PATH` is not set up.
    MissingLibrary(String),
    /// `There is no NPU card on this server`.
    NoCard,
    /// The shell does not find `npu-smi`.
    NotInstalled,
    /// `[ERROR] DRV(...)`: the driver's own log, which comes to the terminal where its sockets are not mounted.
    DriverLog,
    /// `Failed to ...` without a code.
    Other,
}

impl Failure {
    /// The code the line carries, with its meaning, if it is one we know.
    pub fn code(&self) -> Option<&'static ErrorCode> {
        match self.kind {
            FailureKind::Code(code) => codes::error_code(code),
            _ => None,
        }
    }

    /// Whether the line is known to say nothing about the card: a better cause stands elsewhere, or there is none.
    pub const fn is_by_product(&self) -> bool {
        matches!(self.kind, FailureKind::ConsoleLogLevel)
    }
}

/// Every failure line of an output.
pub fn parse_failures(text: &str) -> Vec<Failure> {
    numbered(text).filter_map(|(line, text)| failure(line, text)).collect()
}

/// The failure of one line.
pub(super) fn failure(line: usize, text: &str) -> Option<Failure> {
    let kind = kind(text.trim())?;
    Some(Failure { line, text: text.trim().to_owned(), kind })
}

fn kind(text: &str) -> Option<FailureKind> {
    let library = "error while loading shared libraries:";
    if let Some((_, after)) = text.split_once(library) {
        let name = after.split(':').next().unwrap_or_default().trim();
        return Some(FailureKind::MissingLibrary(name.to_owned()));
    }
    if let Some(code) = code_behind(text, "ret is ").or_else(|| code_behind(text, "err is ")) {
        return Some(FailureKind::Code(code));
    }
    let found = |part: &str| text.contains(part);
    if found("DrvMngGetConsoleLogLevel failed") {
        Some(FailureKind::ConsoleLogLevel)
    } else if found("There is no NPU card") {
        Some(FailureKind::NoCard)
    } else if found("npu-smi") && (found("command not found") || found("npu-smi: not found")) {
        Some(FailureKind::NotInstalled)
    } else if found("[ERROR] DRV(") {
        Some(FailureKind::DriverLog)
    } else if text.starts_with("Failed to ") {
        Some(FailureKind::Other)
    } else {
        None
    }
}

/// The negative number behind a phrase.
fn code_behind(text: &str, phrase: &str) -> Option<i32> {
    let (_, after) = text.split_once(phrase)?;
    let digits = after.strip_prefix('-')?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse::<i32>().ok().map(|code| -code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_is_named() {
        let cases = [
            ("dcmi model initialized failed, because the device is used. ret is -8020", FailureKind::Code(-8020)),
            ("dcmi module initialize failed. ret is -8005", FailureKind::Code(-8005)),
            ("npu get board type failed. ret is -9005", FailureKind::Code(-9005)),
            ("Failed to execute npu-smi info. ret is -8255.", FailureKind::Code(-8255)),
            ("DrvMngGetConsoleLogLevel failed. (ret=4)", FailureKind::ConsoleLogLevel),
            ("There is no NPU card on this server.", FailureKind::NoCard),
            ("bash: npu-smi: command not found", FailureKind::NotInstalled),
            ("sh: 1: npu-smi: not found", FailureKind::NotInstalled),
            ("[ERROR] DRV(9,npu-smi):2026-01-01 [dmp][dm_udp_open 117] connect failed", FailureKind::DriverLog),
            ("Failed to get card number.", FailureKind::Other),
            (
                "npu-smi: error while loading shared libraries: libx.so: cannot open shared object file: No such file",
                FailureKind::MissingLibrary("libx.so".into()),
            ),
        ];
        for (text, kind) in cases {
            assert_eq!(parse_failures(text), [Failure { line: 1, text: text.into(), kind }]);
        }
        assert_eq!(parse_failures("| 0 910B3 | OK |\nret is 0\n$ npu-smi info\n"), []);
    }
}
