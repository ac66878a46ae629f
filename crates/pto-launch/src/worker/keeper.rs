//! The process between the caller and the worker, which sees to it that nothing outlives a launch.
//!
//! A process group is ended as a whole, but a process can leave its group: `setsid`, a daemon that forks twice. Linux
//! gives such orphans to the nearest ancestor that asked for them (`PR_SET_CHILD_SUBREAPER`), which is this one. When the
//! worker has ended, or the caller asks for the end, whatever is left below gets KILL until nothing is. Then this process
//! ends as the worker did, so that the caller sees no difference.
//!
//! Where the caller is not this process's parent, because a queue has started it, the keeper keeps the limit of the process
//! as well, ends everything when the launch's directory is gone, and leaves word of the worker's end.
//!
//! What it cannot do: when a kernel kills this process itself with SIGKILL, its orphans go to somebody else. All that
//! stayed in the group is ended all the same, by the caller.

use std::ffi::c_int;
use std::fs;
use std::time::{Duration, Instant};

use crate::exchange::{Exchange, KeptEnd};

use super::process;

/// How long the worker has to end by itself after SIGTERM. Less than the caller's grace, so that there is time for the rest.
const GRACE: Duration = Duration::from_millis(500);

/// How long ended processes may take to go. One that a driver holds does not go at all.
const PATIENCE: Duration = Duration::from_secs(3);

/// Between two looks at what is left.
const PAUSE: Duration = Duration::from_millis(2);

/// How often a keeper looks at the clock and for the launch's directory.
const LOOK: Duration = Duration::from_millis(200);

/// What wakes the keeper.
const WAKING: [c_int; 4] = [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP];

/// Returns in the worker. The calling process, which has one thread, becomes its keeper and does not return. Where the
/// system has no process to give, the caller goes on as a worker without a keeper. `limit` is that of the process, for one whose
/// caller cannot keep it nor see how the worker ended.
pub(super) fn fork(exchange: &Exchange, limit: Option<Duration>) {
    let waking = set(&WAKING);
    let mut before = set(&[]);
    // SAFETY: all pointers lead to values of this frame.
    unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const waking, &raw mut before) };
    // SAFETY: takes numbers alone.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    let keeper = std::process::id();
    // SAFETY: `main` has just begun and there is one thread, so the copy may do whatever the original may.
    match unsafe { libc::fork() } {
        worker if worker > 0 => keep(worker, &waking, exchange, limit),
        end => {
            if end == 0 {
                die_with(keeper);
            } else {
                // SAFETY: takes numbers alone.
                unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 0) };
            }
            // SAFETY: the pointer leads to a value of this frame.
            unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
        }
    }
}

fn set(signals: &[c_int]) -> libc::sigset_t {
    // SAFETY: a signal set is plain data, which `sigemptyset` makes valid.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        signals.iter().for_each(|signal| {
            libc::sigaddset(&raw mut set, *signal);
        });
        set
    }
}

/// The worker ends when its keeper does, however that comes about.
fn die_with(keeper: u32) {
    // SAFETY: takes numbers alone.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    if std::os::unix::process::parent_id() != keeper {
        process::end(0);
    }
}

fn keep(worker: libc::pid_t, waking: &libc::sigset_t, exchange: &Exchange, limit: Option<Duration>) -> ! {
    ask_to_end_with_the_caller();
    let begin = Instant::now();
    let mut late = false;
    let mut asked: Option<Instant> = None;
    let status = loop {
        if let Some(status) = reap(worker) {
            break Some(status);
        }
        match asked {
            None => {
                let signal = await_signal(waking, LOOK);
                late = limit.is_some_and(|limit| begin.elapsed() >= limit);
                // Nobody waits any more. A simulator may have put this process into a group that its own end does not reach.
                let given_up = !exchange.path().is_dir();
                if late || given_up {
                    // SAFETY: takes numbers alone; the worker has not been waited for yet, so the number is its own.
                    unsafe { libc::kill(worker, libc::SIGTERM) };
                }
                asked = (late || given_up || WAKING[1..].contains(&signal)).then(Instant::now);
            }
            Some(since) if since.elapsed() < GRACE => {
                await_signal(waking, GRACE.saturating_sub(since.elapsed()));
            }
            Some(_) => break None,
        }
    };
    let status = clear_away(worker, status);
    if limit.is_some() {
        let end = match status {
            _ if late => KeptEnd::TimedOut,
            Some(status) if libc::WIFEXITED(status) => KeptEnd::Exited(libc::WEXITSTATUS(status)),
            Some(status) => KeptEnd::Signaled(libc::WTERMSIG(status)),
            None => KeptEnd::Signaled(libc::SIGKILL),
        };
        let _ = std::os::unix::fs::symlink(end.to_string(), exchange.end_mark());
    }
    end_as(status)
}

/// The caller's end asks for ours, instead of being it: there may be something to clear away. Only where our parent is the
/// caller, which has set the signal already: to Linux the parent is a thread, and that of a simulator may end before its time.
fn ask_to_end_with_the_caller() {
    let mut signal: c_int = 0;
    // SAFETY: the pointer leads to a value of this frame, of the type that is written there.
    unsafe { libc::prctl(libc::PR_GET_PDEATHSIG, &raw mut signal) };
    if signal != 0 {
        // SAFETY: takes numbers alone.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) };
    }
}

/// Waits for one of the signals; its number, or -1 when the time is over first.
fn await_signal(waking: &libc::sigset_t, limit: Duration) -> c_int {
    let limit = libc::timespec { tv_sec: limit.as_secs().cast_signed(), tv_nsec: limit.subsec_nanos().into() };
    // SAFETY: the set and the time are values that outlive the call.
    unsafe { libc::sigtimedwait(waking, std::ptr::null_mut(), &raw const limit) }
}

/// Takes note of everything that has ended; the worker's status, if it is among that.
fn reap(worker: libc::pid_t) -> Option<c_int> {
    let mut found = None;
    loop {
        let mut status = 0;
        // SAFETY: the pointer leads to a value of this frame.
        match unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) } {
            pid if pid == worker => found = Some(status),
            pid if pid > 0 => {}
            _ => return found,
        }
    }
}

/// Kills what is left, generation by generation: the children of a process that has ended become ours.
fn clear_away(worker: libc::pid_t, mut status: Option<c_int>) -> Option<c_int> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        let left = children();
        for child in &left {
            // SAFETY: takes numbers alone. A child's number is its own until it has been waited for, which is done here.
            unsafe { libc::kill(*child, libc::SIGKILL) };
        }
        status = reap(worker).or(status);
        if left.is_empty() {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    status
}

/// The processes that are ours to wait for.
fn children() -> Vec<libc::pid_t> {
    let list = fs::read_to_string("/proc/thread-self/children");
    if let Ok(list) = list {
        return list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    }
    // A kernel without that list: who says that we are the parent.
    let parent = std::process::id().to_string();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &libc::pid_t| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name, in parentheses, may hold anything; behind it come the state and the parent.
        stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)) == Some(parent.as_str())
    })
    .collect()
}

/// Ends this process in the same way.
fn end_as(status: Option<c_int>) -> ! {
    let Some(status) = status else { die_by(libc::SIGKILL) };
    if libc::WIFSIGNALED(status) { die_by(libc::WTERMSIG(status)) } else { process::end(libc::WEXITSTATUS(status)) }
}

fn die_by(signal: c_int) -> ! {
    process::leave_no_core();
    let itself = set(&[signal]);
    // SAFETY: takes numbers and a set of this frame: the signal's own effect, now.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const itself, std::ptr::null_mut());
    }
    process::end(128 + signal)
}
