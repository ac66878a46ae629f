//! Exit codes, and the one place where an error is shown.

use std::process::ExitCode;

use pto_context::{Called, Fault, is_disk_full, with_causes};
use pto_kernel::KernelError;
use pto_kernel::run::{KernelStatus, Problem, RunError};
use serde::Serialize;

use crate::secrets::Secrets;
use crate::{out, progress, style};

/// Everything that was asked for is so.
const PASSED: u8 = 0;
/// The verdict is negative: a check failed, values differ, a kernel crashed or hung or does not compile.
const NEGATIVE: u8 = 1;
/// Wrong usage, or a malformed input file.
const USAGE: u8 = 2;
/// This machine lacks something, which is named together with how to get it.
const BLOCKED: u8 = 3;
/// Ctrl-C, as shells have it.
const INTERRUPTED: u8 = 130;

/// How a verb ended that could do its work. Of several the last in this order counts: what was given wrongly has to be
/// mended before the rest says anything, and a verdict weighs more than what this machine lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Everything is as it should be.
    Passed,
    /// What could be done went well, but this machine lacks something for the rest.
    Blocked,
    /// Something is not as it should be.
    Negative,
    /// The rest was done, but something that was given is malformed.
    Malformed,
}

impl Outcome {
    /// `Passed` if so.
    pub fn passed_if(passed: bool) -> Self {
        if passed { Self::Passed } else { Self::Negative }
    }

    /// `Malformed` if something that was given could not be read.
    pub fn unless_refused(failures: &[Failure]) -> Self {
        if failures.is_empty() { Self::Passed } else { Self::Malformed }
    }

    /// What several come to.
    pub fn of_all(outcomes: impl IntoIterator<Item = Self>) -> Self {
        outcomes.into_iter().max().unwrap_or(Self::Passed)
    }

    /// The exit code.
    pub fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Passed => PASSED,
            Self::Negative => NEGATIVE,
            Self::Malformed => USAGE,
            Self::Blocked => BLOCKED,
        })
    }
}

impl From<KernelStatus> for Outcome {
    fn from(status: KernelStatus) -> Self {
        match status {
            KernelStatus::Passed | KernelStatus::Skipped => Self::Passed,
            KernelStatus::Failed | KernelStatus::NotBuilt => Self::Negative,
            KernelStatus::Malformed => Self::Malformed,
            // A report that was interrupted has an exit code of its own: see `kernel::outcome`.
            KernelStatus::Blocked | KernelStatus::Interrupted => Self::Blocked,
        }
    }
}

/// Why a verb could not do its work.
#[derive(Debug, Clone)]
pub struct Failure {
    code: u8,
    message: String,
    hint: Option<String>,
}

/// What stands in a verb's JSON document when there is no result.
#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'a str,
    error: Description<'a>,
}

