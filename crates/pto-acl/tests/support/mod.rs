//! The simulated library, and children for scenarios that need a process or an environment of their own.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::path::PathBuf;
use std::process::Output;
use std::sync::Arc;
use std::time::Duration;

use ascendcl as _; // so that cargo builds the shared library
use pto_acl::{Acl, LoadPlan};

/// Set in a child.
const CHILD: &str = "PTO_ACL_TEST_CHILD";

/// The time after which a child that should have ended is killed.
const PATIENCE: Duration = Duration::from_secs(60);

/// The shared library: cargo puts it beside the test binary.
pub(crate) fn library() -> PathBuf {
    std::env::current_exe().unwrap().with_file_name("libascendcl.so")
}

/// The loaded library.
pub(crate) fn acl() -> Arc<Acl> {
    Acl::load(&LoadPlan::new([library()])).unwrap()
}

/// Runs `body`, the body of the test called `test`, in a child with these variables, and gives how it ended.
#[expect(clippy::disallowed_methods, reason = "a test sees whether it is the child")]
pub(crate) fn child(test: &str, vars: &[(&str, &str)], body: impl FnOnce()) -> Output {
    if std::env::var_os(CHILD).is_some() {
        body();
        std::process::exit(0);
    }
    let mut command = assert_cmd::Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env(CHILD, "1").envs(vars.iter().copied()).timeout(PATIENCE);
    command.output().unwrap()
}

/// The scenario held, and said nothing on stderr.
pub(crate) fn passed(output: &Output) {
    assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "nothing was left behind");
}
