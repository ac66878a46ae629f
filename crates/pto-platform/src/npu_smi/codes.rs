//! Error codes of `npu-smi` and the management library below it, and what a shell makes of them.

use std::sync::LazyLock;

use serde::Serialize;

/// From the vendor's reference of the management interface, and the tool's own sources.
const TABLE: &str = include_str!("../../data/npu-smi-codes.tsv");

static CODES: LazyLock<Vec<ErrorCode>> = LazyLock::new(|| TABLE.lines().skip(1).filter_map(line).collect());

/// A code that `npu-smi` prints and exits with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ErrorCode {
    /// The code, such as -8020.
    pub code: i32,
    /// What it means.
    pub meaning: &'static str,
}

impl ErrorCode {
    /// The status a shell sees: `npu-smi` exits with the negative code itself, of which eight bits arrive (-8020: 172).
    pub const fn exit_status(&self) -> u8 {
        self.code.rem_euclid(256) as u8
    }
}

fn line(line: &'static str) -> Option<ErrorCode> {
    let (code, meaning) = line.split_once('\t')?;
    Some(ErrorCode { code: code.parse().ok()?, meaning })
}

/// Every code, as the vendor orders them.
pub fn error_codes() -> &'static [ErrorCode] {
    &CODES
}

/// What a code means, if it is known.
pub fn error_code(code: i32) -> Option<&'static ErrorCode> {
    CODES.iter().find(|known| known.code == code)
}

/// The code behind an exit status of `npu-smi`, for example -8020 for 172. No two codes of the table share a status.
pub fn error_of_exit_status(status: u8) -> Option<&'static ErrorCode> {
    CODES.iter().find(|known| known.exit_status() == status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_survive_the_shell() {
        for (code, status) in [(-8001, 191), (-8005, 187), (-8008, 184), (-8020, 172), (-8255, 193), (-9005, 211)] {
            assert_eq!(error_code(code).map(ErrorCode::exit_status), Some(status));
            assert_eq!(error_of_exit_status(status).map(|known| known.code), Some(code));
        }
        assert_eq!((error_of_exit_status(0), error_of_exit_status(127)), (None, None));
    }

    #[test]
    fn every_line_is_read_and_every_status_is_unique() {
        assert_eq!(error_codes().len(), TABLE.lines().count() - 1);
        let mut statuses: Vec<u8> = error_codes().iter().map(ErrorCode::exit_status).collect();
        statuses.sort_unstable();
        statuses.dedup();
        assert_eq!(statuses.len(), error_codes().len());
    }
}
