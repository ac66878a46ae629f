//! Device memory: who owns which addresses, and when they can be touched.
//!
//! One table under one lock. What the signal handler has to know is mirrored in [`registry`], which takes no lock.

mod access;
mod buffer;
pub(crate) mod registry;
mod table;

pub(crate) use access::{CopyAccess, KernelAccess, pin_all};
pub(crate) use table::{allocate, free, in_use, is_device_address, is_device_range, release_device};
