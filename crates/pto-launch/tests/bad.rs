//! Kernels that do everything a kernel must not do: each becomes a verdict, and the next launch works.

mod support;

use std::time::{Duration, Instant};

use pto_launch::{Argument, LaunchRequest, Launched, Phase, Scalar, Verdict};
use support::{N, Rig, filled, library};

/// What is left of a verdict beside its words.
#[derive(Debug, PartialEq)]
enum End {
    Crashed(&'static str, Phase),
    Exited(i32, Phase),
    Hung(Phase),
    Fault(i32),
}
use End::{Crashed, Exited, Fault, Hung};

impl End {
    /// Whether `found` is this end. What a kernel does may happen before its launcher has returned.
    fn allows(&self, found: &Self) -> bool {
        match (self, found) {
            (Crashed(signal, Phase::Synchronize), Crashed(other, Phase::Launch)) => signal == other,
            (Exited(code, Phase::Synchronize), Exited(other, Phase::Launch)) => code == other,
            _ => self == found,
        }
    }
}

/// Launches `symbol` of `tests/kernels/FILE` and compares its end. Gives what was launched and its words.
fn expect(
    file: &'static str,
    symbol: &str,
    change: impl FnOnce(&mut LaunchRequest),
    ends: &[End],
) -> Option<(Launched, String)> {
    let library = library(file)?;
    let rig = Rig::new();
    let mut request = rig.request(&library, symbol);
    change(&mut request);
    let launched = rig.launch(&request).unwrap();
    let (end, words) = match launched.verdict.clone() {
        Verdict::Crashed { signal, phase, last_words } => {
            let known = ["SIGSEGV", "SIGABRT", "SIGKILL", "SIGBUS"].into_iter().find(|known| *known == signal);
            (Crashed(known.unwrap_or("another signal"), phase), last_words)
        }
        Verdict::Exited { code, phase, last_words } => (Exited(code, phase), last_words),
        Verdict::Hung { phase, last_words, .. } => (Hung(phase), last_words),
        Verdict::Fault { code, message, .. } => (Fault(code), message),
        Verdict::Completed => panic!("`{symbol}` completed: {}", launched.said),
    };
    assert!(
        ends.iter().any(|allowed| allowed.allows(&end)),
        "`{symbol}` ended with {end:?}, expected one of {ends:?}: {}",
        launched.said
    );
    assert!(launched.outputs.is_empty(), "outputs of a launch that did not complete");
    Some((launched, words))
}

fn kernel(symbol: &str, end: End) -> Option<(Launched, String)> {
    expect("kernels.c", symbol, |_| {}, &[end])
}

fn short_sync(request: &mut LaunchRequest) {
    request.limits.sync = Duration::from_millis(500);
}

/// Long enough for a worker to get as far as its kernel, short enough for a test.
fn short_process(request: &mut LaunchRequest) {
    request.limits.process = Duration::from_secs(3);
}

#[test]
fn crashes_name_the_signal_where_it_was_and_the_last_words() {
    let rows = [
        ("segv_in_launcher", Crashed("SIGSEGV", Phase::Launch), "about to write to 64"),
        ("segv_in_kernel", Crashed("SIGSEGV", Phase::Synchronize), "kernel about to write to 64"),
        ("abort_in_launcher", Crashed("SIGABRT", Phase::Launch), "assertion of mine failed"),
        ("abort_in_kernel", Crashed("SIGABRT", Phase::Synchronize), "assertion of mine failed"),
    ];
    for (symbol, end, words) in rows {
        let Some((launched, last_words)) = kernel(symbol, end) else { return };
        assert!(launched.said.contains(words), "{symbol}: {}", launched.said);
        // Of the two streams, stderr speaks: there the device says what the address was.
        assert!(last_words.contains(words) || last_words.contains("0x40"), "{symbol}: {last_words}");
        assert!(launched.verdict.to_string().contains(&last_words), "{symbol}");
    }
}

#[test]
fn a_killed_worker_is_not_mistaken_for_a_hung_one() {
    let Some((launched, _)) = kernel("killed", Crashed("SIGKILL", Phase::Launch)) else { return };
    assert!(launched.verdict.to_string().contains("memory"), "{}", launched.verdict);
    assert!(launched.verdict.hint().unwrap().contains("out of memory"));
}

#[test]
fn ending_the_process_is_no_success_whatever_the_code() {
    let Some((_, words)) = kernel("exit_0", Exited(0, Phase::Launch)) else { return };
    assert_eq!(words, "thank you and good bye");
    kernel("exit_3", Exited(3, Phase::Launch));
    kernel("exit_3_in_kernel", Exited(3, Phase::Synchronize));
    kernel("exit_at_once", Exited(0, Phase::Launch));
}

#[test]
fn a_stack_that_overflows_is_a_crash() {
    // Rust's own handler, which knows the main thread's stack, turns the signal into an abort.
    let ends = [Crashed("SIGSEGV", Phase::Launch), Crashed("SIGABRT", Phase::Launch)];
    let Some((_, words)) = expect("kernels.c", "stack_overflow_in_launcher", |_| {}, &ends) else { return };
    assert!(words.contains("stack"), "{words}");
    let ends = [Crashed("SIGSEGV", Phase::Synchronize), Crashed("SIGABRT", Phase::Synchronize)];
    let (_, words) = expect("kernels.c", "stack_overflow_in_kernel", |_| {}, &ends).unwrap();
    assert!(words.contains("stack"), "{words}");
}

#[test]
fn endless_allocation_meets_its_limit() {
    for (symbol, phase) in [("allocate_in_launcher", Phase::Launch), ("allocate_in_kernel", Phase::Synchronize)] {
        let limit = |request: &mut LaunchRequest| request.memory_limit = Some(512 << 20);
        let Some((_, words)) = expect("kernels.c", symbol, limit, &[Crashed("SIGABRT", phase)]) else { return };
        assert_eq!(words, "out of memory");
    }
}

#[test]
fn a_kernel_that_hangs_is_told_from_a_launcher_that_does() {
    let Some((launched, words)) = expect("kernels.c", "hang_in_kernel", short_sync, &[Hung(Phase::Synchronize)]) else {
        return;
    };
    assert!(matches!(launched.verdict, Verdict::Hung { limit_ms: 500, .. }), "{:?}", launched.verdict);
    assert_eq!(words, "kernel waits");
    expect("kernels.c", "spin_in_kernel", short_sync, &[Hung(Phase::Synchronize)]);
    let (launched, words) = expect("kernels.c", "hang_in_launcher", short_process, &[Hung(Phase::Launch)]).unwrap();
    assert!(matches!(launched.verdict, Verdict::Hung { limit_ms: 3000, .. }), "{:?}", launched.verdict);
    assert_eq!(words, "launcher waits");
}

#[test]
fn the_whole_process_has_a_limit_of_its_own() {
    expect("kernels.c", "hang_in_kernel", short_process, &[Hung(Phase::Synchronize)]);
}

#[test]
fn neither_sigterm_ignored_nor_a_child_keeps_a_worker_alive() {
    expect("kernels.c", "hang_and_ignore_sigterm", short_process, &[Hung(Phase::Launch)]);
    expect("kernels.c", "hang_with_grandchild", short_process, &[Hung(Phase::Launch)]);
}

#[test]
fn a_verdict_stands_although_the_runtime_does_not_answer_any_more() {
    let both = |request: &mut LaunchRequest| {
        short_sync(request);
        short_process(request);
    };
    let Some((launched, _)) = expect("kernels.c", "hang_with_a_lock", both, &[Hung(Phase::Synchronize)]) else {
        return;
    };
    assert!(matches!(launched.verdict, Verdict::Hung { limit_ms: 500, .. }), "{:?}", launched.verdict);
}

#[test]
fn the_end_of_the_process_counts_too() {
    let Some((launched, words)) =
        expect("teardown.cpp", "crash_in_destructor", |_| {}, &[Crashed("SIGSEGV", Phase::Teardown)])
    else {
        return;
    };
    assert!(words.contains("0x40") || words.contains("destructor runs"), "{words}");
    assert!(launched.verdict.hint().unwrap().contains("destructors"));
    expect("teardown.cpp", "exit_in_destructor", |_| {}, &[Exited(4, Phase::Teardown)]);
    expect("teardown.cpp", "hang_in_destructor", short_process, &[Hung(Phase::Teardown)]);
}

#[test]
fn an_exception_that_leaves_a_launcher_is_a_crash_that_says_what_was_thrown() {
    let end = [Crashed("SIGABRT", Phase::Launch)];
    let Some((launched, words)) = expect("teardown.cpp", "throw_from_launcher", |_| {}, &end) else { return };
    assert!(words.contains("runtime_error") && words.contains("no tiling for n = 3"), "{words}");
    let verdict = launched.verdict;
    assert!(verdict.to_string().contains("by a C++ exception that nobody caught"), "{verdict}");
    assert!(verdict.hint().unwrap().contains("catch its own exceptions"));
}

#[test]
fn a_library_that_dies_while_it_is_loaded() {
    let Some((launched, _)) = expect("constructor.c", "fill", |_| {}, &[Crashed("SIGABRT", Phase::Load)]) else {
        return;
    };
    assert!(launched.verdict.hint().unwrap().contains("constructors"));
}

#[test]
fn writes_past_a_buffer_are_seen() {
    // One element behind the buffer is its last 32-byte unit, with a canary in it; 64 elements behind it is the guard.
    let Some((launched, message)) = kernel("write_just_past_the_end", Fault(507_043)) else {
        return;
    };
    assert!(message.contains("past the end of") && message.contains("4004-byte"), "{message}");
    assert_eq!(launched.verdict.to_string().matches("507043").count(), 1, "{}", launched.verdict);
    let (_, words) = kernel("write_far_past_the_end", Crashed("SIGSEGV", Phase::Synchronize)).unwrap();
    assert!(words.contains("past the end of the 4004-byte device buffer"), "{words}");
}

#[test]
fn host_and_device_memory_are_two_things() {
    let Some((_, words)) = kernel("write_from_the_host", Crashed("SIGSEGV", Phase::Launch)) else { return };
    assert!(words.contains("device buffer"), "{words}");
    let (_, words) = kernel("host_pointer", Crashed("SIGSEGV", Phase::Synchronize)).unwrap();
    assert!(words.contains("0 host memory"), "{words}");
}

#[test]
fn a_fault_of_the_device_keeps_code_and_reason() {
    let Some((launched, message)) = kernel("deadlock", Fault(507_034)) else { return };
    assert_eq!(message, "deadlock: vector core 0.1 waits for flag 2");
    assert!(launched.verdict.to_string().starts_with("deadlock: vector core 0.1 waits for flag 2 [507034 "));
    assert_eq!(launched.notes.len(), 1, "notes are read after a fault too");
}

#[test]
fn what_a_kernel_prints_corrupts_nothing() {
    let Some(kernels) = library("kernels.c") else { return };
    let rig = Rig::new();
    let launched = rig.launch(&rig.request(&kernels, "shout")).unwrap();
    assert_eq!((launched.verdict, &launched.outputs["y"]), (Verdict::Completed, &filled(N)));
    assert!(launched.said.len() < 2 << 20, "{} bytes are kept", launched.said.len());
    assert!(launched.said.contains("bytes left out"));

    let (_, words) = kernel("last_words_without_end", Crashed("SIGABRT", Phase::Synchronize)).unwrap();
    assert_eq!(words.chars().count(), 2000);
    assert!(words.ends_with("x\u{fffd}[31mred"), "{words:?}");
}

#[test]
fn closed_descriptors_change_nothing() {
    let Some(kernels) = library("kernels.c") else { return };
    let rig = Rig::new();
    for symbol in ["close_everything", "go_elsewhere"] {
        let launched = rig.launch(&rig.request(&kernels, symbol)).unwrap();
        assert_eq!((launched.verdict, &launched.outputs["y"]), (Verdict::Completed, &filled(N)), "{symbol}");
    }
}

#[test]
fn what_is_printed_to_closed_descriptors_does_not_land_in_an_output() {
    /// Large enough that writing it takes a while, in which the kernel's thread prints.
    const MANY: usize = 1 << 20;
    let Some(kernels) = library("kernels.c") else { return };
    let rig = Rig::new();
    let mut request = rig.request(&kernels, "close_and_go_on_printing");
    let Argument::Buffer(y) = &mut request.arguments[2] else { panic!() };
    y.bytes = 4 * MANY;
    request.arguments[3] = Argument::Scalar(Scalar::U32(MANY as u32));
    for _ in 0..5 {
        let launched = pto_launch::launch(&rig.cx, &rig.worker, &request).unwrap();
        assert_eq!(launched.verdict, Verdict::Completed);
        assert!(launched.outputs["y"] == filled(MANY));
    }
    rig.assert_clean();
}

#[test]
fn processes_that_a_launcher_leaves_behind_are_ended() {
    let Some(kernels) = library("kernels.c") else { return };
    let rig = Rig::new();
    let launched = rig.launch(&rig.request(&kernels, "grandchild_stays")).unwrap();
    assert_eq!((launched.verdict, &launched.outputs["y"]), (Verdict::Completed, &filled(N)));
}

#[test]
fn the_copy_of_a_worker_that_forks_has_nothing_to_say() {
    let Some(kernels) = library("kernels.c") else { return };
    let rig = Rig::new();
    let mut request = rig.request(&kernels, "returns_twice");
    // The copy has no stream's thread: it would wait in vain, and then call that a hang.
    short_sync(&mut request);
    let launched = rig.launch(&request).unwrap();
    assert_eq!((launched.verdict, &launched.outputs["y"]), (Verdict::Completed, &filled(N)));
}

#[test]
fn no_verdict_takes_longer_than_its_cause() {
    let Some(kernels) = library("kernels.c") else { return };
    let rig = Rig::new();
    let begin = Instant::now();
    pto_launch::launch(&rig.cx, &rig.worker, &rig.request(&kernels, "segv_in_kernel")).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}
