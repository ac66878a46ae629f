//! Made-up machines, and what is said of them.

#![expect(unreachable_pub, reason = "`pub` says what the other modules of this test use")]

mod bundle;
mod cases;
mod checkouts;
mod hosts;
mod python;
mod support;
mod text;
mod whole;
