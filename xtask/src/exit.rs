//! Exit codes, and the one place where an error is shown.

use std::error::Error;
use std::process::ExitCode;

use pto_kernel::run::{Fault, RunError};

use crate::style;

/// Everything that was asked for is so.
pub const PASSED: u8 = 0;
/// The verdict is negative: a check failed, values differ, a kernel crashed or hung or does not compile.
pub const NEGATIVE: u8 = 1;
/// Wrong usage, or a malformed input file.
pub const USAGE: u8 = 2;
/// This machine lacks something, which is named together with how to get it.
pub const BLOCKED: u8 = 3;
/// Ctrl-C, as shells have it.
pub const INTERRUPTED: u8 = 130;

/// How a verb ended when it could do its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Everything is as it should be.
    Passed,
    /// Something is not.
    Negative,
}

impl Outcome {
    /// `Passed` if so.
    pub fn passed_if(passed: bool) -> Self {
        if passed { Self::Passed } else { Self::Negative }
    }

    /// The exit code.
    pub fn code(self) -> ExitCode {
        match self {
            Self::Passed => ExitCode::from(PASSED),
            Self::Negative => ExitCode::from(NEGATIVE),
        }
    }
}

/// Why a verb could not do its work.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: String,
    hint: Option<String>,
}

impl Failure {
    /// Wrong usage or a malformed file.
    pub fn usage(message: impl Into<String>, hint: impl Into<Option<String>>) -> Self {
        Self { code: USAGE, message: message.into(), hint: hint.into() }
    }

    /// This machine lacks something.
    pub fn blocked(message: impl Into<String>, hint: impl Into<Option<String>>) -> Self {
        Self { code: BLOCKED, message: message.into(), hint: hint.into() }
    }

    /// A failure with this exit code.
    pub fn with(code: u8, message: impl Into<String>, hint: impl Into<Option<String>>) -> Self {
        Self { code, message: message.into(), hint: hint.into() }
    }

    /// A file could not be read or written.
    pub fn io(error: &std::io::Error) -> Self {
        Self::blocked(chain(error), None)
    }

    /// Shows it and gives the exit code.
    pub fn report(&self) -> ExitCode {
        anstream::eprintln!("{} {}", style::error("error:"), self.message);
        if let Some(hint) = &self.hint {
            anstream::eprintln!("{} {hint}", style::hint("hint:"));
        }
        ExitCode::from(self.code)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let code = match error.fault() {
            Fault::Kernel => NEGATIVE,
            Fault::Input => USAGE,
            Fault::Machine => BLOCKED,
            Fault::Interrupt => INTERRUPTED,
        };
        Self { code, hint: error.hint(), message: chain(&error) }
    }
}

impl From<pto_kernel::KernelError> for Failure {
    fn from(error: pto_kernel::KernelError) -> Self {
        RunError::from(error).into()
    }
}

/// An error with its causes, each after a colon, without repeating what a message says already.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.contains(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        cause = error.source();
    }
    text
}
