//! Ctrl-C: children end first, then we do.
//!
//! Children lead process groups of their own, so the terminal's Ctrl-C reaches this process alone. The binary calls
//! [`install`] once. The first signal then sends TERM to every live group; waits return
//! [`Status::Interrupted`](crate::Status::Interrupted), nothing new is started, and the caller unwinds in order. Code
//! that works for long without a child asks [`requested`] now and then. A second signal does not wait for any of that:
//! KILL to every group, and the process ends with 128 + the signal's number, 130 for Ctrl-C.

use std::io;
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::group::Group;
use crate::pipes::Note;

/// The exit code of a process that Ctrl-C has ended, as shells have it: 128 + 2.
pub const EXIT_CODE: i32 = 130;

static LIVE: Mutex<Vec<(Group, SyncSender<Note>)>> = Mutex::new(Vec::new());

/// Makes SIGINT, SIGTERM and SIGHUP end children first. Further calls do nothing.
///
/// # Errors
/// The system refuses a handler or a thread.
pub fn install() -> io::Result<()> {
    static INSTALL: Once = Once::new();
    let mut result = Ok(());
    INSTALL.call_once(|| {
        result = Signals::new([SIGINT, SIGTERM, SIGHUP]).and_then(|signals| {
            std::thread::Builder::new().name("pto-process-signals".into()).spawn(|| obey(signals)).map(drop)
        });
    });
    result
}

fn obey(mut signals: Signals) {
    for signal in signals.forever() {
        if requested() {
            live().iter().for_each(|(group, _)| group.kill());
            signal_hook::low_level::exit(128 + signal);
        }
        request();
    }
}

/// Does what the first Ctrl-C does. For programs with a handler of their own.
pub fn request() {
    let live = live();
    // The flag is set while the list is locked: a child is either in the list now and gets TERM, or is registered later
    // and refused. So each gets exactly one TERM; programs that take a second one as "drop everything" do not misread it.
    if pto_context::interrupt::request() {
        for (group, notes) in live.iter() {
            group.terminate();
            // A full channel means that its reader is awake and will see the flag.
            let _ = notes.try_send(Note::Interrupt);
        }
    }
}

/// Whether the end has been asked for.
pub fn requested() -> bool {
    pto_context::interrupt::requested()
}

/// Enters a group; `false` if an interrupt came first and the group is the caller's to end.
pub(crate) fn register(group: Group, notes: SyncSender<Note>) -> bool {
    let mut live = live();
    if requested() {
        return false;
    }
    live.push((group, notes));
    true
}

/// Forgets a group; must be called before its leader is reaped, while its number cannot belong to anyone else.
pub(crate) fn unregister(group: Group) {
    live().retain(|(entry, _)| *entry != group);
}

fn live() -> MutexGuard<'static, Vec<(Group, SyncSender<Note>)>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}
