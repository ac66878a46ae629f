//! What the end of a simulator says of the launch below it.

use std::time::Duration;

use pto_platform::Target;
use pto_process::{Output, Status};

use super::{Simulation, Simulator};
use crate::phase::Phase;
use crate::said::{self, signal_name};
use crate::verdict::Verdict;

/// A shell that ran a program which died by a signal exits with this and the signal's number.
const SHELL_SIGNAL: i32 = 128;

/// What an end says of a complete result.
#[derive(Debug)]
enum After {
    Fine,
    /// It stands, and this is to be said of the end.
    Warned(String),
    /// It does not stand.
    Overruled(Verdict),
}

enum End {
    Code(i32),
    Crash(String),
    Late(Duration),
}

impl Simulation {
    /// The verdict, and what else there is to say of the end. A result counts as complete when the worker had written all of
    /// it and gone on to release everything.
    pub(super) fn weigh(&self, ended: &Output, phase: Phase, verdict: Verdict) -> (Verdict, Option<String>) {
        match verdict {
            Verdict::Completed if phase == Phase::Teardown => match self.after_result(ended) {
                After::Fine => (Verdict::Completed, None),
                After::Warned(text) => (Verdict::Completed, Some(text)),
                After::Overruled(verdict) => (verdict, None),
            },
            // The worker died between its first answer and its last, or before it had any.
            Verdict::Completed | Verdict::Exited { .. } | Verdict::Crashed { .. } => {
                (self.without_result(ended, phase), None)
            }
            verdict @ (Verdict::Fault { .. } | Verdict::Hung { .. }) => (verdict, None),
        }
    }

    /// What an end says of the worker's own result, when it is `Completed` and there was nothing left to do but to release
    /// everything.
    ///
    /// The exit code of a simulator says nothing: it may be 1 after a flawless run. A crash says that something was not
    /// released in order, and is a failure too, with one exception: on A5 `cannsim record` is known to crash while it cleans
    /// up, after a valid result was written.
    fn after_result(&self, ended: &Output) -> After {
        let (path, phase) = (self.by.path(), Phase::Teardown);
        let last_words = || said::last_words(ended, said::is_telling);
        match end_of(ended.status) {
            End::Code(0) => After::Fine,
            End::Code(_) | End::Crash(_) if self.may_crash_in_teardown() => {
                let known = "it is known to crash while it cleans up, after a result that is complete";
                After::Warned(format!("`{path}` {}; {known}", ended.status))
            }
            End::Code(code) => {
                After::Warned(format!("`{path}` exited with code {code} after a result that is complete"))
            }
            End::Crash(signal) => After::Overruled(Verdict::Crashed { signal, phase, last_words: last_words() }),
            End::Late(limit) => After::Overruled(Verdict::hung(phase, limit, last_words())),
        }
    }

    /// Whether a bad end behind a complete result is a known fault of the simulator, and not the kernel's.
    fn may_crash_in_teardown(&self) -> bool {
        self.target == Target::A5 && matches!(self.by, Simulator::Cannsim { .. })
    }

    /// The verdict when there is no complete result, and the worker had begun: what the simulator's end says of the worker's.
    fn without_result(&self, ended: &Output, phase: Phase) -> Verdict {
        let last_words = said::last_words(ended, said::is_telling);
        match (&self.by, end_of(ended.status)) {
            (Simulator::Msprof { timeout, .. }, End::Code(_)) if ended.duration >= *timeout => {
                Verdict::hung(phase, *timeout, last_words)
            }
            (_, End::Code(code)) => Verdict::Exited { code, phase, last_words },
            (_, End::Crash(signal)) => Verdict::Crashed { signal, phase, last_words },
            (_, End::Late(limit)) => Verdict::hung(phase, limit, last_words),
        }
    }
}

/// What a status means. Simulators are scripts, in which a signal is an exit code.
fn end_of(status: Status) -> End {
    match status {
        Status::Exited(code)
            if code > SHELL_SIGNAL && signal_hook::low_level::signal_name(code - SHELL_SIGNAL).is_some() =>
        {
            End::Crash(signal_name(code - SHELL_SIGNAL))
        }
        Status::Exited(code) => End::Code(code),
        Status::Signaled { signal, .. } => End::Crash(signal_name(signal)),
        Status::TimedOut { deadline } => End::Late(deadline),
        // Of one that the user ended there is no verdict, so nobody asks.
        Status::Interrupted => End::Code(0),
    }
}

#[cfg(test)]
mod tests {
    use pto_process::Invocation;

    use super::super::tests::{cannsim, linked, msprof, simulation};
    use super::*;

    fn ended(script: &str) -> Output {
        let cx = pto_context::Context::fake("/", [("PATH", "/usr/bin:/bin")]);
        let limit = Duration::from_secs(if script.contains("sleep") { 1 } else { 60 });
        Invocation::new("sh").args(["-c", script]).deadline(limit).run(&cx).unwrap()
    }

    /// In one word, what is said of a complete result after such an end.
    fn after(by: Simulator, target: Target, script: &str) -> &'static str {
        match simulation(by, target).after_result(&ended(script)) {
            After::Fine => "fine",
            After::Warned(_) => "warned",
            After::Overruled(_) => "overruled",
        }
    }

    #[test]
    fn a_crash_behind_the_result_is_excused_for_cannsim_on_a5_alone() {
        for (script, excused, other) in [
            ("exit 0", "fine", "fine"),
            ("exit 1", "warned", "warned"),
            ("kill -SEGV $$", "warned", "overruled"),
            ("exit 139", "warned", "overruled"),
            ("kill -ABRT $$", "warned", "overruled"),
            ("sleep 60", "overruled", "overruled"),
        ] {
            assert_eq!(after(cannsim(), Target::A5, script), excused, "{script}");
            assert_eq!(after(msprof(), Target::A5, script), other, "{script}");
            assert_eq!(after(linked(), Target::A5, script), other, "{script}");
            assert_eq!(after(cannsim(), Target::A2a3, script), other, "{script}");
        }
    }

    /// The worker's first answer may be there and its last one not.
    #[test]
    fn a_result_that_is_not_complete_ends_as_its_simulator_did() {
        let judged =
            |phase, script| simulation(cannsim(), Target::A5).weigh(&ended(script), phase, Verdict::Completed).0;
        let (phase, last_words) = (Phase::Download, String::new);
        assert_eq!(judged(phase, "exit 0"), Verdict::Exited { code: 0, phase, last_words: last_words() });
        assert_eq!(judged(phase, "exit 3"), Verdict::Exited { code: 3, phase, last_words: last_words() });
        let crashed = Verdict::Crashed { signal: "SIGSEGV".to_owned(), phase, last_words: last_words() };
        assert_eq!(judged(phase, "exit 139"), crashed);
        assert_eq!(judged(phase, "sleep 60"), Verdict::hung(phase, Duration::from_secs(1), last_words()));
        assert_eq!(judged(Phase::Teardown, "exit 3"), Verdict::Completed, "it is complete");
    }
}
