//! What can go wrong with a home, a checkout and its build, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use pto_context::Fault;

/// Why something was not set up, built or updated. Each that stops the user names the repository or directory, the state
/// it is in, and in [`hint`](Error::hint) the command to type.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing says where the checkout is.
    #[error(
        "no PyPTO checkout: `PYPTO_SRC` is not set, and neither `/workspace/pypto` nor the working directory is one"
    )]
    NoSource,
    /// A question about a checkout has no answer.
    #[error(transparent)]
    Checkout(#[from] pto_checkout::Error),
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
    /// The environment is not there, or its Python does not say what it is.
    #[error("there is no working Python at `{}`", .python.display())]
    NoVenv {
        /// Where it was looked for.
        python: PathBuf,
    },
    /// A program that a build needs is not there.
    #[error("`{program}` is neither in `{}` nor on `PATH`", .home.display())]
    NoTool {
        /// Its name.
        program: &'static str,
        /// PyPTO's home.
        home: PathBuf,
    },
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
    /// A child could not do its work.
    #[error("cannot {action} in `{}`", .place.display())]
    Command {
        /// What it was to do: "apply a managed patch".
        action: &'static str,
        /// The repository, or another directory or program that it is about.
        place: PathBuf,
        /// What became of it.
        #[source]
        source: pto_process::Error,
    },
    /// PyPTO's home cannot be locked, or the user asked for the end while another one had the lock.
    #[error(transparent)]
    Store(#[from] pto_store::Error),
    /// Another operation of the system failed; the source names the path.
    #[error("{action}")]
    Io {
        /// What was being done.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The disk, or the user's quota, is full.
    #[error("no space left: cannot write under `{}`", .path.display())]
    NoSpace {
        /// The directory that was written to.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An interrupt was asked for.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// What to do about it, for people; `None` if the error says all.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoSource => "name it: `--pypto-src DIR`, or `export PYPTO_SRC=/path/to/pypto`".to_owned(),
            Self::Checkout(error) => return error.hint(),
            Self::Uninitialised { repository, .. } | Self::NoRuntime { repository } => {
                format!("`git -C {} submodule update --init --recursive`", word(repository))
            }
            Self::NoVenv { .. } | Self::NoTool { .. } => {
                "`cargo xtask setup` provides it, in `PYPTO_HOME`; `--pypto-home DIR` names another home".to_owned()
            }
            Self::ForeignBuildDirectory { dir } => format!(
                "a build deletes what is in its way: keep what you need elsewhere, `mv {} {}.mine`",
                word(dir),
                word(dir)
            ),
            Self::NotTheOwners { dir, .. } => format!("as root: `rm -rf {}`; then run again", word(dir)),
            Self::NotBuilt { source: pto_process::Error::Failed(output), .. } => {
                format!("mend what is said above, then run again; by hand it is: {}", output.line)
            }
            Self::NotBuilt { source, .. } | Self::Command { source, .. } => return source.hint(),
            Self::NoPtoIsa { commit, path, failures } => format!(
                "with a network or a proxy run again; or bring it yourself: `git clone {1} {0} && git -C {0} checkout {commit}`",
                word(path),
                failures.first().map_or("URL", |(url, _)| url)
            ),
            Self::NotKept { path, kept, .. } => {
                format!("keep what you need and move it away: `mv {} {}`; then run again", word(path), word(kept))
            }
            Self::BadPin { file, .. } => {
                format!(
                    "`git -C {} checkout -- pto_isa.pin` restores it",
                    word(file.parent().unwrap_or(Path::new(".")))
                )
            }
            Self::NoPatches { .. } => "name the directory with the patches: `--patches DIR`".to_owned(),
            Self::NotAPatch { .. } => "make it with `git diff --binary`".to_owned(),
            Self::PatchRejected { patch, repository, .. } => format!(
                "see what differs: `git -C {} apply --check -v {}`; then adapt the patch, or build without `--patches`",
                word(repository),
                word(patch)
            ),
            Self::NoWheel { .. } => "run again with `--clean`".to_owned(),
            Self::Store(error) => return error.hint(),
            Self::NoSpace { .. } => "free some space and run again".to_owned(),
            Self::Io { .. } | Self::Interrupted => return None,
        })
    }

    /// Whose it is.
    pub fn fault(&self) -> Fault {
        match self {
            _ if self.is_interrupted() => Fault::Interrupt,
            Self::NoSource
            | Self::Uninitialised { .. }
            | Self::NoRuntime { .. }
            | Self::ForeignBuildDirectory { .. }
            | Self::NotTheOwners { .. }
            | Self::NotKept { .. }
            | Self::BadPin { .. }
            | Self::NoPatches { .. }
            | Self::NotAPatch { .. }
            | Self::PatchRejected { .. } => Fault::Input,
            Self::NotBuilt { source: pto_process::Error::Failed(output), .. } if !output.says_disk_full() => {
                Fault::Verdict
            }
            Self::Checkout(pto_checkout::Error::Remote { .. } | pto_checkout::Error::Io { .. }) => Fault::Machine,
            Self::Checkout(_) => Fault::Input,
            Self::NoVenv { .. }
            | Self::NoTool { .. }
            | Self::NotBuilt { .. }
            | Self::NoWheel { .. }
            | Self::NoPtoIsa { .. }
            | Self::Command { .. }
            | Self::Store(_)
            | Self::Io { .. }
            | Self::NoSpace { .. }
            | Self::Interrupted => Fault::Machine,
        }
    }

    /// Whether the user asked for the end: nothing is wrong, and there is nothing to explain.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Self::Interrupted => true,
            Self::Checkout(error) => error.is_interrupted(),
            Self::Store(error) => error.is_interrupted(),
            Self::Command { source, .. } | Self::NotBuilt { source, .. } => source.is_interrupted(),
            _ => false,
        }
    }

    /// What a program said before it failed, the last lines of both its streams, secrets masked: what a compiler finds
    /// wrong stands there, and why a remote was not reached.
    pub fn said(&self, lines: usize) -> Option<String> {
        let source = match self {
            Self::Checkout(error) => return Some(error.last_words()).filter(|words| !words.is_empty()),
            Self::NotBuilt { source, .. } | Self::PatchRejected { source, .. } | Self::Command { source, .. } => source,
            _ => return None,
        };
        let pto_process::Error::Failed(output) = source else { return None };
        let tail = |text: String| {
            let all: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
            all[all.len().saturating_sub(lines)..].join("\n")
        };
        let both = [output.stdout.masked(), output.stderr.masked()].map(|text| tail(text.to_string()));
        let both: Vec<String> = both.into_iter().filter(|text| !text.is_empty()).collect();
        Some(both.join("\n")).filter(|words| !words.is_empty())
    }

    /// An error of the system while doing something, which `action` says.
    pub fn io(action: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { action, source }
    }

    /// The same while writing under a directory: tells a full disk from the rest.
    pub fn write(action: &'static str, under: &Path) -> impl Fn(io::Error) -> Self {
        move |source| match pto_context::is_disk_full(&source) {
            true => Self::NoSpace { path: under.to_owned(), source },
            false => Self::Io { action, source },
        }
    }

    /// A child that could not do what `action` says.
    pub fn command(action: &'static str, place: &Path) -> impl Fn(pto_process::Error) -> Self {
        move |source| Self::Command { action, place: place.to_owned(), source }
    }
}

fn word(path: &Path) -> String {
    pto_process::shell_word(&path.to_string_lossy())
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("{} {}", quoted.join(", "), if names.len() == 1 { "was" } else { "were" })
}

fn attempts(failures: &[(String, String)]) -> String {
    failures.iter().map(|(url, said)| format!("; `{url}`: {said}")).collect()
}

fn changed_list(changed: &[String]) -> String {
    match changed {
        [] => String::new(),
        [first] => format!(", which has changes in `{first}`"),
        [first, rest @ ..] => format!(", which has changes in `{first}` and {} more", rest.len()),
    }
}
