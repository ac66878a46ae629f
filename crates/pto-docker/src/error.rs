//! Why Docker did not do its work, whose fault that is, and what to do about it.

use std::io;
use std::path::PathBuf;

use pto_context::Fault;
use pto_process::Output;

use crate::private::PRIVATE;
use crate::refusal::{Refusal, classify};

/// How many of the client's last lines are part of a message.
const LAST_LINES: usize = 4;

/// Why Docker did not do its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no client on `PATH`.
    #[error("there is no `docker` client on this machine")]
    NoClient {
        /// Where it was looked for.
        source: pto_process::Error,
    },
    /// The client found no engine to talk to.
    #[error("no Docker engine answers at {}", engine(.host))]
    NoDaemon {
        /// The address, if one was given.
        host: Option<String>,
        /// What the client said.
        said: String,
    },
    /// This user may not use the engine's socket.
    #[error("this user may not talk to the Docker engine at {}", engine(.host))]
    NoPermission {
        /// The address, if one was given.
        host: Option<String>,
        /// What the client said.
        said: String,
    },
    /// A runtime that the engine does not know.
    #[error("the Docker engine does not know the runtime that was asked for: {said}")]
    NoRuntime {
        /// What the engine said.
        said: String,
    },
    /// An image that is not on this machine or not in its registry.
    #[error("there is no image `{name}`: {said}")]
    NoSuchImage {
        /// Its name, or the command's last word.
        name: String,
        /// Whether it was looked for in its registry.
        pulled: bool,
        /// What the engine said.
        said: String,
    },
    /// A container that is not there.
    #[error("there is no container `{name}`")]
    NoSuchContainer {
        /// Its name.
        name: String,
    },
    /// A container of that name is there already.
    #[error("the container's name is taken: {said}")]
    NameTaken {
        /// What the engine said.
        said: String,
    },
    /// The registry refused the login, or access without one.
    #[error("the registry refuses access: {said}")]
    Unauthorized {
        /// What it said.
        said: String,
    },
    /// No room where the engine keeps its data.
    #[error("no space is left where the Docker engine keeps its data: {said}")]
    DiskFull {
        /// What it said.
        said: String,
    },
    /// Any other failure of a command.
    #[error("`docker {}` failed: {said}", .command)]
    Failed {
        /// The first words of the command: `image inspect`.
        command: String,
        /// The last lines it wrote, secrets masked.
        said: String,
        /// Its command line and everything it wrote.
        output: Box<Output>,
    },
    /// The client printed something unexpected.
    #[error("`docker {command}` printed what cannot be read: {why}")]
    Unreadable {
        /// The first words of the command.
        command: String,
        /// What was not understood.
        why: String,
    },
    /// The private configuration directory cannot be made, or has no room for a login.
    #[error("cannot keep Docker's configuration in a private directory at `{}`", .path.display())]
    Private {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The place for private directories is not private.
    #[error("`{}` {why}, so no credentials are put there", .path.display())]
    NotPrivate {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A deadline that is not a number.
    #[error(transparent)]
    BadSeconds(#[from] pto_context::BadSeconds),
    /// A private directory could not be locked.
    #[error("cannot lock a private directory for Docker's configuration")]
    Lock(#[source] pto_store::Error),
    /// The client could not be started, or had to be ended.
    #[error(transparent)]
    Process(#[from] pto_process::Error),
}

fn engine(host: &Option<String>) -> String {
    host.as_ref().map_or_else(|| "its usual address".to_owned(), |host| format!("`{host}`"))
}

impl Error {
    /// The error for a command that failed, by what it said. `host` is the engine's address; `about` is the image, container or
    /// registry that the command was about.
    pub(crate) fn of(output: Output, host: Option<String>, about: &str) -> Self {
        use pto_process::Status::{Interrupted, TimedOut};
        if matches!(output.status, Interrupted | TimedOut { .. }) {
            return Self::Process(pto_process::Error::Failed(Box::new(output)));
        }
        let said = said(&output);
        let name = about.to_owned();
        match classify(&output.stderr.text()) {
            Some(Refusal::NoPermission) => Self::NoPermission { host, said },
            Some(Refusal::NoDaemon) => Self::NoDaemon { host, said },
            Some(Refusal::NoRuntime) => Self::NoRuntime { said },
            Some(Refusal::NameTaken) => Self::NameTaken { said },
            Some(Refusal::NoSuchContainer) => Self::NoSuchContainer { name },
            Some(Refusal::NoSuchImage) => {
                let pulled = output.argv.get(1).is_some_and(|word| word == "pull");
                Self::NoSuchImage { name, pulled, said }
            }
            Some(Refusal::Unauthorized) => Self::Unauthorized { said },
            Some(Refusal::DiskFull) => Self::DiskFull { said },
            None => Self::Failed { command: command(&output), said, output: Box::new(output) },
        }
    }

    /// The error for what `docker info` printed on stdout because no engine answered.
    pub(crate) fn of_info(said: String, host: Option<String>) -> Self {
        match classify(&said) {
            Some(Refusal::NoPermission) => Self::NoPermission { host, said },
            _ => Self::NoDaemon { host, said },
        }
    }

    /// What to do about it, for people; `None` if the error says all.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoClient { .. } => {
                "install Docker Engine for this distribution, or add the directory that holds `docker` to `PATH`".into()
            }
            Self::NoDaemon { host: Some(_), .. } => {
                "start the engine, or set `DOCKER_HOST` to the address of one that runs".into()
            }
            Self::NoDaemon { host: None, .. } => {
                "start it (`sudo systemctl start docker`), or set `DOCKER_HOST` to the address of one that runs".into()
            }
            Self::NoPermission { .. } => {
                "ask for membership in the group `docker` (`sudo usermod -aG docker $USER`, then log in again), which is as \
                 much as root"
                    .into()
            }
            Self::NoRuntime { .. } => {
                "`docker info --format '{{json .Runtimes}}'` lists the runtimes; after one was installed: \
                 `sudo systemctl daemon-reload && sudo systemctl restart docker`, which ends every running container"
                    .into()
            }
            Self::NoSuchImage { pulled: true, .. } => {
                "check its name and tag; where a registry wants a login: `docker login HOST`".into()
            }
            Self::NoSuchImage { pulled: false, name, .. } => format!("`docker pull {name}` fetches it if a registry has it"),
            Self::NoSuchContainer { .. } => "`docker ps -a` lists the containers".into(),
            Self::NameTaken { .. } => "run again to enter it, or choose another name".into(),
            Self::Unauthorized { .. } => {
                "check user, password and the repository's name; it may want a login where none was given".into()
            }
            Self::DiskFull { .. } => "`docker system df` says what takes the room; remove images that nobody needs".into(),
            // The configuration with the login is gone by now, and names that were made for it.
            Self::Failed { output, .. } if output.line.contains(PRIVATE) => {
                "check whether the registry can be reached from this machine, and takes this login".into()
            }
            Self::Failed { output, .. } => format!("to see it by yourself: {}", output.line),
            Self::NotPrivate { path, .. } => format!("remove `{}`, or set `TMPDIR` to another directory", path.display()),
            Self::Private { .. } => "set `TMPDIR` to a directory that can be written and has room".into(),
            Self::Process(error) => return error.hint(),
            Self::Unreadable { .. } | Self::BadSeconds(_) | Self::Lock(_) => return None,
        })
    }

    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Process(error) if error.is_interrupted() => Fault::Interrupt,
            Self::Lock(error) if error.is_interrupted() => Fault::Interrupt,
            Self::NoSuchContainer { .. } | Self::NameTaken { .. } | Self::BadSeconds(_) => Fault::Input,
            Self::NoClient { .. }
            | Self::NoDaemon { .. }
            | Self::NoPermission { .. }
            | Self::NoRuntime { .. }
            | Self::NoSuchImage { .. }
            | Self::Unauthorized { .. }
            | Self::DiskFull { .. }
            | Self::Failed { .. }
            | Self::Unreadable { .. }
            | Self::Private { .. }
            | Self::NotPrivate { .. }
            | Self::Lock(_)
            | Self::Process(_) => Fault::Machine,
        }
    }
}

/// How lines begin that the client writes whatever went wrong: its advice, and the notice that its builder is deprecated.
const ALWAYS_SAID: [&str; 5] = ["Run 'docker", "See '", "DEPRECATED:", "Install the buildx", "https://docs.docker.com"];

/// The last lines in which the client says what went wrong.
fn said(output: &Output) -> String {
    let words = output.last_words(LAST_LINES + ALWAYS_SAID.len());
    let is_always = |line: &str| ALWAYS_SAID.iter().any(|start| line.trim_start().starts_with(start));
    let lines: Vec<_> = words.lines().filter(|line| !is_always(line)).collect();
    let kept = &lines[lines.len().saturating_sub(LAST_LINES)..];
    if kept.is_empty() { output.status.to_string() } else { kept.join("; ") }
}

/// The words of a command before its first option, at most two: `image inspect`.
fn command(output: &Output) -> String {
    let words = output.argv.iter().skip(1).take_while(|word| !word.starts_with('-')).take(2);
    words.map(String::as_str).collect::<Vec<_>>().join(" ")
}
