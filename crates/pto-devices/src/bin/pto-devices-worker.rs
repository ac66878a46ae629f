//! A program that is the worker of the ACL probe and nothing else, for callers whose own `main` cannot begin with
//! [`pto_devices::acl_probe::intercept`].
#![expect(clippy::print_stderr, reason = "it has to say why it does nothing")]

use std::process::ExitCode;

fn main() -> ExitCode {
    const USAGE: u8 = 2;
    pto_devices::acl_probe::intercept();
    eprintln!("error: this program is started by others, to open one device");
    ExitCode::from(USAGE)
}
