//! Logs in the formats of all tools, and what each must mean.

use std::collections::BTreeSet;

use crate::support::{field, finding, fixtures, ids, triage_file, triage_texts};
use pto_doctor::triage::{Machine, Role, Triager, Verdict, rules};

/// What a log must mean.
struct Expected {
    file: &'static str,
    first: &'static str,
    symptoms: &'static [&'static str],
    fallout: &'static [&'static str],
    separate: &'static [&'static str],
    /// Fields of the first cause.
    fields: &'static [(&'static str, &'static str)],
    /// Words of the cause that must be ranked first; empty where there is no evidence for any.
    likeliest: &'static str,
}

const NOTHING: Expected =
    Expected { file: "", first: "", symptoms: &[], fallout: &[], separate: &[], fields: &[], likeliest: "" };

const EXPECTED: &[Expected] = &[
    Expected { file: "npu-smi-occupied", first: "device-occupied", ..NOTHING },
    Expected { file: "npu-smi-inner", first: "dcmi-inner-error", ..NOTHING },
    Expected {
        file: "container-mix",
        first: "device-occupied",
        symptoms: &["no-device"],
        fallout: &["driver-internal"],
        ..NOTHING
    },
    Expected { file: "dmesg", first: "device-open-conflict", ..NOTHING },
    Expected {
        file: "npu-smi-no-library",
        first: "npu-smi-library-missing",
        fields: &[("library", "libdrvdsmi_host.so")],
        ..NOTHING
    },
    Expected { file: "npu-smi-no-sockets", first: "management-socket-missing", ..NOTHING },
    Expected { file: "npu-smi-no-card", first: "no-npu-card", ..NOTHING },
    Expected { file: "npu-smi-other-code", first: "dcmi-code", ..NOTHING },
    Expected {
        file: "busy-wrong-index",
        first: "resource-busy",
        symptoms: &["no-device", "device-occupied"],
        fallout: &["driver-internal"],
        ..NOTHING
    },
    Expected { file: "plog-no-device", first: "no-device", fallout: &["driver-internal"], ..NOTHING },
    Expected {
        file: "plog-out-of-memory",
        first: "out-of-memory",
        fields: &[("size", "41943040"), ("device", "5")],
        ..NOTHING
    },
    Expected {
        file: "a5-ddr-out-of-range",
        first: "aic-exception",
        fallout: &["aiv-exception"],
        fields: &[
            ("reason", "The DDR address of the MTE instruction is out of range"),
            ("core kind", "aic"),
            ("core", "9"),
            ("error code", "95"),
            ("chip", "1"),
            ("die", "1"),
            ("pc start", "0x100050000010"),
            ("pc current", "0x100050000250"),
            ("pc offset", "0x240"),
        ],
        likeliest: "beyond a global tensor",
        ..NOTHING
    },
    Expected {
        file: "a3-ddr-out-of-range",
        first: "aiv-exception",
        fields: &[
            ("reason", "The DDR address of the MTE instruction is out of range"),
            ("core kind", "aiv"),
            ("error code", "0x10"),
            ("retCode", "0x31"),
            ("pc offset", "0x80"),
        ],
        likeliest: "beyond a global tensor",
        ..NOTHING
    },
    Expected {
        file: "a3-cube-timeout",
        first: "aic-timeout",
        fields: &[("reason", "timeout or trap error"), ("core kind", "aic"), ("retCode", "0x25"), ("chip", "6")],
        ..NOTHING
    },
    Expected {
        file: "a3-vector-timeout",
        first: "aiv-timeout",
        fields: &[("core kind", "aiv"), ("core", "40"), ("retCode", "0x30")],
        ..NOTHING
    },
    Expected { file: "trap-not-timeout", first: "aic-exception", fields: &[("retCode", "0x27")], ..NOTHING },
    Expected {
        file: "aicpu-host",
        first: "aicpu-exception",
        fallout: &[
            "device-unusable",
            "driver-internal",
            "device-lost",
            "sync-timeout",
            "out-of-memory",
            "context-release",
        ],
        fields: &[("device", "2")],
        likeliest: "no supported pair",
        ..NOTHING
    },
    Expected {
        file: "aicpu-slog",
        first: "aicpu-exception",
        fallout: &["driver-internal", "device-lost"],
        fields: &[
            ("soName", "simpler_inner_77aa.so"),
            ("funcName", "simpler_aicpu_exec"),
            ("reason", "open so failed"),
            ("core kind", "aicpu"),
            ("chip", "3"),
            ("die", "0"),
            ("device", "2"),
        ],
        likeliest: "both dies of one chip",
        ..NOTHING
    },
    Expected {
        file: "aicpu-null-function",
        first: "aicpu-function-missing",
        symptoms: &["aicpu-exception"],
        fields: &[("function", "DynTileFwkKernelServerInit")],
        ..NOTHING
    },
    Expected { file: "aicpu-package", first: "aicpu-package-refused", symptoms: &["aicpu-exception"], ..NOTHING },
    Expected { file: "aicpu-timeout", first: "aicpu-timeout", ..NOTHING },
    Expected {
        file: "cascade",
        first: "aicpu-exception",
        fallout: &["driver-internal", "device-unusable", "device-lost", "sync-timeout"],
        ..NOTHING
    },
    Expected {
        file: "set-device-memory",
        first: "out-of-memory",
        symptoms: &["device-setup-failed"],
        fallout: &["context-release"],
        ..NOTHING
    },
    Expected {
        file: "set-device-tsd",
        first: "device-setup-failed",
        likeliest: "TSD daemon",
        fields: &[("device", "3")],
        ..NOTHING
    },
    Expected { file: "hardware", first: "device-memory-error", ..NOTHING },
    Expected { file: "heartbeat", first: "heartbeat-lost", ..NOTHING },
    Expected {
        file: "other-acl",
        first: "acl-code",
        separate: &["invalid-device", "wrong-soc", "no-permission", "link-error", "message-code"],
        fallout: &["task-aborted"],
        ..NOTHING
    },
    Expected {
        file: "orchestrator",
        first: "orchestrator-error",
        symptoms: &["aicpu-exception"],
        fields: &[("orch_error_code", "4"), ("runtime_status", "-4")],
        likeliest: "error detail",
        ..NOTHING
    },
    Expected {
        file: "scheduler",
        first: "scheduler-stalled",
        symptoms: &["orchestrator-error"],
        fields: &[("sub_class", "S4:dependency-deadlock"), ("stuck_task_id", "77"), ("completed", "5/9")],
        likeliest: "tasks wait for each other",
        ..NOTHING
    },
    Expected { file: "macro-twice", first: "memory-macro-redefined", likeliest: "a header or source", ..NOTHING },
    Expected { file: "macro-name", first: "identifier-is-a-macro", likeliest: "define a macro", ..NOTHING },
    Expected { file: "old-headers", first: "pto-isa-headers-old", fields: &[("member", "FmodSAlgorithm")], ..NOTHING },
    Expected { file: "cannot-select", first: "backend-lacks-instruction", likeliest: "do not go together", ..NOTHING },
    Expected { file: "plain-compile", first: "compile-error", ..NOTHING },
    Expected {
        file: "no-header",
        first: "header-missing",
        fallout: &["link-failed"],
        fields: &[("header", "'kernel_operator.h' file not found")],
        ..NOTHING
    },
    Expected {
        file: "conda-cmake",
        first: "cmake-compiler-unusable",
        symptoms: &["cmake-error"],
        likeliest: "conda",
        ..NOTHING
    },
    Expected { file: "cmake-other", first: "cmake-error", ..NOTHING },
    Expected {
        file: "glibcxx",
        first: "glibcxx-too-old",
        fields: &[
            ("needed", "GLIBCXX_3.4.29"),
            ("required_by", "/opt/venv/lib/python3.10/site-packages/ptoas/_core.so"),
        ],
        likeliest: "too old for the wheel",
        ..NOTHING
    },
    Expected { file: "glibc", first: "glibc-too-old", fields: &[("needed", "GLIBC_2.34")], ..NOTHING },
    Expected { file: "library", first: "shared-library-missing", likeliest: "environment of CANN", ..NOTHING },
    Expected {
        file: "link",
        first: "undefined-symbol",
        separate: &["link-library-missing", "file-for-another-machine"],
        fallout: &["link-failed"],
        fields: &[("symbol", "rtKernelLaunch")],
        ..NOTHING
    },
    Expected {
        file: "camodel-sdma",
        first: "camodel-unsupported-task",
        symptoms: &["process-crashed"],
        fields: &[("task_type", "SDMA"), ("supported", "AIC/AIV/PLACE_HOLDER/NOTIFY_REC/NOTIFY_WAIT")],
        likeliest: "works on device tensors",
        ..NOTHING
    },
    Expected { file: "cannsim", first: "simulation-without-verdict", fields: &[("exit", "1")], ..NOTHING },
    Expected {
        file: "cannsim-teardown",
        first: "cannsim-teardown",
        symptoms: &["process-crashed"],
        likeliest: "shutting down",
        ..NOTHING
    },
    Expected {
        file: "starved",
        first: "simulation-starved",
        symptoms: &["process-timeout"],
        fields: &[("elapsed", "290.7s"), ("limit", "300s")],
        ..NOTHING
    },
    Expected {
        file: "stalled-summary",
        first: "scheduler-stalled",
        fields: &[("sub_class", "S1:running-stalled"), ("stuck_core", "7")],
        likeliest: "never ends",
        ..NOTHING
    },
    Expected { file: "camodel-library", first: "simulator-library-missing", ..NOTHING },
    Expected {
        file: "docker",
        first: "ascend-runtime-missing",
        separate: &[
            "image-for-another-machine",
            "docker-unreachable",
            "registry-unreachable",
            "registry-denied",
            "no-space",
            "workspace-mounted-too-high",
        ],
        ..NOTHING
    },
    Expected {
        file: "ptoas",
        first: "ptoas-too-old",
        separate: &["wheel-not-supported", "ptoas-rejects-program", "binding-does-not-match", "pto-isa-clone"],
        fields: &[("installed", "0.54"), ("needed", "v0.61")],
        ..NOTHING
    },
    Expected {
        file: "processes",
        first: "process-killed",
        separate: &["command-not-found"],
        likeliest: "memory was exhausted",
        ..NOTHING
    },
    Expected { file: "pytorch-hang", first: "aic-timeout", ..NOTHING },
    Expected { file: "harmless", ..NOTHING },
];

