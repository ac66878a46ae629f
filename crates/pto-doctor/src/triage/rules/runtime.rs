//! ACL, driver and the PyPTO runtime, as the host sees them.

use super::super::rule::{CauseRule, Clue, Family, FieldRule, Rule, Severity};
use super::super::surroundings;

const BASE: Rule = Rule::BASE;

const EARLIER_FAULT: CauseRule = CauseRule {
    text: "an earlier fault on the same device, in this run or one before it",
    clues: &[],
    check: "mkdir -p ascend-log && export ASCEND_PROCESS_LOG_PATH=$PWD/ascend-log ASCEND_GLOBAL_LOG_LEVEL=1 # run again, then: cargo xtask triage --log ascend-log/debug/*/*.log",
};

pub(super) static RULES: &[Rule] = &[
    Rule {
        id: "driver-internal",
        fallout: true,
        title: "the driver refuses: fallout, or no device",
        docs: "507899 is what every call returns on a device that had a fault before, and on a machine where no device can \
               be reached (`drvRetCode=87`). It is not a defect of the driver, and although allocations fail with it, not \
               an exhausted memory.",
        codes: &[507_899],
        patterns: &[],
        causes: &[
            CauseRule {
                text: "no device is mapped into this container or machine",
                clues: &[Clue::Rule("no-device"), Clue::Machine(surroundings::lacks_device_nodes)],
                check: "ls -l /dev/davinci* /dev/davinci_manager /dev/devmm_svm /dev/hisi_hdc",
            },
            CauseRule {
                text: "the selected device does not exist: inside a container devices are numbered from 0",
                clues: &[Clue::Machine(surroundings::selects_absent_devices)],
                check: "ls /dev/davinci*; env | grep -E 'ASCEND_(RT_)?VISIBLE_DEVICES'",
            },
            CauseRule {
                text: "another container or process holds the card",
                clues: &[Clue::Rule("device-occupied"), Clue::Rule("resource-busy")],
                check: "npu-smi info; docker ps",
            },
            EARLIER_FAULT,
        ],
        ..BASE
    },
    Rule {
        id: "device-lost",
        fallout: true,
        title: "the connection to the device is closed",
        docs: "507901: the host's channel to the device is gone, because the device had a fault or is being reset. The \
               earliest error of the log counts, this one does not.",
        codes: &[507_901],
        causes: &[EARLIER_FAULT],
        ..BASE
    },
    Rule {
        id: "sync-timeout",
        fallout: true,
        title: "the host waited for the device in vain",
        docs: "507046 and 507047: a synchronisation ended at its deadline. By itself it means that a kernel hangs or is slow; \
               after another fault it means nothing. The device may be unusable until it is reset, so the next test can \
               fail with another code.",
        codes: &[507_046, 507_047, 107_019, 107_020],
        causes: &[
            CauseRule {
                text: "a kernel hangs: a `wait_flag` without its `set_flag`",
                clues: &[Clue::Rule("scheduler-stalled")],
                check: "grep -nE 'set_flag|wait_flag' *.cpp # each pair of pipes and event must be set as often as it is waited for",
            },
            EARLIER_FAULT,
        ],
        ..BASE
    },
    Rule {
        id: "context-release",
        fallout: true,
        title: "the context could not be released",
        docs: "507007: resetting a device whose set-up failed, or that had a fault, fails too. It is never the cause.",
        codes: &[507_007],
        causes: &[EARLIER_FAULT],
        ..BASE
    },
    Rule {
        id: "task-aborted",
        fallout: true,
        title: "the task was aborted together with others",
        docs: "107022, 107023 and 107035: tasks that were under way when the device was stopped. The fault that stopped it \
               stands earlier.",
        codes: &[107_022, 107_023, 107_035],
        causes: &[EARLIER_FAULT],
        ..BASE
    },
    Rule {
        id: "device-unusable",
        fallout: true,
        family: Family::Orchestrator,
        title: "the runtime had given the device up before",
        docs: "-1 is what the PyPTO runtime answers once it has marked a device as unusable. The first error of the run is \
               the one to look at.",
        patterns: &[&["Failed to allocate device GM"]],
        causes: &[EARLIER_FAULT],
        ..BASE
    },
    Rule {
        id: "inner-error",
        fallout: true,
        title: "CANN's envelope round a reason",
        docs: "`EZ9999`, `EE9999`, `E39999` and `ERR99999` only say that something failed inside. The reason stands in the \
               lines below, or in the exception that the adapter passes on.",
        patterns: &[
            &["ERR99999"],
            &["(EZ9999)"],
            &["EZ9999: Inner Error"],
            &["EE9999: Inner Error"],
            &["E39999: Inner Error"],
            &["E19999: Inner Error"],
        ],
        messages: &["EZ9999", "EE9999", "E39999", "E19999", "EE8888", "EI9999", "EJ9999", "ERR99999"],
        causes: &[CauseRule {
            text: "whatever the lines below it say",
            clues: &[],
            check: "grep -nE 'errorStr|retCode|reason=' {log} | head",
        }],
        ..BASE
    },
    Rule {
        id: "no-device",
        title: "ACL found no device",
        docs: "`drvRetCode=87` means that no device can be reached. Every machine without mapped devices prints it: build \
               machines, sandboxes, and containers started without the device nodes or with a misspelt one. On a machine \
               that is to compile only it is no failure.",
        patterns: &[&["drvRetCode=87"], &["drvRet=87"], &["Can't get ascend_hal device count"]],
        codes: &[207_004],
        explains: &["driver-internal"],
        causes: &[
            CauseRule {
                text: "device nodes are missing",
                clues: &[Clue::Machine(surroundings::lacks_device_nodes)],
                check: "ls -l /dev/davinci* /dev/davinci_manager /dev/devmm_svm /dev/hisi_hdc",
            },
            CauseRule {
                text: "the selected device does not exist: inside a container devices are numbered from 0",
                clues: &[Clue::Machine(surroundings::selects_absent_devices)],
                check: "ls /dev/davinci*; env | grep -E 'ASCEND_(RT_)?VISIBLE_DEVICES'",
            },
            CauseRule {
                text: "this user may not open the device nodes: they belong to group `HwHiAiUser`",
                clues: &[],
                check: "stat -c '%n %u:%g %a' /dev/davinci* && id",
            },
        ],
        ..BASE
    },
    Rule {
        id: "resource-busy",
        title: "the device is said to be busy (EL0005)",
        docs: "EL0005 reads as if somebody used the card. As often a device is asked for that does not exist: with one card \
               mapped and `ASCEND_RT_VISIBLE_DEVICES=4` exported, ACL looks for the fifth of one. So compare the index with \
               the number of visible devices first. Else the card is held, or being reset, which can take minutes.",
        patterns: &[&["Resource_Busy"]],
        messages: &["EL0005"],
        explains: &["no-device", "driver-internal", "device-occupied"],
        causes: &[
            CauseRule {
                text: "the selected device does not exist: inside a container devices are numbered from 0",
                clues: &[Clue::Machine(surroundings::selects_absent_devices)],
                check: "ls /dev/davinci*; env | grep -E 'ASCEND_(RT_)?VISIBLE_DEVICES'",
            },
            CauseRule {
                text: "another container or process holds the card",
                clues: &[],
                check: "npu-smi info; docker ps; sudo fuser -v /dev/davinci{device}",
            },
            CauseRule {
                text: "the device is being reset or its software is starting",
                clues: &[],
                check: "sleep 60; npu-smi info -t health -i {device}",
            },
        ],
        ..BASE
    },
    Rule {
        id: "out-of-memory",
        title: "the memory of the device is exhausted",
        docs: "An allocation failed for lack of memory. This is so only where no fault of the device came before it: after \
               one, allocations fail too, with 3 of 64 GB in use.",
        patterns: &[&["halMemCreate failed"], &["Mem create failed"], &["allocate device memory failed"]],
        codes: &[207_001, 207_018],
        messages: &["EL0004"],
        explains: &["device-setup-failed"],
        fields: &[FieldRule { name: "size", after: "size=", until: &[';', ')', ',', ' '] }],
        causes: &[
            CauseRule {
                text: "other processes use the card's memory, or one that was killed has not given it back",
                clues: &[],
                check: "npu-smi info -t usages -i {device}; npu-smi info",
            },
            CauseRule {
                text: "the request is larger than the card",
                clues: &[],
                check: "npu-smi info -t memory -i {device}",
            },
        ],
        ..BASE
    },
    Rule {
        id: "device-setup-failed",
        title: "the device could not be set up",
        docs: "507033 on `aclrtSetDevice` has three known causes, told apart by the lines below it: the memory pool cannot be \
               allocated on a full card (`EL0004`), the device's TSD daemon does not answer (`TsdOpen failed`), or CANN is \
               older than the host suits. 507007 on the reset that follows is fallout.",
        patterns: &[&["reason=device retain error"], &["TsdOpen failed"]],
        codes: &[507_033],
        explains: &["context-release", "driver-internal"],
        causes: &[
            CauseRule {
                text: "the card is full: the memory pool could not be allocated",
                clues: &[Clue::Text(&["EL0004"]), Clue::Text(&["MemoryPoolManager"])],
                check: "npu-smi info -t usages -i {device}; npu-smi info",
            },
            CauseRule {
                text: "the TSD daemon of the device does not answer, often because a killed process still holds the device",
                clues: &[Clue::Text(&["TsdOpen failed"]), Clue::Text(&["tdt error="])],
                check: "sudo fuser -v /dev/davinci{device}; npu-smi info -t health -i {device}",
            },
            CauseRule {
                text: "CANN is older than this host and driver suit",
                clues: &[Clue::Machine(surroundings::is_below_the_minimum)],
                check: "cat {driver}/version.info; cat \"$ASCEND_HOME_PATH\"/*/ascend_toolkit_install.info",
            },
        ],
        ..BASE
    },
    Rule {
        id: "aicpu-package-refused",
        title: "the device refused CANN's AICPU package",
        docs: "CANN pushes its AICPU package to the device, which checks its version against the driver's. If it refuses, \
               compiling, allocating and opening the device still work; the first AICPU initialisation then fails with \
               507018.",
        patterns: &[&["[ERROR]", "version_verify"], &["[ERROR]", "package_process_config"]],
        explains: &["aicpu-exception", "device-setup-failed"],
        causes: &[CauseRule {
            text: "driver and CANN are no supported pair",
            clues: &[
                Clue::Machine(surroundings::is_no_supported_pair),
                Clue::Machine(surroundings::is_below_the_minimum),
            ],
            check: "cat {driver}/version.info; cat \"$ASCEND_HOME_PATH\"/*/ascend_toolkit_install.info",
        }],
        ..BASE
    },
    Rule {
        id: "aicpu-function-missing",
        title: "an AICPU function that PyPTO needs is null",
        docs: "The device loaded its AICPU library, but the function in it is null: the driver package is older than 25.2.0 or \
               CANN older than 8.5.0. The launch then fails with 507018 and a kernel name of `(null)`.",
        patterns: &[&["func is nullptr"]],
        explains: &["aicpu-exception"],
        fields: &[FieldRule { name: "function", after: "Get KFC ", until: &[' '] }],
        causes: &[CauseRule {
            text: "the driver is older than 25.2.0, or CANN older than 8.5.0",
            clues: &[Clue::Machine(surroundings::is_below_the_minimum)],
            check: "cat {driver}/version.info; cat \"$ASCEND_HOME_PATH\"/opp/version.info",
        }],
        ..BASE
    },
    Rule {
        id: "invalid-device",
        title: "the device index is not valid",
        docs: "107001: the index is beyond the devices that this process sees. Inside a container they are numbered from 0, \
               whatever their numbers on the host are.",
        codes: &[107_001],
        explains: &["context-release"],
        causes: &[CauseRule {
            text: "the selected device does not exist here",
            clues: &[Clue::Machine(surroundings::selects_absent_devices)],
            check: "ls /dev/davinci*; env | grep -E 'ASCEND_(RT_)?VISIBLE_DEVICES'",
        }],
        ..BASE
    },
    Rule {
        id: "wrong-soc",
        title: "the kernel is for another chip",
        docs: "507008 and 107044: the device does not take a kernel that was compiled for another chip.",
        codes: &[507_008, 107_044],
        causes: &[CauseRule {
            text: "the kernel was compiled for another architecture than the card has",
            clues: &[],
            check: "npu-smi info -t board -i {device} -c 0 | grep -iE 'Chip Name|NPU Name'",
        }],
        ..BASE
    },
    Rule {
        id: "no-permission",
        title: "the user may not use the device",
        docs: "207006: the device nodes are readable for their owner and group only, `HwHiAiUser`, with a group number that \
               may differ between host and container.",
        codes: &[207_006],
        causes: &[CauseRule {
            text: "this user is not in the group of the device nodes",
            clues: &[],
            check: "stat -c '%n %u:%g %a' /dev/davinci* && id",
        }],
        ..BASE
    },
    Rule {
        id: "link-error",
        title: "another device or the link to it failed",
        docs: "507056 and 507057: a device notices that its partner or the link to it does not answer. The fault is most \
               likely elsewhere: look at the first error of the other ranks.",
        codes: &[507_056, 507_057],
        messages: &["EI0002", "EI0006"],
        causes: &[CauseRule {
            text: "another rank failed first",
            clues: &[],
            check: "cargo xtask triage --log RANK0.log --log RANK1.log",
        }],
        ..BASE
    },
    Rule {
        id: "scheduler-stalled",
        family: Family::Orchestrator,
        title: "the scheduler saw no progress",
        docs: "The PyPTO scheduler gave up waiting, and says what it saw. S1: a task runs and never ends, its kernel hangs or \
               is slow. S3: a task is ready and nobody takes it. S4: only tasks remain that wait for each other. S5: all \
               tasks are done and the orchestration is not. `stuck_task_id` and `stuck_core` name the place.",
        patterns: &[&["TIMEOUT_EXIT", "sub_class="], &["scheduler timeout", "sub_class="]],
        explains: &["aicpu-exception", "aicpu-timeout", "orchestrator-error", "sync-timeout", "process-timeout"],
        fields: &[
            FieldRule { name: "sub_class", after: "sub_class=", until: &[' '] },
            FieldRule { name: "completed", after: "completed=", until: &[' '] },
            FieldRule { name: "running", after: " running=", until: &[' '] },
            FieldRule { name: "ready", after: " ready=", until: &[' '] },
            FieldRule { name: "waiting", after: " waiting=", until: &[' '] },
            FieldRule { name: "stuck_task_id", after: "stuck_task_id=", until: &[' '] },
            FieldRule { name: "stuck_core", after: "stuck_core=", until: &[' '] },
        ],
        causes: &[
            CauseRule {
                text: "the kernel of the stuck task never ends: a wait without its signal, an endless loop",
                clues: &[Clue::Text(&["sub_class=S1"])],
                check: "grep -nE 'set_flag|wait_flag' *.cpp # each pair of pipes and event must be set as often as it is waited for",
            },
            CauseRule {
                text: "tasks wait for each other, or for one that was never submitted",
                clues: &[Clue::Text(&["sub_class=S4"])],
                check: "grep -nE 'set_dependencies|submit' ORCHESTRATION.cpp",
            },
            CauseRule {
                text: "in a simulation: fewer CPUs than simulated cores, so that nothing moves in time",
                clues: &[Clue::Rule("simulation-starved"), Clue::Machine(surroundings::has_few_cpus)],
                check: "nproc",
            },
        ],
        ..BASE
    },
    Rule {
        id: "orchestrator-error",
        family: Family::Orchestrator,
        title: "the PyPTO runtime reports an error with a name",
        docs: "Orchestrator (1 to 99) and scheduler (100 and above) latch a code on the device, and the host prints it with \
               `error detail:`, its name and mechanism, and `error hint:`, the next action. On hardware the exception often \
               carries a generic 507018 instead: these two lines say more.",
        patterns: &[
            &["runtime failed: orch_error_code="],
            &["error detail: orch_error_code="],
            &["error detail: sched_error_code="],
        ],
        explains: &["aicpu-exception"],
        fields: &[
            FieldRule { name: "orch_error_code", after: "orch_error_code=", until: &[' '] },
            FieldRule { name: "sched_error_code", after: "sched_error_code=", until: &[' '] },
            FieldRule { name: "runtime_status", after: "runtime_status=", until: &[' '] },
        ],
        causes: &[CauseRule {
            text: "what `error detail:` says; `error hint:` names the knob",
            clues: &[Clue::Text(&["error detail:"]), Clue::Text(&["error hint:"])],
            check: "grep -E 'orch_error_code=|sched_error_code=|sub_class=|error detail:|error hint:' {log}",
        }],
        ..BASE
    },
    Rule {
        id: "acl-code",
        each_code: true,
        title: "a call of the runtime failed",
        docs: "A code of the runtime or ACL that has a name of its own and no known pitfall. The name says what it is about; \
               the lines right before it say in which call.",
        causes: &[CauseRule {
            text: "what the code's name says",
            clues: &[],
            check: "mkdir -p ascend-log && export ASCEND_PROCESS_LOG_PATH=$PWD/ascend-log ASCEND_GLOBAL_LOG_LEVEL=1 # and run again",
        }],
        ..BASE
    },
    Rule {
        id: "message-code",
        each_code: true,
        title: "CANN reports an error with a name",
        docs: "A message of CANN with a code of letters and digits. Its name and the lines `Possible Cause` and `Solution` \
               below it say what it is about.",
        causes: &[CauseRule {
            text: "what the message says",
            clues: &[Clue::Text(&["Possible Cause:"])],
            check: "grep -nE -A3 'Possible Cause|Solution' {log}",
        }],
        ..BASE
    },
    Rule {
        id: "unknown-code",
        each_code: true,
        severity: Severity::Unknown,
        title: "unknown code",
        docs: "No table that this tool has names the code. It is not guessed at: look in the documentation of whatever \
               printed it, and mind that it may be no error code at all.",
        ..BASE
    },
    Rule {
        id: "success",
        severity: Severity::Expected,
        title: "0 is success",
        docs: "The code 0 means that the call, or the process, did what it was asked to do.",
        ..BASE
    },
];
