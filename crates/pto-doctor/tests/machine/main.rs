//! Made-up machines, and what is said of them.

mod acl;
mod cases;
mod hosts;
mod support;
mod text;
mod whole;
