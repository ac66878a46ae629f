//! What a run leaves behind: its record, and what can be told from it later.

mod scratch;

use scratch::Scratch;
use serde_json::{Value, json};

fn record(scratch: &Scratch, name: &str) -> Value {
    let path = scratch.generated().join("verification").join(name);
    serde_json::from_str(&fs_err::read_to_string(path).unwrap()).unwrap()
}

fn records(scratch: &Scratch) -> Vec<String> {
    let listing = fs_err::read_dir(scratch.generated().join("verification")).unwrap();
    let mut names: Vec<String> = listing.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_run_is_recorded_with_all_that_it_depends_on() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    let _ = scratch.run(&["kernel", "test", "./foo", "--seed", "7"]).expect(0);
    let record = record(&scratch, "foo-cpu.json");
    assert_eq!((&record["schema"], &record["mode"]), (&json!("ptokit.record/1"), &json!("host")));
    assert_eq!(record["commands"]["repeat"], "cargo xtask kernel test ./foo --seed 7");
    let compile = record["commands"]["compile"].as_array().unwrap();
    assert!(compile.iter().any(|line| line.as_str().unwrap().contains(" -c ")), "{compile:?}");
    assert!(compile.last().unwrap().as_str().unwrap().contains("-shared"), "{compile:?}");
    assert_eq!(record["commands"]["launch"], json!(["call_foo(block_dim, stream, y, x, z, n)"]));
    assert_eq!(record["dims"]["dynamic"], json!(["n"]));
    assert_eq!(record["cases"].as_array().unwrap().len(), 6);
    assert_eq!(record["cases"][0]["shapes"]["y"], record["cases"][0]["shapes"]["x"]);
    let sources: Vec<&str> =
        list(&record["digests"]["sources"]).iter().map(|it| it["path"].as_str().unwrap()).collect();
    assert_eq!(sources, ["kernel.toml", "foo.cpp"]);
    assert!(record["digests"]["headers"]["files"].as_u64().unwrap() > 100, "{}", record["digests"]["headers"]);
    assert_eq!(record["git"], Value::Null, "a scratch directory is in no repository");
    let log = fs_err::read_to_string(scratch.generated().join("verification/LOG.md")).unwrap();
    assert!(log.contains("## foo on cpu (test): passed") && log.contains("n dynamic; tile = "), "{log}");
    // The compiler is not asked again, and yet the record says what made the library.
    let _ = scratch.run(&["kernel", "test", "./foo"]).expect(0);
    assert_eq!(self::record(&scratch, "foo-cpu.json")["commands"]["compile"], record["commands"]["compile"]);
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

#[test]
fn a_part_another_soc_and_a_blocked_run_have_records_of_their_own() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    let _ = scratch.run(&["kernel", "test", "./foo", "--case", "n=64"]).expect(0);
    let _ = scratch.run(&["kernel", "test", "./foo", "--soc", "Ascend950PR_9599", "--case", "n=64"]).expect(0);
    let _ = scratch.run(&["kernel", "test", "./foo", "--target", "a5"]).expect(3);
    assert_eq!(records(&scratch), ["LOG.md", "foo-a5.json", "foo-cpu-Ascend950PR_9599-n=64.json", "foo-cpu-n=64.json"]);
    let blocked = record(&scratch, "foo-a5.json");
    assert_eq!((&blocked["status"], &blocked["mode"]), (&json!("blocked"), &Value::Null));
    assert!(blocked["blockers"][0].as_str().unwrap().contains("no CANN toolkit found"), "{blocked}");
}

#[test]
fn a_record_is_held_against_every_file_it_speaks_of() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    scratch.write("foo/extra.hpp", "#define EXTRA 1\n");
    scratch.edit("foo/foo.cpp", "#include", "#include \"extra.hpp\"\n#include");
    let test = || scratch.run(&["kernel", "test", "foo", "--case", "n=64"]).expect(0);
    let check = |code| scratch.run(&["kernel", "log", "foo", "--check"]).expect(code);
    let none = check(1);
    assert!(none.says("there is no record of `foo`"), "{none}");
    test();
    let _ = check(0);
    for (file, find, replace) in [
        ("foo/extra.hpp", "EXTRA 1", "EXTRA 2"),
        ("foo/foo.cpp", "TADD(", "TADD ("),
        ("foo/kernel.toml", "summary = \"", "summary = \"a "),
    ] {
        scratch.edit(file, find, replace);
        let ran = check(1);
        let name = file.trim_start_matches("foo/");
        assert!(ran.says("out of date: foo on cpu: `") && ran.says(&format!("/{name}` has changed")), "{ran}");
        test();
        let _ = check(0);
    }
    let library = record(&scratch, "foo-cpu-n=64.json")["digests"]["artifact"]["path"].as_str().unwrap().to_owned();
    fs_err::remove_file(&library).unwrap();
    let ran = check(1);
    assert!(ran.says(&format!("`{library}` is gone")), "{ran}");
}

