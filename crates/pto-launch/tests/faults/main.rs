//! Faults by the hundred, each deed at each place: the verdict is right, comes in time, leaves no process behind, and the
//! next kernel runs as if nothing had been.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stderr, reason = "how many there were is part of the result")]

mod plan;
#[path = "../support/mod.rs"]
mod support;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use plan::{End, Fault, Short};
use pto_launch::{LaunchError, Launched, Verdict};
use support::{N, Rig, filled, library};

/// Hangs wait and do not compute: more at once than there are processors.
const AT_ONCE: usize = 6;

/// A launch ends so long after its limit at the latest, on a machine that does other work as well.
const PATIENCE: Duration = Duration::from_secs(60);

fn end_of(result: &Result<Launched, LaunchError>) -> Result<End, String> {
    let launched = match result {
        Ok(launched) => launched,
        Err(LaunchError::Setup { .. } | LaunchError::Exchange(_)) => return Ok(End::NotTried),
        Err(error) => return Err(format!("no verdict at all: {error}")),
    };
    let known = |signal: &str| {
        let names = ["SIGSEGV", "SIGABRT", "SIGILL", "SIGFPE", "SIGBUS", "SIGTERM", "SIGKILL"];
        names.into_iter().find(|name| *name == signal).ok_or_else(|| format!("died by {signal}"))
    };
    match &launched.verdict {
        Verdict::Completed if launched.outputs["y"] != filled(N) => Err("completed with wrong outputs".to_owned()),
        Verdict::Completed if launched.variants.count() != 1 => Err("the repeats differ".to_owned()),
        Verdict::Completed => Ok(End::Completed),
        Verdict::Crashed { signal, phase, .. } => Ok(End::Crashed(known(signal)?, *phase)),
        Verdict::Exited { code, phase, .. } => Ok(End::Exited(*code, *phase)),
        Verdict::Hung { phase, .. } => Ok(End::Hung(*phase)),
        Verdict::Fault { code, .. } => Ok(End::Fault(*code)),
    }
}

/// Injects one fault; what is wrong with what came of it.
fn inject(fault: &Fault) -> Result<(), String> {
    let library = library("faults.c").ok_or("no compiler")?;
    let rig = fault.vars.iter().fold(Rig::new(), |rig, (name, value)| rig.with_var(name, value));
    let mut request = rig.request(&library, "faulty");
    request.repeats = 2;
    request.memory_limit = fault.memory;
    let limit = match fault.short {
        Short::None => request.limits.process,
        Short::Phase => {
            let short = Short::PHASE;
            (request.limits.launch, request.limits.sync, request.limits.teardown) = (short, short, short);
            request.limits.process
        }
        Short::Process => {
            request.limits.process = Short::PROCESS;
            Short::PROCESS
        }
    };
    let begin = Instant::now();
    let result = rig.launch(&request);
    if begin.elapsed() > limit + PATIENCE {
        return Err(format!("took {:?}", begin.elapsed()));
    }
    match end_of(&result)? {
        end if fault.ends.contains(&end) => Ok(()),
        end => Err(format!("{end:?}, expected one of {:?}", fault.ends)),
    }
}

fn inject_all(kind: &str, faults: &[Fault]) {
    if library("faults.c").is_none() {
        return;
    }
    let begin = Instant::now();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(fault) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(why) = inject(fault) {
                wrong.lock().unwrap().push(format!("{}: {why}", fault.name));
            }
        }
    };
    std::thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(work))));
    eprintln!("{} faults injected ({kind}) in {:.1?}", faults.len(), begin.elapsed());
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), faults.len(), wrong.join("\n"));
}

#[test]
fn there_are_enough_of_them() {
    let kinds = [plan::crashes(), plan::exits(), plan::hangs(), plan::leftovers(), plan::library_faults()];
    let count: usize = kinds.iter().map(Vec::len).sum();
    eprintln!("{count} faults in all");
    assert!(count >= 200, "{count}");
}

#[test]
fn crashes() {
    inject_all("crashes", &plan::crashes());
}

#[test]
fn ends_of_the_process() {
    inject_all("ends of the process", &plan::exits());
}

#[test]
fn hangs() {
    inject_all("hangs", &plan::hangs());
}

#[test]
fn what_is_left_behind() {
    inject_all("left behind", &plan::leftovers());
}

#[test]
fn faults_of_the_library() {
    inject_all("of the library", &plan::library_faults());
}
