//! What stops a build whose sources are there.

use std::path::PathBuf;

use pto_context::Fault;

use super::word;

/// Why something was not built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A build directory holds what no build of this checkout has made.
    #[error("`{}` is in the way: there are files in it, and no build of this checkout", .dir.display())]
    ForeignBuildDirectory {
        /// The directory.
        dir: PathBuf,
    },
    /// Something that was built belongs to another user than the checkout.
    #[error(
        "`{}` cannot be replaced by the owner of the checkout, {owner}: `{}` belongs to another user",
        .dir.display(), .file.display()
    )]
    NotTheOwners {
        /// What was to be removed.
        dir: PathBuf,
        /// A file in it.
        file: PathBuf,
        /// Who owns the checkout.
        owner: pto_checkout::Owner,
    },
    /// A compiler, a linker or a build backend ended with an error.
    #[error("cannot {action} of `{}`", .repository.display())]
    NotBuilt {
        /// What was to be done.
        action: &'static str,
        /// The repository whose sources they are.
        repository: PathBuf,
        /// What became of it, with all that it said.
        #[source]
        source: pto_process::Error,
    },
    /// The build backend ended well and left no wheel.
    #[error("there is no wheel in `{}` although one was made", .dir.display())]
    NoWheel {
        /// Where it was to be.
        dir: PathBuf,
    },
    /// PTO-ISA cannot be had at the commit that the runtime pins.
    #[error("PTO-ISA at `{commit}` is not in `{}` and cannot be fetched{}", .path.display(), attempts(.failures))]
    NoPtoIsa {
        /// The commit.
        commit: String,
        /// Where it was to be.
        path: PathBuf,
        /// Each source that was asked, in order, and what it said.
        failures: Vec<(String, String)>,
    },
    /// A checkout of PTO-ISA that holds something of the user's is in the way and cannot be moved aside.
    #[error("`{}` {what}, and cannot become `{}`", .path.display(), .kept.display())]
    NotKept {
        /// The checkout.
        path: PathBuf,
        /// What it was to be called.
        kept: PathBuf,
        /// What it holds.
        what: String,
    },
}

impl BuildError {
    /// What to do about it, for people; `None` if the error says all.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::ForeignBuildDirectory { dir } => format!(
                "a build deletes what is in its way: keep what you need elsewhere, `mv {} {}.mine`",
                word(dir),
                word(dir)
            ),
            Self::NotTheOwners { dir, .. } => format!("as root: `rm -rf {}`; then run again", word(dir)),
            Self::NotBuilt { source: pto_process::Error::Failed(output), .. } => {
                format!("mend what is said above, then run again; by hand it is: {}", output.line)
            }
            Self::NotBuilt { source, .. } => return source.hint(),
            Self::NoWheel { .. } => "run again with `--clean`".to_owned(),
            Self::NoPtoIsa { commit, path, failures } => format!(
                "with a network or a proxy run again; or bring it yourself: `git clone {1} {0} && git -C {0} checkout {commit}`",
                word(path),
                failures.first().map_or("URL", |(url, _)| url)
            ),
            Self::NotKept { path, kept, .. } => {
                format!("keep what you need and move it away: `mv {} {}`; then run again", word(path), word(kept))
            }
        })
    }

    /// Whose it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::ForeignBuildDirectory { .. } | Self::NotTheOwners { .. } | Self::NotKept { .. } => Fault::Input,
            Self::NotBuilt { source: pto_process::Error::Failed(output), .. } if !output.says_disk_full() => {
                Fault::Verdict
            }
            Self::NotBuilt { .. } | Self::NoWheel { .. } | Self::NoPtoIsa { .. } => Fault::Machine,
        }
    }
}

fn attempts(failures: &[(String, String)]) -> String {
    failures.iter().map(|(url, said)| format!("; `{url}`: {said}")).collect()
}