#[test]
fn done_is_what_the_records_show() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    let status = |id: &str, code: i32| {
        let document = scratch.run(&["kernel", "done", "foo", "--json"]).expect(code).json();
        let items = document["kernels"][0]["items"].as_array().unwrap();
        let item = items.iter().find(|item| item["id"] == id).unwrap_or_else(|| panic!("{id}: {document}"));
        (item["status"].as_str().unwrap().to_owned(), item["command"].as_str().map(str::to_owned))
    };
    let missing = |command: &str| ("missing".to_owned(), Some(format!("cargo xtask kernel {command}")));
    let done = || ("done".to_owned(), None);
    assert_eq!(status("compared-cpu", 1), missing("test foo --target cpu"));
    assert_eq!(status("two-tiles", 1), missing("test foo"));
    // A part is not all.
    let _ = scratch.run(&["kernel", "test", "foo", "--case", "n=64"]).expect(0);
    assert_eq!(status("compared-cpu", 1), missing("test foo --target cpu"));
    let _ = scratch.run(&["kernel", "test", "foo"]).expect(0);
    for id in
        ["compiled-cpu", "launched-cpu", "compared-cpu", "repeats-cpu", "fresh-cpu", "one-tile", "two-tiles", "tail"]
    {
        assert_eq!(status(id, 1), done(), "{id}");
    }
    assert_eq!(status("compared-a5", 1), missing("test foo --target a5"));
    assert_eq!(status("stated", 1), done(), "the template says it");
    fs_err::remove_file(scratch.path().join("foo/README.md")).unwrap();
    assert_eq!(status("stated", 1), missing("log foo --markdown"));
    let _ = scratch.run(&["kernel", "log", "foo", "--markdown"]).expect(0);
    assert_eq!(status("stated", 1), done());
    // Once it is known why, what cannot be done here is no reason any more.
    for target in ["a2a3", "a5"] {
        let _ = scratch.run(&["kernel", "test", "foo", "--target", target]).expect(3);
    }
    assert_eq!(status("compared-a5", 0), ("blocked".to_owned(), None));
    scratch.edit("foo/foo.cpp", "TADD(", "TADD (");
    assert_eq!(status("fresh-cpu", 1), missing("test foo --target cpu"));
}

#[test]
fn a_damaged_record_is_named() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    scratch.write("target/pto/verification/bar-cpu.json", "{\"schema\": \"ptokit.record/1\"");
    let _ = scratch.run(&["kernel", "test", "foo", "--case", "n=64"]).expect(0);
    let ran = scratch.run(&["kernel", "log", "--json"]).expect(0);
    assert!(ran.stderr.contains("bar-cpu.json` is no record"), "{ran}");
    let document = ran.json();
    assert_eq!((list(&document["records"]).len(), list(&document["unreadable"]).len()), (1, 1));
    assert_eq!(document["unreadable"][0]["path"], "target/pto/verification/bar-cpu.json");
}

#[test]
fn a_malformed_manifest_hides_no_records_and_is_told() {
    let Some(scratch) = Scratch::new() else { return };
    for name in ["good", "bad", "fresh"] {
        scratch.kernel(name);
    }
    let _ = scratch.run(&["kernel", "test", "good", "--case", "n=64"]).expect(0);
    scratch.edit("bad/kernel.toml", "core = ", "kore = ");
    let failures = |args: &[&str]| {
        let document = scratch.run(&[&["kernel"], args, &["--json"]].concat()).expect(2).json();
        let messages = list(&document["failures"]).iter().map(|it| it["message"].as_str().unwrap().to_owned());
        (messages.collect::<Vec<_>>(), document)
    };
    let (messages, document) = failures(&["log", "bad"]);
    assert!(messages[0].contains("bad/kernel.toml:") && messages[0].contains("`kore`"), "{document}");
    let (messages, document) = failures(&["log", "good", "bad"]);
    assert_eq!((messages.len(), list(&document["records"]).len(), &document["passed"]), (1, 1, &json!(false)));
    let (messages, _) = failures(&["log", "fresh", "bad"]);
    assert_eq!(messages[1], "there is no record of `fresh`");
    let (messages, document) = failures(&["done", "good", "bad"]);
    assert!(messages[0].contains("`kore`"), "{document}");
    assert_eq!((&document["kernels"][0]["name"], &document["done"]), (&json!("good"), &json!(false)));
    let ran = scratch.run(&["kernel", "log", "bad"]).expect(2);
    assert!(ran.stderr.contains("`kore`") && !ran.says("there are no records"), "{ran}");
}

#[test]
fn a_verdict_is_shown_in_the_words_of_the_run() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    scratch.edit("foo/foo.cpp", "TADD(", "TNONE(");
    let _ = scratch.run(&["kernel", "test", "foo"]).expect(1);
    let table = scratch.run(&["kernel", "log"]).expect(0);
    assert!(table.stdout.contains("does not build") && !table.stdout.contains("not_built"), "{table}");
    assert_eq!(record(&scratch, "foo-cpu.json")["status"], "not_built");
    let document = scratch.run(&["kernel", "log", "foo", "--markdown", "--json"]).expect(0).json();
    assert_eq!((&document["passed"], &document["written"]), (&json!(true), &json!(["foo/VERIFICATION.md"])));
    let text = fs_err::read_to_string(scratch.path().join("foo/VERIFICATION.md")).unwrap();
    assert!(text.contains("## foo on cpu (test): does not build"), "{text}");
}

