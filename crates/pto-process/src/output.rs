//! What a run came to.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::capture::Captured;
use crate::error::Error;

/// One of the two streams a child writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It ended by itself with this exit code.
    Exited(i32),
    /// A signal ended it, one that we did not send.
    Signaled {
        /// The signal's number, for example 11 for SIGSEGV.
        signal: i32,
        /// Whether the kernel wrote a core file.
        core: bool,
    },
    /// We ended it because it was still running at the deadline.
    TimedOut {
        /// The deadline it had.
        deadline: Duration,
    },
    /// We ended it because an interrupt was asked for ([`crate::interrupt`]).
    Interrupted,
}

impl fmt::Display for Status {
    /// Reads well after the program's name: `exited with code 2`, `was ended by signal 11 (SIGSEGV)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Exited(code) => write!(f, "exited with code {code}"),
            Self::Signaled { signal, core } => {
                write!(f, "was ended by signal {signal}")?;
                if let Some(name) = signal_hook::low_level::signal_name(signal) {
                    write!(f, " ({name})")?;
                }
                f.write_str(if core { ", core dumped" } else { "" })
            }
            Self::TimedOut { deadline } => write!(f, "was still running at its deadline of {deadline:?} and was ended"),
            Self::Interrupted => f.write_str("was interrupted"),
        }
    }
}

/// A child that has ended, with all one needs to explain what it did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output {
    /// The program as it was given.
    pub program: String,
    /// Program and arguments, secrets masked.
    pub argv: Vec<String>,
    /// The command as one line that can be pasted into a shell, secrets masked.
    pub line: String,
    /// The directory it ran in.
    pub cwd: PathBuf,
    /// How it ended.
    pub status: Status,
    /// The variable that its deadline can be changed with, if there is one.
    pub deadline_variable: Option<&'static str>,
    /// What it wrote to standard output.
    pub stdout: Captured,
    /// What it wrote to standard error.
    pub stderr: Captured,
    /// From start to reaping, by the wall clock.
    pub duration: Duration,
}

impl Output {
    /// Whether it ended by itself with code 0.
    pub fn success(&self) -> bool {
        self.status == Status::Exited(0)
    }

    /// The output itself if it was a success.
    ///
    /// # Errors
    /// [`Error::Failed`], which holds this output.
    pub fn require_success(self) -> Result<Self, Error> {
        if self.success() { Ok(self) } else { Err(Error::Failed(Box::new(self))) }
    }

    /// Whether it said that the disk, the quota or a file is full: the texts of ENOSPC, EDQUOT and EFBIG, which programs
    /// pass on from the system.
    pub fn says_disk_full(&self) -> bool {
        // Ninja prints what compilers complain of on its standard output.
        [&self.stderr, &self.stdout].into_iter().any(|stream| pto_context::says_disk_full(&stream.text()))
    }

    /// The last `count` lines that are not blank, of standard error or, if that is empty, of standard output; masked. Of a
    /// line that is longer than people read only the start.
    pub fn last_words(&self, count: usize) -> String {
        let tail = |captured: &Captured| {
            let text = captured.masked();
            let lines: Vec<_> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
            lines[lines.len().saturating_sub(count)..].iter().map(|line| shortened(line)).collect::<Vec<_>>().join("\n")
        };
        let words = tail(&self.stderr);
        if words.is_empty() { tail(&self.stdout) } else { words }
    }
}

/// A command line with a hundred paths is still shown whole; a stream without line ends is not.
const LONGEST_LINE: usize = 16 << 10;

fn shortened(line: &str) -> Cow<'_, str> {
    match line.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{} [... {} bytes left out ...]", &line[..end], line.len() - end).into(),
        None => line.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_an_end_is_cut() {
        assert_eq!(shortened("ä b"), "ä b");
        let cut = shortened(&"ä".repeat(LONGEST_LINE + 3)).into_owned();
        assert!(cut.ends_with("ä [... 6 bytes left out ...]") && cut.len() < 3 * LONGEST_LINE, "{}", cut.len());
    }
}
