//! What a ptokit library may know of its surroundings, given by the caller and never taken behind its back: the root
//! directory, the environment, how the program was started, and a sink for events. With it comes what every library does in
//! the same way: work on as many threads as there are processors, tell a full disk from other errors, read a deadline, read
//! a file of the inspected machine, name a verb as it can be typed, say how many there are of something, and where PyPTO and
//! the driver are.
//!
//! This crate must not know what any library does with them, nor how an event is rendered.
//!
//! ```
//! use pto_context::Context;
//!
//! let cx = Context::fake("/tmp/tree", [("ASCEND_HOME_PATH", "/opt/cann")]);
//! assert_eq!(cx.var("ASCEND_HOME_PATH").as_deref(), Some("/opt/cann"));
//! assert_eq!(cx.under_root("/etc/ascend_install.info"), std::path::Path::new("/tmp/tree/etc/ascend_install.info"));
//! ```

mod called;
mod counted;
mod error;
mod event;
mod fault;
pub mod files;
pub mod interrupt;
mod parallel;
pub mod places;
mod seconds;
mod whole_file;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use called::{Called, NAMES, PROGRAM};
pub use counted::{Counted, counted};
pub use error::{is_disk_full, says_disk_full, with_causes};
pub use event::{Event, EventSink, Recorder, Silent};
pub use fault::Fault;
pub use parallel::{in_parallel, processors};
pub use seconds::BadSeconds;
pub use whole_file::{Readable, write_whole};

/// The surroundings of one call. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    root: PathBuf,
    env: Arc<BTreeMap<OsString, OsString>>,
    cwd: PathBuf,
    called: Called,
    events: Arc<dyn EventSink>,
}

impl Context {
    /// The machine as this process sees it. Only a binary, or a test that wants the real machine, calls this.
    ///
    /// # Errors
    /// The current directory is gone or unreadable.
    pub fn from_process(events: Arc<dyn EventSink>) -> std::io::Result<Self> {
        Ok(Self {
            root: PathBuf::from("/"),
            env: Arc::new(std::env::vars_os().collect()),
            cwd: std::env::current_dir()?,
            called: Called::default(),
            events,
        })
    }

    /// A made-up machine: a file tree that stands for `/`, and exactly the variables given. Events are dropped.
    pub fn fake<K, V>(root: impl Into<PathBuf>, env: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: Into<OsString>,
        V: Into<OsString>,
    {
        let root = root.into();
        Self {
            cwd: root.clone(),
            root,
            called: Called::default(),
            env: Arc::new(env.into_iter().map(|(k, v)| (k.into(), v.into())).collect()),
            events: Arc::new(Silent),
        }
    }

    /// The same surroundings with another event sink.
    #[must_use]
    pub fn with_events(mut self, events: Arc<dyn EventSink>) -> Self {
        self.events = events;
        self
    }

    /// The same surroundings with one variable set.
    #[must_use]
    pub fn with_var(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        Arc::make_mut(&mut self.env).insert(name.into(), value.into());
        self
    }

    /// The same surroundings with another directory for `/`: files are those of the tree, all else stays.
    #[must_use]
    pub fn with_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = root.into();
        self
    }

    /// The same surroundings of a program that was started like this.
    #[must_use]
    pub fn with_called(mut self, called: Called) -> Self {
        self.called = called;
        self
    }

    /// How the program was started: what is advised is spelled accordingly.
    pub fn called(&self) -> Called {
        self.called
    }

    /// The directory that stands for `/`.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The working directory that relative paths of the user refer to.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The directory for files that nobody keeps: `TMPDIR`, else `/tmp`.
    pub fn temp_dir(&self) -> PathBuf {
        self.cwd.join(self.var_os("TMPDIR").unwrap_or("/tmp".as_ref()))
    }

    /// An absolute path of the inspected machine, as a path that can be opened here.
    pub fn under_root(&self, absolute: impl AsRef<Path>) -> PathBuf {
        let path = absolute.as_ref();
        if self.root == Path::new("/") {
            return path.to_path_buf();
        }
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// A variable's value, if it is set, not empty and valid Unicode. An empty variable counts as unset, as in a shell's `${X:-}`.
    pub fn var(&self, name: &str) -> Option<String> {
        self.var_os(name).and_then(|value| value.to_str().map(str::to_owned))
    }

    /// A variable's value, if it is set and not empty.
    pub fn var_os(&self, name: &str) -> Option<&OsStr> {
        self.env.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// All variables, in the order of their names.
    pub fn vars(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.env.iter().map(|(k, v)| (k.as_os_str(), v.as_os_str()))
    }

    /// Tells the caller that something happened.
    pub fn emit(&self, event: Event) {
        self.events.event(event);
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The environment may hold secrets: only its names are shown.
        f.debug_struct("Context")
            .field("root", &self.root)
            .field("cwd", &self.cwd)
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_is_unset() {
        let cx = Context::fake("/", [("A", ""), ("B", "1")]);
        assert_eq!((cx.var("A"), cx.var("B"), cx.var("C")), (None, Some("1".into()), None));
    }

    #[test]
    fn a_recorder_keeps_the_order() {
        let recorder = Arc::new(Recorder::default());
        let cx = Context::fake("/", [("A", "1")]).with_events(recorder.clone());
        let events = ["one", "two"].map(|message| Event::Warning { message: message.into() });
        events.iter().for_each(|event| cx.emit(event.clone()));
        assert_eq!(recorder.events(), events);
    }

    #[test]
    fn debug_output_shows_no_values() {
        let cx = Context::fake("/", [("TOKEN", "hunter2")]);
        let text = format!("{cx:?}");
        assert!(text.contains("TOKEN") && !text.contains("hunter2"), "{text}");
    }

    #[test]
    fn paths_are_mapped_under_the_root() {
        let cx = Context::fake("/tree", [("A", "1")]);
        assert_eq!(cx.under_root("/usr/local"), Path::new("/tree/usr/local"));
        let real = Context { root: "/".into(), ..cx };
        assert_eq!(real.under_root("/usr/local"), Path::new("/usr/local"));
    }
}
