//! Starts children: all of them from one thread that lives as long as the process.
//!
//! `PR_SET_PDEATHSIG` makes the kernel kill a child whose parent dies, but "parent" there means the *thread* that
//! forked it (prctl(2)). A child started by a short-lived worker thread would be killed when that worker ends. A thread
//! that never ends has no such surprise. It has a second use: because every fork and exec is finished before the next
//! begins, no child can inherit, for an instant, the open file of a program that another thread has just written, which
//! fails with "text file busy".

use std::io;
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};

struct Job {
    command: Command,
    reply: Sender<io::Result<Child>>,
}

/// Starts the command. The child leads a new process group and dies with this process.
pub(crate) fn spawn(command: Command) -> io::Result<Child> {
    static SPAWNER: OnceLock<Option<Sender<Job>>> = OnceLock::new();
    let gone = || io::Error::other("the thread that starts children is gone");
    let spawner = SPAWNER.get_or_init(start_spawner).as_ref().ok_or_else(gone)?;
    let (reply, answer) = channel();
    spawner.send(Job { command, reply }).map_err(|_| gone())?;
    answer.recv().map_err(|_| gone())?
}

fn start_spawner() -> Option<Sender<Job>> {
    let (jobs, inbox) = channel::<Job>();
    let work = move || {
        for Job { mut command, reply } in inbox {
            die_with_parent(&mut command);
            if let Err(lost) = reply.send(command.spawn())
                && let Ok(mut child) = lost.0
            {
                // The asker is gone (it panicked): nobody will end this child but us.
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    };
    std::thread::Builder::new().name("pto-process-spawn".into()).spawn(work).ok()?;
    Some(jobs)
}

#[cfg(target_os = "linux")]
fn die_with_parent(command: &mut Command) {
    use std::os::unix::process::CommandExt;

    use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

    let parent = getpid();
    let in_child = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // If the parent died before the line above, the kernel will not tell: we have already been handed to another.
        if getppid() == Some(parent) { Ok(()) } else { Err(io::Error::from_raw_os_error(ESRCH)) }
    };
    const ESRCH: i32 = rustix::io::Errno::SRCH.raw_os_error();
    // SAFETY: between fork and exec only async-signal-safe functions may be called. The closure makes two system calls
    // through rustix, which allocates nothing and takes no lock, and an `io::Error` made of a number allocates nothing.
    unsafe { command.pre_exec(in_child) };
}

/// Elsewhere there is no such signal; an interrupt and a drop still end children.
#[cfg(not(target_os = "linux"))]
fn die_with_parent(_: &mut Command) {}
