//! Real outputs, where they are at hand.

use std::path::{Path, PathBuf};

use crate::support::{field, finding, ids, triage_file};
use pto_doctor::triage::{Role, Surroundings, Triage, Triager, Verdict};

/// The directory with real outputs beside the checkout, or `None` where it is not, as on most machines.
fn samples() -> Option<PathBuf> {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let found = above.map(|directory| directory.join("shared/samples")).find(|directory| directory.is_dir());
    if found.is_none() {
        pto_test::absent("real outputs are not at hand");
    }
    found
}

fn first_causes() -> [(&'static str, &'static str); 30] {
    [
        ("E11-container-8020-9005-507899-mix.txt", "device-occupied"),
        ("E11-npusmi-fail-8020-conLogLevel.txt", "device-occupied"),
        ("E11-npusmi-fail-8020-ret4.txt", "device-occupied"),
        ("E11-dmesg-uda-conflict.txt", "device-open-conflict"),
        ("E12-npusmi-fail-8005.txt", "dcmi-inner-error"),
        ("E13-npusmi-fail-missing-lib.txt", "npu-smi-library-missing"),
        ("E14-npusmi-no-card.txt", "no-npu-card"),
        ("E15-EL0005-resource-busy.txt", "resource-busy"),
        ("E16-plog-507899-no-device.txt", "no-device"),
        ("E17-plog-207001-oom.txt", "out-of-memory"),
        ("K01-bisheng-MEMORY_BASE-redefined.txt", "memory-macro-redefined"),
        ("K02-ccec-BLK-macro-CANN8.5.1.txt", "identifier-is-a-macro"),
        ("K03-pto-isa-old-headers.txt", "pto-isa-headers-old"),
        ("K04-bisheng-cannot-select-intrinsic.txt", "backend-lacks-instruction"),
        ("K08-cmake-conda-CC.txt", "cmake-compiler-unusable"),
        ("K10-arch-soc-map-from-CANN-cmake.txt", ""),
        ("R01-acl-507015-A5-ddr-out-of-range.txt", "aic-exception"),
        ("R02-acl-507014-A3-aicore-timeout.txt", "aic-timeout"),
        ("R05-acl-507033-EL0004-memory.txt", "out-of-memory"),
        ("R06-pypto-507018-nullfunc-old-driver.txt", "aicpu-exception"),
        ("R07-simpler-507018-bare.txt", "aicpu-exception"),
        ("R07-simpler-507899-cascade.txt", "aicpu-exception"),
        ("R08-simpler-error-detail-pair.txt", "orchestrator-error"),
        ("R09-ptoas-insert-sync-deadlock.txt", "aic-timeout"),
        ("S01-camodel-checkSqeSupported.txt", "camodel-unsupported-task"),
        ("S03-cannsim-exit1-no-error.txt", "simulation-without-verdict"),
        ("S05-sim-oversubscription.txt", "simulation-starved"),
        ("S07-sim-timeout-summary-line.txt", "scheduler-stalled"),
        ("I01-glibcxx-3.4.30-openeuler2203.txt", "glibcxx-too-old"),
        ("E14-exit-codes-mod-256.txt", ""),
    ]
}

#[test]
fn real_outputs_have_their_first_cause() {
    let Some(directory) = samples() else { return };
    for (file, expected) in first_causes() {
        let triage = triage_file(&directory.join(file));
        assert_eq!(triage.first_cause().map_or("", |cause| cause.id), expected, "{file}");
    }
}

