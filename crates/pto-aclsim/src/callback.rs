//! Callbacks of a stream that run on a thread which asked for them (`aclrtSubscribeReport`, `aclrtProcessReport`).

use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::codes;
use crate::failure::{Failure, Outcome};
use crate::stream::Task;

/// A function of the host and its argument.
#[derive(Clone, Copy)]
pub(crate) struct HostCall {
    pub(crate) function: unsafe extern "C" fn(*mut c_void),
    pub(crate) argument: *mut c_void,
}

// SAFETY: who launches a host function gives its argument to whatever thread the function is called on.
unsafe impl Send for HostCall {}

impl HostCall {
    fn call(self) {
        // SAFETY: who launched it vouches for function and argument.
        unsafe { (self.function)(self.argument) };
    }
}

/// On a stream, it runs on the stream's own thread.
impl Task for HostCall {
    fn label(&self) -> String {
        "a host function".into()
    }
    fn run(self: Box<Self>) -> Outcome<()> {
        self.call();
        Ok(())
    }
}

/// What waits for one thread.
#[derive(Default)]
struct Inbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    calls: VecDeque<HostCall>,
    posted: u64,
    done: u64,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who subscribed: an inbox per thread, and the thread of each stream.
#[derive(Default)]
struct Subscriptions {
    inboxes: HashMap<u64, Arc<Inbox>>,
    threads: HashMap<usize, u64>,
}

static SUBSCRIPTIONS: LazyLock<Mutex<Subscriptions>> = LazyLock::new(Mutex::default);

fn lock() -> MutexGuard<'static, Subscriptions> {
    SUBSCRIPTIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Callbacks of this stream go to this thread from now on.
pub(crate) fn subscribe(thread: u64, stream: usize) {
    let mut subscriptions = lock();
    subscriptions.threads.insert(stream, thread);
    subscriptions.inboxes.entry(thread).or_default();
}

fn not_subscribed(stream: usize) -> Failure {
    let message = format!("no thread subscribed to callbacks of stream {stream:#x}: call `aclrtSubscribeReport`");
    Failure::new(codes::ACL_ERROR_RT_STREAM_NO_CB_REG, message)
}

/// Ends a subscription.
pub(crate) fn unsubscribe(thread: u64, stream: usize) -> Outcome<()> {
    let mut subscriptions = lock();
    if subscriptions.threads.get(&stream) != Some(&thread) {
        return Err(not_subscribed(stream));
    }
    subscriptions.threads.remove(&stream);
    if !subscriptions.threads.values().any(|other| *other == thread) {
        subscriptions.inboxes.remove(&thread);
    }
    Ok(())
}

/// The task that posts a callback to the thread of a stream; `blocks` makes the stream wait until it ran.
pub(crate) fn post(call: HostCall, stream: usize, blocks: bool) -> Outcome<impl Task + use<>> {
    let subscriptions = lock();
    let inbox = subscriptions.threads.get(&stream).and_then(|thread| subscriptions.inboxes.get(thread));
    inbox.map(|inbox| Post { inbox: Arc::clone(inbox), call, blocks }).ok_or_else(|| not_subscribed(stream))
}

struct Post {
    inbox: Arc<Inbox>,
    call: HostCall,
    blocks: bool,
}

impl Task for Post {
    fn label(&self) -> String {
        "a callback".into()
    }
    fn run(self: Box<Self>) -> Outcome<()> {
        let mut state = self.inbox.lock();
        state.calls.push_back(self.call);
        state.posted += 1;
        let number = state.posted;
        self.inbox.changed.notify_all();
        if self.blocks {
            let waiting = self.inbox.changed.wait_while(state, |state| state.done < number);
            drop(waiting.unwrap_or_else(PoisonError::into_inner));
        }
        Ok(())
    }
}

/// Runs the next callback of the calling thread; waits for one for at most `limit`.
///
/// # Errors
/// The thread did not subscribe, or nothing came.
pub(crate) fn process(thread: u64, limit: Option<Duration>) -> Outcome<()> {
    let inbox = lock().inboxes.get(&thread).cloned().ok_or_else(|| {
        let message = "this thread did not subscribe to callbacks: call `aclrtSubscribeReport`";
        Failure::new(codes::ACL_ERROR_RT_THREAD_SUBSCRIBE, message)
    })?;
    let empty = |state: &mut State| state.calls.is_empty();
    let mut state = match limit {
        None => inbox.changed.wait_while(inbox.lock(), empty).unwrap_or_else(PoisonError::into_inner),
        Some(limit) => {
            let waited = inbox.changed.wait_timeout_while(inbox.lock(), limit, empty);
            waited.unwrap_or_else(PoisonError::into_inner).0
        }
    };
    let call = state.calls.pop_front().ok_or_else(|| {
        let message = format!("no callback came within {} ms", limit.unwrap_or_default().as_millis());
        Failure::new(codes::ACL_ERROR_RT_REPORT_TIMEOUT, message)
    })?;
    drop(state);
    call.call();
    inbox.lock().done += 1;
    inbox.changed.notify_all();
    Ok(())
}
