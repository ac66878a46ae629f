//! CA model, cannsim, simulation on the CPU.

use super::super::machine;
use super::super::rule::{CauseRule, Clue, Family, FieldRule, Rule, Severity};

const BASE: Rule = Rule { family: Family::Simulator, ..Rule::BASE };

pub(super) static RULES: &[Rule] = &[
    Rule {
        id: "camodel-unsupported-task",
        title: "the CA model does not support a task that the program submits",
        docs: "The CA model takes kernels (AIC, AIV), place holders and notifications, nothing else; anything more ends in an \
               assertion in `driver_queue.c`. SDMA is a copy on the device: even printing a device tensor submits one. Move \
               tensor operations of the host program to the CPU, and copy with plain host-to-device calls.",
        patterns: &[&["unsupported task type: "], &["checkSqeSupported", "Assertion"]],
        explains: &["process-crashed", "simulation-without-verdict", "cannsim-teardown"],
        fields: &[
            FieldRule { name: "task_type", after: "unsupported task type: ", until: &[',', ' '] },
            FieldRule { name: "supported", after: "camodel only supports ", until: &['\n'] },
        ],
        causes: &[CauseRule {
            text: "the host program works on device tensors: an operation, a device-to-device copy, or printing one",
            clues: &[Clue::Text(&["unsupported task type: SDMA"])],
            check: "grep -nE 'print\\(|\\.npu\\(|to\\(.npu' *.py # move these to the CPU",
        }],
        ..BASE
    },
    Rule {
        id: "simulation-without-verdict",
        severity: Severity::Warning,
        title: "the simulation ended with a failure, and without an error",
        docs: "cannsim exits with 1 and prints no error line. Its exit code is not a verdict: it may crash while it shuts \
               down, after the program wrote a correct result. Judge by the program's own result, compared with the golden \
               one, and show both.",
        patterns: &[&["USER_APP failed after"], &["Simulation FAILED"]],
        fields: &[FieldRule { name: "exit", after: "exit=", until: &[')'] }],
        causes: &[CauseRule {
            text: "the program failed by itself: its own output says why",
            clues: &[],
            check: "ls -t; grep -nE 'PASS|FAIL|Traceback|error' OUTPUT_DIR/*.log",
        }],
        ..BASE
    },
    Rule {
        id: "cannsim-teardown",
        severity: Severity::Warning,
        title: "cannsim failed, perhaps only while shutting down",
        docs: "On A5 `cannsim record` may crash in its clean-up after the program has already written a correct result; \
               `[FAILED] cannsim record execution failed!` with PASS in the program's own result is a known false alarm. \
               Without such a result it is a failure.",
        patterns: &[&["cannsim record execution failed"]],
        explains: &["process-crashed", "simulation-without-verdict"],
        causes: &[CauseRule {
            text: "a crash while shutting down, after a correct result",
            clues: &[Clue::Text(&["Segmentation fault"]), Clue::Text(&["core dumped"])],
            check: "grep -l PASS OUTPUT_DIR/*.json",
        }],
        ..BASE
    },
    Rule {
        id: "simulation-starved",
        title: "a simulation did not end: more threads than CPUs",
        docs: "The simulation runs a thread for each simulated core. With fewer CPUs than threads, and several tests at once, \
               nothing moves in time and the harness ends it (124, or -1). The advice is less parallelism, not another kernel.",
        patterns: &[&["HUNG standalone"], &["TIMEOUT: session exceeded"]],
        explains: &["process-timeout", "device-unusable"],
        fields: &[
            FieldRule { name: "elapsed", after: "elapsed=", until: &[' '] },
            FieldRule { name: "limit", after: "session exceeded ", until: &[' '] },
        ],
        causes: &[
            CauseRule {
                text: "more simulated cores at once than this machine has CPUs",
                clues: &[Clue::Machine(machine::has_few_cpus)],
                check: "nproc # then run with fewer tests in parallel, for example `pytest -n 1`",
            },
            CauseRule {
                text: "a kernel that waits for ever, also alone",
                clues: &[Clue::Rule("scheduler-stalled")],
                check: "timeout 600 pytest -n 0 TEST # alone; if it passes, the machine was too small",
            },
        ],
        ..BASE
    },
    Rule {
        id: "simulator-library-missing",
        title: "the simulator's libraries are not found",
        docs: "The CA model is in `tools/simulator/<SoC>/lib` of older releases and in `<machine>-linux/simulator/dav_3510/lib` \
               of 9.2.0. Its directory must come first on the library path, before the libraries that drive a card.",
        patterns: &[
            &["libruntime_camodel.so", "cannot open"],
            &["libruntime_camodel", "unable to find"],
            &["cannot find -lruntime_camodel"],
        ],
        explains: &["shared-library-missing", "link-library-missing"],
        causes: &[CauseRule {
            text: "the simulator's directory is not on the library path, or of another layout",
            clues: &[],
            check: "ls -d \"$ASCEND_HOME_PATH\"/tools/simulator/*/lib \"$ASCEND_HOME_PATH\"/*-linux/simulator/*/lib",
        }],
        ..BASE
    },
];
