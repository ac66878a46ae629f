//! The last step of a program that ends in another one.

use std::os::unix::process::CommandExt as _;

use pto_context::{Context, Event};

use crate::error::Error;
use crate::interrupt;
use crate::invocation::Invocation;
use crate::running::bare_command;

impl Invocation {
    /// Puts the program into the place of this process: it has our terminal, our standard streams, our process group and
    /// our parent, and its exit code is ours. So nothing has to be handed on, signals and window sizes included. Deadline,
    /// standard input and masking of what it writes do not apply, since we are no longer there.
    ///
    /// Whatever has to be tidied up must be tidied up before: no destructor runs.
    ///
    /// # Errors
    /// Returns only if it cannot be started: not found, refused by the system, or an interrupt has been asked for.
    pub fn replace_this_process(&self, cx: &Context) -> Error {
        if interrupt::requested() {
            return Error::Interrupted { program: self.program_name() };
        }
        let mut command = match bare_command(self, cx, &self.directory(cx)) {
            Ok(command) => command,
            Err(error) => return error,
        };
        let line = self.to_shell_line();
        cx.emit(Event::Command { line: line.clone() });
        Error::Start { line, source: command.exec() }
    }
}
