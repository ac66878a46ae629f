//! What holds for any input.

use crate::support::{fixtures, ids, triage_texts};
use proptest::prelude::*;
use pto_doctor::triage::{Machine, Role, Triager};

fn all_fixtures() -> Vec<(String, String)> {
    let mut files: Vec<_> = fs_err::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |path: &std::path::PathBuf| {
        (path.file_name().unwrap().to_str().unwrap().to_owned(), fs_err::read_to_string(path).unwrap())
    };
    files.iter().map(read).collect()
}

fn lines_of_all_fixtures() -> Vec<String> {
    all_fixtures().iter().flat_map(|(_, text)| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Known lines, cut and joined at random: what no format promises and every pipe can make.
fn mangled() -> impl Strategy<Value = Vec<u8>> {
    let lines = lines_of_all_fixtures();
    let piece = (0..lines.len(), 0_usize..200, 0_usize..400).prop_map(move |(line, from, length)| {
        let bytes = lines[line].as_bytes();
        let from = from.min(bytes.len());
        bytes[from..(from + length).min(bytes.len())].to_vec()
    });
    let noise = prop::collection::vec(any::<u8>(), 0..40);
    let end = prop::sample::select(vec![&b"\n"[..], b"\r\n", b"", b" "]);
    prop::collection::vec((piece, noise, end), 0..30).prop_map(|pieces| {
        pieces.into_iter().flat_map(|(piece, noise, end)| [piece, noise, end.to_vec()].concat()).collect()
    })
}

proptest! {
    #[test]
    fn no_bytes_are_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..4000)) {
        let mut triager = Triager::new(Machine::default());
        triager.log("bytes", bytes.as_slice()).unwrap();
        triager.finish();
    }

    #[test]
    fn no_mangled_log_is_too_odd(bytes in mangled()) {
        let mut triager = Triager::new(Machine::default());
        triager.log("mangled", bytes.as_slice()).unwrap();
        let triage = triager.finish();
        prop_assert!(ids(&triage, Role::FirstCause).len() <= 1);
        prop_assert!(serde_json::to_string(&triage).is_ok());
        for finding in &triage.findings {
            prop_assert!(!finding.evidence.is_empty() && finding.count > 0);
        }
    }

    #[test]
    fn no_word_is_too_odd(word in ".{0,80}") {
        let mut triager = Triager::new(Machine::default());
        let _ = triager.code(&word);
        triager.finish();
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_order_of_logs_does_not_matter(order in Just((0..all_fixtures().len()).collect::<Vec<_>>()).prop_shuffle(), some in 2_usize..8) {
        let files = all_fixtures();
        let given: Vec<(&str, &str)> =
            order.iter().take(some).map(|index| (files[*index].0.as_str(), files[*index].1.as_str())).collect();
        let mut sorted = given.clone();
        sorted.sort_unstable();
        let (given, sorted) = (triage_texts(Machine::default(), &given), triage_texts(Machine::default(), &sorted));
        prop_assert_eq!(given.findings, sorted.findings);
        prop_assert_eq!(given.lifted, sorted.lifted);
    }

    #[test]
    fn the_order_of_codes_does_not_matter(order in Just(vec!["507018", "507899", "-8020", "EL0005", "0x25", "124", "507998"]).prop_shuffle()) {
        let answer = |codes: &[&str]| {
            let mut triager = Triager::new(Machine::default());
            codes.iter().for_each(|code| triager.code(code).unwrap());
            triager.finish().findings
        };
        let mut sorted = order.clone();
        sorted.sort_unstable();
        prop_assert_eq!(answer(&order), answer(&sorted));
    }

    /// What stands before and after a fault in a log, as long as it is of no concern, changes nothing but line numbers.
    #[test]
    fn other_lines_change_nothing(before in 0_usize..200, between in 0_usize..3) {
        let files = all_fixtures();
        for (name, text) in &files {
            let plain = "[INFO] step 17 took 3.5 ms, loss 0.25\n";
            let spread: String = text.lines().map(|line| format!("{line}\n{}", plain.repeat(between))).collect();
            let padded = format!("{}{spread}", plain.repeat(before));
            let alone = triage_texts(Machine::default(), &[(name, text)]);
            let padded = triage_texts(Machine::default(), &[(name, &padded)]);
            // A compiler's diagnostic is one block of lines.
            if between == 0 || !text.contains("error: ") && !text.contains("warning: ") {
                for role in [Role::FirstCause, Role::Symptom, Role::Fallout, Role::Separate] {
                    prop_assert_eq!(ids(&alone, role), ids(&padded, role), "{}", name);
                }
            }
        }
    }
}

/// The host names the code, the device's log the reason: one event, whichever was given first.
#[test]
fn host_and_device_logs_make_one_finding() {
    let host = ("host.log", "[ERROR] 2026-01-02-03:04:06.000 sync failed: 507015\n[ERROR] malloc failed: 507899\n");
    let device = (
        "device.log",
        "2026-01-02-03:04:05.900 The error from device(chipId:2, dieId:0), serial number is 1, there is an aicore error \
         exception, core id is 4, error code = 95, dump info: pc start: 0x10, current: 0x20, aic error mask: 0x1\n",
    );
    for logs in [[host, device], [device, host]] {
        let triage = triage_texts(Machine::default(), &logs);
        assert_eq!(ids(&triage, Role::FirstCause), ["aic-exception"]);
        assert_eq!(ids(&triage, Role::Fallout), ["driver-internal"]);
        let cause = triage.first_cause().unwrap();
        assert_eq!(cause.code.as_ref().unwrap().value, "507015");
        assert_eq!((cause.fields.chip, cause.fields.pc_offset), (Some(2), Some(0x10)));
        assert_eq!(cause.evidence[0].to_string(), "device.log:1");
        assert!(cause.note.as_deref().unwrap().contains("DDR address"), "{cause:#?}");
    }
}

/// Two chips are two events; what another chip reports is no fallout of the first.
#[test]
fn faults_of_two_chips_are_two_findings() {
    let line = |chip: u32, kind: &str| {
        format!(
            "The error from device(chipId:{chip}, dieId:0), serial number is 1, there is an {kind} error exception, core id \
             is 4, error code = 0x10, dump info: pc start: 0x10, current: 0x20\n"
        )
    };
    let text = [line(1, "aicore"), line(1, "aivec"), line(5, "aicore")].concat();
    let triage = triage_texts(Machine::default(), &[("plog", &text)]);
    assert_eq!(ids(&triage, Role::FirstCause), ["aic-exception"]);
    assert_eq!(ids(&triage, Role::Fallout), ["aiv-exception"]);
    assert_eq!(ids(&triage, Role::Separate), ["aic-exception"]);
}

#[test]
fn a_reader_that_fails_leaves_what_was_read() {
    struct Failing(usize);
    impl std::io::Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.0 += 1;
            match self.0 {
                1 => {
                    let text = b"run failed: 507018\n";
                    buffer[..text.len()].copy_from_slice(text);
                    Ok(text.len())
                }
                2 => Err(std::io::ErrorKind::Interrupted.into()),
                _ => Err(std::io::Error::other("the disk is gone")),
            }
        }
    }
    let mut triager = Triager::new(Machine::default());
    let error = triager.log("broken.log", std::io::BufReader::new(Failing(0))).unwrap_err();
    assert_eq!(error.to_string(), "cannot read `broken.log`");
    assert_eq!(ids(&triager.finish(), Role::FirstCause), ["aicpu-exception"]);
}
