//! A child that runs: waiting for it within its limits, and ending it in any case.

use std::io::PipeWriter;
use std::os::unix::process::{CommandExt, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pto_context::{Context, Event};
use signal_hook::consts::SIGTERM;

use crate::capture::Recorder;
use crate::error::Error;
use crate::group::Group;
use crate::invocation::{Invocation, Stdin};
use crate::lines::Lines;
use crate::output::{Output, Status, Stream};
use crate::pipes::{self, Note};
use crate::{find, interrupt, spawn};

/// How long the pipes may stay open after the leader has ended, held by processes it left behind. They get KILL then.
const DRAIN: Duration = Duration::from_secs(1);

/// How long we go on reading after that: what is in the pipes arrives at once, what is held open by a process that has
/// left the group never ends.
const FLUSH: Duration = Duration::from_millis(200);

/// How long KILL may take. A process that waits inside a device driver cannot be ended by anyone; we leave it then.
const KILL_WAIT: Duration = Duration::from_secs(5);

/// Chunks in flight between the pipe threads and the waiting one: bounds memory when a callback is slow.
const NOTES: usize = 32;

/// A child that has been started. Dropping it kills its group and reaps it.
#[must_use = "dropping it kills the child"]
pub struct Running {
    invocation: Invocation,
    cx: Context,
    cwd: PathBuf,
    started: Instant,
    child: Child,
    group: Group,
    /// `None` once the end has been dealt with.
    notes: Option<Receiver<Note>>,
    exited: bool,
    cancel: Option<PipeWriter>,
    threads: Vec<JoinHandle<()>>,
}

/// Where a run stands; each state but the last has a time limit that leads to the next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Until the deadline.
    Working,
    /// TERM was sent; until the grace is over.
    Terminating,
    /// KILL was sent, the leader has not ended yet.
    Killing,
    /// The leader has ended, pipes are still open.
    Draining,
    /// The rest of the group was killed, pipes are still open.
    Flushing,
    /// There is nothing more to wait for.
    Over,
}

impl Running {
    pub(crate) fn start(invocation: &Invocation, cx: &Context) -> Result<Self, Error> {
        let program = || invocation.program_name();
        if interrupt::requested() {
            return Err(Error::Interrupted { program: program() });
        }
        let line = invocation.to_shell_line();
        let failed = |source| Error::Start { line: line.clone(), source };

        let cwd = invocation.directory(cx);
        let command = command(invocation, cx, &cwd)?;
        cx.emit(Event::Command { line: line.clone() });
        let (cancelled, cancel) = std::io::pipe().map_err(failed)?;
        let started = Instant::now();
        let child = spawn::spawn(command).map_err(failed)?;
        let (sender, notes) = sync_channel(NOTES);
        // From here on the child is owned by a value whose drop ends it.
        let mut running = Self {
            group: Group::of(&child),
            child,
            invocation: invocation.clone(),
            cx: cx.clone(),
            cwd,
            started,
            notes: Some(notes),
            exited: false,
            cancel: Some(cancel),
            threads: Vec::new(),
        };
        running.serve(cancelled, &sender).map_err(failed)?;
        if !interrupt::register(running.group, sender) {
            return Err(Error::Interrupted { program: program() });
        }
        Ok(running)
    }

    /// The child's process id, which is its group's number too.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// The system cannot tell how the child ended.
    pub fn wait(mut self) -> Result<Output, Error> {
        let mut records = self.recorders();
        let ended_by_us = self.follow(|stream, chunk| {
            records[stream as usize].push(chunk.unwrap_or_default());
        })?;
        self.conclude(ended_by_us, records)
    }

    /// Waits for the end and hands on each line as it comes; see [`Invocation::run_streaming`].
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn wait_streaming(mut self, mut on_line: impl FnMut(Stream, &str)) -> Result<Output, Error> {
        let mask = self.invocation.mask.clone();
        let mut records = self.recorders();
        let mut lines = [Lines::default(), Lines::default()];
        let mut show = |stream, line: &str| on_line(stream, &mask.apply(line));
        let ended_by_us = self.follow(|stream, chunk| match chunk {
            Some(chunk) => {
                records[stream as usize].push(chunk);
                lines[stream as usize].push(chunk, |line| show(stream, line));
            }
            None => lines[stream as usize].finish(|line| show(stream, line)),
        })?;
        // A stream that was given up has not been closed: its last line is still here.
        [Stream::Stdout, Stream::Stderr].into_iter().for_each(|s| lines[s as usize].finish(|line| show(s, line)));
        self.conclude(ended_by_us, records)
    }

