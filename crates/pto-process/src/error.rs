//! What can go wrong with a child, and what to do about it.

use std::io;
use std::path::PathBuf;

use crate::output::{Output, Status};

/// Why a child did not do its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No program of that name, or none that may be executed.
    #[error("program `{program}` not found{}", searched_list(.searched))]
    NotFound {
        /// The program as it was given.
        program: String,
        /// Every place that was looked at: the directories of `PATH`, or the one file that was named.
        searched: Vec<PathBuf>,
    },
    /// The working directory is not there.
    #[error("cannot run `{program}` in `{}`: not a directory", .cwd.display())]
    NoDirectory {
        /// The program as it was given.
        program: String,
        /// The directory it was to run in.
        cwd: PathBuf,
    },
    /// The operating system refused to start it.
    #[error("cannot start `{line}`")]
    Start {
        /// The command, masked.
        line: String,
        /// What the system said.
        source: io::Error,
    },
    /// It was started, but its end cannot be awaited.
    #[error("cannot wait for `{program}`")]
    Wait {
        /// The program as it was given.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// It ran and did not succeed.
    #[error("`{}` {}", .0.program, .0.status)]
    Failed(Box<Output>),
    /// It was not started because an interrupt had been asked for.
    #[error("interrupted before `{program}` was started")]
    Interrupted {
        /// The program as it was given.
        program: String,
    },
}

impl Error {
    /// What to do about it, for people; `None` if the error says all.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotFound { searched, .. } if searched.is_empty() => {
                Some("`PATH` is not set; set it, or give the program's full path".to_owned())
            }
            Self::NotFound { program, .. } if program.contains('/') => {
                Some("check that the file is there and executable (`chmod +x`)".to_owned())
            }
            Self::NotFound { program, .. } => {
                Some(format!("install `{program}`, or add the directory that holds it to `PATH`"))
            }
            Self::NoDirectory { .. } => Some("create the directory, or choose another one".to_owned()),
            Self::Start { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Some("the file is there, but the interpreter or loader it asks for is not".to_owned())
            }
            Self::Failed(output) => match output.status {
                Status::TimedOut { .. } => {
                    let how =
                        output.deadline_variable.map(|name| format!(" with `{name}=SECONDS`")).unwrap_or_default();
                    Some(format!("give it more time{how}, or see by yourself what it waits for: {}", output.line))
                }
                Status::Interrupted => None,
                _ => Some(format!("to see it by yourself: {}", output.line)),
            },
            Self::Start { .. } | Self::Wait { .. } | Self::Interrupted { .. } => None,
        }
    }

    /// Whether the user asked for the end: nothing is wrong, and there is nothing to explain.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Self::Interrupted { .. } => true,
            Self::Failed(output) => output.status == Status::Interrupted,
            _ => false,
        }
    }
}

fn searched_list(searched: &[PathBuf]) -> String {
    if searched.is_empty() {
        return String::new();
    }
    let list: Vec<_> = searched.iter().map(|path| format!("`{}`", path.display())).collect();
    format!("; searched {}", list.join(", "))
}
