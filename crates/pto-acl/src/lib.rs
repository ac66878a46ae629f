//! `libascendcl`, the library that drives Ascend NPUs, loaded at run time and used in three layers:
//!
//! - [`sys`]: the vendor's C as it is: types, constants, and a table of function pointers;
//! - [`Acl`] and its methods (module `result`): each function returns a [`Result`];
//! - [`Device`], [`Stream`], [`Event`], [`DeviceBuffer`]: handles that own what they stand for.
//!
//! Lower layers stay reachable from the higher ones. This crate must not know which library implements the functions: a
//! card's, a simulator's, or one made for a test. It is told by a [`LoadPlan`].
//!
//! ```no_run
//! use pto_acl::{Acl, Device, LoadPlan};
//!
//! # fn main() -> Result<(), pto_acl::Error> {
//! let acl = Acl::load(&LoadPlan::new(["/opt/cann/lib64/libascendcl.so"]))?;
//! let device = Device::open(&acl, 0)?;
//! let mut buffer = device.alloc(4096)?;
//! buffer.fill(0)?;
//! # Ok(())
//! # }
//! ```

mod codes;
mod error;
mod load;
mod result;
mod safe;
pub mod sys;

pub use codes::{KnownCode, known_code, known_codes, suspect_after};
pub use error::{AclError, Attempt, Error};
pub use load::{Acl, LoadPlan};
pub use result::{CoreCounts, MemInfo};
pub use safe::{Device, DeviceBuffer, Event, Stream};
