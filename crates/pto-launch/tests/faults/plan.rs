//! Every fault as a value: what is done, where, under which limits, and which verdict is right.

use std::time::Duration;

use pto_launch::Phase;

/// What a launch may end with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// The outputs are right.
    Completed,
    Crashed(&'static str, Phase),
    Exited(i32, Phase),
    Hung(Phase),
    Fault(i32),
    /// There is no verdict: the launch could not be tried, or its answer could not be written.
    NotTried,
}

/// One fault.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) name: String,
    /// Variables of the worker that bring it about.
    pub(crate) vars: Vec<(&'static str, String)>,
    /// Which limits are short, so that what hangs is ended soon.
    pub(crate) short: Short,
    /// Bytes of address space, where the fault is to use them up.
    pub(crate) memory: Option<u64>,
    /// Any of these is right.
    pub(crate) ends: Vec<End>,
}

/// A limit of a phase begins with it, and can be short on the busiest machine. That of the process has to leave time to
/// get to the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Short {
    None,
    Phase,
    Process,
}

impl Short {
    pub(crate) const PHASE: Duration = Duration::from_millis(200);
    pub(crate) const PROCESS: Duration = Duration::from_secs(5);
}

/// Where a deed is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    name: &'static str,
    /// What the worker does then.
    phase: Phase,
}

pub(crate) const PLACES: [Place; 8] = [
    Place { name: "constructor", phase: Phase::Load },
    Place { name: "launcher", phase: Phase::Launch },
    Place { name: "launcher-thread", phase: Phase::Launch },
    Place { name: "kernel", phase: Phase::Synchronize },
    Place { name: "kernel-thread", phase: Phase::Synchronize },
    Place { name: "second-repeat", phase: Phase::Synchronize },
    Place { name: "atexit", phase: Phase::Teardown },
    Place { name: "destructor", phase: Phase::Teardown },
];

impl Place {
    /// A kernel may be under way before its launcher has returned.
    fn phases(self) -> Vec<Phase> {
        if self.phase == Phase::Synchronize { vec![Phase::Launch, self.phase] } else { vec![self.phase] }
    }

    fn ends(self, end: impl Fn(Phase) -> End) -> Vec<End> {
        self.phases().into_iter().map(end).collect()
    }

    fn fault(self, deed: &str, short: Short, ends: Vec<End>) -> Fault {
        Fault {
            name: format!("{deed} in {}", self.name),
            vars: vec![("FAULT_DEED", deed.to_owned()), ("FAULT_PLACE", self.name.to_owned())],
            short,
            memory: (deed == "memory").then_some(1 << 30),
            ends,
        }
    }
}

/// Deeds that end the process by a signal.
const CRASHES: [(&str, &[&str]); 10] = [
    ("segv", &["SIGSEGV"]),
    ("abort", &["SIGABRT"]),
    ("ill", &["SIGILL"]),
    ("fpe", &["SIGFPE"]),
    ("bus", &["SIGBUS"]),
    ("term", &["SIGTERM"]),
    ("kill", &["SIGKILL"]),
    ("kill-group", &["SIGKILL"]),
    ("kill-parent", &["SIGKILL"]),
    // Rust's own handler, which knows the main thread's stack, turns the signal into an abort.
    ("stack", &["SIGSEGV", "SIGABRT"]),
];

