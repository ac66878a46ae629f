//! A program that is a worker and nothing else, for callers whose own `main` cannot begin with
//! [`pto_launch::worker::intercept`]: give its path to [`pto_launch::Worker::at`].
#![expect(clippy::print_stderr, reason = "it has to say why it does nothing")]

use std::process::ExitCode;

fn main() -> ExitCode {
    const USAGE: u8 = 2;
    pto_launch::worker::intercept();
    eprintln!("error: this program is started by others, to run one kernel");
    ExitCode::from(USAGE)
}
