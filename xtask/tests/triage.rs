//! `triage` as it is typed.

use assert_cmd::Command;
use serde_json::Value;

fn triage(args: &[&str], stdin: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let output = command.arg("triage").args(args).write_stdin(stdin).env("NO_COLOR", "1").output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_pipe_is_read_when_nothing_else_is_given() {
    let (code, stdout, stderr) = triage(&[], "[ERROR] rtStreamSynchronize failed: 507018\nrtMalloc failed: 507899\n");
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(stdout.starts_with("first cause  the AICPU had an exception"), "{stdout}");
    assert!(stdout.contains("stdin:1: [ERROR] rtStreamSynchronize failed: 507018"), "{stdout}");
    assert!(stdout.contains("fallout") && stdout.contains("stdin:2"), "{stdout}");
}

#[test]
fn negative_codes_are_codes_and_no_options() {
    let (code, stdout, _) = triage(&["-8020"], "");
    assert_eq!(code, 0);
    assert!(stdout.contains("-8020 DCMI: resource occupied"), "{stdout}");
}

#[test]
fn json_is_one_document_with_a_schema() {
    let (code, stdout, stderr) = triage(&["507015", "507998", "--json"], "");
    assert_eq!((code, stderr.as_str()), (0, ""));
    let document: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(document["schema"], "ptokit.triage/1");
    let of = |key: &str| -> Vec<&str> {
        document["findings"].as_array().unwrap().iter().map(|finding| finding[key].as_str().unwrap()).collect()
    };
    assert_eq!((of("id"), of("role")), (vec!["aic-exception", "unknown-code"], vec!["first-cause", "unknown"]));
}

#[test]
fn logs_and_standard_input_together() {
    let scratch = tempfile::tempdir().unwrap();
    let log = scratch.path().join("a log.txt");
    fs_err::write(&log, b"\xff\xfe\nrun failed: 507034\r\n").unwrap();
    let (code, stdout, _) = triage(&["--log", log.to_str().unwrap(), "-"], "get device num fail. ret = 507899\n");
    assert_eq!(code, 0);
    assert!(stdout.contains("vector core time-out") && stdout.contains("a log.txt:2"), "{stdout}");
    assert!(stdout.contains("stdin:1"), "{stdout}");
}

#[test]
fn what_cannot_be_read_is_wrong_usage() {
    let (code, stdout, stderr) = triage(&["hello"], "");
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("`hello` is not an error code") && stderr.contains("hint:"), "{stderr}");
    let (code, stdout, _) = triage(&["--json", "--log", "no/such/file"], "");
    let document: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &document["schema"], &document["error"]["code"]), (2, &"ptokit.triage/1".into(), &2.into()));
    assert!(document["error"]["message"].as_str().unwrap().contains("no/such/file"), "{document}");
}

#[test]
fn nothing_known_is_said() {
    let (code, stdout, _) = triage(&[], "all is well\n");
    assert_eq!((code, stdout.as_str()), (0, "nothing known was found (lines read: 1)\n"));
}
