//! The worker's side: one launch, with all its repeats, in this process, which then ends.

mod keeper;
mod notes;
mod process;
mod session;
mod steps;
mod timed;
mod watchdog;

use std::io::Write;
use std::time::Duration;

use crate::exchange::{Answer, Exchange, Refusal, Report};
use crate::phase::Phase;
use crate::request::LaunchRequest;
use crate::verdict::Verdict;
use pto_acl::Acl;
use pto_platform::RunMode;

use session::Session;
use steps::Steps;
use watchdog::Watchdog;

/// The first argument that makes a program a worker. The second is the directory of the launch. A third is the limit of the
/// process in milliseconds, for a worker whose caller cannot keep it.
pub const ARGUMENT: &str = "__pto-launch-worker";

/// Set for every worker, so that a program which does not notice that it is one cannot start workers without end.
pub(crate) const VARIABLE: &str = "PTO_LAUNCH_WORKER";

/// Makes this process a worker, if it was started as one, and then does not return. The first line of `main` of every
/// program that launches.
pub fn intercept() {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_none_or(|first| first != ARGUMENT) {
        return;
    }
    let exchange = Exchange::new(args.next().unwrap_or_default());
    let limit = args.next().and_then(|word| word.to_str()?.parse().ok()).map(Duration::from_millis);
    keeper::fork(&exchange, limit);
    run(&exchange)
}

fn run(exchange: &Exchange) -> ! {
    exchange.enter(0, Phase::Open);
    let watchdog = Watchdog::start(exchange);
    let (request, mut session) = match open(exchange) {
        Ok(opened) => opened,
        Err(refusal) => leave(exchange, &Answer::Refused(refusal)),
    };
    let steps = Steps { exchange, watchdog: &watchdog, limits: request.limits };
    let outcome = session.launch_all(&steps, &request).and_then(|()| session.time(&steps, &request));
    process::occupy_standard_descriptors();
    let verdict = match session::verdict(exchange, &request, outcome) {
        Ok(verdict) => verdict,
        Err(refusal) => leave(exchange, &Answer::Refused(refusal)),
    };
    let completed = verdict == Verdict::Completed;
    let mut report = Report { verdict, notes: Vec::new(), runs: session.runs(), samples: session.samples() };
    // Answered twice: a kernel that was stopped midway may hold a lock that its runtime's report needs.
    answer(exchange, &Answer::Launched(report.clone()));
    report.notes = session.notes();
    let last = Answer::Launched(report);
    if !completed {
        leave(exchange, &last);
    }
    answer(exchange, &last);
    exchange.enter(request.repeats - 1, Phase::Teardown);
    watchdog.limit(Phase::Teardown, request.limits.teardown);
    drop(session);
    std::process::exit(0)
}

fn open(exchange: &Exchange) -> Result<(LaunchRequest, Session), Refusal> {
    let unreadable = |error| Refusal::Setup { message: format!("unreadable request: {error}"), hint: None };
    let request = exchange.read_request().map_err(unreadable)?;
    process::prepare(request.memory_limit);
    let session = Session::open(exchange, &request)?;
    Ok((request, session))
}

/// Says which libraries this process runs with.
fn tell_run_mode(exchange: &Exchange, acl: &Acl) {
    // Lossy: a path that is no Unicode elsewhere in the map must not hide the rest.
    let maps = std::fs::read("/proc/self/maps").unwrap_or_default();
    if let Some(mode) = RunMode::of_maps(&String::from_utf8_lossy(&maps)) {
        exchange.write_run_mode(&RunMode { played: acl.exports(RunMode::PLAYED_BY), ..mode });
    }
}

/// Answers and ends the process on the spot. After a fault cores may still run or hold locks, and a device that hangs
/// makes every release wait for it: nothing of this process is worth releasing in order.
fn leave(exchange: &Exchange, last: &Answer) -> ! {
    answer(exchange, last);
    process::end(0)
}

/// Writes the answer, or says that there is none and ends the process.
fn answer(exchange: &Exchange, answer: &Answer) {
    if let Err(error) = exchange.write_answer(answer) {
        exchange.give_up();
        let _ = writeln!(std::io::stderr(), "{error}");
        process::end(1)
    }
}
