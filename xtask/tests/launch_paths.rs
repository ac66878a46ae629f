//! `kernel test` for NPUs, end to end, against a CANN whose programs are stand-ins: `bisheng` builds for this machine, the
//! simulators start the worker, and the numbers that come back are compared with the golden ones.

mod scratch;

use std::path::Path;
use std::time::SystemTime;

use pto_context::Context;
use pto_quarantine::{Attempt, Holder, Quarantine};
use pto_test::cann::{Behaviour, Call, SimulatorLayout, StandInCann};
use scratch::{Ran, Scratch};
use serde_json::Value;

/// A kernel, a CANN, and what the environment says.
struct Bench {
    scratch: Scratch,
    cann: StandInCann,
    env: Vec<(&'static str, String)>,
}

impl Bench {
    /// A host without an NPU; `None`, said on stderr, where kernels cannot be built.
    fn new() -> Option<Self> {
        Self::with_layout(SimulatorLayout::BySoc)
    }

    fn with_layout(layout: SimulatorLayout) -> Option<Self> {
        let scratch = Scratch::new()?;
        scratch.kernel("foo");
        let program = Path::new(env!("CARGO_BIN_EXE_xtask"));
        let cx = pto_test::machine();
        let acl = pto_launch::host_acl(&cx, program).unwrap();
        let cann = StandInCann::below("opt", layout).loadable(&cx, &acl).building_with(program);
        let quarantine = scratch.path().join("quarantine").display().to_string();
        let env = vec![
            ("ASCEND_HOME_PATH", cann.root.display().to_string()),
            ("PTO_ACLSIM_FAULT", "aclrtSetDevice=507899".to_owned()),
            ("PTOKIT_QUARANTINE", quarantine),
        ];
        Some(Self { scratch, cann, env })
    }

    fn env(mut self, name: &'static str, value: &str) -> Self {
        self.set(name, value);
        self
    }

    fn set(&mut self, name: &'static str, value: &str) {
        self.env.retain(|(known, _)| *known != name);
        self.env.push((name, value.to_owned()));
    }

    /// With an NPU, which the host plays.
    fn with_npu(self, soc: &str) -> Self {
        self.env("PTO_ACLSIM_FAULT", "").env("PTO_ACLSIM_SOC", soc)
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.run_verb("test", args)
    }

