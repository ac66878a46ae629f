//! What is to be launched.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::args::{Argument, Buffer, Init};
use crate::error::LaunchError;
use crate::phase::Phase;
use crate::timing::Timing;

/// One launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LaunchRequest {
    /// The library that holds the launcher; a relative path is one of the caller's [`Context`](pto_context::Context).
    pub library: PathBuf,
    /// The launcher: `extern "C" void symbol(...)`.
    pub symbol: String,
    /// Its parameters, in order.
    pub arguments: Vec<Argument>,
    /// `libascendcl.so`, in the order to try. A name without a slash is looked up by the loader itself.
    pub acl: Vec<PathBuf>,
    /// The device's index.
    pub device: u32,
    /// The most address space, in bytes, that the worker may take. Only for the CPU: a card's library maps far more. The
    /// stacks of a kernel's threads count, 8 MiB each.
    pub memory_limit: Option<u64>,
    /// How often it is launched, at least once, each time with all buffers filled anew.
    pub repeats: u32,
    /// Whether it is timed after the repeats, whose verdict counts. Buffers are not filled anew in between.
    #[serde(default)]
    pub timing: Option<Timing>,
    /// How long each step may take.
    pub limits: Limits,
}

/// How long the steps of a launch may take. Each is a layer of its own: a synchronization that is given up says that the
/// kernel hangs, while the whole process may also hang in a driver, a launcher, or on its way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The whole process, all repeats included. The one limit that is kept from outside of the worker.
    pub process: Duration,
    /// One call of the launcher, which only enqueues work.
    pub launch: Duration,
    /// One synchronization.
    pub sync: Duration,
    /// Releasing everything, and the end of the process after that.
    pub teardown: Duration,
}

impl Limits {
    /// The limit of a phase; that of the process where it has none of its own.
    pub(crate) fn of(&self, phase: Phase) -> Duration {
        match phase {
            Phase::Launch => self.launch,
            Phase::Synchronize => self.sync,
            Phase::Teardown => self.teardown,
            Phase::Open | Phase::Load | Phase::Upload | Phase::Download => self.process,
        }
    }
}

impl LaunchRequest {
    /// The buffers, each with the place of its argument.
    pub(crate) fn buffers(&self) -> impl Iterator<Item = (usize, &Buffer)> {
        self.arguments.iter().enumerate().filter_map(|(index, argument)| match argument {
            Argument::Buffer(buffer) => Some((index, buffer)),
            _ => None,
        })
    }

    /// What can be seen to be wrong before anything is started.
    pub(crate) fn check(&self) -> Result<(), LaunchError> {
        let wrong = |message: String| Err(LaunchError::Request { message });
        if self.symbol.is_empty() || self.symbol.contains('\0') {
            return wrong(format!("`{}` is no name of a symbol", self.symbol.escape_default()));
        }
        if self.repeats == 0 {
            return wrong("a launch of no repeats says nothing".to_owned());
        }
        let mut names = BTreeSet::new();
        for (_, buffer) in self.buffers() {
            let (name, bytes) = (&buffer.name, buffer.bytes);
            match &buffer.init {
                Init::Bytes(given) if given.len() != bytes => {
                    return wrong(format!(
                        "buffer `{name}` has {bytes} bytes, but is to be filled with {}",
                        given.len()
                    ));
                }
                _ if buffer.output && !names.insert(name) => {
                    return wrong(format!("two outputs have the name `{name}`"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The same request with the paths that the loader would otherwise look up elsewhere made absolute.
    pub(crate) fn in_directory(&self, cwd: &Path) -> Self {
        let absolute = |path: &PathBuf| if path.components().count() > 1 { cwd.join(path) } else { path.clone() };
        Self { library: cwd.join(&self.library), acl: self.acl.iter().map(absolute).collect(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(buffers: &[(&str, usize, Init)]) -> LaunchRequest {
        let buffer = |(name, bytes, init): &(&str, usize, Init)| {
            Argument::Buffer(Buffer { name: (*name).into(), bytes: *bytes, init: init.clone(), output: true })
        };
        LaunchRequest {
            library: "kernel.so".into(),
            symbol: "call".into(),
            arguments: buffers.iter().map(buffer).collect(),
            acl: vec!["libascendcl.so".into(), "sim/libascendcl.so".into()],
            device: 0,
            memory_limit: None,
            repeats: 1,
            timing: None,
            limits: Limits {
                process: Duration::from_secs(4),
                launch: Duration::from_secs(1),
                sync: Duration::from_secs(2),
                teardown: Duration::from_secs(3),
            },
        }
    }

    #[test]
    fn mistakes_are_named_before_anything_starts() {
        let message = |request: LaunchRequest| request.check().unwrap_err().to_string();
        assert!(request(&[("y", 4, Init::Bytes(vec![0; 4]))]).check().is_ok());
        assert_eq!(
            message(request(&[("x", 4, Init::Bytes(vec![0; 3]))])),
            "buffer `x` has 4 bytes, but is to be filled with 3"
        );
        let pattern = || Init::Pattern(vec![]);
        assert_eq!(message(request(&[("y", 4, pattern()), ("y", 4, pattern())])), "two outputs have the name `y`");
        assert_eq!(
            message(LaunchRequest { symbol: "a\0b".into(), ..request(&[]) }),
            r"`a\u{0}b` is no name of a symbol"
        );
        assert_eq!(message(LaunchRequest { repeats: 0, ..request(&[]) }), "a launch of no repeats says nothing");
    }

    #[test]
    fn a_bare_library_is_a_file_but_a_bare_acl_is_the_loaders() {
        let absolute = request(&[]).in_directory(Path::new("/work dir"));
        assert_eq!(absolute.library, Path::new("/work dir/kernel.so"));
        assert_eq!(absolute.acl, ["libascendcl.so", "/work dir/sim/libascendcl.so"].map(PathBuf::from));
    }
}
