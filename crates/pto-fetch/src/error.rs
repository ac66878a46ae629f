//! What can go wrong on the way into the store, and what to do about it.

use crate::http::{Failure, HttpProblem};

/// Why an artifact could not be had. Whatever it is, the store holds no half entry afterwards.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store cannot be had, written or read, or the user asked for the end.
    #[error(transparent)]
    Store(#[from] pto_store::Error),
    /// What came is not what was pinned. It has been deleted.
    #[error("checksum of `{file}` from {origin} does not match: expected sha256 {expected}, found {found}")]
    Checksum {
        /// Its name.
        file: String,
        /// Who delivered it: the client and where it was told to look.
        origin: String,
        /// The pinned sha256.
        expected: String,
        /// The sha256 of what came.
        found: String,
    },
    /// The client chose another file of the same version.
    #[error("expected the file `{expected}`, the client got {}", list(.found))]
    OtherFile {
        /// The wheel.
        expected: &'static str,
        /// What lay there instead.
        found: Vec<String>,
    },
    /// There is neither `uv` nor `pip`.
    #[error(
        "`{artifact}` is not in the store, and there is no Python package client to get it with (tried `uv`, `pip`, `python3 -m pip`)"
    )]
    NoClient {
        /// Name and version.
        artifact: String,
    },
    /// The registry has no such release.
    #[error("the registry has no `{artifact}` for this machine")]
    NoRelease {
        /// Name and version.
        artifact: String,
    },
    /// Every client that is there was tried and failed.
    #[error("cannot get `{artifact}`{}", attempts_text(.attempts))]
    Clients {
        /// Name and version.
        artifact: String,
        /// What was tried, in order.
        attempts: Vec<Attempt>,
    },
    /// No URL delivered the file.
    #[error("cannot get `{file}`{}", failures_text(.failures))]
    Download {
        /// The file.
        file: String,
        /// What each URL did, in order.
        failures: Vec<Failure>,
    },
    /// A package index has the project, and not this file of it.
    #[error("`{page}` has no `{file}`{}", found_text(.found))]
    NotInIndex {
        /// The file.
        file: String,
        /// The project's page, secrets masked.
        page: String,
        /// The wheels that it has.
        found: Vec<String>,
    },
    /// A proxy that cannot be used.
    #[error("`{proxy}` is no HTTP proxy")]
    Proxy {
        /// It, secrets masked.
        proxy: String,
    },
    /// The archive cannot be read as a zip file.
    #[error("cannot read the archive `{file}`")]
    Archive {
        /// The wheel.
        file: String,
        /// What the reader said.
        source: zip::result::ZipError,
    },
    /// The archive holds something that must not be unpacked.
    #[error("refusing to unpack `{entry}` of `{file}`: {refusal}")]
    Refused {
        /// The wheel.
        file: String,
        /// The entry's name as the archive has it.
        entry: String,
        /// Why.
        refusal: Refusal,
    },
    /// The directory to keep is not in the archive.
    #[error("`{file}` holds no directory `{keep}`")]
    NoSubtree {
        /// The wheel.
        file: String,
        /// The directory that was to be kept.
        keep: String,
    },
    /// A client could not be run at all.
    #[error("cannot run a Python package client")]
    Process(#[source] pto_process::Error),
}

/// One client that was tried and failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempt {
    /// The command, secrets masked.
    pub line: String,
    /// How it ended, for example ``` `uv` exited with code 1 ```.
    pub ended: String,
    /// Its last lines, secrets masked.
    pub last_words: String,
}

/// Why an entry of an archive is not unpacked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// `/etc/passwd`, `C:\x`.
    #[error("its name is absolute")]
    Absolute,
    /// `a/../../b`.
    #[error("its name leaves the directory")]
    Leaves,
    /// A backslash, a control character, an empty part.
    #[error("its name is not a plain relative path")]
    OddName,
    /// Wheels have no links (the format's specification knows files only), and a link can lead out.
    #[error("it is a symbolic link")]
    Symlink,
    /// A device, a pipe or a socket.
    #[error("it is neither a file nor a directory")]
    Special,
    /// Two entries of one name: readers do not agree which one counts.
    #[error("there are two entries of this name")]
    Duplicate,
    /// One would replace the other on a file system that does not tell case.
    #[error("another entry differs from it in case alone")]
    CaseCollision,
    /// A file where another entry needs a directory.
    #[error("another entry needs a directory of this name")]
    FileAndDirectory,
    /// More than the pin allows.
    #[error("with it the archive unpacks to {total} bytes, more than the {limit} allowed")]
    TooLarge {
        /// Sum of the sizes so far.
        total: u64,
        /// The pin's `unpacked_size`.
        limit: u64,
    },
    /// Deflated far beyond what text and programs allow.
    #[error("it unpacks to {size} bytes from {compressed}, a ratio above {limit}")]
    Ratio {
        /// Bytes when unpacked.
        size: u64,
        /// Bytes in the archive.
        compressed: u64,
        /// The highest ratio allowed.
        limit: u64,
    },
    /// A wheel without the list of its files.
    #[error("the wheel has no such file, or several")]
    NoRecord,
    /// A recorded file without a sha256.
    #[error("`RECORD` has no sha256 for it")]
    NoSum,
    /// In the archive, not in the list.
    #[error("`RECORD` does not list it")]
    NotRecorded,
    /// In the list, not in the archive.
    #[error("`RECORD` lists it, and it is not in the archive")]
    OnlyRecorded,
    /// Another size than listed.
    #[error("`RECORD` says that it has {recorded} bytes, it has {size}")]
    RecordedSize {
        /// Bytes by `RECORD`.
        recorded: u64,
        /// Bytes by the archive's directory.
        size: u64,
    },
    /// Another content than listed.
    #[error("`RECORD` says that its sha256 is `{recorded}`, it is `{found}`")]
    RecordedSum {
        /// By `RECORD`, URL-safe base64.
        recorded: String,
        /// Of its content.
        found: String,
    },
    /// The data is longer or shorter than the archive's directory says.
    #[error("its data has not the {declared} bytes that the archive's directory declares")]
    SizeLies {
        /// Bytes as declared.
        declared: u64,
    },
}