    fn run_verb(&self, verb: &str, args: &[&str]) -> Ran {
        let mut command = self.scratch.command(&[&["kernel", verb, "./foo"], args].concat());
        for name in ["NPU_DEVICE", "TASK_DEVICE", "MSPROF_TIMEOUT", "MSPROF_SOC_VERSION", "LD_LIBRARY_PATH"] {
            command.env_remove(name);
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.output().unwrap().into()
    }

    /// The one kernel of the document.
    fn json(&self, args: &[&str], code: i32) -> Value {
        self.run(&[args, &["--json"]].concat()).expect(code).json()["kernels"][0].clone()
    }

    fn only_call(&self, tool: &str) -> Call {
        let calls = self.cann.calls(tool);
        assert_eq!(calls.len(), 1, "{calls:?}");
        calls[0].clone()
    }

    /// Behind a run on the model.
    fn model(&self, by: &str, behaviour: Behaviour, code: i32) -> Value {
        self.cann.set(by, behaviour);
        self.json(&["--target", "a5", "--launch", by], code)
    }
}

fn launch(kernel: &Value) -> &Value {
    &kernel["cases"][0]["launch"]
}

#[test]
fn msprof_runs_the_smallest_case_on_the_model() {
    for (layout, dir) in [
        (SimulatorLayout::BySoc, "tools/simulator/Ascend910B2/lib".to_owned()),
        (SimulatorLayout::ByArch, format!("{}-linux/simulator/dav_2201/lib", std::env::consts::ARCH)),
    ] {
        let Some(bench) = Bench::with_layout(layout) else { return };
        // An empty element is the working directory to `msprof`.
        let bench = bench.env("LD_LIBRARY_PATH", ":/opt/mine::");
        let mut command = bench.scratch.command(&["kernel", "test", "./foo", "--target", "a2a3", "--json"]);
        command.envs(bench.env.iter().map(|(name, value)| (name, value)));
        let ran = Ran::from(command.output().unwrap()).expect(0);
        let kernel = ran.json()["kernels"][0].clone();
        let call = bench.only_call("msprof");
        let (words, worker) = call.args.split_at(5);
        let output =
            bench.scratch.generated().join("sim/msprof/a2a3/foo").join(kernel["cases"][0]["case"].as_str().unwrap());
        assert_eq!(words[..4], ["op", "simulator", "--soc-version=Ascend910B2", "--timeout=120"]);
        assert_eq!(words[4], format!("--output={}", output.display()));
        assert_eq!((worker[0].as_str(), worker.len()), (env!("CARGO_BIN_EXE_xtask"), 3));
        let model = bench.cann.root.join(&dir);
        assert_eq!(call.env["LD_LIBRARY_PATH"], format!("{}:/opt/mine", model.display()));
        assert_eq!(call.env["PTO_SIMULATOR"], "1");

        assert_eq!(kernel["status"], "passed", "{ran}");
        assert_eq!(kernel["launch"]["path"], "msprof");
        assert!(kernel["launch"]["why"].as_str().unwrap().starts_with("no NPU"), "{kernel}");
        assert!(kernel["launch"]["note"].as_str().unwrap().starts_with("the smallest of "), "{kernel}");
        assert_eq!(kernel["cases"].as_array().unwrap().len(), 1);
        assert_eq!(kernel["cases"][0]["repeats"]["asked"], 1);
        let launch = launch(&kernel);
        assert_eq!((&launch["mode"], &launch["device"]), (&Value::from("model"), &Value::Null), "{launch}");
        assert_eq!(launch["simulator"], model.join("libruntime_camodel.so").to_str().unwrap());
        assert_eq!(launch["simulation"]["status"], "exited with code 0");
        let traces: Vec<_> = launch["simulation"]["traces"].as_array().unwrap().iter().map(Value::to_string).collect();
        assert_eq!(traces.len(), 3, "{traces:?}");
        assert!(launch["warnings"].as_array().unwrap().is_empty());
    }
}

#[test]
fn wrong_numbers_differ_on_the_model_as_anywhere() {
    let Some(bench) = Bench::new() else { return };
    bench.scratch.edit("foo/foo.cpp", "TADD", "TSUB");
    let kernel = bench.model("msprof", Behaviour::CodeAfter, 1);
    assert_eq!(kernel["cases"][0]["status"], "differs");
    let kernel = bench.model("cannsim", Behaviour::CrashAfter, 1);
    assert_eq!(kernel["cases"][0]["status"], "differs", "a crash while cleaning up excuses nothing");
}

#[test]
fn cannsim_gets_the_workers_arguments_as_one_text() {
    let Some(bench) = Bench::new() else { return };
    let kernel = bench.model("cannsim", Behaviour::Noise, 0);
    let args = bench.only_call("cannsim").args;
    let output = bench.scratch.generated().join("sim/cannsim/a5/foo");
    assert_eq!(args[..4], ["record", "-s", "Ascend950", "-o"]);
    assert!(args[4].starts_with(output.to_str().unwrap()), "{args:?}");
    assert_eq!((args[5].as_str(), args[6].as_str(), args.len()), (env!("CARGO_BIN_EXE_xtask"), "-u", 8));
    assert_eq!(args[7].split(' ').count(), 2, "{args:?}");
    assert_eq!((&kernel["status"], &launch(&kernel)["mode"]), (&Value::from("passed"), &Value::from("model")));
    assert_eq!(kernel["soc"], "Ascend950PR_9599");
}

#[test]
fn the_verdict_is_the_results_and_not_the_exit_codes() {
    let Some(bench) = Bench::new() else { return };
    let kernel = bench.model("msprof", Behaviour::CodeAfter, 0);
    let warning = launch(&kernel)["warnings"][0].as_str().unwrap();
    assert_eq!(warning, "`msprof` exited with code 1 after a result that is complete");
    assert_eq!(launch(&kernel)["simulation"]["status"], "exited with code 1");
    let kernel = bench.model("cannsim", Behaviour::CodeAfter, 0);
    assert!(launch(&kernel)["warnings"][0].as_str().unwrap().starts_with("`cannsim` exited with code 1"), "{kernel}");
    let said = bench.run(&["--target", "a5", "--launch", "cannsim"]).expect(0);
    assert!(said.says("warning: foo: `cannsim`") && said.says("a5 by cannsim on model (Ascend950PR_9599)"), "{said}");
}

#[test]
fn only_cannsim_on_a5_may_crash_and_only_behind_the_result() {
    let Some(bench) = Bench::new() else { return };
    let kernel = bench.model("cannsim", Behaviour::CrashAfter, 0);
    assert!(launch(&kernel)["warnings"][0].as_str().unwrap().contains("known to crash while it cleans up"), "{kernel}");
    for (by, behaviour, why) in [
        ("cannsim", Behaviour::CrashWithin, "crashed by SIGSEGV while the kernel ran"),
        ("msprof", Behaviour::CrashWithin, "crashed by SIGSEGV while the kernel ran"),
        ("msprof", Behaviour::CrashAfter, "crashed by SIGSEGV while releasing the device"),
    ] {
        let kernel = bench.model(by, behaviour, 1);
        let case = &kernel["cases"][0];
        assert_eq!(case["status"], "crashed", "{by} {behaviour:?}: {case}");
        assert!(case["message"].as_str().unwrap().starts_with(why), "{by} {behaviour:?}: {case}");
    }
}

#[test]
fn a_simulation_that_takes_too_long_is_hung() {
    let Some(bench) = Bench::new() else { return };
    let bench = bench.env("MSPROF_TIMEOUT", "3");
    let kernel = bench.model("msprof", Behaviour::Hang, 1);
    assert_eq!(kernel["cases"][0]["status"], "hung");
    assert!(bench.only_call("msprof").args.contains(&"--timeout=3".to_owned()));
    // Nothing ends `cannsim` but the limit of the whole.
    let bench = bench.env("PTO_PROCESS_TIMEOUT_S", "4");
    let kernel = bench.model("cannsim", Behaviour::Hang, 1);
    assert_eq!(kernel["cases"][0]["status"], "hung");
}

#[test]
fn a_simulator_that_does_not_start_the_worker_blocks() {
    let Some(bench) = Bench::new() else { return };
    for by in ["msprof", "cannsim"] {
        for (behaviour, why) in [
            (Behaviour::Fail, "the simulator does not start"),
            (Behaviour::Garbage, "without having started the program"),
            (Behaviour::Silent, "without having started the program"),
        ] {
            let kernel = bench.model(by, behaviour, 3);
            assert_eq!(kernel["status"], "blocked", "{kernel}");
            let message = kernel["error"]["message"].as_str().unwrap();
            assert!(message.contains(why), "{by} {behaviour:?}: {message}");
        }
    }
}

#[test]
fn what_the_model_says_of_a_failure_is_passed_on_and_noise_is_not() {
    let Some(bench) = Bench::new() else { return };
    let kernel = bench.model("msprof", Behaviour::Task, 1);
    let hint = kernel["cases"][0]["hint"].as_str().unwrap();
    assert!(hint.contains("`SDMA`") && hint.contains("to the CPU"), "{hint}");
    bench.cann.set("msprof", Behaviour::Noise);
    let quiet = bench.run(&["--target", "a5", "--launch", "msprof"]).expect(0);
    assert!(!quiet.says("[INFO]"), "{quiet}");
}

#[test]
fn the_variables_and_options_of_the_model() {
    let Some(bench) = Bench::new() else { return };
    let soc = bench.cann.root.join("tools/simulator/Ascend950PR_9579/lib");
    fs_err::create_dir_all(&soc).unwrap();
    fs_err::copy(
        bench.cann.root.join("tools/simulator/Ascend950PR_9599/lib/libruntime_camodel.so"),
        soc.join("libruntime_camodel.so"),
    )
    .unwrap();
    let mut bench = bench.env("MSPROF_SOC_VERSION", "Ascend950PR_9579");
    let kernel = bench.model("msprof", Behaviour::Succeed, 0);
    assert_eq!(kernel["soc"], "Ascend950PR_9579");
    let args = bench.only_call("msprof").args;
    assert_eq!(args[2..4], ["--soc-version=Ascend950PR_9579", "--timeout=60"]);
    // Without the usual one, one that there is a model of.
    bench.set("MSPROF_SOC_VERSION", "");
    bench.cann.remove("tools/simulator/Ascend950PR_9599");
    assert_eq!(bench.model("msprof", Behaviour::Succeed, 0)["soc"], "Ascend950PR_9579");
    bench.set("MSPROF_SOC_VERSION", "Ascend950");
    let said = bench.run(&["--target", "a5", "--launch", "msprof"]).expect(2);
    assert!(said.says("`MSPROF_SOC_VERSION` names no SoC"), "{said}");
}

#[test]
fn an_npu_of_the_kernels_generation_is_used_and_no_other() {
    let Some(bench) = Bench::new() else { return };
    let bench = bench.with_npu("Ascend910B4");
    let kernel = bench.json(&["--case", "n=4096"], 0);
    assert_eq!((&kernel["target"], &kernel["launch"]["path"]), (&Value::from("a2a3"), &Value::from("direct")));
    assert_eq!(kernel["soc"], "Ascend910B4", "the cores are those of the card");
    assert_eq!(kernel["cases"][0]["repeats"]["asked"], 5);
    let report = launch(&kernel);
    assert_eq!((&report["device"], &report["mode"]), (&Value::from(0), &Value::from("host")));
    assert!(report["warnings"][0].as_str().unwrap().contains("did not run on an NPU"), "{report}");
    assert!(bench.cann.calls("msprof").is_empty());

    let refused = bench.run(&["--target", "a5", "--launch", "direct"]).expect(3);
    assert!(refused.says("`a5` kernels are never launched on the NPU of this machine"), "{refused}");
    assert!(refused.says("hint: use `--launch msprof`"), "{refused}");
    let kernel = bench.json(&["--target", "a5", "--case", "n=4096"], 0);
    assert_eq!(kernel["launch"]["path"], "msprof");
    assert_eq!(launch(&kernel)["mode"], "model");
}

#[test]
fn the_device_that_is_named_is_taken_or_refused() {
    let Some(bench) = Bench::new() else { return };
    let mut bench = bench.with_npu("Ascend910B2").env("PTO_ACLSIM_DEVICES", "4").env("NPU_DEVICE", "npu:3");
    let case = ["--target", "a2a3", "--case", "n=4096"];
    assert_eq!(launch(&bench.json(&case, 0))["device"], 3);
    bench.set("NPU_DEVICE", "");
    bench.set("TASK_DEVICE", "2");
    assert_eq!(launch(&bench.json(&case, 0))["device"], 2);
    for (npu, task, code, why) in [
        ("npu:9", "", 3, "`NPU_DEVICE` names device 9, and this process sees devices 0 to 3"),
        ("gpu:0", "", 2, "`NPU_DEVICE` is `gpu:0`; expected a device such as `3` or `npu:3`"),
        ("1", "2", 2, "one of them is somebody else's"),
    ] {
        bench.set("NPU_DEVICE", npu);
        bench.set("TASK_DEVICE", task);
        let said = bench.run(&case).expect(code);
        assert!(said.says(why), "{said}");
    }
}

#[test]
fn a_shell_in_which_the_model_answers_is_no_npu() {
    let Some(bench) = Bench::new() else { return };
    let model = bench.cann.root.join("tools/simulator/Ascend910B2/lib/libruntime_camodel.so");
    let bench = bench.with_npu("Ascend910B2").env("LD_PRELOAD", model.to_str().unwrap());
    let said = bench.run(&["--target", "a2a3", "--launch", "direct"]).expect(3);
    assert!(said.says("ACL is answered by the CA model here"), "{said}");
}

#[test]
fn without_what_it_needs_a_path_says_what_is_missing() {
    let Some(bench) = Bench::new() else { return };
    bench.cann.remove("bin/msprof");
    let said = bench.run(&["--target", "a2a3"]).expect(3);
    assert!(said.says("nothing here runs `a2a3` kernels: no NPU") && said.says("no `msprof`; tried "), "{said}");
    assert!(said.says("hint: use `--target cpu`"), "{said}");
    assert_eq!(bench.json(&["--target", "a5"], 0)["launch"]["path"], "cannsim", "A5 has another way");
    bench.cann.remove("tools/simulator");
    let said = bench.run(&["--target", "a5"]).expect(3);
    assert!(said.says("simulator"), "{said}");
    // The fault that stands for a missing NPU hits the library that plays one for the CPU as well.
    assert_eq!(bench.json(&["--case", "n=4096"], 3)["target"], "cpu");
    let said = bench.run(&["--target", "a2a3", "--launch", "cannsim"]).expect(2);
    assert!(said.says("`cannsim` is for `a5` kernels alone"), "{said}");
}

#[test]
fn device_code_of_another_generation_is_not_launched() {
    let Some(bench) = Bench::new() else { return };
    let device = pto_test::elf::Elf::device(0x94_0000).function("foo_kernel").build();
    let library = pto_test::elf::Elf::library().function("call_foo").section(".aicore_binary", device);
    bench.cann.always_writes(&library.build());
    let said = bench.run(&["--target", "a5"]).expect(1);
    assert!(said.says("is for `dav-c220`, and `a5` is `dav-c310`"), "{said}");
    assert!(bench.cann.calls("msprof").is_empty());
}

#[test]
fn a_compiler_that_fails_is_the_kernels_fault_and_one_that_writes_nothing_the_machines() {
    let Some(bench) = Bench::new() else { return };
    bench.cann.set("bisheng", Behaviour::Fail);
    assert_eq!(bench.json(&["--target", "a2a3"], 1)["status"], "not_built");
    bench.cann.set("bisheng", Behaviour::Silent);
    assert_eq!(bench.json(&["--target", "a2a3"], 3)["status"], "blocked");
}

#[test]
fn a_shell_that_sourced_setenv_needs_no_variables() {
    let Some(bench) = Bench::new() else { return };
    let setenv = bench.cann.root.join("bin/setenv.bash");
    let plain = bench.scratch.plain_command(&[]);
    let script = "source \"$1\" && exec \"$2\" kernel test ./foo --target a2a3 --launch msprof";
    let mut command = assert_cmd::Command::new("bash");
    command.args(["-c", script, "bash"]).arg(setenv).arg(plain.get_program()).current_dir(bench.scratch.path());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("PTO_ACLSIM_FAULT", "aclrtSetDevice=507899");
    let said = Ran::from(command.output().unwrap()).expect(0);
    assert!(said.says("a2a3 by msprof on model (Ascend910B2)"), "{said}");
}

#[test]
fn a_program_that_is_linked_with_the_model_takes_the_workers_place() {
    for (layout, dir) in [
        (SimulatorLayout::BySoc, "tools/simulator/Ascend950PR_9599/lib".to_owned()),
        (SimulatorLayout::ByArch, format!("{}-linux/simulator/dav_3510/lib", std::env::consts::ARCH)),
    ] {
        let Some(bench) = Bench::with_layout(layout) else { return };
        let bench = bench.with_npu("Ascend910B2").env("LD_LIBRARY_PATH", "/opt/mine:");
        let kernel = bench.json(&["--target", "a5", "--launch", "linked"], 0);
        assert_eq!((&kernel["status"], &launch(&kernel)["mode"]), (&Value::from("passed"), &Value::from("model")));
        let link = bench.cann.calls("bisheng").pop().unwrap().args;
        let model = bench.cann.root.join(&dir).display().to_string();
        let at = |word: &str| link.iter().position(|arg| arg == word).unwrap_or_else(|| panic!("{word}: {link:?}"));
        assert!(at("-lfoo") < at("-lruntime_camodel") && at("-lruntime_camodel") < at("-lascendcl"), "{link:?}");
        assert!(at(&format!("-L{model}")) < at("-lruntime_camodel"), "{link:?}");
        let command = launch(&kernel)["simulation"]["command"].as_str().unwrap();
        let root = bench.cann.root.display();
        let path =
            format!("LD_LIBRARY_PATH={model}:{root}/runtime/lib64/stub:/opt/mine PTO_LAUNCH_WORKER=1 PTO_SIMULATOR=1");
        assert!(command.starts_with(&path), "{command}\n{path}");
    }
}

#[test]
fn a_linked_program_is_judged_as_the_worker_is() {
    let Some(bench) = Bench::new() else { return };
    let mut bench = bench.with_npu("Ascend910B2");
    let linked = ["--target", "a5", "--launch", "linked"];
    for (fault, status, why) in [
        ("aclrtSynchronizeStreamWithTimeout=crash", "crashed", "crashed by SIGSEGV while the kernel ran"),
        (
            "aclrtSynchronizeStreamWithTimeout=507015",
            "fault",
            "`aclrtSynchronizeStreamWithTimeout` failed with 507015 (ACL_ERROR_RT_AICORE_EXCEPTION)",
        ),
        ("aclrtDestroyStream=crash", "crashed", "crashed by SIGSEGV while releasing the device"),
    ] {
        bench.set("PTO_ACLSIM_FAULT", fault);
        let kernel = bench.json(&linked, 1);
        let case = &kernel["cases"][0];
        assert_eq!(case["status"], status, "{fault}: {case}");
        assert!(case["message"].as_str().unwrap().starts_with(why), "{fault}: {case}");
    }
    bench.set("PTO_ACLSIM_FAULT", "");
    bench.scratch.edit("foo/foo.cpp", "TADD", "TSUB");
    assert_eq!(bench.json(&linked, 1)["cases"][0]["status"], "differs");
}

#[test]
fn a_linked_program_makes_one_launch_and_refuses_more_before_anything_is_built() {
    let Some(bench) = Bench::new() else { return };
    let mut bench = bench.with_npu("Ascend910B2");
    let linked = ["--target", "a5", "--launch", "linked"];
    let rule = "`linked` makes one launch of each case: it takes neither repeats nor times";
    let said = bench.run(&[&linked[..], &["--repeats", "5"]].concat()).expect(2);
    assert!(said.says(rule) && said.says("hint: leave `--repeats` and `PTO_DEVICE_REPEATS` out"), "{said}");
    bench.set("PTO_DEVICE_REPEATS", "5");
    assert!(bench.run(&linked).expect(2).says(rule));
    bench.set("PTO_DEVICE_REPEATS", "1");
    assert_eq!(bench.json(&linked, 0)["cases"][0]["repeats"]["completed"], 1);
    let built = bench.cann.calls("bisheng").len();
    bench.cann.remove("bin/msprof");
    bench.cann.remove("bin/cannsim");
    let said = bench.run_verb("bench", &["--target", "a5", "--case", "n=4096"]).expect(2);
    assert!(said.says(rule), "{said}");
    assert_eq!(bench.cann.calls("bisheng").len(), built);
}

#[test]
fn a_bench_on_the_model_has_time_for_all_its_launches() {
    let Some(bench) = Bench::new() else { return };
    // As many as take seconds even where one takes a hundredth: the word counts in seconds.
    let many = ["--target", "a5", "--case", "n=4096", "--warmup", "1", "--repeats", "400"];
    let said = bench.run_verb("bench", &[&many[..], &["--json"]].concat()).expect(0);
    assert_eq!(said.json()["kernels"][0]["cases"][0]["samples"].as_array().unwrap().len(), 400, "{said}");
    let timeouts = bench.cann.calls("msprof").into_iter().map(|call| {
        let word = call.args.iter().find_map(|word| word.strip_prefix("--timeout=")).unwrap().to_owned();
        word.parse::<u64>().unwrap()
    });
    let [verified, timed] = timeouts.collect::<Vec<_>>()[..] else { panic!("{:?}", bench.cann.calls("msprof")) };
    assert!(verified == 60 && timed > verified, "{verified} {timed}");
}

/// With a CANN that is really here: whatever it has is used, numbers are right, and what ran is what was promised.
#[test]
fn a_real_cann_does_what_the_stand_in_does() {
    let Some(scratch) = Scratch::new() else { return };
    let Some(cann) = pto_test::machine().var("ASCEND_HOME_PATH") else {
        pto_test::absent("`ASCEND_HOME_PATH` names no CANN");
        return;
    };
    scratch.kernel("foo");
    for target in ["a2a3", "a5"] {
        let mut command =
            scratch.command(&["kernel", "test", "./foo", "--target", target, "--case", "n=4096", "--json"]);
        let ran = Ran::from(command.env("ASCEND_HOME_PATH", &cann).output().unwrap());
        let kernel = ran.json()["kernels"][0].clone();
        if kernel["status"] == "blocked" {
            pto_test::absent(&format!("this CANN runs no `{target}` kernels: {}", kernel["error"]["message"]));
            continue;
        }
        assert_eq!(kernel["status"], "passed", "{ran}");
        let launch = launch(&kernel);
        let expected = if launch["path"] == "direct" { "silicon" } else { "model" };
        assert_eq!(launch["mode"], expected, "{ran}");
    }
}

/// A kernel that never ends for one size, and three sizes.
fn hanging_for_8192(bench: &Bench) {
    let endless = "TADD(yTile, xTile, zTile); for (volatile int i = 0; n == 8192; i = i + 1) {}";
    bench.scratch.edit("foo/foo.cpp", "TADD(yTile, xTile, zTile);", endless);
    bench.scratch.edit("foo/kernel.toml", r#"edges = ["n"]"#, "edges = []");
    bench.scratch.edit("foo/kernel.toml", "[{ n = 4096 }]", "[{ n = 8192 }, { n = 4096 }, { n = 12288 }]");
}

fn ends(kernel: &Value) -> Vec<(&str, Option<u64>)> {
    let cases = kernel["cases"].as_array().unwrap().iter();
    cases.map(|case| (case["status"].as_str().unwrap(), case["launch"]["device"].as_u64())).collect()
}

#[test]
fn after_a_hang_the_next_case_runs_on_another_npu() {
    let Some(bench) = Bench::new() else { return };
    let bench = bench.with_npu("Ascend910B2").env("PTO_ACLSIM_DEVICES", "2").env("PTO_SYNC_TIMEOUT_S", "5");
    hanging_for_8192(&bench);
    let kernel = bench.json(&["--target", "a2a3"], 1);
    assert_eq!(ends(&kernel), [("hung", Some(0)), ("passed", Some(1)), ("passed", Some(1))], "{kernel}");
    assert_eq!(kernel["cases"][1]["repeats"]["completed"], 5);
    // Nor is it used by the next run.
    let kernel = bench.json(&["--target", "a2a3", "--case", "n=4096"], 0);
    assert_eq!(ends(&kernel), [("passed", Some(1))], "{kernel}");
}

#[test]
fn after_a_hang_on_the_only_npu_the_rest_is_blocked_until_it_is_released() {
    let Some(bench) = Bench::new() else { return };
    let bench = bench.with_npu("Ascend910B2").env("PTO_SYNC_TIMEOUT_S", "5");
    hanging_for_8192(&bench);
    let said = bench.run(&["--target", "a2a3"]).expect(1);
    assert!(said.says("device 0 is set aside for 60 minutes: kernel `foo`: hung while the kernel ran"), "{said}");
    assert!(said.says("blocked foo n=4096") || said.says("blocked ./foo n=4096"), "{said}");
    assert!(said.says("cargo xtask devices release 0"), "{said}");
    let case = ["--target", "a2a3", "--case", "n=4096"];
    let said = bench.run(&case).expect(3);
    assert!(said.says("set aside") && said.says("hung while the kernel ran"), "{said}");

    let mut release = bench.scratch.command(&["devices", "release", "0"]);
    let released = Ran::from(release.envs(bench.env.iter().cloned()).output().unwrap()).expect(0);
    assert!(released.says("device 0 is free again"), "{released}");
    assert_eq!(ends(&bench.json(&case, 0)), [("passed", Some(0))]);
}

#[test]
fn an_npu_that_somebody_else_has_is_waited_for_and_not_shared() {
    let Some(bench) = Bench::new() else { return };
    let bench = bench.with_npu("Ascend910B2").env("PTO_DEVICE_WAIT_S", "1");
    let quarantine =
        Quarantine::of(&Context::fake("/", [("PTOKIT_QUARANTINE", bench.scratch.path().join("quarantine"))]));
    let other = Holder::this_process(Some("ada".into()), "python train.py", SystemTime::now());
    let Attempt::Taken(lock) = quarantine.try_lock(0, &other).unwrap() else { panic!() };
    let case = ["--target", "a2a3", "--case", "n=4096"];
    let said = bench.run(&case).expect(3);
    let who = format!("process {} of ada (`python train.py`) has had it for", std::process::id());
    assert!(said.says(&format!("Waiting for device 0: {who}")), "{said}");
    assert!(said.says("device 0 was not free within 1 s") && said.says(&who), "{said}");
    drop(lock);
    let _ = bench.run(&case).expect(0);
}