#[derive(Debug, Serialize)]
struct Description<'a> {
    message: &'a str,
    hint: Option<&'a str>,
    code: u8,
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

    /// The verdict is negative: what was asked for is not what is there.
    pub fn negative(message: impl Into<String>, hint: impl Into<Option<String>>) -> Self {
        Self { code: NEGATIVE, message: message.into(), hint: hint.into() }
    }

    /// What a library says of its error, with the exit code of whose it is.
    pub fn of(fault: Fault, message: String, hint: Option<String>) -> Self {
        match fault {
            Fault::Input => Self::usage(message, hint),
            Fault::Verdict => Self::negative(message, hint),
            Fault::Machine => Self::blocked(message, hint),
            Fault::Interrupt => Self::interrupted(),
        }
    }

    /// The user asked for the end.
    pub fn interrupted() -> Self {
        Self { code: INTERRUPTED, message: "interrupted".to_owned(), hint: None }
    }

    /// The same with what became of what was done by then.
    pub fn interrupted_with(hint: String) -> Self {
        Self { hint: Some(hint), ..Self::interrupted() }
    }

    /// A file could not be read or written.
    pub fn io(error: &std::io::Error) -> Self {
        let hint = is_disk_full(error).then(|| "free some space and run again".to_owned());
        Self::blocked(with_causes(error), hint)
    }

    /// A child could not do its work.
    pub fn process(error: &pto_process::Error) -> Self {
        let code = if error.is_interrupted() { INTERRUPTED } else { BLOCKED };
        Self { code, message: with_causes(error), hint: error.hint() }
    }

    /// A command line that cannot be understood, in clap's words.
    pub fn command_line(error: &clap::Error) -> Self {
        let text = in_words(&error.render().to_string());
        let (first, rest) = text.trim().split_once("\n\n").unwrap_or((text.trim(), ""));
        let hint = Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty());
        Self::usage(first.trim_start_matches("error: "), hint)
    }

    /// The same without the secrets that were typed.
    pub fn masked(self, secrets: &Secrets) -> Self {
        let hint = self.hint.map(|hint| secrets.mask(&hint));
        Self { message: secrets.mask(&self.message), hint, ..self }
    }

    /// The same with one more thing to do, after what is advised already.
    pub fn advise(self, more: &str) -> Self {
        let hint = self.hint.map_or_else(|| more.to_owned(), |hint| format!("{hint}; {more}"));
        Self { hint: Some(hint), ..self }
    }

    /// The same with a placeholder of its hint filled in.
    pub fn naming(self, placeholder: &str, value: &str) -> Self {
        Self { hint: self.hint.map(|hint| hint.replace(placeholder, value)), ..self }
    }

    /// What went wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The same as part of a report.
    pub fn problem(&self) -> Problem {
        Problem { message: self.message.clone(), hint: self.hint.clone() }
    }

    /// The same with verbs in its hint as the user can type them.
    pub fn spelled(self, called: Called) -> Self {
        Self { hint: self.hint.map(|hint| called.spell(&hint)), ..self }
    }

    /// Shows it to people and gives the exit code.
    pub fn report(&self) -> ExitCode {
        progress::end();
        out::say(&self.text());
        ExitCode::from(self.code)
    }

    /// Prints it as the verb's document and gives the exit code.
    pub fn report_json(&self, schema: &str) -> ExitCode {
        let error = Description { message: &self.message, hint: self.hint.as_deref(), code: self.code };
        // Without stdout nobody reads it; the exit code still says what it was.
        let _ = out::json(&Document { schema, error });
        ExitCode::from(self.code)
    }

    /// `error:` and `hint:`, for people.
    pub fn text(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!("\n{} {hint}", style::hint("hint:"))).unwrap_or_default();
        format!("{} {}{hint}", style::error("error:"), self.message)
    }
}

/// Help and refusals, in clap's own layout and with its exit codes: 0 and 2. A refusal repeats what was typed.
pub fn report_clap(error: &clap::Error, secrets: &Secrets, called: Called) -> ExitCode {
    let text = called.spell(&error.render().ansi().to_string());
    if !error.use_stderr() {
        return out::text(&text).map_or_else(|failure| failure.report(), |()| ExitCode::from(PASSED));
    }
    out::say(secrets.mask(&in_words(&text)).trim_end());
    ExitCode::from(USAGE)
}

/// What the parsers of numbers say is for programmers.
fn in_words(text: &str) -> String {
    const NO_NUMBER: [&str; 4] = [
        "invalid digit found in string",
        "cannot parse integer from empty string",
        "invalid float literal",
        "cannot parse float from empty string",
    ];
    let text = NO_NUMBER.iter().fold(text.to_owned(), |text, said| text.replace(said, "expected a number"));
    text.replace("number too large to fit in target type", "the number is too large")
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let Problem { message, hint } = Problem::from(&error);
        Self::of(error.fault(), message, hint)
    }
}

impl From<KernelError> for Failure {
    fn from(error: KernelError) -> Self {
        RunError::from(error).into()
    }
}