#[test]
fn each_log_means_what_it_must() {
    for expected in EXPECTED {
        let triage = triage_file(&fixtures().join(expected.file).with_extension("log"));
        let file = expected.file;
        let first: Vec<&str> = Some(expected.first).filter(|first| !first.is_empty()).into_iter().collect();
        assert_eq!(ids(&triage, Role::FirstCause), first, "{file}");
        assert_eq!(ids(&triage, Role::Symptom), expected.symptoms, "symptoms of {file}");
        assert_eq!(ids(&triage, Role::Fallout), expected.fallout, "fallout of {file}");
        assert_eq!(ids(&triage, Role::Separate), expected.separate, "separate in {file}");
        let Some(cause) = triage.first_cause() else { continue };
        for (name, value) in expected.fields {
            assert_eq!(field(cause, name).as_deref(), Some(*value), "{name} of {file}");
        }
        let likeliest = cause.causes.iter().find(|cause| !cause.evidence.is_empty());
        match likeliest {
            Some(cause) => {
                assert!(
                    !expected.likeliest.is_empty() && cause.text.contains(expected.likeliest),
                    "{file}: {cause:#?}"
                );
            }
            None => assert_eq!(expected.likeliest, "", "{file} has evidence for no cause"),
        }
    }
}

#[test]
fn the_table_has_every_fixture() {
    let files: BTreeSet<String> = fs_err::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let expected: BTreeSet<String> = EXPECTED.iter().map(|expected| expected.file.to_owned()).collect();
    assert_eq!(files, expected);
}

