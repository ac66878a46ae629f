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
    let (code, _, stderr) = triage(&["no/such.log"], "");
    assert!(code == 2 && stderr.contains("there is no such file"), "{stderr}");
    let (code, _, stderr) = triage(&["ACL_ERROR_RT_NO_DEVIC"], "");
    assert!(code == 2 && stderr.contains("did you mean `ACL_ERROR_RT_NO_DEVICE`?"), "{stderr}");
    let (code, stdout, _) = triage(&["--json", "--log", "no/such/file"], "");
    let document: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &document["schema"], &document["error"]["code"]), (2, &"ptokit.triage/1".into(), &2.into()));
    assert!(document["error"]["message"].as_str().unwrap().contains("no/such/file"), "{document}");
}

#[test]
fn a_file_given_as_a_code_is_read_as_a_log_and_named_shortly() {
    let scratch = tempfile::tempdir().unwrap();
    let log = scratch.path().join("some.log");
    fs_err::write(&log, "kernelName = (null)\n[ERROR] rtStreamSynchronize failed: 507018\n").unwrap();
    let (code, stdout, _) = triage(&[log.to_str().unwrap()], "");
    assert_eq!(code, 0);
    assert!(stdout.contains("\n  some.log:2: [ERROR]"), "{stdout}");
    assert!(stdout.contains("speaks for it: some.log:1: kernelName = (null)"), "{stdout}");
}

#[test]
fn logs_of_one_name_keep_their_directories_and_no_line_stands_twice() {
    let scratch = tempfile::tempdir().unwrap();
    let write = |dir: &str, text: &str| {
        let file = scratch.path().join(dir).join("host.log");
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let first = write("a", "[ERROR] simpler_init failed with code 507018\n");
    let second = write("b", "all is well\n");
    let (_, stdout, _) = triage(&["--log", &first, &second], "");
    assert_eq!(stdout.matches("simpler_init failed with code 507018").count(), 1, "{stdout}");
    assert!(stdout.contains(&format!("speaks for it: {first}:1\n")), "{stdout}");
}

#[test]
fn an_unknown_code_has_a_next_step() {
    let (code, stdout, _) = triage(&["999999"], "");
    assert_eq!(code, 0);
    for next in ["unknown code `999999`", "$ cargo xtask triage --log FILE", "$ cargo xtask bundle"] {
        assert!(stdout.contains(next), "{stdout}");
    }
}

#[test]
fn a_kernel_of_ones_own_has_a_check_without_a_card() {
    let (_, stdout, _) = triage(&["507018"], "");
    assert!(stdout.contains("$ cargo xtask kernel test NAME --target cpu"), "{stdout}");
}

#[test]
fn nothing_known_is_said() {
    let (code, stdout, _) = triage(&[], "all is well\n");
    assert_eq!((code, stdout.as_str()), (0, "nothing known was found (lines read: 1)\n"));
}
