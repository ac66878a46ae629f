//! Devices that are shared with other people: one launch at a time on each, and none on one that is not to be trusted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use pto_context::{Context, Event, with_causes};
use pto_quarantine::{Attempt, DEFAULT_TERM, DeviceLock, Holder, Quarantine, Standing};

use crate::error::LaunchError;
use crate::queue::{self, Queue};
use crate::request::LaunchRequest;
use crate::supervise::{Launched, Worker, launch, launch_in};

/// How often a waiter looks again. Not a blocking lock: a wait must end at an interrupt, and at the first device of several.
const POLL: Duration = Duration::from_millis(50);

/// How long a wait may last before the user is told whom it is for.
const QUIET: Duration = Duration::from_millis(500);

/// A device, as ACL counts it and as the rest of the machine does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Its number for ACL, among the devices that this process sees.
    pub device: u32,
    /// The N of its `/dev/davinciN`, by which processes agree on what is locked and set aside.
    pub node: u32,
}

/// The devices that launches may use, the best first. Each launch has its device to itself, among all processes of the
/// machine; after one that hung or faulted the device is set aside, and the next launch gets another.
#[derive(Debug)]
pub struct DevicePool {
    slots: Vec<Slot>,
    quarantine: Quarantine,
    holder: Holder,
    patience: Duration,
    /// Kept from launch to launch: a series of measurements is not to be interrupted by somebody else's.
    held: Mutex<Option<(Slot, DeviceLock)>>,
}

impl DevicePool {
    /// `command` tells others what the devices are used for; a launch waits for a device for `patience` at most.
    pub fn new(cx: &Context, slots: Vec<Slot>, command: &str, patience: Duration) -> Self {
        let user = cx.var("USER").or_else(|| cx.var("LOGNAME"));
        Self {
            slots,
            quarantine: Quarantine::of(cx),
            holder: Holder::this_process(user, command, SystemTime::now()),
            patience,
            held: Mutex::new(None),
        }
    }

    /// Launches on a device of the pool, one launch at a time.
    ///
    /// # Errors
    /// As [`launch`]; every device is set aside, or in use for longer than there is patience.
    pub fn launch(&self, cx: &Context, worker: &Worker, request: &LaunchRequest) -> Result<Launched, LaunchError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let (slot, lock) = match self.still_clean(held.take()) {
            Some(kept) => kept,
            None => self.take(cx)?,
        };
        let request = LaunchRequest { device: slot.device, ..request.clone() };
        let launched = match Queue::find(cx, slot.node, self.patience) {
            Some(queue) => launch_in(cx, worker, &request, &queue),
            None => {
                say_that_there_is_no_queue(cx);
                launch(cx, worker, &request)
            }
        };
        match launched.as_ref().ok().and_then(|launched| launched.verdict.suspicion()) {
            Some(why) => self.set_aside(cx, slot, &why),
            None => *held = Some((slot, lock)),
        }
        launched
    }

    /// Gives the device back that is kept for the next launch.
    pub fn release(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// What is held, unless somebody set it aside meanwhile.
    fn still_clean(&self, held: Option<(Slot, DeviceLock)>) -> Option<(Slot, DeviceLock)> {
        held.filter(|(slot, _)| !self.standing().is_set_aside(slot.node))
    }

    fn standing(&self) -> Standing {
        self.quarantine.standing(SystemTime::now())
    }

    /// Waits for the first device that is clean and free.
    fn take(&self, cx: &Context) -> Result<(Slot, DeviceLock), LaunchError> {
        let start = Instant::now();
        let (mut told, mut said) = (false, false);
        loop {
            let standing = self.standing();
            if let Some(why) = standing.unlisted.as_ref().filter(|_| !said) {
                said = true;
                cx.emit(Event::Warning { message: format!("nobody can tell which devices are set aside: {why}") });
            }
            let clean: Vec<Slot> =
                self.slots.iter().copied().filter(|slot| !standing.is_set_aside(slot.node)).collect();
            if clean.is_empty() {
                return Err(LaunchError::SetAside { devices: self.reasons(&standing) });
            }
            let mut busy = None;
            for slot in clean {
                match self.quarantine.try_lock(slot.node, &self.holder).map_err(LaunchError::Lock)? {
                    // Set aside by the last holder, between our look and its end.
                    Attempt::Taken(_) if self.standing().is_set_aside(slot.node) => {}
                    Attempt::Taken(lock) => return Ok(self.taken(cx, slot, lock, told.then_some(start))),
                    Attempt::Held(holder) => busy = busy.or(Some((slot.node, holder))),
                }
            }
            let Some((device, holder)) = busy else { continue };
            if start.elapsed() >= self.patience {
                return Err(LaunchError::Busy { device, holder, waited: self.patience });
            }
            if !told && start.elapsed() >= QUIET {
                told = true;
                let message =
                    format!("Waiting for device {device}: {}", Holder::who_has_it(holder.as_ref(), SystemTime::now()));
                cx.emit(Event::Started { task: TASK.to_owned(), message, total_bytes: None });
            }
            if pto_context::interrupt::requested() {
                return Err(LaunchError::Interrupted);
            }
            std::thread::sleep(POLL);
        }
    }

    fn taken(&self, cx: &Context, slot: Slot, lock: DeviceLock, waiting_since: Option<Instant>) -> (Slot, DeviceLock) {
        if let Some(since) = waiting_since {
            let message = format!("Device {} is free after {:.0?}", slot.node, since.elapsed());
            cx.emit(Event::Finished { task: TASK.to_owned(), message });
        }
        (slot, lock)
    }

    fn set_aside(&self, cx: &Context, slot: Slot, why: &str) {
        let node = slot.node;
        let why = format!("{}: {why}", self.holder.command);
        let message = match self.quarantine.put(node, &why, DEFAULT_TERM, SystemTime::now()) {
            Ok(_) => format!("device {node} is set aside for {} minutes: {why}", DEFAULT_TERM.as_secs() / 60),
            Err(error) => format!("device {node} may answer with errors from now on: {why}; {}", with_causes(&error)),
        };
        cx.emit(Event::Warning { message });
    }

    fn reasons(&self, standing: &Standing) -> Vec<(u32, String)> {
        let why = |node: u32| {
            let records = standing.of(node).map(|record| record.why.clone());
            let unread = standing.unread.iter().filter(|file| file.device == node);
            let unread = unread.map(|file| format!("`{}` {}", file.path.display(), file.why));
            records.chain(unread).next().unwrap_or_default()
        };
        self.slots.iter().map(|slot| (slot.node, why(slot.node))).collect()
    }
}

/// Once: whoever does not have it knows by then.
fn say_that_there_is_no_queue(cx: &Context) {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !Queue::has_given(cx) && !SAID.swap(true, Ordering::Relaxed) {
        let message = format!(
            "`{}` is not on `PATH`: devices are locked against other runs of ptokit, and against nobody else",
            queue::PROGRAM
        );
        cx.emit(Event::Warning { message });
    }
}

/// Pairs the events of a wait.
const TASK: &str = "wait:device";