#[test]
fn every_rule_is_triggered_by_a_fixture() {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for expected in EXPECTED {
        let path = fixtures().join(expected.file).with_extension("log");
        seen.extend(triage_file(&path).findings.iter().map(|finding| finding.id));
    }
    // What no log shows beside a reason, or at all: codes given as such.
    let mut triager = Triager::new(Machine::default());
    ["0", "EZ9999"].into_iter().for_each(|code| triager.code(code).unwrap());
    seen.extend(triager.finish().findings.iter().map(|finding| finding.id));
    let missing: Vec<&str> = rules::all().map(|rule| rule.id).filter(|id| !seen.contains(id)).collect();
    assert!(missing.is_empty(), "no fixture triggers {missing:?}");
}

#[test]
fn advice_of_the_log_is_lifted() {
    let triage = triage_file(&fixtures().join("orchestrator.log"));
    let lifted: Vec<_> =
        triage.lifted.iter().map(|lifted| (lifted.detail.as_deref(), lifted.hint.as_deref())).collect();
    let detail = "orch_error_code=4 DEP_POOL_OVERFLOW - the fanin edges of a task overflow the pool";
    let hint = "raise ring_dep_pool (PTO2_RING_DEP_POOL) or cut the fanin";
    assert_eq!(lifted, [(Some(detail), Some(hint)), (Some("507018 is generic"), None)]);
}