#[test]
fn what_was_asked_for_wrongly_leaves_the_run_before_as_it_is() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    let _ = scratch.run(&["kernel", "test", "./foo"]).expect(0);
    let report = || fs_err::read(scratch.generated().join("report.json")).unwrap();
    let before = (record(&scratch, "foo-cpu.json"), report(), records(&scratch));
    for wrong in [
        &["--target", "cpu", "--launch", "direct"][..],
        &["--case", "77"],
        &["--case", "m=3"],
        &["--soc", "Ascend310P3"],
        &["--soc", "nonsense"],
    ] {
        let _ = scratch.run(&[&["kernel", "test", "./foo"], wrong].concat()).expect(2);
        let _ = scratch.run(&[&["kernel", "bench", "./foo"], wrong].concat()).expect(2);
        assert_eq!((record(&scratch, "foo-cpu.json"), report(), records(&scratch)), before, "{wrong:?}");
    }
    let _ = scratch.command(&["kernel", "test", "./foo"]).env("PTO_DEVICE_REPEATS", "no").output().unwrap();
    // What a file says wrongly is a verdict, as ever.
    scratch.edit("foo/kernel.toml", "y = \"x + z\"", "y = \"sum(x)\"");
    let _ = scratch.run(&["kernel", "test", "./foo"]).expect(2);
    assert_eq!(record(&scratch, "foo-cpu.json")["status"], "malformed");
}

#[test]
fn rows_of_one_kernel_can_be_told_apart() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    let _ = scratch.run(&["kernel", "test", "foo", "--case", "n=64"]).expect(0);
    let _ = scratch.run(&["kernel", "test", "foo", "--soc", "Ascend950PR_9599", "--case", "n=65"]).expect(0);
    let ran = scratch.run(&["kernel", "log"]).expect(0);
    let row = |soc: &str| ran.stdout.lines().find(|line| line.contains(soc)).unwrap_or_else(|| panic!("{soc}: {ran}"));
    let ends = |soc: &str, end: &str| row(soc).split_whitespace().collect::<Vec<_>>().join(" ").ends_with(end);
    assert!(ends("cpu (Ascend910B2)", " --case 'n=64' in part"), "{ran}");
    assert!(ends("cpu (Ascend950PR_9599)", " --soc Ascend950PR_9599 --case 'n=65' in part"), "{ran}");
}

/// What a hostile record says is shown, and no terminal obeys it; what it names is not written to.
#[test]
fn a_record_of_somebody_else_cannot_move_the_cursor_nor_leave_the_workspace() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    let _ = scratch.run(&["kernel", "test", "foo", "--case", "n=64"]).expect(0);
    let mut hostile = record(&scratch, "foo-cpu-n=64.json");
    let outside = tempfile::tempdir().unwrap();
    fs_err::write(outside.path().join("kernel.toml"), "").unwrap();
    hostile["manifest"] = outside.path().join("kernel.toml").to_str().unwrap().into();
    hostile["kernel"] = "\u{1b}[2Jfoo\nfoo  cpu  passed".into();
    hostile["blockers"] = json!(["\u{1b}]52;c;aGk=\u{7}\r\nerror: none"]);
    scratch.write("target/pto/verification/\u{1b}[2J.json", "{");
    scratch.write("target/pto/verification/hostile.json", &hostile.to_string());
    let in_colour = |args: &[&str]| {
        let ran: scratch::Ran = scratch.command(args).env("CLICOLOR_FORCE", "1").output().unwrap().into();
        let both = ran.stdout.clone() + &ran.stderr;
        let obeyed = |c: char| c.is_control() && c != '\n';
        assert!(!both.replace("\u{1b}[0m", "").replace("\u{1b}[1m", "").split("\u{1b}[").skip(1).any(|rest| {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != ';');
            !end.is_some_and(|end| rest[end..].starts_with('m'))
        }));
        assert!(!both.replace("\u{1b}[", "").contains(obeyed), "{both:?}");
        ran
    };
    let table = in_colour(&["kernel", "log"]).expect(0);
    assert!(table.stdout.contains("\u{fffd}[2Jfoo foo  cpu  passed  cpu "), "{table}");
    assert_eq!(table.stdout.lines().count(), 4, "{table}");
    assert!(table.stderr.contains("\u{fffd}[2J.json` is no record"), "{table}");
    let written = in_colour(&["kernel", "log", "--markdown"]).expect(0);
    assert!(written.stderr.contains("wrote nothing for `"), "{written}");
    assert!(!outside.path().join("VERIFICATION.md").exists() && scratch.path().join("foo/VERIFICATION.md").exists());
}
