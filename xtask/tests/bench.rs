//! Times come and go; what is said about them does not.

mod scratch;

use scratch::Scratch;
use serde_json::{Value, json};

const QUICK: [&str; 4] = ["--repeats", "4", "--warmup", "1"];

fn bench(scratch: &Scratch, args: &[&str], code: i32) -> Value {
    scratch.run(&[&["kernel", "bench", "foo", "--json"], args, &QUICK].concat()).expect(code).json()
}

fn cases(document: &Value) -> &[Value] {
    document["kernels"][0]["cases"].as_array().unwrap()
}

#[test]
fn a_sweep_is_timed_and_every_output_says_what_was_measured() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    let files = ["--csv", "t.csv", "--plot", "t.svg", "--save", "t.json"];
    let document = bench(&scratch, &[&["--sweep", "n=64..1024:x4"], &files[..]].concat(), 0);
    let shown: Vec<&Value> = cases(&document).iter().map(|case| &case["dims"]["n"]).collect();
    assert_eq!(shown, [64, 256, 1024]);
    for case in cases(&document) {
        assert_eq!(case["samples"].as_array().unwrap().len(), 4);
        let of = |key: &str| case["seconds"][key].as_f64().unwrap();
        assert!(0.0 < of("min") && of("min") <= of("median") && of("median") <= of("max"), "{case}");
        // Two inputs and an output of two bytes each.
        assert_eq!(case["bytes"].as_i64().unwrap(), 6 * case["dims"]["n"].as_i64().unwrap());
        assert_eq!(case["roofline"], Value::Null, "nothing is known of this machine");
    }
    assert_eq!(document["kernels"][0]["timing"], json!({ "warmup": 1, "repeats": 4, "flush_bytes": 0 }));
    assert_eq!(document["measures"], "cpu_simulator");
    let read = |file: &str| fs_err::read_to_string(scratch.path().join(file)).unwrap();
    assert_eq!(read("t.csv").lines().filter(|line| line.contains(",cpu_simulator,")).count(), 3);
    let svg = read("t.svg");
    assert!(svg.starts_with("<svg") && svg.contains("CPU simulator") && svg.contains("GB/s over n"), "{svg}");
    assert_eq!(serde_json::from_str::<Value>(&read("t.json")).unwrap(), document);
    let record = read("target/pto/verification/foo-cpu-part-bench.json");
    let record: Value = serde_json::from_str(&record).unwrap();
    assert_eq!((&record["verb"], &record["bench"]["measures"]), (&json!("bench"), &json!("cpu_simulator")));
    let table = scratch.run(&[&["kernel", "bench", "foo", "--case", "n=64"], &QUICK[..]].concat()).expect(0);
    assert!(table.stdout.contains("times of the CPU simulator"), "{table}");
}

#[test]
fn a_kernel_that_is_wrong_is_not_timed() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    scratch.edit("foo/foo.cpp", "TADD(", "TSUB(");
    let document = bench(&scratch, &["--case", "n=64"], 1);
    let case = &cases(&document)[0];
    assert_eq!((&case["status"], &case["seconds"], &case["samples"]), (&json!("differs"), &Value::Null, &json!([])));
    assert_eq!(document["passed"], false);
    let ran = scratch.run(&["kernel", "bench", "foo", "--case", "n=64", "--plot", "t.svg"]).expect(1);
    assert!(ran.says("foo n=64 is wrong and was not timed"), "{ran}");
}

/// The saved times are edited: a test must not depend on how fast this machine is.
#[test]
fn a_saved_run_is_compared_with() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    let saved = bench(&scratch, &["--case", "n=64", "--save", "old.json"], 0);
    let with = |median: f64, mad: f64| {
        let mut old = saved.clone();
        let seconds = &mut old["kernels"][0]["cases"][0]["seconds"];
        (seconds["median"], seconds["mad"]) = (median.into(), mad.into());
        scratch.write("old.json", &old.to_string());
    };
    let trend = |args: &[&str], code: i32| {
        let document = bench(&scratch, &[&["--case", "n=64", "--baseline", "old.json"], args].concat(), code);
        cases(&document)[0]["comparison"]["trend"].as_str().unwrap().to_owned()
    };
    with(1e-9, 0.0);
    // A huge threshold says that no change matters.
    assert_eq!(trend(&["--threshold", "1e12"], 0), "same");
    with(1e6, 0.0);
    assert_eq!(trend(&[], 0), "faster");
    with(1e6, 1e6);
    assert_eq!(trend(&[], 0), "same", "the saved run was nothing but noise");
    // One that ran in no time at all: whatever this machine does now is slower, unless it is all noise.
    with(1e-9, 0.0);
    let one = ["kernel", "bench", "foo", "--json", "--case", "n=64", "--baseline", "old.json", "--repeats", "1"];
    let document = scratch.run(&one).expect(1).json();
    assert_eq!(cases(&document)[0]["comparison"]["trend"], "slower");
    assert_eq!(document["passed"], false);
    for (median, mad) in [(0.0, 0.0), (-1.0, 0.0), (1e308, 0.0), (1.0, -5.0)] {
        with(median, mad);
        let ran = scratch.run(&["kernel", "bench", "foo", "--case", "n=64", "--baseline", "old.json"]).expect(2);
        assert!(ran.says("the times of case n=64 are none that can be measured"), "{ran}");
    }
    with(1e-9, 0.0);
    let flushed = bench(&scratch, &["--case", "n=64", "--baseline", "old.json", "--flush", "on"], 0);
    assert_eq!(cases(&flushed)[0]["comparison"]["trend"], "incomparable");
}