#[test]
fn the_device_setup_has_three_sub_causes() {
    let memory = triage_file(&fixtures().join("set-device-memory.log"));
    let setup = finding(&memory, "device-setup-failed");
    assert!(setup.causes[0].text.contains("card is full") && setup.causes[0].evidence[0].contains("EL0004"));
    assert_eq!(setup.explained_by, Some("out-of-memory"));
    let mut old = Machine::default();
    old.cann_release = Some("8.0.RC3".to_owned());
    let bare = triage_texts(old, &[("host.log", "aclrtSetDevice failed: 507033")]);
    assert!(finding(&bare, "device-setup-failed").causes[0].evidence[0].contains("CANN 8.0.RC3 here"));
}

#[test]
fn the_seeds_procedure_has_commands_for_this_machine() {
    let mut machine = Machine::default();
    machine.driver_root = Some("/opt/driver".to_owned());
    machine.image = Some("registry.example/dev:a3".to_owned());
    machine.device = Some(4);
    let triage = triage_texts(machine, &[("run log.txt", "run failed: 507018")]);
    let cause = triage.first_cause().unwrap();
    let commands: Vec<&str> = cause.guide.iter().map(|step| step.command.as_str()).collect();
    assert_eq!(commands[0], "cat /opt/driver/version.info");
    assert!(commands[1].starts_with("npu-smi info -t board -i 4 -c 0"));
    assert!(commands[3].contains("CARD_ID=4") && commands[3].contains("\"registry.example/dev:a3\""));
    assert!(commands[3].contains("ASCEND_SLOG_PRINT_TO_STDOUT=1") && commands[3].contains("ASCEND_GLOBAL_LOG_LEVEL=1"));
    assert!(cause.causes.iter().any(|cause| cause.check.ends_with("'run log.txt'")), "{:#?}", cause.causes);
}

