//! The simulated library, where cargo put it.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::path::PathBuf;
use std::sync::Arc;

use ascendcl as _; // so that cargo builds the shared library
use pto_acl::{Acl, LoadPlan};

/// The shared library: cargo puts it beside the test binary.
pub fn library() -> PathBuf {
    std::env::current_exe().unwrap().with_file_name("libascendcl.so")
}

/// The loaded library.
pub fn acl() -> Arc<Acl> {
    Acl::load(&LoadPlan::new([library()])).unwrap()
}