impl Error {
    /// What to do about it, for people; `None` if the error says all.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Store(error) => return error.hint(),
            Self::Checksum { .. } | Self::OtherFile { .. } => {
                "a mirror or a proxy delivers another file; run again, or choose another mirror with `PIP_INDEX_URL`, \
                 or put the right file into a directory and name it in `PIP_FIND_LINKS`"
                    .to_owned()
            }
            Self::NoClient { .. } => {
                "install one without root: `python3 -m ensurepip --user`, or the distribution's `python3-pip` or `uv` \
                 package"
                    .to_owned()
            }
            Self::Clients { .. } => {
                "without access to the registry, set a mirror with `PIP_INDEX_URL`, or put the file into a directory \
                 and name it in `PIP_FIND_LINKS`"
                    .to_owned()
            }
            Self::Download { failures, .. } => return failures.last().map(download_hint),
            Self::NoRelease { .. } => "name a release that exists, or let the newest be taken".to_owned(),
            Self::NotInIndex { .. } => {
                "an index may have the project and not every release of it; choose another one".to_owned()
            }
            Self::Proxy { .. } => {
                "give it as `http://host:port`, in the option or in `HTTPS_PROXY`; for a host that needs none, set `NO_PROXY`"
                    .to_owned()
            }
            Self::Process(error) => return error.hint(),
            Self::Archive { .. } | Self::Refused { .. } | Self::NoSubtree { .. } => return None,
        })
    }

    /// Whether what was given cannot be read or must not be unpacked: a malformed file, whoever made it.
    pub fn is_malformed(&self) -> bool {
        matches!(self, Self::Archive { .. } | Self::Refused { .. })
    }

    /// Whether every place that was asked says that it does not have the file.
    pub fn is_missing(&self) -> bool {
        let says_no = |failure: &Failure| matches!(failure.problem, HttpProblem::Status { status: 404 | 410, .. });
        match self {
            Self::Download { failures, .. } => failures.iter().all(says_no),
            Self::NotInIndex { .. } => true,
            _ => false,
        }
    }

    /// Whether what came is another file than the pinned one.
    pub fn is_other_content(&self) -> bool {
        matches!(self, Self::Checksum { .. } | Self::OtherFile { .. })
    }

    /// Whether the user asked for the end: nothing is wrong, and there is nothing to explain.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Self::Store(error) => error.is_interrupted(),
            Self::Process(error) => error.is_interrupted(),
            _ => false,
        }
    }
}

fn failures_text(failures: &[Failure]) -> String {
    match failures {
        [one] => format!(" from {one}"),
        several => several.iter().map(|failure| format!("\n  {failure}")).collect(),
    }
}

fn download_hint(failure: &Failure) -> String {
    match &failure.problem {
        HttpProblem::Status { status: 404 | 410, .. } => {
            "the server has no such file; check the version and the address"
        }
        HttpProblem::Status { status: 401 | 403 | 407, .. } => "the server wants other credentials",
        HttpProblem::Status { .. } => "the server has trouble; run again later: what has come is kept",
        HttpProblem::Cut { .. } | HttpProblem::Stalled(_) => "run again: it goes on where it was cut",
        HttpProblem::Connection(_) => "check the network, and the proxy in `HTTPS_PROXY` and `NO_PROXY`",
        HttpProblem::Lasting(_) => "check the address; for certificates of your own, set `SSL_CERT_FILE`",
        HttpProblem::OtherFile { .. } => "choose another mirror",
    }
    .to_owned()
}

fn found_text(found: &[String]) -> String {
    if found.is_empty() { String::new() } else { format!("; it has {}", list(found)) }
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn attempts_text(attempts: &[Attempt]) -> String {
    // That a client tried again and again says less than why it failed in the end.
    let said = |words: &str| words.lines().filter(|line| !line.contains("Retrying (")).collect::<Vec<_>>().join("\n");
    attempts.iter().map(|attempt| format!("\n{}:\n{}", attempt.ended, said(&attempt.last_words))).collect()
}
