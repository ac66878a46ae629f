//! `--json`: exactly one document on stdout, whatever happens.

mod scratch;

use scratch::Scratch;
use serde_json::{Value, json};

/// Whatever is missing in the words of a script.
fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn kernel_test() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    let document = scratch.run(&["kernel", "test", "./foo", "--json", "--offline"]).expect(0).json();
    assert_eq!(document["schema"], "ptokit.kernel-test/1");
    assert_eq!(document["totals"], json!({ "kernels": 1, "cases": 6, "passed": 6, "failed": 0 }));
    let kernel = &document["kernels"][0];
    assert_eq!((&kernel["name"], &kernel["path"]), (&json!("foo"), &json!("./foo/kernel.toml")));
    assert_eq!((&kernel["status"], &kernel["error"]), (&json!("passed"), &Value::Null));
    let case = &kernel["cases"][0];
    assert_eq!(case["dims"], json!({ "n": 4096 }));
    assert_eq!((&case["target"], &case["status"], &case["seed"]), (&json!("cpu"), &json!("passed"), &json!(1)));
    assert_eq!(keys(&case["outputs"]), ["y"]);

    let saved = fs_err::read_to_string(scratch.generated().join("report.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&saved).unwrap(), document);
}

#[test]
fn a_kernel_that_is_wrong() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    scratch.edit("foo/foo.cpp", "TADD(", "TSUB(");
    let args = ["kernel", "test", "./foo", "--json", "--case", "n=4096"];
    let document = scratch.run(&args).expect(1).json();
    let case = &document["kernels"][0]["cases"][0];
    assert_eq!((&document["passed"], &case["status"]), (&json!(false), &json!("differs")));
    assert!(case["outputs"]["y"]["status"].is_string(), "{case}");

    scratch.edit("foo/foo.cpp", "TSUB(", "TNONE(");
    let document = scratch.run(&args).expect(1).json();
    let kernel = &document["kernels"][0];
    assert_eq!((&kernel["status"], &kernel["cases"]), (&json!("not_built"), &json!([])));
    assert!(kernel["error"]["message"].as_str().unwrap().contains("./foo/foo.cpp:53:9: error:"), "{kernel}");
}

#[test]
fn one_of_many_is_broken() {
    let Some(scratch) = Scratch::new() else { return };
    for name in ["blocked", "good", "malformed", "unbuilt"] {
        scratch.kernel(name);
    }
    scratch.edit("malformed/kernel.toml", "core = ", "kore = ");
    scratch.edit("blocked/kernel.toml", r#"expr = { y = "x + z" }"#, r#"command = ["nonesuch-program"]"#);
    scratch.edit("unbuilt/unbuilt.cpp", "TADD(", "TNONE(");
    let status = |document: &Value| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let kernels = document["kernels"].as_array().unwrap();
        let mut list: Vec<_> = kernels.iter().map(|kernel| (text(&kernel["name"]), text(&kernel["status"]))).collect();
        list.sort();
        list
    };
    let expected = [("blocked", "blocked"), ("good", "passed"), ("malformed", "malformed"), ("unbuilt", "not_built")];
    let expected = expected.map(|(name, status)| (name.to_owned(), status.to_owned()));
    // By path, and by name from where they are.
    for names in [["./blocked", "./good", "./malformed", "./unbuilt"], ["blocked", "good", "malformed", "unbuilt"]] {
        let args = [&["kernel", "test", "--json", "--case", "n=64"], &names[..]].concat();
        assert_eq!(status(&scratch.run(&args).expect(2).json()), expected);
    }
    let document = scratch.run(&["kernel", "test", "good", "unbuilt", "--json", "--case", "n=64"]).expect(1).json();
    assert_eq!(document["totals"]["kernels"], 2);

    let document = scratch.run(&["kernel", "test", "blocked", "good", "--json", "--case", "n=64"]).expect(3).json();
    assert_eq!(document["totals"]["passed"], 1);

    let document = scratch.run(&["kernel", "build", "good", "malformed", "unbuilt", "--json"]).expect(2).json();
    let kernels = document["kernels"].as_array().unwrap();
    assert_eq!(kernels[0]["built"]["symbol"], "call_good");
    assert!(kernels[1]["error"]["message"].as_str().unwrap().contains("does not compile"), "{document}");
    assert!(kernels[2]["error"]["message"].as_str().unwrap().contains("kernel.toml:4:1"), "{document}");
}