    fn recorders(&self) -> [Recorder; 2] {
        [Recorder::new(self.invocation.capture_limit), Recorder::new(self.invocation.capture_limit)]
    }

    fn conclude(mut self, ended_by_us: Option<Status>, records: [Recorder; 2]) -> Result<Output, Error> {
        let mask = self.invocation.mask.clone();
        let waited = self.close();
        let status = match (ended_by_us, waited) {
            (Some(status), _) => status,
            // The TERM of an interrupt was quicker than the note that there is one.
            (None, Some(Ok(status))) if status.signal() == Some(SIGTERM) && interrupt::requested() => {
                Status::Interrupted
            }
            (None, Some(Ok(status))) => native_status(status),
            (None, Some(Err(source))) => return Err(self.wait_error(source)),
            (None, None) => return Err(self.wait_error(std::io::ErrorKind::TimedOut.into())),
        };
        let [stdout, stderr] = records.map(|record| record.finish(mask.clone()));
        Ok(Output {
            program: self.invocation.program_name(),
            argv: self.invocation.argv().iter().map(|arg| mask.apply(&arg.to_string_lossy())).collect(),
            line: self.invocation.to_shell_line(),
            cwd: self.cwd.clone(),
            status,
            deadline_variable: self.invocation.deadline_variable,
            stdout,
            stderr,
            duration: self.started.elapsed(),
        })
    }

    /// Starts the threads that serve the child.
    fn serve(&mut self, cancelled: std::io::PipeReader, notes: &SyncSender<Note>) -> std::io::Result<()> {
        let cancelled = Arc::new(cancelled);
        let group = self.group;
        let sender = notes.clone();
        std::thread::Builder::new().name("pto-process-wait".into()).spawn(move || {
            if sender.send(Note::Exited(group.await_leader())).is_err() {
                // It outlived even KILL and was given up; when it does end, nobody but us is left to reap it.
                let _ = group.reap_leader();
            }
        })?;
        if let Some(pipe) = self.child.stdout.take() {
            self.threads.push(pipes::drain(Stream::Stdout, pipe, cancelled.clone(), notes.clone())?);
        }
        if let Some(pipe) = self.child.stderr.take() {
            self.threads.push(pipes::drain(Stream::Stderr, pipe, cancelled.clone(), notes.clone())?);
        }
        if let (Some(pipe), Stdin::Bytes(bytes)) = (self.child.stdin.take(), &self.invocation.stdin) {
            self.threads.push(pipes::feed(bytes.clone(), pipe, cancelled)?);
        }
        Ok(())
    }

    /// Follows the run to its end, step by step. Returns how we ended it, if we did.
    fn follow(&mut self, mut on_chunk: impl FnMut(Stream, Option<&[u8]>)) -> Result<Option<Status>, Error> {
        let mut step = Step::Working;
        let mut until = self.invocation.deadline.and_then(|limit| self.started.checked_add(limit));
        let mut ended_by_us = None;
        let mut open = 2;
        while step != Step::Over {
            if step == Step::Working && interrupt::requested() {
                // TERM has been sent by whoever set the flag.
                ended_by_us = Some(Status::Interrupted);
                (step, until) = (Step::Terminating, after(self.invocation.grace));
            }
            match self.next_note(until) {
                Some(Note::Chunk(stream, chunk)) => on_chunk(stream, Some(&chunk)),
                Some(Note::Closed(stream)) => {
                    on_chunk(stream, None);
                    open -= 1;
                }
                Some(Note::Exited(result)) => {
                    self.exited = true;
                    result.map_err(|source| self.wait_error(source))?;
                    (step, until) = (Step::Draining, after(DRAIN));
                }
                Some(Note::Interrupt) => {}
                None => {
                    if let (Step::Working, Some(deadline)) = (step, self.invocation.deadline) {
                        ended_by_us = Some(Status::TimedOut { deadline });
                    }
                    (step, until) = self.escalate(step);
                }
            }
            if self.exited && open == 0 {
                step = Step::Over;
            }
        }
        Ok(ended_by_us)
    }

