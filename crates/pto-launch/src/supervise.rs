//! The caller's side: a worker is started, watched, and its end turned into a verdict.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_context::Context;
use pto_process::{Invocation, Output, Status};

use crate::error::LaunchError;
use crate::exchange::{Answer, Exchange, KeptEnd, Refusal, Report};
use crate::phase::Phase;
use crate::queue::Queue;
use crate::request::LaunchRequest;
use crate::run::{self, Run, Variants};
use crate::said::{self, noise_removed, signal_name};
use crate::simulation::{Simulated, Simulation};
use crate::verdict::{Note, Verdict};
use crate::worker;
use pto_platform::RunMode;

/// How many bytes of each stream are kept: enough for every line a person reads, and little enough for a report of a
/// hundred cases.
const SAID: usize = 256 << 10;

/// A worker has nothing to tidy up: only a kernel that handles SIGTERM itself is still there after this.
const GRACE: Duration = Duration::from_secs(1);

/// The program that runs launches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    program: PathBuf,
    /// What is executed: the same file, by a path that stays valid.
    image: PathBuf,
}

impl Worker {
    /// The calling program itself; its `main` has to begin with [`worker::intercept`].
    ///
    /// # Errors
    /// The program's path cannot be found out.
    pub fn this_program() -> Result<Self, LaunchError> {
        let program = std::env::current_exe().map_err(LaunchError::Exchange)?;
        // While this program runs, cargo may put a new build in its place, which need not understand it any more. The
        // link leads to the file that runs, also when that has no name left.
        let running = Path::new("/proc/self/exe");
        let image = if running.exists() { running.to_owned() } else { program.clone() };
        Ok(Self { program, image })
    }

    /// Another program whose `main` begins with [`worker::intercept`].
    pub fn at(program: impl Into<PathBuf>) -> Self {
        let program = program.into();
        Self { image: program.clone(), program }
    }

    /// Where the program is.
    pub fn program(&self) -> &Path {
        &self.program
    }
}

/// What a launch gave.
#[derive(Debug, Clone)]
pub struct Launched {
    /// How it ended; `Completed` if every repeat did.
    pub verdict: Verdict,
    /// The device it ran on.
    pub device: u32,
    /// The repeat that was under way when it ended, counted from 1: the last, unless it ended early.
    pub repeat: u32,
    /// The output buffers of the first repeat by name; empty unless the launch completed.
    pub outputs: BTreeMap<String, Vec<u8>>,
    /// The repeats that completed, in order.
    pub runs: Vec<Run>,
    /// The outputs of the repeats that gave others than the first; none unless the launch completed.
    pub variants: Variants,
    /// What the kernel's runtime counted.
    pub notes: Vec<Note>,
    /// From launch to end by the stream's clock, when events were recorded; of several repeats the middle one.
    pub device_time: Option<Duration>,
    /// The times of the launches that were timed, in their order, by the stream's clock; empty unless that was asked for.
    pub samples: Vec<Duration>,
    /// From starting the worker to its end.
    pub duration: Duration,
    /// What the kernel wrote to stdout and then what it wrote to stderr, as it is; of each the first and last 128 KiB.
    pub said: String,
    /// The libraries it ran with; `None` when the worker did not come so far as to know.
    pub run_mode: Option<RunMode>,
    /// What the simulator left, where one was asked for.
    pub simulated: Option<Simulated>,
}

/// Launches in a process of its own and waits for its end. The worker gets the variables of `cx` and runs in its
/// directory.
///
/// # Errors
/// The launch could not be tried: see [`LaunchError`]. Whatever a kernel does is a verdict, not an error.
pub fn launch(cx: &Context, worker: &Worker, request: &LaunchRequest) -> Result<Launched, LaunchError> {
    launch_on(cx, worker, request, &By::Us)
}

/// The same as a task of the machine's queue.
pub(crate) fn launch_in(
    cx: &Context,
    worker: &Worker,
    request: &LaunchRequest,
    queue: &Queue,
) -> Result<Launched, LaunchError> {
    launch_on(cx, worker, request, &By::Queue(queue))
}

/// The same on CANN's model. The worker is started by a simulator, or replaced by a program that is linked with the model;
/// the verdict is the worker's, and no exit code of a simulator.
///
/// # Errors
/// As [`launch`], and where the simulator ends without having started the worker.
pub fn simulate(
    cx: &Context,
    worker: &Worker,
    request: &LaunchRequest,
    simulation: &Simulation,
) -> Result<Launched, LaunchError> {
    launch_on(cx, worker, request, &By::Simulator(simulation))
}

