//! Made-up machines, and which devices are found on them.

mod acl;
mod devices;