#[test]
fn real_outputs_have_their_details() {
    let Some(directory) = samples() else { return };
    let triage = |file: &str| triage_file(&directory.join(file));
    let has = |triage: &Triage, id: &str, fields: &[(&str, &str)]| {
        for (name, value) in fields {
            assert_eq!(field(finding(triage, id), name).as_deref(), Some(*value), "{name} of {id}");
        }
    };

    let ddr = triage("R01-acl-507015-A5-ddr-out-of-range.txt");
    let reason = ("reason", "The DDR address of the MTE instruction is out of range");
    has(&ddr, "aic-exception", &[reason, ("core kind", "aic"), ("error code", "95"), ("pc offset", "0x180")]);
    assert_eq!(ids(&ddr, Role::Fallout), ["aiv-exception"]);

    let timeout = triage("R02-acl-507014-A3-aicore-timeout.txt");
    has(&timeout, "aic-timeout", &[("retCode", "0x25"), ("chip", "2"), ("core", "7"), ("core kind", "aic")]);

    let setup = triage("R05-acl-507033-EL0004-memory.txt");
    assert_eq!(ids(&setup, Role::Symptom), ["device-setup-failed"]);
    assert!(!finding(&setup, "device-setup-failed").causes[0].evidence.is_empty());

    let null = triage("R06-pypto-507018-nullfunc-old-driver.txt");
    assert!(null.first_cause().unwrap().causes[0].text.contains("older than PyPTO needs"));

    let cascade = triage("R07-simpler-507899-cascade.txt");
    assert_eq!(
        ids(&cascade, Role::Fallout),
        ["driver-internal", "device-unusable", "device-lost", "sync-timeout"],
        "all but 507018"
    );

    let pair = triage("R08-simpler-error-detail-pair.txt");
    assert!(pair.lifted[0].detail.as_deref().unwrap().contains("SCOPE_DEADLOCK"));
    assert!(pair.lifted[0].hint.as_deref().unwrap().contains("PTO2_RING_TASK_WINDOW"));

    let task = triage("S01-camodel-checkSqeSupported.txt");
    has(&task, "camodel-unsupported-task", &[("task_type", "SDMA")]);

    let symbol = triage("I01-glibcxx-3.4.30-openeuler2203.txt");
    has(&symbol, "glibcxx-too-old", &[("needed", "GLIBCXX_3.4.30")]);

    let container = triage("E11-container-8020-9005-507899-mix.txt");
    assert_eq!(ids(&container, Role::Expected), ["board-type-failed"]);
    assert_eq!(container.verdict, Verdict::Fault);

    assert_eq!(triage("K01-bisheng-MEMORY_BASE-redefined.txt").verdict, Verdict::Doubtful);
    let mismatch = triage("K04-bisheng-cannot-select-intrinsic.txt");
    let shown = serde_json::to_string(&mismatch).unwrap();
    assert!(!shown.contains("submit a bug report"), "the advice to report it to LLVM is no help");
}

#[test]
fn every_wrapped_exit_status_leads_back_to_its_code() {
    let Some(directory) = samples() else { return };
    let table = fs_err::read_to_string(directory.join("E14-exit-codes-mod-256.txt")).unwrap();
    for line in table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let mut words = line.split_whitespace();
        let (code, status) = (words.next().unwrap(), words.next().unwrap());
        let mut triager = Triager::new(Surroundings::default());
        triager.code(status).unwrap();
        let triage = triager.finish();
        assert_eq!(triage.findings[0].code.as_ref().unwrap().value, code, "{status}");
    }
}

#[test]
fn every_code_of_the_runtimes_table_is_named() {
    let Some(directory) = samples() else { return };
    let table = fs_err::read_to_string(directory.join("../facts/acl-error-codes.tsv")).unwrap();
    let mut named = 0;
    for line in table.lines() {
        let mut fields = line.split('\t');
        // One line of the table lost its number.
        let (Some(code), Some(name)) = (fields.next().filter(|code| code.parse::<i32>().is_ok()), fields.next()) else {
            continue;
        };
        let mut triager = Triager::new(Surroundings::default());
        triager.code(code).unwrap();
        assert_eq!(triager.finish().findings[0].code.as_ref().unwrap().name.as_deref(), Some(name), "{code}");
        named += 1;
    }
    assert!(named > 140, "{named} codes");
}