fn launch_on(cx: &Context, worker: &Worker, request: &LaunchRequest, by: &By<'_>) -> Result<Launched, LaunchError> {
    let simulation = by.simulation();
    if cx.var_os(worker::VARIABLE).is_some() {
        return Err(LaunchError::Nested);
    }
    request.check()?;
    if let Some(simulation) = simulation {
        let possible = simulation.by.path().check_launches(request.repeats, request.timing.is_some());
        possible.map_err(|why| LaunchError::Request { message: why.to_string() })?;
    }
    // Gone with all files of the launch when the value is dropped.
    let dir =
        tempfile::Builder::new().prefix("pto-launch-").tempdir_in(cx.temp_dir()).map_err(LaunchError::Exchange)?;
    let exchange = Exchange::new(dir.path());
    exchange.write_request(&request.in_directory(cx.cwd())).map_err(LaunchError::Exchange)?;
    let args = [worker::ARGUMENT.into(), exchange.path().as_os_str().to_owned()];
    let mut ended = started(cx, worker, &args, request, by)?
        .env(worker::VARIABLE, "1")
        .grace(GRACE)
        .capture_limit(2 * SAID)
        .run(cx)
        .map_err(|error| if error.is_interrupted() { LaunchError::Interrupted } else { LaunchError::Start(error) })?;
    if let By::Queue(_) = by {
        ended.status = kept_status(&exchange, &ended, request)?;
    }
    let report = judge(&exchange, &ended, worker, request, simulation)?;
    let (verdict, simulated) = match simulation {
        Some(simulation) => {
            let (verdict, simulated) = simulation.after(&exchange, &ended, report.verdict);
            (verdict, Some(simulated))
        }
        None => (report.verdict, None),
    };
    let completed = verdict == Verdict::Completed;
    let outputs = || request.buffers().filter(|(_, buffer)| buffer.output);
    Ok(Launched {
        outputs: match completed {
            true => run::read(&exchange, 0, outputs()).map_err(LaunchError::Exchange)?,
            false => BTreeMap::new(),
        },
        verdict,
        device: request.device,
        repeat: 1 + exchange.phase().map_or(0, |(run, _)| run),
        notes: report.notes,
        device_time: run::median_device_time(&report.runs),
        samples: report.samples,
        duration: ended.duration,
        said: match simulation {
            Some(_) => noise_removed(&[ended.stdout.masked(), ended.stderr.masked()].concat()),
            None => [ended.stdout.masked(), ended.stderr.masked()].concat(),
        },
        run_mode: exchange.read_run_mode(),
        simulated,
        variants: match completed {
            true => Variants::new(dir, &report.runs, outputs().map(|(index, buffer)| (index, buffer.named()))),
            false => Variants::default(),
        },
        runs: report.runs,
    })
}

/// Who starts the worker.
enum By<'a> {
    Us,
    Simulator(&'a Simulation),
    Queue(&'a Queue),
}

impl<'a> By<'a> {
    fn simulation(&self) -> Option<&'a Simulation> {
        if let Self::Simulator(simulation) = self { Some(simulation) } else { None }
    }
}

/// Whoever else starts the worker gets the program's name and not the link to the file that runs, which would lead to the
/// starter itself.
fn started(
    cx: &Context,
    worker: &Worker,
    args: &[OsString],
    request: &LaunchRequest,
    by: &By<'_>,
) -> Result<Invocation, LaunchError> {
    let process = request.limits.process;
    Ok(match by {
        By::Us => Invocation::new(worker.image.clone()).args(args).deadline(process),
        By::Simulator(simulation) => {
            simulation.make_output().map_err(LaunchError::Exchange)?;
            simulation.invocation(&worker.program, args)?.deadline(process)
        }
        By::Queue(queue) => queue.invocation(cx, &worker.program, args, process),
    })
}

