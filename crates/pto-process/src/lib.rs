//! The only place in ptokit that starts a child process.
//!
//! An [`Invocation`] is a value: it can be printed (shell-quoted, secrets masked), compared and tested without running
//! anything. Running it is another verb, and every run obeys the same rules:
//!
//! - the environment is that of the [`Context`](pto_context::Context) plus the invocation's own changes, never that of
//!   this process; standard input is empty unless bytes are given;
//! - the child leads a process group of its own. A deadline sends TERM to the group, then, after a grace period, KILL.
//!   What is left of the group when its leader has ended is killed too, so a run leaves nothing behind that did not
//!   deliberately move to a group of its own;
//! - both streams are drained all the time, and memory is bounded: of a very long stream head and tail are kept, and
//!   how much fell out between them is said;
//! - nothing can hang a run for ever: not a grandchild that ignores TERM and keeps a pipe open, not a process stuck in
//!   a device driver that not even KILL ends;
//! - Ctrl-C ends children first ([`interrupt`]), dropping a [`Running`] child kills and reaps it, and a parent that is
//!   itself killed takes its children along (Linux; the children themselves, not what they in turn have started);
//! - what is shown to people (command lines, streamed lines, errors) has declared secrets and the user part of URLs
//!   replaced by `***`.
//!
//! This crate must not know what it runs: no tool's flags, names or output formats.
//!
//! ```
//! use pto_context::Context;
//! use pto_process::{Invocation, Status};
//!
//! # fn main() -> Result<(), pto_process::Error> {
//! let cx = Context::fake("/", [("PATH", "/usr/bin:/bin")]);
//! let hello = Invocation::new("sh").args(["-c", "echo \"hello $NAME\""]).env("NAME", "kernel");
//! assert_eq!(hello.to_shell_line(), r#"NAME=kernel sh -c 'echo "hello $NAME"'"#);
//!
//! let output = hello.run(&cx)?.require_success()?;
//! assert_eq!(output.status, Status::Exited(0));
//! assert_eq!(output.stdout.text(), "hello kernel\n");
//! # Ok(())
//! # }
//! ```

mod capture;
mod error;
mod find;
mod group;
pub mod interrupt;
mod invocation;
mod lines;
mod mask;
mod output;
mod pipes;
mod replace;
mod running;
mod spawn;

pub use capture::Captured;
pub use error::Error;
pub use find::find_program;
pub use invocation::{DEFAULT_CAPTURE_LIMIT, DEFAULT_GRACE, Invocation, Stdin, shell_word};
pub use mask::masked;
pub use output::{Output, Status, Stream};
pub use running::Running;
