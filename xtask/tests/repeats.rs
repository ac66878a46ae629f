//! A case that is launched several times: all repeats are judged, and compared with each other.

mod scratch;

use scratch::{Ran, Scratch};
use serde_json::{Value, json};

/// A launcher that counts its calls, as a kernel whose cores race may be right twice and wrong the third time.
fn counting(scratch: &Scratch, third: &str) {
    scratch.kernel("foo");
    let call = "    foo_kernel<<<";
    scratch.edit("foo/foo.cpp", call, &format!("    static int calls = 0;\n    if (++calls == 3) {third}\n{call}"));
}

fn run(scratch: &Scratch, more: &[&str]) -> Ran {
    scratch.run(&[&["kernel", "test", "./foo", "--case", "n=4096"], more].concat())
}

fn case(ran: &Ran) -> Value {
    ran.json()["kernels"][0]["cases"][0].clone()
}

#[test]
fn a_repeat_that_differs_is_named_with_the_place() {
    let Some(scratch) = Scratch::new() else { return };
    counting(&scratch, "n -= 1;");
    let _ = run(&scratch, &["--repeats", "2"]).expect(0);
    let ran = run(&scratch, &["--repeats", "5"]).expect(1);
    assert!(
        ran.says(
            "nondeterministic ./foo n=4096: repeat 3 of 5 differs from the first: `y`: not deterministic: 1 of 4096"
        ) || ran.says(
            "nondeterministic foo n=4096: repeat 3 of 5 differs from the first: `y`: not deterministic: 1 of 4096"
        ),
        "{ran}"
    );
    assert!(ran.says("; repeat 3 is wrong") && ran.says("--case n=4096 --seed 1 --repeats 5"), "{ran}");

    let case = case(&run(&scratch, &["--repeats", "5", "--json"]).expect(1));
    assert_eq!(case["status"], "nondeterministic");
    let repeats = &case["repeats"];
    assert_eq!((&repeats["asked"], &repeats["completed"]), (&json!(5), &json!(5)));
    assert_eq!((&repeats["deterministic"], &repeats["wrong"]), (&json!(false), &json!([3])));
    assert_eq!((&repeats["differs"]["repeat"], &repeats["differs"]["output"]), (&json!(3), &json!("y")));
    assert_eq!(repeats["differs"]["index"], json!([4095]));
    assert_eq!(case["outputs"]["y"]["status"], "partly_written");
}

/// Sums in any order differ from run to run: that is for the author to say, and each run has to be right.
#[test]
fn a_difference_that_the_manifest_explains_passes() {
    let Some(scratch) = Scratch::new() else { return };
    counting(&scratch, "z = x;");
    let loose = "[tolerance]\ny = { atol = 1000.0, reason = \"every value is right here\" }\n\n[cases]";
    scratch.edit("foo/kernel.toml", "[cases]", loose);
    let _ = run(&scratch, &["--repeats", "3"]).expect(1);
    scratch.edit("foo/kernel.toml", "[launch]", "[launch]\nmay_vary = \"sums in any order\"");
    let case = case(&run(&scratch, &["--repeats", "3", "--json"]).expect(0));
    assert_eq!((&case["status"], &case["repeats"]["deterministic"]), (&json!("passed"), &json!(false)));
    assert!(case["message"].as_str().unwrap().ends_with("they may differ: sums in any order"), "{case}");

    scratch.edit("foo/kernel.toml", "atol = 1000.0", "atol = 1e-4");
    let _ = run(&scratch, &["--repeats", "3"]).expect(1);
}

#[test]
fn repeats_that_agree_say_so() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    let case = case(&run(&scratch, &["--repeats", "3", "--json"]).expect(0));
    let expected = json!({ "asked": 3, "completed": 3, "deterministic": true, "wrong": [], "differs": null });
    assert_eq!(case["repeats"], expected);
}

#[test]
fn a_repeat_that_does_not_end_well_is_numbered() {
    let Some(scratch) = Scratch::new() else { return };
    counting(&scratch, "*(volatile int *)64 = 1;");
    let ran = run(&scratch, &["--repeats", "4"]).expect(1);
    assert!(ran.says("crashed") && ran.says("(in repeat 3 of 4)"), "{ran}");
}

#[test]
fn the_environment_says_how_often() {
    let Some(scratch) = Scratch::new() else { return };
    counting(&scratch, "n -= 1;");
    let repeated = |times: &str| {
        let mut command = scratch.command(&["kernel", "test", "./foo", "--case", "n=4096"]);
        Ran::from(command.env("PTO_DEVICE_REPEATS", times).output().unwrap())
    };
    let _ = repeated("2").expect(0);
    let _ = repeated("3").expect(1);
    let ran = repeated("often").expect(2);
    assert!(ran.says("`PTO_DEVICE_REPEATS` is `often`; expected a whole number from 1 to 100000"), "{ran}");
}
