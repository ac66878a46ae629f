//! Ends this process when a phase takes too long, from a thread that nothing of a kernel is likely to reach.
//!
//! What hangs may hold any lock, the allocator's among them. So everything the thread needs for the end is made before:
//! it takes two system calls, the second of which ends the process. If even that does not work (a process stopped by a
//! signal, a driver that does not return), the limit of the whole process, which the caller keeps, still holds.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::exchange::Exchange;
use crate::phase::Phase;

use super::process;

/// It calls nothing that needs more, and the stack counts against a kernel's memory limit.
const STACK: usize = 128 << 10;

/// The phase that is watched, and until when.
type Watched = Option<(Instant, Phase)>;

pub(super) struct Watchdog {
    shared: Option<Arc<(Mutex<Watched>, Condvar)>>,
}

impl Watchdog {
    /// Starts it, watching nothing. Without a thread to be had there is none, and the limit of the process remains.
    pub(super) fn start(exchange: &Exchange) -> Self {
        let mark = CString::new(exchange.overdue_mark().as_os_str().as_bytes());
        let names = Phase::ALL.map(|phase| (phase, CString::new(format!("{phase:?}")).unwrap_or_default()));
        let shared = Arc::new((Mutex::new(None), Condvar::new()));
        let watched = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("pto-launch-watch".into()).stack_size(STACK);
        let started = mark.ok().and_then(|mark| thread.spawn(move || watch(&watched, &mark, &names)).ok());
        Self { shared: started.map(|_| shared) }
    }

    /// Gives a phase so long from now. One that cannot be expressed is no limit.
    pub(super) fn limit(&self, phase: Phase, limit: Duration) {
        self.set(Instant::now().checked_add(limit).map(|until| (until, phase)));
    }

    /// The phase is over.
    pub(super) fn clear(&self) {
        self.set(None);
    }

    fn set(&self, watched: Watched) {
        if let Some(shared) = &self.shared {
            *lock(&shared.0) = watched;
            shared.1.notify_one();
        }
    }
}

fn lock(watched: &Mutex<Watched>) -> MutexGuard<'_, Watched> {
    watched.lock().unwrap_or_else(PoisonError::into_inner)
}

fn watch(shared: &(Mutex<Watched>, Condvar), mark: &CString, names: &[(Phase, CString)]) {
    process::take_no_signals();
    let (state, changed) = shared;
    let mut watched = lock(state);
    loop {
        watched = match *watched {
            None => changed.wait(watched).unwrap_or_else(PoisonError::into_inner),
            Some((until, phase)) => match until.checked_duration_since(Instant::now()) {
                Some(left) => changed.wait_timeout(watched, left).unwrap_or_else(PoisonError::into_inner).0,
                None => bark(mark, names, phase),
            },
        };
    }
}

fn bark(mark: &CString, names: &[(Phase, CString)], phase: Phase) -> ! {
    if let Some((_, name)) = names.iter().find(|(of, _)| *of == phase) {
        // SAFETY: both are C strings that live as long as this thread.
        unsafe { libc::symlink(name.as_ptr(), mark.as_ptr()) };
    }
    process::end(0)
}