#[test]
fn a_wrong_index_is_looked_for_before_anybody_is_blamed() {
    let text = fs_err::read_to_string(fixtures().join("busy-wrong-index.log")).unwrap();
    let root = tempfile::tempdir().unwrap();
    fs_err::create_dir(root.path().join("dev")).unwrap();
    for name in ["davinci6", "davinci_manager", "devmm_svm", "hisi_hdc"] {
        fs_err::write(root.path().join("dev").join(name), "").unwrap();
    }
    let cx = pto_context::Context::fake(root.path(), [("ASCEND_RT_VISIBLE_DEVICES", "4")]);
    let triage = triage_texts(Machine::of(&cx), &[("host.log", &text)]);
    let likeliest = &triage.first_cause().unwrap().causes[0];
    assert!(likeliest.text.contains("does not exist"));
    assert!(likeliest.evidence[0].contains("`ASCEND_RT_VISIBLE_DEVICES=4`, but 1 device is visible"), "{likeliest:?}");
}

#[test]
fn what_is_missing_is_listed_where_no_device_is_found() {
    let text = fs_err::read_to_string(fixtures().join("plog-no-device.log")).unwrap();
    let root = tempfile::tempdir().unwrap();
    fs_err::create_dir(root.path().join("dev")).unwrap();
    fs_err::write(root.path().join("dev/dav_manager"), "").unwrap();
    let machine = Machine::of(&pto_context::Context::fake(root.path(), [("A", "")]));
    let triage = triage_texts(machine, &[("plog", &text)]);
    let evidence = &triage.first_cause().unwrap().causes[0].evidence[0];
    for name in ["/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc", "/dev/davinciN"] {
        assert!(evidence.contains(name), "{evidence}");
    }
}

#[test]
fn codes_alone_are_explained() {
    let mut triager = Triager::new(Machine::default());
    triager.code("172").unwrap();
    let triage = triager.finish();
    let cause = triage.first_cause().unwrap();
    assert_eq!((cause.id, cause.evidence[0].to_string().as_str()), ("device-occupied", "given"));
    assert!(cause.note.as_deref().unwrap().contains("exit(-8020)"));
    assert_eq!(cause.code.as_ref().unwrap().to_string(), "-8020 DCMI_ERR_CODE_RESOURCE_OCCUPIED: resource occupied");

    let mut triager = Triager::new(Machine::default());
    triager.code("507998").unwrap();
    let triage = triager.finish();
    assert_eq!((triage.verdict, ids(&triage, Role::Unknown)), (Verdict::Unknown, vec!["unknown-code"]));

    let mut triager = Triager::new(Machine::default());
    triager.code("507901").unwrap();
    let triage = triager.finish();
    assert!(triage.first_cause().unwrap().note.as_deref().unwrap().contains("names no cause by itself"));
}

#[test]
fn passwords_and_terminal_escapes_do_not_come_through() {
    let triage = triage_file(&fixtures().join("docker.log"));
    let json = serde_json::to_string(&triage).unwrap();
    assert!(!json.contains("hunter2") && json.contains("***@"), "{json}");
    let triage =
        triage_texts(Machine::default(), &[("log", "\u{1b}]0;title\u{7}\u{1b}[31mrun failed: 507018\u{1b}[0m")]);
    assert_eq!(triage.first_cause().unwrap().evidence[0].text, "run failed: 507018");
}

#[test]
fn the_answer_as_json() {
    let triage = triage_file(&fixtures().join("a5-ddr-out-of-range.log"));
    let json = serde_json::to_value(&triage).unwrap();
    assert_eq!(json["verdict"], "fault");
    let first = &json["findings"][0];
    assert_eq!((&first["id"], &first["role"]), (&"aic-exception".into(), &"first-cause".into()));
    assert_eq!(first["code"]["value"], "507015");
    assert_eq!(first["fields"]["pc_offset"], "0x240");
    assert_eq!(first["evidence"][0]["source"], "a5-ddr-out-of-range.log");
    assert_eq!(first["evidence"][0]["line"], 1);
    assert_eq!(json["sources"][0]["lines"], 6);
}
