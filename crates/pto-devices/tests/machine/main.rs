//! Made-up machines, and which devices are found on them.

#![expect(unreachable_pub, reason = "`pub` says what the other modules of this test use")]

mod acl;
mod devices;
mod support;