pub(crate) fn crashes() -> Vec<Fault> {
    let of = |place: Place| {
        let crash = move |(deed, signals): (&str, &[&'static str])| {
            let ends = signals.iter().flat_map(|signal| place.ends(|phase| End::Crashed(signal, phase)));
            place.fault(deed, Short::None, ends.collect())
        };
        CRASHES.into_iter().map(crash)
    };
    let memory = |place: Place| place.fault("memory", Short::None, place.ends(|phase| End::Crashed("SIGABRT", phase)));
    PLACES.into_iter().flat_map(of).chain(PLACES.map(memory)).collect()
}

pub(crate) fn exits() -> Vec<Fault> {
    let deeds = [("exit-0", 0), ("exit-7", 7), ("quick-exit-9", 9), ("exec-true", 0)];
    let exit = |place: Place, deed: &str, code: i32| {
        let ends = match (place.phase, code) {
            // All was done by then, and this is how a process ends well.
            (Phase::Teardown, 0) => vec![End::Completed],
            _ => place.ends(|phase| End::Exited(code, phase)),
        };
        place.fault(deed, Short::None, ends)
    };
    PLACES.into_iter().flat_map(|place| deeds.map(|(deed, code)| exit(place, deed, code))).collect()
}

pub(crate) fn hangs() -> Vec<Fault> {
    let deeds = ["pause", "spin", "ignore-term", "block-all", "breed-and-pause", "stop", "exec-sleep"];
    let hang = |place: Place, deed: &str| {
        // Nothing inside of a process that is stopped, or that is another program by now, can keep a limit.
        let from_outside = matches!(deed, "stop" | "exec-sleep") || place.phase == Phase::Load;
        match from_outside {
            true => place.fault(deed, Short::Process, place.ends(End::Hung)),
            false => place.fault(deed, Short::Phase, vec![End::Hung(place.phase)]),
        }
    };
    PLACES.into_iter().flat_map(|place| deeds.map(|deed| hang(place, deed))).collect()
}

/// What a launch survives, but must not leave behind.
pub(crate) fn leftovers() -> Vec<Fault> {
    let deeds = ["daemon", "breed", "shout", "close-all"];
    let harmless = |place: Place| deeds.map(|deed| place.fault(deed, Short::None, vec![End::Completed]));
    let no_answer = |place: &Place| place.phase != Phase::Teardown;
    let broken =
        |place: Place| ["full-disk", "remove-all"].map(|deed| place.fault(deed, Short::None, vec![End::NotTried]));
    PLACES.into_iter().flat_map(harmless).chain(PLACES.into_iter().filter(no_answer).flat_map(broken)).collect()
}

/// Functions of ACL with the call of each that is hit, and what the worker does then.
const FUNCTIONS: [(&str, Option<u32>, Phase); 13] = [
    ("aclInit", None, Phase::Open),
    ("aclrtSetDevice", None, Phase::Open),
    ("aclrtCreateStream", None, Phase::Open),
    ("aclrtMalloc", None, Phase::Upload),
    ("aclrtMemcpy", Some(1), Phase::Upload),
    ("aclrtCreateEvent", None, Phase::Upload),
    ("aclrtRecordEvent", Some(1), Phase::Upload),
    ("aclrtSynchronizeStreamWithTimeout", None, Phase::Synchronize),
    ("aclrtMemcpy", Some(2), Phase::Download),
    ("aclrtFree", None, Phase::Teardown),
    ("aclrtDestroyEvent", None, Phase::Teardown),
    ("aclrtDestroyStream", None, Phase::Teardown),
    ("aclrtResetDevice", None, Phase::Teardown),
];

/// Faults of the library that the launch goes through.
pub(crate) fn library_faults() -> Vec<Fault> {
    let fault = |(function, call, _): (&str, Option<u32>, Phase), action: &str, short, end: End| {
        let at = call.map(|call| format!("@{call}")).unwrap_or_default();
        let name = format!("{function}={action}{at}");
        Fault { vars: vec![("PTO_ACLSIM_FAULT", name.clone())], name, short, memory: None, ends: vec![end] }
    };
    let all = |function: (&'static str, Option<u32>, Phase)| {
        let phase = function.2;
        let code = match phase {
            Phase::Open => End::NotTried,
            // What a release answers comes too late to matter.
            Phase::Teardown => End::Completed,
            _ => End::Fault(507_899),
        };
        let hang = if matches!(phase, Phase::Synchronize | Phase::Teardown) { Short::Phase } else { Short::Process };
        [
            fault(function, "507899", Short::None, code),
            fault(function, "hang", hang, End::Hung(phase)),
            fault(function, "crash", Short::None, End::Crashed("SIGSEGV", phase)),
            fault(function, "abort", Short::None, End::Crashed("SIGABRT", phase)),
            fault(function, "exit:5", Short::None, End::Exited(5, phase)),
        ]
    };
    FUNCTIONS.into_iter().flat_map(all).collect()
}
