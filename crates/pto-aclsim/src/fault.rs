//! Faults injected by name: the plan, read from text, and what each action does to the call it hits.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::abi::FUNCTIONS;
use crate::failure::Failure;

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// It fails with this code.
    Code(i32),
    /// It never returns.
    Hang,
    /// It dies by `SIGSEGV`.
    Crash,
    /// It dies by `SIGABRT`.
    Abort,
    /// It waits, then goes on.
    Delay(Duration),
    /// It ends the process with this status.
    Exit(i32),
}

#[derive(Debug)]
struct Fault {
    function: &'static str,
    action: Action,
    /// The call that is hit, counted from 1; `None` hits all.
    at: Option<u64>,
    calls: AtomicU64,
}

/// The faults of this process.
#[derive(Debug, Default)]
pub(crate) struct FaultPlan(Vec<Fault>);

impl FaultPlan {
    /// Reads `FUNCTION=ACTION[@K],...`. The error says which entry is wrong and what was expected.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        text.split(',')
            .map(str::trim)
            .filter(|entry| !entry.is_empty())
            .map(Fault::parse)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The action that hits this call of `function`, if any. Counts the call.
    pub(crate) fn next(&self, function: &str) -> Option<Action> {
        let mut hit = None;
        for fault in self.0.iter().filter(|fault| fault.function == function) {
            let call = fault.calls.fetch_add(1, Ordering::Relaxed) + 1;
            if fault.at.is_none_or(|at| at == call) {
                hit = hit.or(Some(fault.action));
            }
        }
        hit
    }
}

impl Fault {
    fn parse(entry: &str) -> Result<Self, String> {
        let (function, rest) = entry
            .split_once('=')
            .ok_or_else(|| format!("`{entry}` has no `=`; expected `FUNCTION=ACTION` or `FUNCTION=ACTION@K`"))?;
        let function = FUNCTIONS.iter().copied().find(|known| *known == function.trim()).ok_or_else(|| {
            format!("`{entry}` names the function `{}`, which this library does not have", function.trim())
        })?;
        let (action, at) = match rest.split_once('@') {
            None => (rest, None),
            Some((action, call)) => (action, Some(call_number(entry, call)?)),
        };
        Ok(Self { function, action: Action::parse(entry, action.trim())?, at, calls: AtomicU64::new(0) })
    }
}

fn call_number(entry: &str, text: &str) -> Result<u64, String> {
    match text.trim().parse() {
        Ok(call) if call > 0 => Ok(call),
        _ => Err(format!("`{entry}` has `{text}` after `@`; expected the number of a call, counted from 1")),
    }
}

impl Action {
    fn parse(entry: &str, text: &str) -> Result<Self, String> {
        let (word, value) = text.split_once(':').map_or((text, None), |(word, value)| (word, Some(value)));
        let wrong = || {
            format!(
                "`{entry}` has the action `{text}`; expected an error code, `hang`, `crash`, `abort`, `delay:MS` or `exit:N`"
            )
        };
        match (word, value) {
            ("hang", None) => Ok(Self::Hang),
            ("crash", None) => Ok(Self::Crash),
            ("abort", None) => Ok(Self::Abort),
            ("delay", Some(ms)) => ms.parse().map(|ms| Self::Delay(Duration::from_millis(ms))).map_err(|_| wrong()),
            ("exit", Some(status)) => status.parse::<u8>().map(|status| Self::Exit(status.into())).map_err(|_| wrong()),
            (code, None) => code.parse().ok().filter(|code| *code != 0).map(Self::Code).ok_or_else(wrong),
            _ => Err(wrong()),
        }
    }

    /// Does it to the calling thread. `Err` is what the call shall answer; `Ok` lets it go on.
    pub(crate) fn strike(self, function: &str) -> Result<(), Failure> {
        match self {
            Self::Code(code) => Err(Failure::new(code, format!("injected fault: `{function}` fails with {code}"))),
            Self::Delay(time) => {
                std::thread::sleep(time);
                Ok(())
            }
            Self::Hang => loop {
                std::thread::park(); // wakes up now and then without a reason
            },
            Self::Crash => {
                let nowhere: *mut u8 = std::ptr::without_provenance_mut(8);
                // SAFETY: none: nothing is mapped there, and dying of it is what was asked for.
                unsafe { nowhere.write_volatile(0) };
                std::process::abort()
            }
            Self::Abort => std::process::abort(),
            Self::Exit(status) => std::process::exit(status),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_action_is_read() {
        let rows = [
            ("207001", Action::Code(207_001)),
            ("-1", Action::Code(-1)),
            ("hang", Action::Hang),
            ("crash", Action::Crash),
            ("abort", Action::Abort),
            ("delay:20", Action::Delay(Duration::from_millis(20))),
            ("exit:3", Action::Exit(3)),
        ];
        for (text, action) in rows {
            let plan = FaultPlan::parse(&format!("aclrtMalloc={text}")).unwrap();
            assert_eq!(plan.next("aclrtMalloc"), Some(action), "{text}");
        }
    }

    #[test]
    fn only_the_numbered_call_is_hit() {
        let plan = FaultPlan::parse("aclrtMalloc=207001@3, aclrtFree=hang").unwrap();
        let hits: Vec<_> = (0..5).map(|_| plan.next("aclrtMalloc").is_some()).collect();
        assert_eq!(hits, [false, false, true, false, false]);
        assert_eq!((plan.next("aclrtFree"), plan.next("aclrtMemset")), (Some(Action::Hang), None));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let rows = [
            ("aclrtMalloc", "has no `=`"),
            ("aclrtMaloc=1", "`aclrtMaloc`, which this library does not have"),
            ("aclrtMalloc=0", "the action `0`"),
            ("aclrtMalloc=explode", "the action `explode`"),
            ("aclrtMalloc=exit:300", "the action `exit:300`"),
            ("aclrtMalloc=delay", "the action `delay`"),
            ("aclrtMalloc=1@0", "`0` after `@`"),
        ];
        for (text, expected) in rows {
            let message = FaultPlan::parse(text).unwrap_err();
            assert!(message.contains(expected), "{text}: {message}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_plan_or_an_error(text in "\\PC*") {
            let _ = FaultPlan::parse(&text);
        }

        #[test]
        fn a_code_and_a_call_survive(code in 1..i32::MAX, call in 1..100u64) {
            let plan = FaultPlan::parse(&format!("aclInit={code}@{call}")).unwrap();
            for number in 1..=100 {
                prop_assert_eq!(plan.next("aclInit"), (number == call).then_some(Action::Code(code)));
            }
        }
    }
}
