//! What happens on the device: cores, AICPU, memory. After such a fault nothing else that the device says counts.

use super::super::rule::{CauseRule, Clue, Rule, StepRule};
use super::super::surroundings;

const BASE: Rule = Rule { poisons: true, ..Rule::BASE };

/// What everything that fails after a device fault looks like.
const FALLOUT: &[&str] =
    &["driver-internal", "device-lost", "sync-timeout", "device-unusable", "context-release", "task-aborted"];
/// The AICPU only passes on what a core did, or did not do.
const CORE_EXPLAINS: &[&str] = &[
    "driver-internal",
    "device-lost",
    "sync-timeout",
    "device-unusable",
    "context-release",
    "task-aborted",
    "aicpu-exception",
];

const PAIRED_WAITS: CauseRule = CauseRule {
    text: "a `wait_flag` without its `set_flag` on some path: too few, too many, or one of the two inside a branch",
    clues: &[],
    check: "grep -nE 'set_flag|wait_flag' *.cpp # each pair of pipes and event must be set as often as it is waited for",
};
const OVERLAPPING_FENCES: CauseRule = CauseRule {
    text: "two overlapping fences use one event id of the same pipe pair, or generated code chose the wrong pipe (`#define PIPE_`)",
    clues: &[Clue::Text(&["#define PIPE_"])],
    check: "grep -nE 'set_flag|wait_flag|pipe_barrier|#define PIPE_' *.cpp",
};
const SLOW_KERNEL: CauseRule = CauseRule {
    text: "the kernel is not stuck but slow: far more work per core than the deadline allows",
    clues: &[],
    check: "cargo xtask kernel test --case n=1",
};
const WRONG_ARCH: CauseRule = CauseRule {
    text: "the kernel was compiled for another architecture than the card has (dav-c220 is A2 and A3, dav-c310 is A5)",
    clues: &[Clue::Text(&["soc version", "not match"])],
    check: "npu-smi info -t board -i {device} -c 0 | grep -iE 'Chip Name|NPU Name'",
};

