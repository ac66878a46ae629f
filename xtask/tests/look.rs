//! `kernel inspect` and `kernel lint`: verbs that look and run nothing.

mod scratch;

use pto_test::elf::Elf;
use scratch::Scratch;
use serde_json::{Value, json};

#[test]
fn a_library_that_was_built_here_fits_here() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    let built = scratch.run(&["kernel", "build", "./foo", "--json", "--offline"]).expect(0).json();
    let library = built["kernels"][0]["built"]["build"]["library"].as_str().unwrap().to_owned();
    let document = scratch.run(&["kernel", "inspect", &library, "--json"]).expect(0).json();
    assert_eq!((&document["schema"], &document["path"]), (&json!("ptokit.kernel-inspect/1"), &json!(library)));
    assert_eq!((&document["cpu"], &document["fits"]), (&json!(true), &json!(true)), "{document}");
    let exports = document["exports"].as_array().unwrap();
    assert!(exports.iter().any(|export| export["symbol"] == "call_foo"), "{document}");
    let text = scratch.run(&["kernel", "inspect", &library]).expect(0).stdout;
    assert!(text.contains("built for the target `cpu`") && text.ends_with("fits on this machine\n"), "{text}");
}

#[test]
fn a_library_for_an_npu_tells_what_is_missing() {
    let Some(scratch) = Scratch::new() else { return };
    let device = Elf::device(0x99_0000).function("k_mix_aic").function("k_mix_aiv").build();
    let library = Elf::library().needs("libruntime.so").function("call_k").section(".aicore_binary", device);
    fs_err::write(scratch.path().join("k.so"), library.build()).unwrap();
    let document = scratch.run(&["kernel", "inspect", "k.so", "--json"]).expect(0).json();
    assert_eq!((&document["archs"], &document["core"]), (&json!(["dav-3510"]), &json!("mix")));
    let kinds: Vec<&Value> = document["problems"].as_array().unwrap().iter().map(|problem| &problem["kind"]).collect();
    assert_eq!(kinds, ["library", "no_npu"], "{document}");
    let text = scratch.run(&["kernel", "inspect", "k.so"]).expect(0).stdout;
    assert!(text.starts_with("k.so: shared library for "), "{text}");
    assert!(text.contains("with device code for a5 (dav-3510)\n") && text.contains("\n  mix   k\n"), "{text}");

    assert!(text.contains("  its device code is for a5 (dav-3510), and no NPU is here\n"), "{text}");

    fs_err::write(scratch.path().join("cut.so"), &library.build()[..100]).unwrap();
    let ran = scratch.run(&["kernel", "inspect", "cut.so"]).expect(2);
    assert!(ran.stderr.contains("`cut.so` is damaged or cut short"), "{}", ran.stderr);
}

/// The words of `kernel lint ./foo`.
fn lint<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    [&["kernel", "lint", "./foo"], rest].concat()
}

#[test]
fn findings_are_a_negative_verdict_and_stop_nothing() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    assert_eq!(scratch.run(&lint(&[])).expect(0).stdout, "1 kernel: 0 findings\n");

    scratch.edit("foo/foo.cpp", "using namespace pto;", "using namespace pto;\n#define PIPE_MINE PIPE_M");
    let document = scratch.run(&lint(&["--json"])).expect(1).json();
    assert_eq!(document["kernels"], json!([{ "name": "foo", "path": "./foo/kernel.toml" }]));
    assert_eq!((&document["passed"], &document["allowed"]), (&json!(false), &json!(0)));
    let finding = &document["findings"][0];
    assert_eq!((&finding["path"], &finding["rule"]), (&json!("./foo/foo.cpp"), &json!("pipe-macro")));
    assert_eq!(
        scratch.run(&lint(&["--allow", "pipe-macro"])).expect(0).stdout,
        "1 kernel: 0 findings, 1 more allowed\n"
    );
    let ran = scratch.run(&lint(&["--allow", "pipe-makro"])).expect(2);
    assert!(ran.stderr.contains("there is no rule `pipe-makro`, expected one of vector-mask, "), "{}", ran.stderr);
    let _ = scratch.run(&["kernel", "test", "./foo", "--case", "n=4096", "--offline"]).expect(0);

    scratch.edit("foo/kernel.toml", "core = ", "kore = ");
    let document = scratch.run(&lint(&["--json"])).expect(2).json();
    assert_eq!(document["passed"], false);
    assert!(document["failures"][0]["message"].as_str().unwrap().contains("unknown key `kore`"), "{document}");
}