#[test]
fn kernel_list() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("good");
    scratch.kernel("bad");
    scratch.edit("bad/kernel.toml", "core = ", "kore = ");
    let document = scratch.run(&["kernel", "list", "--json"]).expect(2).json();
    assert_eq!(document["schema"], "ptokit.kernel-list/1");
    let kernels = document["kernels"].as_array().unwrap();
    let good = kernels.iter().find(|kernel| kernel["name"] == "good").unwrap();
    assert_eq!(good["path"], "good/kernel.toml");
    assert_eq!(good["targets"], json!(["a2a3", "a5", "cpu"]));
    assert_eq!(kernels.len(), 1, "outside of the workspace only what lies here is meant");
    assert_eq!(document["failures"][0]["path"], "bad/kernel.toml");
}

#[test]
fn kernel_new_adopt_build_clean() {
    let Some(scratch) = Scratch::new() else { return };
    let document = scratch.run(&["kernel", "new", "foo", "--dir", ".", "--json"]).expect(0).json();
    assert_eq!(document, json!({ "schema": "ptokit.kernel-new/1", "name": "foo", "path": "./foo" }));

    fs_err::remove_file(scratch.path().join("foo/kernel.toml")).unwrap();
    let document = scratch.run(&["kernel", "adopt", "foo/foo.cpp", "--print", "--json"]).expect(0).json();
    assert_eq!((&document["schema"], &document["entry"]), (&json!("ptokit.kernel-adopt/1"), &json!("call_foo")));
    assert!(document["text"].as_str().unwrap().contains("[kernel]"));
    let document = scratch.run(&["kernel", "adopt", "foo/foo.cpp", "--json"]).expect(0).json();
    assert_eq!(document["path"], "foo/kernel.toml");
    assert!(document["checks"].as_array().is_some());

    scratch.kernel("foo");
    let document = scratch.run(&["kernel", "build", "foo", "--json"]).expect(0).json();
    assert_eq!((&document["schema"], &document["dry_run"]), (&json!("ptokit.kernel-build/1"), &json!(false)));
    assert_eq!(document["kernels"][0]["built"]["build"]["cached"], false);
    let document = scratch.run(&["kernel", "build", "foo", "--json", "--target", "a5", "--dry-run"]).expect(0).json();
    assert!(!document["kernels"][0]["plan"]["steps"].as_array().unwrap().is_empty(), "{document}");

    let document = scratch.run(&["kernel", "clean", "--json"]).expect(0).json();
    assert_eq!((&document["schema"], &document["deleted"]), (&json!("ptokit.kernel-clean/1"), &json!(true)));
    assert!(!scratch.generated().exists());
}

#[test]
fn quickstart_is_the_examples() {
    let Some(scratch) = Scratch::new() else { return };
    let document = scratch.run(&["quickstart", "--json", "--offline"]).expect(0).json();
    assert_eq!((&document["schema"], &document["passed"]), (&json!("ptokit.quickstart/1"), &json!(true)));
    assert_eq!(document["totals"]["kernels"], document["kernels"].as_array().unwrap().len());
    assert!(document["compiler"].is_string() && document["headers"]["dir"].is_string());
}

/// What a verb prints when there is nothing else to print.
#[test]
fn failures_are_documents_too() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    for (args, schema, code, message) in [
        (&["kernel", "test", "nonesuch"][..], "kernel-test", 2, "there is no kernel `nonesuch`"),
        (&["kernel", "test", "--target", "npu"], "kernel-test", 2, "`npu` is not a target"),
        (&["kernel", "test", "./foo", "--cxx", "/nonesuch"], "kernel-test", 3, "`/nonesuch`"),
        (&["kernel", "build", "./foo", "--dry-run"], "kernel-build", 2, "`--dry-run` is for"),
        (&["kernel", "new", "foo", "--dir", "."], "kernel-new", 2, "exists already"),
        (&["kernel", "new", "1foo"], "kernel-new", 2, "`1foo`"),
        (&["kernel", "adopt", "nonesuch.cpp"], "kernel-adopt", 2, "there is no file `nonesuch.cpp`"),
        (&["kernel", "clean", "all"], "kernel-clean", 2, "unexpected argument 'all'"),
        (&["kernel"], "kernel", 2, ""),
        (&["nonesuch"], "command-line", 2, "nonesuch"),
        (&["test", "--nonesuch"], "test", 2, "--nonesuch"),
    ] {
        let ran = scratch.run(&[args, &["--json"]].concat()).expect(code);
        let document = ran.json();
        assert_eq!(document["schema"], format!("ptokit.{schema}/1"), "{ran}");
        assert_eq!(document["error"]["code"], code, "{ran}");
        assert!(document["error"]["message"].as_str().unwrap().contains(message), "{ran}");
    }
}
