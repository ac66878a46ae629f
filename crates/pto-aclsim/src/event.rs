//! An event: a point in a stream that others can wait for, and that knows when it was reached.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::codes;
use crate::failure::{Failure, Outcome};
use crate::stream::Task;

/// `ACL_EVENT_TIME_LINE`: the event keeps the time.
pub(crate) const TIME_LINE: u32 = 8;

/// An event. Handles to it are given out by the runtime.
pub(crate) struct Event {
    times: bool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// How often it was recorded, and how many of these were reached.
    recorded: u64,
    reached: u64,
    /// The records up to this one were reset: as if they had never been.
    cleared: u64,
    time: Option<Instant>,
    failure: Option<Failure>,
}

impl Event {
    /// An event that was never recorded; `times` says whether it keeps the time.
    pub(crate) fn new(times: bool) -> Arc<Self> {
        Arc::new(Self { times, state: Mutex::default(), changed: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The task that records this event.
    pub(crate) fn record(self: &Arc<Self>) -> impl Task + use<> {
        let mut state = self.lock();
        state.recorded += 1;
        Record { event: Arc::clone(self), number: state.recorded }
    }

    /// The task that makes a stream wait for the last record before now, or for the first one if there is none.
    pub(crate) fn wait_task(self: &Arc<Self>) -> impl Task + use<> {
        let state = self.lock();
        Wait { event: Arc::clone(self), number: state.recorded.max(state.cleared + 1) }
    }

    /// The task that makes the event as good as new.
    pub(crate) fn reset(self: &Arc<Self>) -> impl Task + use<> {
        Reset { event: Arc::clone(self), upto: self.lock().recorded }
    }

    /// Whether the last record was reached. An event that was never recorded is not.
    pub(crate) fn is_reached(&self) -> bool {
        let state = self.lock();
        state.recorded > state.cleared && state.reached == state.recorded
    }

    /// Waits for the last record.
    ///
    /// # Errors
    /// Never recorded, its stream failed before it, or the time is over (`507047`).
    pub(crate) fn synchronize(&self, limit: Option<Duration>) -> Outcome<()> {
        let (target, cleared) = {
            let state = self.lock();
            (state.recorded, state.cleared)
        };
        if target == cleared {
            let message = "the event was never recorded: there is nothing to wait for";
            return Err(Failure::new(codes::ACL_ERROR_RT_EVENT_NOT_COMPLETE, message));
        }
        self.wait(target, limit)
    }

    fn wait(&self, target: u64, limit: Option<Duration>) -> Outcome<()> {
        let pending = |state: &mut State| state.reached < target;
        let state = match limit {
            None => self.changed.wait_while(self.lock(), pending).unwrap_or_else(PoisonError::into_inner),
            Some(limit) => {
                let (state, result) = self
                    .changed
                    .wait_timeout_while(self.lock(), limit, pending)
                    .unwrap_or_else(PoisonError::into_inner);
                if result.timed_out() {
                    let message = format!("the event was not reached after {} ms", limit.as_millis());
                    return Err(Failure::new(codes::ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, message));
                }
                state
            }
        };
        state.failure.clone().map_or(Ok(()), Err)
    }

    fn reach(&self, number: u64, result: Result<Instant, Failure>) {
        let mut state = self.lock();
        state.reached = number;
        match result {
            Ok(time) => state.time = Some(time),
            Err(failure) => state.failure = Some(failure),
        }
        self.changed.notify_all();
    }

    fn time(&self, which: &str) -> Outcome<Instant> {
        let invalid = |why: &str| {
            Err(Failure::new(codes::ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, format!("the {which} event {why}")))
        };
        if !self.times {
            return invalid("was created without `ACL_EVENT_TIME_LINE`: it keeps no time");
        }
        if !self.is_reached() {
            return invalid("was not reached yet");
        }
        self.lock().time.map_or_else(|| invalid("has no time: its stream failed before it"), Ok)
    }

    /// Milliseconds from `start` to `end`.
    ///
    /// # Errors
    /// One of them has no time, or `end` came first.
    pub(crate) fn elapsed(start: &Self, end: &Self) -> Outcome<f32> {
        let (start, end) = (start.time("start")?, end.time("end")?);
        end.checked_duration_since(start).map(|time| time.as_secs_f32() * 1e3).ok_or_else(|| {
            let message = "the end event was reached before the start event";
            Failure::new(codes::ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL, message)
        })
    }
}

struct Record {
    event: Arc<Event>,
    number: u64,
}

impl Task for Record {
    fn label(&self) -> String {
        "recording an event".into()
    }
    fn run(self: Box<Self>) -> Outcome<()> {
        self.event.reach(self.number, Ok(Instant::now()));
        Ok(())
    }
    fn skip(self: Box<Self>, cause: &Failure) {
        self.event.reach(self.number, Err(cause.clone()));
    }
}

struct Wait {
    event: Arc<Event>,
    number: u64,
}

impl Task for Wait {
    fn label(&self) -> String {
        "waiting for an event".into()
    }
    fn run(self: Box<Self>) -> Outcome<()> {
        self.event.wait(self.number, None)
    }
}

struct Reset {
    event: Arc<Event>,
    upto: u64,
}

impl Task for Reset {
    fn label(&self) -> String {
        "resetting an event".into()
    }
    fn run(self: Box<Self>) -> Outcome<()> {
        let mut state = self.event.lock();
        state.cleared = self.upto;
        state.time = None;
        state.failure = None;
        Ok(())
    }
}
