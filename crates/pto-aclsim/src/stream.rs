//! A stream: tasks that run one after the other on a thread of their own.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crate::call::guarded;
use crate::failure::{Failure, Outcome};
use crate::{codes, memory, signal};

/// The stack of a stream's thread in bytes: as large as a main thread's, because kernels are written for that.
const STACK: usize = 8 << 20;

/// One piece of work on a stream.
pub(crate) trait Task: Send {
    /// What it is, for messages: "kernel `add`".
    fn label(&self) -> String;
    /// Does it.
    fn run(self: Box<Self>) -> Outcome<()>;
    /// An earlier task failed, so this one never runs. Whoever waits for it has to be told.
    fn skip(self: Box<Self>, _cause: &Failure) {}
}

/// A stream. Handles to it are given out by the runtime.
pub(crate) struct Stream {
    pub(crate) id: u64,
    /// The handle of its context.
    pub(crate) context: usize,
    pub(crate) device: u32,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Box<dyn Task>>,
    /// The label of the task that runs.
    running: Option<String>,
    closing: bool,
    failure: Option<Failure>,
}

impl State {
    fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.running.is_none()
    }
}

impl Stream {
    /// Starts a stream.
    ///
    /// # Errors
    /// The host has no thread left.
    pub(crate) fn start(id: u64, context: usize, device: u32) -> Outcome<Arc<Self>> {
        let stream = Arc::new(Self { id, context, device, state: Mutex::default(), changed: Condvar::new() });
        let worker = Arc::clone(&stream);
        Builder::new()
            .name(format!("acl-stream-{id}"))
            .stack_size(STACK)
            .spawn(move || signal::with_alternate_stack(|| worker.work()))
            .map_err(|error| {
                let message = format!("cannot start a thread for stream #{id}: {error}");
                Failure::new(codes::ACL_ERROR_RT_NO_STREAM_RESOURCE, message)
            })?;
        Ok(stream)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        while let ControlFlow::Continue(()) = self.step() {}
    }

    /// Waits for a task and runs it. Breaks when the stream is closed and empty.
    fn step(&self) -> ControlFlow<()> {
        let mut state = self.lock();
        let task = loop {
            if let Some(task) = state.queue.pop_front() {
                break task;
            }
            if state.closing {
                return ControlFlow::Break(());
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        let label = task.label();
        state.running = Some(label.clone());
        let earlier = state.failure.clone();
        drop(state);

        let outcome = guarded(&label, || match &earlier {
            Some(cause) => {
                task.skip(cause);
                Ok(())
            }
            None => task.run(),
        });

        let mut state = self.lock();
        state.running = None;
        if let Err(failure) = outcome {
            state.failure = Some(failure);
        }
        self.changed.notify_all();
        ControlFlow::Continue(())
    }

    /// Puts a task at the end. A stream that was ended meanwhile skips it.
    pub(crate) fn push(&self, task: impl Task + 'static) {
        let mut state = self.lock();
        if state.closing {
            drop(state);
            return Box::new(task).skip(&self.ended());
        }
        state.queue.push_back(Box::new(task));
        self.changed.notify_all();
    }

    fn ended(&self) -> Failure {
        Failure::new(codes::ACL_ERROR_RT_STREAM_CONTEXT, format!("stream #{} was destroyed", self.id))
    }

    /// Whether all tasks are done.
    pub(crate) fn is_idle(&self) -> bool {
        self.lock().is_idle()
    }

    /// Waits until all tasks are done, and says how they went. A device fault is said again each time; any other
    /// failure once, and then the stream works again.
    ///
    /// # Errors
    /// A task failed, or the time is over (`507046`).
    pub(crate) fn synchronize(&self, limit: Option<Duration>) -> Outcome<()> {
        let deadline = limit.map(|limit| Instant::now() + limit);
        let mut state = self.lock();
        while !state.is_idle() {
            state = match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => return Err(self.timed_out(&state, limit.unwrap_or_default())),
                Some(left) => self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
        let failure = match &state.failure {
            Some(failure) if codes::is_device_fault(failure.code) => Some(failure.clone()),
            _ => state.failure.take(),
        };
        failure.map_or(Ok(()), Err)
    }

    fn timed_out(&self, state: &State, limit: Duration) -> Failure {
        let doing = state.running.as_deref().unwrap_or("waiting to start");
        let message = format!(
            "stream #{} was not done after {} ms: {doing}, and {} more tasks behind it",
            self.id,
            limit.as_millis(),
            state.queue.len()
        );
        Failure::new(codes::ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, message)
    }

    /// Lets the thread end once the tasks are done.
    pub(crate) fn close(&self) {
        self.lock().closing = true;
        self.changed.notify_all();
    }

    /// Drops the tasks that have not begun, and does not wait for the one that has.
    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.closing = true;
        let dropped: Vec<_> = state.queue.drain(..).collect();
        let busy = state.running.is_some();
        drop(state);
        dropped.into_iter().for_each(|task| task.skip(&self.ended()));
        if busy {
            memory::pin_all(); // the abandoned task may still use what it was given
        }
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    struct Step(Box<dyn FnOnce() -> Outcome<()> + Send>);

    impl Task for Step {
        fn label(&self) -> String {
            "a step".into()
        }
        fn run(self: Box<Self>) -> Outcome<()> {
            (self.0)()
        }
    }

    fn stream() -> Arc<Stream> {
        Stream::start(1, 1, 0).unwrap()
    }

    #[test]
    fn tasks_run_in_order() {
        let stream = stream();
        let (send, receive) = mpsc::channel();
        for number in 0..100 {
            let send = send.clone();
            stream.push(Step(Box::new(move || {
                send.send(number).unwrap();
                Ok(())
            })));
        }
        stream.synchronize(None).unwrap();
        drop(send);
        assert!(receive.iter().eq(0..100));
    }

    #[test]
    fn a_device_fault_stays_and_stops_what_follows() {
        let stream = stream();
        stream.push(Step(Box::new(|| Err(Failure::new(507_015, "boom")))));
        stream.push(Step(Box::new(|| panic!("must not run"))));
        for _ in 0..2 {
            assert_eq!(stream.synchronize(None).unwrap_err().code, 507_015);
        }
    }

    #[test]
    fn another_failure_is_said_once() {
        let stream = stream();
        stream.push(Step(Box::new(|| Err(Failure::new(107_000, "wrong")))));
        assert!(stream.synchronize(None).is_err());
        assert_eq!(stream.synchronize(None), Ok(()));
    }

    #[test]
    fn a_wait_has_a_limit() {
        let stream = stream();
        let (send, receive) = mpsc::channel::<()>();
        let (started, running) = mpsc::channel();
        stream.push(Step(Box::new(move || {
            started.send(()).unwrap();
            let _ = receive.recv();
            Ok(())
        })));
        running.recv().unwrap();
        let failure = stream.synchronize(Some(Duration::from_millis(5))).unwrap_err();
        assert_eq!(failure.code, codes::ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
        assert!(failure.message.contains("after 5 ms: a step"), "{failure}");
        drop(send);
        stream.synchronize(None).unwrap();
    }
}