    /// The time of a step is over: acts, and says which step follows.
    fn escalate(&self, step: Step) -> (Step, Option<Instant>) {
        match step {
            Step::Working => {
                self.group.terminate();
                (Step::Terminating, after(self.invocation.grace))
            }
            Step::Terminating => {
                self.group.kill();
                (Step::Killing, after(KILL_WAIT))
            }
            Step::Draining => {
                self.group.kill();
                (Step::Flushing, after(FLUSH))
            }
            Step::Killing | Step::Flushing | Step::Over => (Step::Over, None),
        }
    }

    /// The next note, or `None` at the given time.
    fn next_note(&self, until: Option<Instant>) -> Option<Note> {
        let notes = self.notes.as_ref()?;
        // The waiting thread always reports before it ends, so the channel is not closed without `Exited`.
        let Some(until) = until else { return notes.recv().ok() };
        // Asked first: a child that writes without pause always has a note ready, and must not outrun its deadline.
        let left = until.checked_duration_since(Instant::now())?;
        notes.recv_timeout(left).ok()
    }

    /// Kills what is left of the group, reaps the leader, ends the threads. `None` if the leader does not die.
    fn close(&mut self) -> Option<std::io::Result<ExitStatus>> {
        self.group.kill();
        let until = after(KILL_WAIT);
        while !self.exited {
            match self.next_note(until) {
                Some(Note::Exited(_)) => self.exited = true,
                Some(_) => {}
                None => break,
            }
        }
        // In this order: no signal can be sent to the number once it may be another's, and no thread is joined while it
        // waits for room in a channel that nobody empties.
        interrupt::unregister(self.group);
        self.notes = None;
        self.cancel = None;
        let status = self.exited.then(|| self.child.wait());
        if status.is_none() {
            let (program, pid) = (self.invocation.program_name(), self.pid());
            let message =
                format!("`{program}` (process {pid}) does not end even when killed, probably held by a driver");
            self.cx.emit(Event::Warning { message });
        }
        for thread in self.threads.drain(..) {
            // A thread that panicked has closed its pipe, which is all we want of it.
            let _ = thread.join();
        }
        status
    }

    fn wait_error(&self, source: std::io::Error) -> Error {
        Error::Wait { program: self.invocation.program_name(), source }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.notes.is_some() {
            self.close();
        }
    }
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running")
            .field("pid", &self.pid())
            .field("invocation", &self.invocation)
            .finish_non_exhaustive()
    }
}

/// The standard library's command for an invocation as a child of ours.
fn command(invocation: &Invocation, cx: &Context, cwd: &std::path::Path) -> Result<Command, Error> {
    let mut command = bare_command(invocation, cx, cwd)?;
    command.process_group(0);
    command.stdin(if invocation.stdin == Stdin::Null { Stdio::null() } else { Stdio::piped() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command)
}

/// Program, found and checked, arguments, environment and directory.
pub(crate) fn bare_command(invocation: &Invocation, cx: &Context, cwd: &std::path::Path) -> Result<Command, Error> {
    let env = invocation.environment(cx);
    let path = env.get(std::ffi::OsStr::new("PATH")).map(std::ffi::OsString::as_os_str);
    let program = find::find(&invocation.program, path, cx.cwd())?;
    if !cwd.is_dir() {
        return Err(Error::NoDirectory { program: invocation.program_name(), cwd: cwd.to_owned() });
    }
    #[expect(clippy::disallowed_methods, reason = "this is the one place that starts children")]
    let mut command = Command::new(program);
    command.args(&invocation.args).env_clear().envs(env).current_dir(cwd);
    Ok(command)
}

fn native_status(status: ExitStatus) -> Status {
    match (status.code(), status.signal()) {
        (Some(code), _) => Status::Exited(code),
        (None, signal) => Status::Signaled { signal: signal.unwrap_or_default(), core: status.core_dumped() },
    }
}

/// A time from now; `None`, for ever, if it lies beyond what the clock can say.
fn after(time: Duration) -> Option<Instant> {
    Instant::now().checked_add(time)
}
