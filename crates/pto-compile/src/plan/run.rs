//! Running a plan.

use std::io;
use std::path::PathBuf;

use pto_context::{BadSeconds, Context};
use pto_process::Output;

use super::{Plan, Purpose, Step};
use crate::bisheng::BishengError;
use crate::deadline::{DEADLINE_VARIABLE, deadline};

impl Plan {
    /// Makes the directories, writes the generated files and runs the steps in order; returns what each command said. The
    /// first failure ends it.
    ///
    /// # Errors
    /// A directory or file cannot be made or a step fails, see [`Step::run`].
    pub fn run(&self, cx: &Context) -> Result<Vec<Output>, RunError> {
        for dir in self.output_dirs() {
            fs_err::create_dir_all(cx.cwd().join(dir)).map_err(|source| RunError::OutputDir { source })?;
        }
        for file in &self.generated {
            fs_err::write(cx.cwd().join(&file.path), &file.text).map_err(RunError::Write)?;
        }
        self.steps.iter().map(|step| step.run(cx)).collect()
    }
}

impl Step {
    /// Runs the command. Relative paths refer to the context's working directory.
    ///
    /// # Errors
    /// It cannot be started, fails, takes too long, or succeeds without writing what it should.
    pub fn run(&self, cx: &Context) -> Result<Output, RunError> {
        let failed = |source| RunError::Failed { purpose: self.purpose, source };
        let invocation = self.invocation().deadline_from(DEADLINE_VARIABLE, deadline(cx)?);
        let output = invocation.run(cx).and_then(Output::require_success).map_err(failed)?;
        match self.outputs.iter().find(|path| !cx.cwd().join(path).exists()) {
            Some(path) => {
                Err(RunError::NoOutput { purpose: self.purpose, path: path.clone(), output: Box::new(output) })
            }
            None => Ok(output),
        }
    }
}

/// Why a plan was not made or came to nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A directory for outputs cannot be made.
    #[error("cannot make the directory for outputs")]
    OutputDir {
        /// What the system said; it names the path.
        source: io::Error,
    },
    /// A request has no plan.
    #[error(transparent)]
    Request(#[from] BishengError),
    /// A generated file, or the list of what the result was made from, cannot be written.
    #[error("cannot write a file of the build")]
    Write(#[source] io::Error),
    /// A source, a header or the compiler cannot be read.
    #[error("cannot read what the kernel is made from")]
    Read(#[source] io::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] pto_store::Error),
    /// The variable for the deadline holds no number of seconds.
    #[error(transparent)]
    BadDeadline(#[from] BadSeconds),
    /// A command could not be started, failed or took too long.
    #[error("cannot {purpose}")]
    Failed {
        /// What the command was for.
        purpose: Purpose,
        /// What happened, with the command line and what the compiler said.
        source: pto_process::Error,
    },
    /// A command said that all is well and left a file out.
    #[error("cannot {purpose}: `{}` succeeded without writing `{}`", output.program, path.display())]
    NoOutput {
        /// What the command was for.
        purpose: Purpose,
        /// The file that is missing.
        path: PathBuf,
        /// What the command said.
        output: Box<Output>,
    },
}

impl RunError {
    /// What the compiler wrote to its error stream, if it ran.
    pub fn compiler_output(&self) -> Option<&Output> {
        match self {
            Self::Failed { source: pto_process::Error::Failed(output), .. } | Self::NoOutput { output, .. } => {
                Some(output)
            }
            _ => None,
        }
    }

    /// Whether the compiler itself refused the kernel: it ended by itself and said no. One that is missing, was killed or
    /// was too slow says nothing of the kernel.
    pub fn is_the_kernels(&self) -> bool {
        let ended = |output: &Output| matches!(output.status, pto_process::Status::Exited(_));
        matches!(self, Self::Failed { source: pto_process::Error::Failed(output), .. } if ended(output))
    }

    /// Whether the user asked for the end.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Self::Failed { source: pto_process::Error::Failed(output), .. } => {
                output.status == pto_process::Status::Interrupted
            }
            Self::Failed { source, .. } => source.is_interrupted(),
            Self::Store(error) => error.is_interrupted(),
            _ => false,
        }
    }

    /// What to do about it, if there is something better than the message already says.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Failed { source, .. } => source.hint(),
            Self::Request(error) => error.hint().map(str::to_owned),
            Self::Store(error) => error.hint(),
            Self::Write(_) | Self::Read(_) => None,
            Self::OutputDir { .. } | Self::BadDeadline(_) | Self::NoOutput { .. } => None,
        }
    }
}
