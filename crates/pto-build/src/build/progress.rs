//! How far a build is: the `[3/17]` of Ninja and the `[ 42%]` of Make.

use pto_context::{Context, Event};
use pto_process::{Invocation, Output, Stream};

use crate::error::{BuildError, Error};

/// A step of a build that is told about.
pub(crate) struct Step<'a> {
    /// Pairs its events.
    pub(crate) task: &'static str,
    /// For people: "Building the native extension".
    pub(crate) message: String,
    /// For errors: "build the native extension".
    pub(crate) action: &'static str,
    pub(crate) repository: &'a std::path::Path,
}

impl Step<'_> {
    /// Runs a command to its end and tells how far it is.
    pub(crate) fn run(&self, cx: &Context, command: &Invocation) -> Result<Output, Error> {
        let task = self.task.to_owned();
        cx.emit(Event::Started { task: task.clone(), message: self.message.clone(), total_bytes: None });
        let tell = |_: Stream, line: &str| {
            if let Some((done, total)) = steps(line) {
                cx.emit(Event::Steps { task: task.clone(), done, total });
            }
        };
        let output = command.run_streaming(cx, tell).map_err(Error::command(self.action, self.repository))?;
        if output.success() {
            let message = format!("{}: done in {:.1?}", self.message, output.duration);
            cx.emit(Event::Finished { task, message });
            return Ok(output);
        }
        let (repository, source) = (self.repository.to_owned(), pto_process::Error::Failed(Box::new(output)));
        Err(BuildError::NotBuilt { action: self.action, repository, source }.into())
    }
}

/// Steps done and steps in all.
fn steps(line: &str) -> Option<(u64, u64)> {
    let (inside, _) = line.trim_start().strip_prefix('[')?.split_once(']')?;
    let inside = inside.trim();
    if let Some(percent) = inside.strip_suffix('%') {
        return Some((percent.parse().ok()?, 100));
    }
    let (done, total) = inside.split_once('/')?;
    let (done, total) = (done.parse().ok()?, total.parse().ok()?);
    (done <= total).then_some((done, total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_generators_are_understood() {
        assert_eq!(steps("[3/17] Building CXX object x.o"), Some((3, 17)));
        assert_eq!(steps("[ 42%] Building CXX object x.o"), Some((42, 100)));
        for other in ["-- Configuring done", "[error] x", "[9/3] x", "array[1/2]"] {
            assert_eq!(steps(other), None, "{other}");
        }
    }
}
