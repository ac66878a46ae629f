//! The worker's side: one launch in this process, which then ends.

mod notes;
mod process;
mod session;
mod timed;

use std::io::Write;

use crate::exchange::{Answer, Exchange, Refusal, Report};
use crate::phase::Phase;
use crate::request::LaunchRequest;
use crate::verdict::Verdict;
use pto_acl::Acl;
use pto_platform::RunMode;

use session::Session;

/// The first argument that makes a program a worker. The second is the directory of the launch.
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
    run(&Exchange::new(args.next().unwrap_or_default()))
}

fn run(exchange: &Exchange) -> ! {
    exchange.enter(Phase::Open);
    let (request, mut session) = match open(exchange) {
        Ok(opened) => opened,
        Err(refusal) => leave(exchange, &Answer::Refused(refusal)),
    };
    let outcome = session.launch(exchange, &request).and_then(|()| session.time(exchange, &request));
    process::occupy_standard_descriptors();
    let verdict = match session::verdict(exchange, &request, outcome) {
        Ok(verdict) => verdict,
        Err(refusal) => leave(exchange, &Answer::Refused(refusal)),
    };
    let completed = verdict == Verdict::Completed;
    let mut report =
        Report { verdict, notes: Vec::new(), device_time_ns: session.device_time_ns(), samples: session.samples() };
    // Answered twice: a kernel that was stopped midway may hold a lock that its runtime's report needs.
    answer(exchange, &Answer::Launched(report.clone()));
    report.notes = session.notes();
    let last = Answer::Launched(report);
    if !completed {
        leave(exchange, &last);
    }
    answer(exchange, &last);
    exchange.enter(Phase::Teardown);
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
