//! A wait that nobody will end is a verdict at once, whatever the time-out.

use pto_platform::Core;

use crate::bench::benches;

const EVERYONE_BUT_ONE: &str = ", and 3 more cores wait";

#[test]
fn each_kind_of_deadlock_says_who_waits_for_what() {
    let kinds = [
        (0, "deadlock: vector core 0.1 waits for flag 2, and 1 more core waits"),
        (1, &format!("deadlock: vector core 0.0 waits for flag 3{EVERYONE_BUT_ONE}")),
        (2, "deadlock: cube core 0 waits for flag 5, and 5 more cores wait"),
        (3, "waits for event 3 from PIPE_MTE2 to PIPE_V, which is never set (1 more wait_flag than set_flag)"),
        (5, "deadlock: vector core 0.0 waits for flag 7, and 1 more core waits"),
        (8, "deadlock: cube core 0 waits for flag 25, and 1 more core waits"),
    ];
    for bench in benches() {
        let request = bench.request("deadlocks.cpp", Core::Mix);
        for (which, expected) in kinds {
            let run = bench.run(&request, which);
            assert!(!run.passed && run.stderr.contains(expected), "{which}: {}", run.stderr);
            assert!(run.stderr.contains("(launched at deadlocks.cpp:36)"), "{}", run.stderr);
        }
    }
}

#[test]
fn the_other_side_missing_altogether_is_a_deadlock_too() {
    for bench in benches() {
        let run = bench.run(&bench.request("deadlocks.cpp", Core::Vec), 1);
        assert!(
            run.stderr.contains("deadlock: vector core 0 waits for flag 3, and 1 more core waits"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn flags_left_set_are_reported_and_no_failure() {
    let kinds = [
        (4, "cross-core flag 6 left set at the end of the kernel on a vector core", 2),
        (6, "flag left set at the end of the kernel: event 1 from PIPE_V to PIPE_MTE3", 4),
        (7, "cross-core flag 8 left set at the end of the kernel on a cube core", 2),
    ];
    for bench in benches() {
        let request = bench.request("deadlocks.cpp", Core::Mix);
        for (which, expected, count) in kinds {
            let run = bench.run(&request, which);
            assert!(run.passed, "{}", run.stderr);
            assert!(run.report.contains(&format!("\"text\":\"{expected}\"")), "{}", run.report);
            assert!(run.report.contains(&format!("\"count\":{count}")), "{which}: {}", run.report);
        }
    }
}