/// How the worker of a task ended. The queue's own exit code is not asked: it is not always the task's.
fn kept_status(exchange: &Exchange, ended: &Output, request: &LaunchRequest) -> Result<Status, LaunchError> {
    match exchange.end() {
        _ if ended.status == Status::Interrupted => Err(LaunchError::Interrupted),
        Some(KeptEnd::Exited(code)) => Ok(Status::Exited(code)),
        Some(KeptEnd::Signaled(signal)) => Ok(Status::Signaled { signal, core: false }),
        Some(KeptEnd::TimedOut) => Ok(Status::TimedOut { deadline: request.limits.process }),
        None if exchange.phase().is_none() => Err(LaunchError::Queue {
            line: ended.line.clone(),
            status: ended.status.to_string(),
            last_words: said::last_words(ended, said::any),
        }),
        // It was killed together with its keeper.
        None => Ok(Status::Signaled { signal: signal_hook::consts::SIGKILL, core: false }),
    }
}

/// A bad end that the worker has seen stays one, however its process ends afterwards. A good one counts only if the
/// process then ended well too: a kernel's library may still crash when it is released. On a model the status is that of
/// the simulator, which is [weighed](Simulation::after) afterwards.
fn judge(
    exchange: &Exchange,
    ended: &Output,
    worker: &Worker,
    request: &LaunchRequest,
    simulation: Option<&Simulation>,
) -> Result<Report, LaunchError> {
    if ended.status == Status::Interrupted {
        return Err(LaunchError::Interrupted);
    }
    let answer = exchange.read_answer();
    let last_words = || said::last_words(ended, if simulation.is_some() { said::is_telling } else { said::any });
    if let Some(phase) = exchange.overdue() {
        let runs = match answer {
            Some(Answer::Launched(report)) => report.runs,
            _ => Vec::new(),
        };
        let verdict = Verdict::hung(phase, request.limits.of(phase), last_words());
        return Ok(Report { verdict, notes: Vec::new(), runs, samples: Vec::new() });
    }
    match answer {
        Some(Answer::Refused(refusal)) => Err(refused(refusal, request)),
        Some(Answer::Launched(mut report)) => {
            if let Verdict::Hung { last_words: words, .. } = &mut report.verdict {
                *words = last_words();
            } else if report.verdict == Verdict::Completed && ended.status != Status::Exited(0) && simulation.is_none()
            {
                report.verdict = death(exchange, ended, worker, last_words())?;
            }
            Ok(report)
        }
        None if !exchange.path().is_dir() => Err(LaunchError::Setup {
            message: format!("the directory of the launch, `{}`, was removed while it ran", exchange.path().display()),
            hint: Some("look for what removes files in it: the kernel, or a cleaner of temporary files".to_owned()),
        }),
        None if exchange.was_given_up() => Err(LaunchError::Setup {
            message: format!("the worker could not write its answer: {}", last_words()),
            hint: Some("free some space, or set `TMPDIR` to a directory on another disk".to_owned()),
        }),
        None if simulation.is_some() && exchange.phase().is_none() => Err(LaunchError::NotSimulated {
            line: ended.line.clone(),
            status: ended.status.to_string(),
            // Whatever it said: there is nothing else to go by.
            last_words: said::last_words(ended, said::any),
        }),
        None => Ok(Report {
            verdict: death(exchange, ended, worker, last_words())?,
            notes: Vec::new(),
            runs: Vec::new(),
            samples: Vec::new(),
        }),
    }
}

fn refused(refusal: Refusal, request: &LaunchRequest) -> LaunchError {
    let library = request.library.clone();
    match refusal {
        Refusal::Setup { message, hint } => LaunchError::Setup { message, hint },
        Refusal::Environment { message } => LaunchError::Environment { message },
        Refusal::NotLoaded { reason } => LaunchError::NotLoaded { library, reason },
        Refusal::NoSymbol => LaunchError::NoSymbol { library, symbol: request.symbol.clone() },
    }
}

/// The verdict on a process that ended before its time.
fn death(exchange: &Exchange, ended: &Output, worker: &Worker, last_words: String) -> Result<Verdict, LaunchError> {
    let entered = exchange.phase().map(|(_, phase)| phase);
    let phase = entered.unwrap_or(Phase::Open);
    match ended.status {
        Status::Exited(code) if entered.is_none() => {
            Err(LaunchError::NotAWorker { program: worker.program.clone(), code })
        }
        Status::Exited(code) => Ok(Verdict::Exited { code, phase, last_words }),
        Status::Signaled { signal, .. } => Ok(Verdict::Crashed { signal: signal_name(signal), phase, last_words }),
        Status::TimedOut { deadline } => Ok(Verdict::hung(phase, deadline, last_words)),
        Status::Interrupted => Err(LaunchError::Interrupted),
    }
}