#[test]
fn what_is_above_the_roofline_is_warned_of() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    let document = bench(&scratch, &["--case", "n=64", "--peak-gbps", "0.000001"], 0);
    let case = &cases(&document)[0];
    assert_eq!(case["roofline"]["above"], true);
    assert!(case["warnings"][0].as_str().unwrap().contains("the timer missed asynchronous work"), "{case}");
    let document = bench(&scratch, &["--case", "n=64", "--peak-gbps", "1e9"], 0);
    assert_eq!(cases(&document)[0]["roofline"]["above"], false);
    scratch.edit("foo/kernel.toml", "[golden]", "[bench]\nbytes = \"n * 1000\"\nflops = \"n\"\n\n[golden]");
    let document = bench(&scratch, &["--case", "n=64"], 0);
    assert_eq!((&cases(&document)[0]["bytes"], &cases(&document)[0]["flops"]), (&json!(64_000), &json!(64)));
}

/// Before anything is timed.
#[test]
fn a_place_without_a_directory_is_refused_at_once() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    for option in ["--csv", "--save", "--plot"] {
        let ran = scratch.run(&["kernel", "bench", "foo", option, "nowhere/t"]).expect(2);
        assert!(ran.says("cannot write `nowhere/t`: its directory does not exist"), "{ran}");
        let _ = scratch.run(&["kernel", "bench", "foo", option, "foo"]).expect(2);
    }
    assert!(!scratch.generated().join("verification").exists());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    fs_err::os::unix::fs::symlink("loop", scratch.path().join("loop")).unwrap();
    for (args, message) in [
        (&["--sweep", "n=9..4"][..], "9 is above 4"),
        (&["--sweep", "m=1..4"], "no dim of `foo`"),
        (&["--sweep", "tile=1..4"], "`tile`, which is static"),
        (&["--sweep", "n=64,128", "--sweep", "n=256"], "sweeps `n` a second time"),
        (&["--peak-gbps", "0"], "not a number from 0.000001 to 1e12"),
        (&["--peak-gflops", "1e-300"], "not a number from 0.000001 to 1e12"),
        (&["--csv", "one", "--save", "one"], "`one` is to be written twice"),
        (&["--csv", "loop"], "cannot write `loop`"),
        (&["--baseline", "foo/kernel.toml"], "is no saved bench"),
        (&["--sweep", "n=1..4", "--case", "n=4"], "cannot be used with"),
    ] {
        let ran = scratch.run(&[&["kernel", "bench", "foo"], args].concat()).expect(2);
        assert!(ran.says(message), "{message}: {ran}");
    }
}

#[test]
fn a_length_that_is_given_twice_is_timed_once() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    let ran = scratch.run(&[&["kernel", "bench", "foo", "--json", "--sweep", "n=64,128,64"], &QUICK[..]].concat());
    let ran = ran.expect(0);
    let lengths: Vec<Value> = cases(&ran.json()).iter().map(|case| case["dims"]["n"].clone()).collect();
    assert_eq!(lengths, [64, 128]);
    assert!(ran.stderr.contains("warning: `n=64,128,64` has 64 more than once: it is timed once"), "{ran}");
}

/// The simulated device is told by variables, and one that it does not understand is the caller's mistake.
#[test]
fn a_variable_that_the_simulated_device_does_not_understand_is_wrong_usage() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    for (name, value) in [
        ("PTO_ACLSIM_DEVICES", "abc"),
        ("PTO_ACLSIM_DEVICES", "99999999999999999999"),
        ("PTO_ACLSIM_MEMORY", "0"),
        ("PTO_ACLSIM_FAULT", "aclrtMalloc"),
    ] {
        for verb in ["bench", "test"] {
            let mut command = scratch.command(&["kernel", verb, "foo", "--case", "n=64"]);
            let ran = scratch::Ran::from(command.env(name, value).output().unwrap()).expect(2);
            assert!(ran.says(&format!("`{name}`")) && ran.says("hint: correct the variable, or unset it"), "{ran}");
        }
    }
}

/// Whatever cannot be written afterwards, what was measured is kept.
#[test]
fn a_bench_is_recorded_before_its_files_are_written() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    // That the system lets nobody make a file there shows only when it is made.
    let nowhere = "/proc/t.csv";
    let ran =
        scratch.run(&["kernel", "bench", "foo", "--case", "n=64", "--csv", nowhere, "--save", "t.json"]).expect(3);
    assert!(ran.stderr.contains(nowhere), "{ran}");
    assert!(scratch.path().join("t.json").exists(), "a file that can be written is");
    let record = fs_err::read(scratch.generated().join("verification/foo-cpu-n=64-bench.json")).unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    let bench = &record["bench"];
    assert_eq!((&bench["measures"], &bench["cases"][0]["case"]), (&json!("cpu_simulator"), &json!("n=64")));
    let median = pto_kernel::bench::human(bench["cases"][0]["seconds"]["median"].as_f64().unwrap());
    let shown = scratch.run(&["kernel", "log", "foo"]).expect(0);
    assert!(shown.stdout.contains(&format!("| n=64 | {median} | ")), "{shown}");
}
