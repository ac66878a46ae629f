//! Devices that nobody should use for a while: who set one aside, when, why, and until when; and who uses one now.
//!
//! After a kernel hung or faulted, its device may answer every later launch with an error that has nothing to do with the
//! later kernel. Whoever noticed puts the device into quarantine; whoever chooses a device asks first. The state is a
//! directory of small files that all users of the machine can add to ([`Quarantine::of`] says where): there is no daemon,
//! and each file is there whole or not at all. Several may set the same device aside; it is free when none of their
//! records counts any more, because it expired, was [released](Quarantine::release), or the machine was started anew.
//!
//! A device is the N of `/dev/davinciN` as this process sees it, so the directory must not be shared between a host and
//! containers that number their devices otherwise.
//!
//! In the same directory lies a lock per device, `davinciN.lock`, that any user can take ([`Quarantine::try_lock`]): two
//! runs on one device would disturb each other. The kernel gives it back when its process ends. Deleting the file takes
//! the lock from whoever holds it. Other names that only one process may have at a time are [claimed](Quarantine::try_claim)
//! there in the same way.
//!
//! This crate must not know what a device is, how it got sick, nor who launches what.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//!
//! use pto_context::Context;
//! use pto_quarantine::Quarantine;
//!
//! # fn main() -> Result<(), pto_quarantine::Error> {
//! # let dir = tempfile::tempdir().unwrap();
//! # let place = dir.path().join("quarantine");
//! let cx = Context::fake("/", [("PTOKIT_QUARANTINE", place.to_str().unwrap())]);
//! let quarantine = Quarantine::of(&cx);
//! let now = SystemTime::now();
//! quarantine.put(3, "a kernel did not end within 60 s", Duration::from_secs(3600), now)?;
//! assert!(quarantine.standing(now).is_set_aside(3));
//! assert!(!quarantine.standing(now + Duration::from_secs(3601)).is_set_aside(3));
//! quarantine.release(3)?;
//! assert!(!quarantine.standing(now).is_set_aside(3));
//! # Ok(())
//! # }
//! ```

mod claim;
mod error;
mod lock;
mod quarantine;
mod record;

pub use claim::Claim;
pub use error::Error;
pub use lock::{Attempt, DeviceLock, Holder};
pub use quarantine::{DEFAULT_TERM, Quarantine, Standing, Unread};
pub use record::Record;
