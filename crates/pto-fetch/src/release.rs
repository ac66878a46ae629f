//! One release of a package that nobody has pinned: the user names it, or takes the newest.

use std::path::Path;

use pto_context::{Context, Event};
use pto_process::{Invocation, Output};
use pto_store::Error as StoreError;

use crate::client::{self, mirrors};
use crate::error::{Attempt, Error};

/// A package of the Python registry by its name, with its version or the newest one. What comes is what the registry
/// says it is: the client holds it against the sum in the registry's index, and nobody against one known before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The distribution's name.
    pub name: &'static str,
    /// Its exact version; `None` for the newest.
    pub version: Option<String>,
}

/// How `uv` and `pip` say that a registry answered, and has no such release.
const NO_RELEASE: [&str; 2] = ["there is no version of", "No matching distribution found"];

impl Release {
    fn requirement(&self) -> String {
        self.version.as_ref().map_or_else(|| self.name.to_owned(), |version| format!("{}=={version}", self.name))
    }

    /// Puts the release's files, and its programs into `bin`, into an empty directory, for this machine. `scratch` is for
    /// what the client needs on the way. Returns who delivered it, for people.
    ///
    /// # Errors
    /// [`Error::NoRelease`], [`Error::NoClient`], [`Error::Clients`], a full disk, an interrupt.
    pub fn install_into(&self, cx: &Context, dir: &Path, scratch: &Path) -> Result<String, Error> {
        let mut attempts = Vec::new();
        for (name, client) in self.commands(cx, dir, scratch) {
            let task = format!("fetch:{}", self.name);
            let message = format!("Fetching {} with `{name}`", self.requirement());
            cx.emit(Event::Started { task: task.clone(), message, total_bytes: None });
            match client::run(cx, client, scratch)? {
                Ok(_) => {
                    cx.emit(Event::Finished { task, message: format!("{} fetched", self.requirement()) });
                    return Ok(mirrors::origin(cx, name));
                }
                Err(client::Try::Failed { attempt, .. })
                    if NO_RELEASE.iter().any(|say| attempt.last_words.contains(say))
                        && !attempts.iter().chain([&attempt]).any(|one| tells_unreachable(&one.last_words)) =>
                {
                    // Another client would ask the same registry.
                    return Err(Error::NoRelease { artifact: self.requirement() });
                }
                Err(client::Try::Broken(attempt) | client::Try::Failed { attempt, .. }) => attempts.push(attempt),
                Err(_) => {}
            }
            let ended = attempts.last().map(|attempt: &Attempt| attempt.ended.clone());
            cx.emit(Event::Finished { task, message: ended.unwrap_or_else(|| format!("there is no `{name}`")) });
            empty(dir)?;
        }
        let artifact = self.requirement();
        Err(if attempts.is_empty() { Error::NoClient { artifact } } else { Error::Clients { artifact, attempts } })
    }

    /// Each client's way to say it, in the order in which they are tried.
    fn commands(&self, cx: &Context, dir: &Path, scratch: &Path) -> [(&'static str, Invocation); 3] {
        let place = |client: Invocation| {
            client.arg("--target").arg(dir).arg(self.requirement()).env("TMPDIR", scratch).env("NO_COLOR", "1")
        };
        let uv = Invocation::new("uv").args(["pip", "install", "--no-deps", "--only-binary", ":all:", "--no-progress"]);
        let uv = uv.env("UV_CACHE_DIR", scratch.join("uv-cache")).env("UV_PYTHON_DOWNLOADS", "never");
        let pip = |pip: Invocation| {
            let pip = pip.args(["install", "--no-deps", "--only-binary=:all:", "--no-input", "--progress-bar=off"]);
            let pip = pip.args(["--disable-pip-version-check", "--no-cache-dir", "--no-compile", "--quiet"]);
            // Nothing is installed into an environment, so a rule against that does not apply.
            mirrors::for_pip(cx, place(pip).env("PIP_REQUIRE_VIRTUALENV", "0").env("PIP_USER", "0"))
        };
        [
            ("uv", mirrors::for_uv(cx, place(uv))),
            ("pip", pip(Invocation::new("pip"))),
            ("python3 -m pip", pip(Invocation::new("python3").args(["-m", "pip"]))),
        ]
    }
}

/// The invocation of `uv` with the mirrors that are set for `pip` alone.
pub fn uv_with_mirrors(cx: &Context, uv: Invocation) -> Invocation {
    mirrors::for_uv(cx, uv)
}

/// Whether a client says that it could not reach the registry, as against one that has no such release.
pub fn says_unreachable(output: &Output) -> bool {
    tells_unreachable(&output.stderr.text())
}

/// The same of what it said. `pip` goes on to say that there is no such release.
fn tells_unreachable(said: &str) -> bool {
    /// As `uv`, `pip`, `git` and `curl` have it.
    const WORDS: [&str; 17] = [
        "failed to lookup address",
        "dns error",
        "error sending request",
        "tcp connect error",
        "connection refused",
        "could not resolve host",
        "couldn't connect to server",
        "failed to connect to",
        "network is unreachable",
        "connection timed out",
        "temporary failure in name resolution",
        "could not connect to",
        "proxyerror",
        "cannot connect to proxy",
        "failed to establish a new connection",
        "connection broken by",
        "tunnel error",
    ];
    let said = said.to_lowercase();
    WORDS.iter().any(|words| said.contains(words))
}

fn empty(dir: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::write("cannot empty a directory of a failed download", dir, source);
    fs_err::remove_dir_all(dir).map_err(failed)?;
    fs_err::create_dir(dir).map_err(failed)
}
