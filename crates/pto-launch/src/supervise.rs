//! The caller's side: a worker is started, watched, and its end turned into a verdict.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use pto_context::Context;
use pto_process::{Invocation, Output, Status};

use crate::args::Argument;
use crate::error::LaunchError;
use crate::exchange::{Answer, Exchange};
use crate::request::LaunchRequest;
use crate::verdict::{Note, Verdict};
use crate::worker;

/// How many of its last lines are kept of a worker that died.
const LAST_WORDS: usize = 6;

/// The program that runs launches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    program: PathBuf,
}

impl Worker {
    /// The calling program itself; its `main` has to begin with [`worker::intercept`].
    ///
    /// # Errors
    /// The program's path cannot be found out.
    pub fn this_program() -> Result<Self, LaunchError> {
        Ok(Self { program: worker::current_program().map_err(LaunchError::Exchange)? })
    }

    /// Another program whose `main` begins with [`worker::intercept`].
    pub fn at(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into() }
    }

    /// Where the program is.
    pub fn program(&self) -> &std::path::Path {
        &self.program
    }
}

/// What a launch gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Launched {
    /// How it ended.
    pub verdict: Verdict,
    /// The output buffers by name; empty unless the launch completed.
    pub outputs: BTreeMap<String, Vec<u8>>,
    /// What the kernel's runtime counted.
    pub notes: Vec<Note>,
    /// From launch to end by the stream's clock, when events were recorded.
    pub device_time: Option<Duration>,
    /// From starting the worker to its end.
    pub duration: Duration,
    /// What the kernel wrote to stdout and stderr.
    pub said: String,
}

/// Launches in a process of its own and waits for its end.
///
/// # Errors
/// The launch could not be tried: see [`LaunchError`]. Whatever a kernel does is a verdict, not an error.
pub fn launch(cx: &Context, worker: &Worker, request: &LaunchRequest) -> Result<Launched, LaunchError> {
    let dir = tempfile::Builder::new().prefix("pto-launch-").tempdir().map_err(LaunchError::Exchange)?;
    let exchange = Exchange::new(dir.path());
    exchange.write_request(request).map_err(LaunchError::Exchange)?;
    let ended = Invocation::new(worker.program.clone())
        .args([worker::ARGUMENT.into(), exchange.path().as_os_str().to_owned()])
        .deadline(request.process_timeout)
        .run(cx)
        .map_err(|error| if error.is_interrupted() { LaunchError::Interrupted } else { LaunchError::Start(error) })?;
    let (verdict, notes, device_time) = judge(&exchange, &ended)?;
    let outputs = if verdict == Verdict::Completed { read_outputs(&exchange, request)? } else { BTreeMap::new() };
    let said = [ended.stdout.masked(), ended.stderr.masked()].concat();
    Ok(Launched { verdict, outputs, notes, device_time, duration: ended.duration, said })
}

/// The worker's answer counts only if the process then ended well: a kernel's library may still crash when it is unloaded.
fn judge(exchange: &Exchange, ended: &Output) -> Result<(Verdict, Vec<Note>, Option<Duration>), LaunchError> {
    let (phase, last_words) = (exchange.phase(), ended.last_words(LAST_WORDS));
    let verdict = match ended.status {
        Status::Interrupted => return Err(LaunchError::Interrupted),
        Status::Exited(0) => match exchange.read_answer() {
            Some(Answer::Setup(message)) => return Err(LaunchError::Setup { message }),
            Some(Answer::Launched { verdict, notes, device_time_ns }) => {
                return Ok((verdict, notes, device_time_ns.map(Duration::from_nanos)));
            }
            None => Verdict::Exited { code: 0, phase, last_words },
        },
        Status::Exited(code) => Verdict::Exited { code, phase, last_words },
        Status::Signaled { signal, .. } => {
            let name = signal_hook::low_level::signal_name(signal).map_or(format!("signal {signal}"), str::to_owned);
            Verdict::Crashed { signal: name, phase, last_words }
        }
        Status::TimedOut { deadline } => {
            let limit_ms = u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX);
            Verdict::Hung { phase, limit_ms, last_words }
        }
    };
    Ok((verdict, Vec::new(), None))
}

fn read_outputs(exchange: &Exchange, request: &LaunchRequest) -> Result<BTreeMap<String, Vec<u8>>, LaunchError> {
    let mut outputs = BTreeMap::new();
    for (index, argument) in request.arguments.iter().enumerate() {
        if let Argument::Buffer(buffer) = argument
            && buffer.output
        {
            outputs.insert(buffer.name.clone(), exchange.read_output(index).map_err(LaunchError::Exchange)?);
        }
    }
    Ok(outputs)
}
