//! Made-up machines, and what is said of them.

#![expect(unreachable_pub, reason = "`pub` says what the other modules of this test use")]

mod acl;
mod bundle;
mod cases;
mod devices;
mod hosts;
mod python;
mod support;
mod text;
mod whole;
