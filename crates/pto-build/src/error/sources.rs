//! What is wrong with the files of a checkout.

use std::path::{Path, PathBuf};

use super::word;

/// Why a checkout cannot be set up for, or built, as its files are.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// Nothing says where the checkout is.
    #[error(
        "no PyPTO checkout: `PYPTO_SRC` is not set, and neither `/workspace/pypto` nor the working directory is one"
    )]
    NoCheckout,
    /// What was named is no checkout.
    #[error("`{}` is no complete PyPTO checkout: it has no `{missing}`", .src.display())]
    NotACheckout {
        /// The directory.
        src: PathBuf,
        /// The first file that is missing.
        missing: &'static str,
        /// Whether git can tell what became of it.
        is_repository: bool,
    },
    /// Submodules are not there.
    #[error("`{}` is not complete: {} not initialised", .repository.display(), listed(.missing))]
    Uninitialised {
        /// The checkout.
        repository: PathBuf,
        /// Paths of submodules below it.
        missing: Vec<String>,
    },
    /// The checkout has no runtime.
    #[error("`{}` has no submodule `runtime`", .repository.display())]
    NoRuntime {
        /// The checkout.
        repository: PathBuf,
    },
    /// A file of the checkout cannot be understood.
    #[error("cannot read `{}`: {why}", .file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// What was expected.
        why: String,
    },
    /// A pin is none.
    #[error("`{}` line {line}: {why}", .file.display())]
    BadPin {
        /// The file.
        file: PathBuf,
        /// The line; 0 for the file as a whole.
        line: usize,
        /// What was expected.
        why: String,
    },
    /// There are no patches where some were named.
    #[error("`{}` holds no `.patch` file", .dir.display())]
    NoPatches {
        /// The directory.
        dir: PathBuf,
    },
    /// A file is no patch.
    #[error("`{}` is no patch that git reads: {why}", .file.display())]
    NotAPatch {
        /// The file.
        file: PathBuf,
        /// What git said.
        why: String,
    },
    /// A managed patch does not fit, and its change is not there either.
    #[error(
        "the patch `{}` does not fit `{}` at {head}{}; nothing was changed",
        .patch.display(), .repository.display(), changed_list(.changed)
    )]
    PatchRejected {
        /// The patch.
        patch: PathBuf,
        /// The checkout.
        repository: PathBuf,
        /// Its commit.
        head: String,
        /// Files with changes of their own.
        changed: Vec<String>,
        /// What git said.
        #[source]
        source: pto_process::Error,
    },
}

impl SourceError {
    /// What to do about it, for people.
    pub fn hint(&self) -> String {
        match self {
            Self::NoCheckout => "name it: `--pypto-src DIR`, or `export PYPTO_SRC=/path/to/pypto`".to_owned(),
            Self::NotACheckout { is_repository: false, .. } => {
                "name a checkout of PyPTO: `--pypto-src DIR`, or `export PYPTO_SRC=/path/to/pypto`".to_owned()
            }
            Self::NotACheckout { src, .. } => format!("see what is missing: git -C {} status", word(src)),
            Self::Uninitialised { repository, .. } | Self::NoRuntime { repository } => {
                format!("`git -C {} submodule update --init --recursive`", word(repository))
            }
            Self::Malformed { file, .. } => {
                let (dir, name) = (parent(file), file.file_name().unwrap_or_default().to_string_lossy());
                format!("see what was changed in it: git -C {} diff {name}", word(dir))
            }
            Self::BadPin { file, .. } => {
                format!("`git -C {} checkout -- pto_isa.pin` restores it", word(parent(file)))
            }
            Self::NoPatches { .. } => "name the directory with the patches: `--patches DIR`".to_owned(),
            Self::NotAPatch { .. } => "make it with `git diff --binary`".to_owned(),
            Self::PatchRejected { patch, repository, .. } => format!(
                "see what differs: `git -C {} apply --check -v {}`; then adapt the patch, or build without `--patches`",
                word(repository),
                word(patch)
            ),
        }
    }
}

fn parent(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new("."))
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("{} {}", quoted.join(", "), if names.len() == 1 { "was" } else { "were" })
}

fn changed_list(changed: &[String]) -> String {
    match changed {
        [] => String::new(),
        [first] => format!(", which has changes in `{first}`"),
        [first, rest @ ..] => format!(", which has changes in `{first}` and {} more", rest.len()),
    }
}
