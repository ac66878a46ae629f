//! How processes end.

use super::super::rule::{CauseRule, Clue, Family, FieldRule, Rule};

const BASE: Rule = Rule { family: Family::Process, ..Rule::BASE };

pub(super) static RULES: &[Rule] = &[
    Rule {
        id: "process-timeout",
        title: "a process was ended at its deadline",
        docs: "124 is what `timeout` leaves when it ends a process. Something hung or was slow; what it did last stands \
               before it. After such an end on hardware the card is suspect: use another one, or reset it, before the next run.",
        patterns: &[&["exit code 124"], &["exited with 124"], &["exit status 124"]],
        causes: &[
            CauseRule {
                text: "a kernel hangs: a `wait_flag` without its `set_flag`",
                clues: &[Clue::Rule("aic-timeout"), Clue::Rule("aiv-timeout"), Clue::Rule("sync-timeout")],
                check: "cargo xtask kernel lint",
            },
            CauseRule {
                text: "a simulation needs longer than its deadline",
                clues: &[Clue::Rule("simulation-starved")],
                check: "nproc # fewer tests at once, or a longer deadline (MSPROF_TIMEOUT, PTO_PROCESS_TIMEOUT_S)",
            },
        ],
        ..BASE
    },
    Rule {
        id: "process-killed",
        title: "a process was killed from outside",
        docs: "137 is a process ended by KILL, 143 by TERM. Without a deadline it is mostly the kernel, which kills when the \
               host's memory is exhausted, or a container's limit.",
        patterns: &[&["Out of memory: Killed process"], &["oom-kill:"], &["exit code 137"]],
        causes: &[
            CauseRule {
                text: "the host's or container's memory was exhausted",
                clues: &[Clue::Text(&["Out of memory: Killed process"]), Clue::Text(&["oom-kill:"])],
                check: "dmesg | grep -iE 'out of memory|oom-kill' | tail; free -g",
            },
            CauseRule { text: "a deadline or a person ended it", clues: &[], check: "journalctl --since -1h | tail" },
        ],
        ..BASE
    },
    Rule {
        id: "process-crashed",
        title: "a process crashed",
        docs: "134 is an abort, mostly a failed assertion; 139 an invalid memory access; 136 an arithmetic error. The lines \
               before it, or a core dump, say where.",
        patterns: &[&["Segmentation fault"], &["Aborted (core dumped)"], &["exit code 139"], &["exit code 134"]],
        causes: &[CauseRule {
            text: "a defect in the program or a library that does not suit it",
            clues: &[],
            check: "coredumpctl info -1 2>/dev/null || gdb -batch -ex bt PROGRAM core",
        }],
        ..BASE
    },
    Rule {
        id: "command-not-found",
        title: "a program was not found, or cannot be executed",
        docs: "127 is a program that is not on `PATH`, or a loader that lacks a library; 126 one that is there and may not be \
               executed. For CANN's tools the shell is mostly not set up.",
        patterns: &[
            &["npu-smi: command not found"],
            &["bisheng: command not found"],
            &["ptoas: command not found"],
            &["msprof: command not found"],
            &["cannsim: command not found"],
        ],
        fields: &[FieldRule { name: "line", after: "line ", until: &[':'] }],
        causes: &[CauseRule {
            text: "CANN's environment is not set up in this shell",
            clues: &[],
            check: "source \"${ASCEND_HOME_PATH:-/usr/local/Ascend/ascend-toolkit/latest}\"/bin/setenv.bash",
        }],
        ..BASE
    },
];
