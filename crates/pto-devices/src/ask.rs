//! Asking a program.

use std::time::Duration;

use pto_context::Context;
use pto_process::{Error, Invocation, Output, Status};

/// How long a program that was told to end may take: doctor itself must not hang.
const GRACE: Duration = Duration::from_millis(500);

/// What a program had to say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Answer {
    /// Nobody asked: no chosen check wants to know, or what would have been run lies in an inspected tree.
    #[default]
    NotAsked,
    /// There is no such program.
    NotFound,
    /// It could not be run to its end, for this reason.
    Broken(String),
    /// It ended.
    Said(Said),
}

/// A program that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Whether it ended with code 0.
    pub success: bool,
    /// How it ended, for people: `exited with code 2`.
    pub status: String,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
}

impl Said {
    /// Both streams, as a terminal would have shown them.
    pub fn text(&self) -> String {
        format!("{}\n{}", self.stdout, self.stderr)
    }

    /// The last line that is not blank, of standard error if there is one.
    pub fn last_words(&self) -> &str {
        let stream = if self.stderr.trim().is_empty() { &self.stdout } else { &self.stderr };
        stream.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
    }
}

impl Answer {
    /// What it said, if it said anything.
    pub fn said(&self) -> Option<&Said> {
        match self {
            Self::Said(said) => Some(said),
            _ => None,
        }
    }

    /// What it said on standard output, if it succeeded.
    pub fn stdout(&self) -> Option<&str> {
        self.said().filter(|said| said.success).map(|said| said.stdout.as_str())
    }
}

/// Runs a program that only looks, and gives its answer within the deadline.
pub fn ask(cx: &Context, invocation: Invocation, deadline: Duration) -> Answer {
    match invocation.env("LC_ALL", "C").deadline(deadline).grace(GRACE).run(cx) {
        Ok(output) => answer(&output),
        Err(Error::NotFound { .. }) => Answer::NotFound,
        Err(error) => Answer::Broken(error.to_string()),
    }
}

fn answer(output: &Output) -> Answer {
    if let Status::TimedOut { deadline } = output.status {
        return Answer::Broken(format!("`{}` did not answer within {deadline:?}", output.line));
    }
    Answer::Said(Said {
        success: output.success(),
        status: output.status.to_string(),
        stdout: output.stdout.text().into_owned(),
        stderr: output.stderr.text().into_owned(),
    })
}