pub(super) static RULES: &[Rule] = &[
    Rule {
        id: "aic-timeout",
        title: "cube core time-out: a wait that never ended",
        docs: "A cube core did not finish before its deadline. `timeout or trap error` with all error bits zero means that \
               nothing was executed wrongly: some wait never ended. Look at the pairs of `set_flag` and `wait_flag`, and at \
               synchronisation between cube and vector cores. It is not a memory error. The card may stay unusable until \
               it is reset.",
        patterns: &[&["[aicore timeout]"], &["aicore execution times out"]],
        codes: &[507_014],
        explains: CORE_EXPLAINS,
        causes: &[PAIRED_WAITS, OVERLAPPING_FENCES, SLOW_KERNEL],
        ..BASE
    },
    Rule {
        id: "aiv-timeout",
        title: "vector core time-out: a wait that never ended",
        docs: "A vector core did not finish before its deadline. `timeout or trap error` with all error bits zero means that \
               nothing was executed wrongly: some wait never ended. Look at the pairs of `set_flag` and `wait_flag`, and at \
               synchronisation between cube and vector cores. It is not a memory error. The card may stay unusable until \
               it is reset.",
        patterns: &[&["[vector core timeout]"]],
        codes: &[507_034],
        explains: CORE_EXPLAINS,
        causes: &[PAIRED_WAITS, OVERLAPPING_FENCES, SLOW_KERNEL],
        ..BASE
    },
    Rule {
        id: "aic-exception",
        title: "exception of a cube core",
        docs: "A cube core stopped at an instruction. The reason (`errorStr`) stands a line or two below the registers; the \
               offset of the program counter from the kernel's start names the instruction. An address out of range is \
               mostly an offset computed from a wrong size, stride or block index. An exception of a vector core right \
               after it is a follow-up: the other half of a mixed kernel is stopped with it.",
        patterns: &[&["[aicore exception]"], &["[aicore trap exception]"]],
        codes: &[507_015, 507_016, 507_042, 507_043],
        explains: CORE_EXPLAINS,
        causes: &[
            CauseRule {
                text: "an address beyond a global tensor: a tail, stride or block index computed for another shape",
                clues: &[
                    Clue::Text(&["address of the MTE instruction is out of range"]),
                    Clue::Text(&["MPU address access is invalid"]),
                ],
                check: "cargo xtask kernel test --target cpu",
            },
            WRONG_ARCH,
            CauseRule {
                text: "an address in local memory that is out of bounds or not aligned",
                clues: &[Clue::Text(&["ub address"]), Clue::Text(&["UB address"]), Clue::Text(&["unaligned"])],
                check: "grep -nE 'TASSIGN|set_mask_norm|set_vector_mask' *.cpp",
            },
        ],
        ..BASE
    },
    Rule {
        id: "aiv-exception",
        title: "exception of a vector core",
        docs: "A vector core stopped at an instruction. The reason (`errorStr`) stands a line or two below the registers. On \
               A2 and A3 a vector kernel that does not set its mask state first (`set_mask_norm`, `set_vector_mask`) shows \
               misleading faults such as an address out of bounds of the unified buffer. A kernel for A5 on an A2 card \
               fails like this as well. A card can stay in this state: use another one, or reset it, before trusting what follows.",
        patterns: &[&["[vector core exception]"], &["[vector core trap exception]"]],
        codes: &[507_035, 507_036, 507_044, 507_045],
        explains: CORE_EXPLAINS,
        causes: &[
            CauseRule {
                text: "an address in local memory that is out of bounds or not aligned, or a mask that was never set",
                clues: &[
                    Clue::Text(&["ub address"]),
                    Clue::Text(&["UB address"]),
                    Clue::Text(&["unaligned"]),
                    Clue::Text(&["UUB"]),
                ],
                check: "grep -nE 'TASSIGN|set_mask_norm|set_vector_mask' *.cpp",
            },
            WRONG_ARCH,
            CauseRule {
                text: "an address beyond a global tensor: a tail, stride or block index computed for another shape",
                clues: &[Clue::Text(&["address of the MTE instruction is out of range"])],
                check: "cargo xtask kernel test --target cpu",
            },
            CauseRule {
                text: "the card is still in the state that an earlier kernel left it in",
                clues: &[],
                check: "npu-smi info # and run again on another card that is idle",
            },
        ],
        ..BASE
    },
    Rule {
        id: "aicpu-timeout",
        title: "an AICPU kernel did not finish before its deadline",
        docs: "The CPU of the device ran a kernel longer than its deadline. In PyPTO that is the orchestrator or scheduler, \
               which waits for the cores: a core that hangs shows here too.",
        patterns: &[&["[aicpu timeout]"], &["HandleTaskTimeout"]],
        codes: &[507_017],
        explains: CORE_EXPLAINS,
        causes: &[
            CauseRule {
                text: "a kernel on a core hangs, and the scheduler waits for it",
                clues: &[Clue::Rule("scheduler-stalled"), Clue::Rule("aic-timeout"), Clue::Rule("aiv-timeout")],
                check: "grep -E 'sub_class=|stuck_task_id=|error detail:' {log}",
            },
            SLOW_KERNEL,
        ],
        ..BASE
    },
    Rule {
        id: "aicpu-exception",
        title: "the AICPU had an exception: a generic code with several causes",
        docs: "507018 is a generic code: a driver that does not suit CANN, a wrong architecture, two containers on the dies \
               of one chip, a hung core and a watchdog all end in it. It proves neither a deadlock nor an exhausted memory. \
               Where the call stack is in the AICPU's initialisation (`ensure_aicpu_init_launched`, `simpler_init`), no \
               kernel of the user ran yet, and the environment is to blame. The host log shows only the cascade: the cause \
               is in the device log, at the first `PrintAicpuErrorInfo` or `ProcessStarsAicpuErrorInfo`.",
        patterns: &[&["[aicpu exception]"]],
        codes: &[507_018],
        explains: FALLOUT,
        causes: &[
            CauseRule {
                text: "the driver or CANN is older than PyPTO needs (driver 25.2.0, CANN 8.5.0): an AICPU function is null",
                clues: &[
                    Clue::Text(&["func is nullptr"]),
                    Clue::Text(&["kernelName = (null)"]),
                    Clue::Machine(surroundings::is_below_the_minimum),
                ],
                check: "cat {driver}/version.info",
            },
            CauseRule {
                text: "driver and CANN are no supported pair: the AICPU package was refused at the first initialisation",
                clues: &[
                    Clue::Rule("aicpu-package-refused"),
                    Clue::Machine(surroundings::is_no_supported_pair),
                    Clue::Text(&["ensure_aicpu_init_launched"]),
                    Clue::Text(&["simpler_init failed with code 507018"]),
                ],
                check: "cargo xtask doctor --only driver-cann-pair",
            },
            CauseRule {
                text: "without PyPTO, in an ACL host program of your own: the kernel hangs or faults, which the CPU shows without a card",
                clues: &[],
                check: "cargo xtask kernel test NAME --target cpu",
            },
            CauseRule {
                text: "the chip is of another series than `-p` says (`a2a3`: Ascend910*, `a5`: Ascend950*)",
                clues: &[Clue::Text(&["soc version", "not match"])],
                check: "npu-smi info -t board -i {device} -c 0 | grep -iE 'Chip Name|NPU Name'",
            },
            CauseRule {
                text: "two containers or processes started on both dies of one chip at once: they share the directory of the AICPU library",
                clues: &[Clue::BothDies, Clue::Text(&["open so failed"])],
                check: "npu-smi info -m; docker ps",
            },
            CauseRule {
                text: "a core hung or faulted, and a watchdog ended the AICPU kernel that waited for it",
                clues: &[
                    Clue::Rule("scheduler-stalled"),
                    Clue::Rule("orchestrator-error"),
                    Clue::Rule("aic-exception"),
                    Clue::Rule("aiv-exception"),
                    Clue::Rule("aic-timeout"),
                    Clue::Rule("aiv-timeout"),
                    Clue::Text(&["HandleTaskTimeout"]),
                ],
                check: "grep -E 'orch_error_code=|sched_error_code=|sub_class=|error detail:' {log}",
            },
        ],
        guide: &[
            StepRule {
                why: "Check the driver's version, on the host: `version.info` is not exposed in a container under \
                      `--runtime=ascend`. CANN 9.0.0 needs `Version=26.0.rc1`; `compatible_version=` holds internal \
                      identifiers and is not to be searched for it. Upgrade driver and firmware to a supported pair.",
                command: "cat {driver}/version.info",
            },
            StepRule {
                why: "Check that the chip's series matches `-p`: `a2a3` is Ascend910* (A2) and Ascend910_93* (A3), `a5` is \
                      Ascend950*. The wrong one looks like a compiler's fault.",
                command: "npu-smi info -t board -i {device} -c 0 | grep -iE 'Chip Name|NPU Name'",
            },
            StepRule {
                why: "Check that no two containers share the dies of one chip: on A3 two neighbouring Phy-IDs are die 0 and \
                      die 1 of one chip and share the directory of the AICPU library. Give out whole chips.",
                command: "npu-smi info -m; docker ps -q | xargs docker inspect --format '{{.Name}} {{.Config.Env}}' | grep ASCEND_VISIBLE_DEVICES",
            },
            StepRule {
                why: "Capture the device's log with a free physical card. `ASCEND_PROCESS_LOG_PATH` set to an existing \
                      directory does the same for a run without a container.",
                command: "CARD_ID={device}\ndocker run --rm \\\n  --runtime=ascend -e ASCEND_VISIBLE_DEVICES=\"$CARD_ID\" \\\n  \
                          --shm-size=16g \\\n  -e ASCEND_SLOG_PRINT_TO_STDOUT=1 \\\n  -e ASCEND_GLOBAL_LOG_LEVEL=1 \\\n  \
                          \"{image}\" \\\n  -c 'python $PYPTO_SRC/examples/beginner/01_hello_world.py' \\\n  > slog.txt 2>&1",
            },
            StepRule {
                why: "Let this command read it: the first AICPU exception with soName, funcName, errorCode, chip and die is \
                      the cause, every 507899 and 507901 after it is noise. `version_verify` and `package_process_config` \
                      show a refused AICPU package.",
                command: "cargo xtask triage --log slog.txt",
            },
            StepRule {
                why: "To report it, attach what this writes, made on the host: `version.info`, `npu-smi info`, the doctor's whole \
                      output, the exact `docker run` command and `slog.txt`, with secrets and names masked.",
                command: "cargo xtask bundle -o report.tar.gz --log slog.txt --note 'docker run ...'",
            },
        ],
        ..BASE
    },
    Rule {
        id: "device-memory-error",
        title: "the device's memory has a hardware error",
        docs: "The memory of the card reported an error that it could not correct. It is not the kernel's fault, and not an \
               exhausted memory: the card should not be used until it has been looked at.",
        patterns: &[&["hbm Multi-bit ECC error"]],
        codes: &[507_053, 507_054, 507_055],
        explains: CORE_EXPLAINS,
        causes: &[CauseRule {
            text: "the memory of this card is damaged",
            clues: &[],
            check: "npu-smi info -t health -i {device}; npu-smi info -t ecc -i {device}",
        }],
        ..BASE
    },
    Rule {
        id: "heartbeat-lost",
        title: "the task scheduler of the device does not answer",
        docs: "The host gets no sign of life from the device's task scheduler. The device has to be reset before anything \
               else can run on it; what led to it is in the device's own log.",
        patterns: &[&["Device lost heartbeat"]],
        codes: &[507_010],
        explains: FALLOUT,
        causes: &[CauseRule {
            text: "the device crashed, or is being reset by somebody else",
            clues: &[],
            check: "npu-smi info -t health -i {device}; dmesg | grep -i ascend | tail",
        }],
        ..BASE
    },
];
