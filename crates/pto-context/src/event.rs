//! Events: what a library tells its caller while it works. One trait, rendered by the binary alone.

use std::sync::{Mutex, PoisonError};

/// Something that happened during long work.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A step began. `task` is stable and pairs it with its `Progress` and `Finished`.
    Started {
        /// Identifies the step, for example `fetch:pto-isa`.
        task: String,
        /// One line for people, for example `Fetching PTO-ISA headers`.
        message: String,
        /// The size of the work in bytes, when it is known before.
        total_bytes: Option<u64>,
    },
    /// A step moved on.
    Progress {
        /// The step of the `Started` event.
        task: String,
        /// Bytes done so far.
        done_bytes: u64,
    },
    /// A step that counts something else than bytes moved on.
    Steps {
        /// The step of the `Started` event.
        task: String,
        /// What is done.
        done: u64,
        /// What there is in all, as far as it is known now.
        total: u64,
    },
    /// A step ended well.
    Finished {
        /// The step of the `Started` event.
        task: String,
        /// One line for people, with figures, for example `PTO-ISA headers ready (445 files)`.
        message: String,
    },
    /// A child process is about to run; shell-quoted, secrets masked.
    Command {
        /// The command line.
        line: String,
    },
    /// Something the user should know although the work goes on.
    Warning {
        /// One line for people.
        message: String,
    },
}

/// Where events go.
pub trait EventSink: Send + Sync {
    /// Takes one event. Called from any thread; must not block for long.
    fn event(&self, event: Event);
}

/// Drops every event.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl EventSink for Silent {
    fn event(&self, _: Event) {}
}

/// Keeps every event, for tests and for reports that are written at the end.
#[derive(Debug, Default)]
pub struct Recorder(Mutex<Vec<Event>>);

impl Recorder {
    /// What has happened so far, in the order in which it was told.
    pub fn events(&self) -> Vec<Event> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl EventSink for Recorder {
    fn event(&self, event: Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }
}
