//! Each plan run through a recording stand-in: what the compiler is really asked, in which order, and whether each step
//! finds what the steps before it made.

use std::path::Path;

use crate::support::{calls, cann_below, has_in_order, program, request};
use pto_compile::DEADLINE_VARIABLE;
use pto_compile::bisheng::{
    BishengRequest, CompileOptions, HostProgramRequest, HostRuntime, KernelLibrary, Simulator, host_program_plan,
    kernel_plan,
};
use pto_compile::cann::{Rule, Toolchain, ToolchainOptions};
use pto_compile::plan::{Plan, RunError};
use pto_platform::{Core, Machine, Target};
use pto_process::{Invocation, Status};
use pto_test::cann::StandInCann;

/// Blanks, quotes, a dollar and letters beyond ASCII: what a user's path may hold.
const HOSTILE: &str = "Jürgen's $HOME 核";

fn toolchain(fake: &StandInCann) -> Toolchain {
    let toolchain = Toolchain::find(&fake.context(), &ToolchainOptions::default()).unwrap();
    assert_eq!(toolchain.cann.rule, Rule::Variable("ASCEND_HOME_PATH"));
    assert_eq!(toolchain.notes(), Vec::<String>::new());
    toolchain
}

fn plan(fake: &StandInCann, request: BishengRequest, sources: &[&str]) -> Plan {
    let sources = sources.iter().map(|name| fake.source(name)).collect();
    let request = BishengRequest { sources, out_dir: fake.out_dir().join(HOSTILE), ..request };
    kernel_plan(&fake.context(), &request, &toolchain(fake)).unwrap()
}

/// Runs the plan and checks that the stand-in got each step's arguments unchanged.
fn run(fake: &StandInCann, plan: &Plan) -> Vec<Vec<String>> {
    plan.run(&fake.context()).unwrap();
    let calls = calls(fake);
    assert_eq!(calls, plan.steps.iter().map(|step| step.args.clone()).collect::<Vec<_>>());
    assert!(plan.artifact().unwrap().is_file());
    calls
}

fn count(args: &[String], wanted: impl Fn(&str) -> bool) -> usize {
    args.iter().filter(|arg| wanted(arg)).count()
}

#[test]
fn a2a3_compiles_in_one_step() {
    for (core, arch) in [(Core::Vec, "dav-c220-vec"), (Core::Cube, "dav-c220-cube"), (Core::Mix, "dav-c220")] {
        let fake = cann_below(HOSTILE);
        let calls = run(&fake, &plan(&fake, request(Target::A2a3, core), &["a.cpp", "b.cpp"]));
        let [args] = calls.as_slice() else { panic!("{calls:?}") };
        let arch = format!("--cce-aicore-arch={arch}");
        let library = fake.out_dir().join(HOSTILE).join("libvec_add.so");
        let [a, b] = ["a.cpp", "b.cpp"].map(|name| fake.source(name));
        let words = ["-fPIC", "-shared", "-xcce", "-DMEMORY_BASE", "-O2", "-std=c++17", &arch];
        assert!(has_in_order(args, &words), "{args:?}");
        assert!(has_in_order(args, &[a.to_str().unwrap(), b.to_str().unwrap(), "-o", library.to_str().unwrap()]));
        assert_eq!(count(args, |arg| arg == "-c" || arg == "--cce-fatobj-link" || arg.contains("REGISTER_BASE")), 0);
        assert_eq!(count(args, |arg| arg.starts_with("--cce-aicore-arch")), 1);
    }
}

#[test]
fn a5_compiles_objects_and_links_them() {
    for (core, arch) in [(Core::Vec, "dav-c310-vec"), (Core::Cube, "dav-c310-cube"), (Core::Mix, "dav-c310")] {
        let fake = cann_below(HOSTILE);
        let calls = run(&fake, &plan(&fake, request(Target::A5, core), &["cube/side.cpp", "vec/side.cpp"]));
        let [first, second, link] = calls.as_slice() else { panic!("{calls:?}") };
        let arch = format!("--cce-aicore-arch={arch}");
        for args in [first, second] {
            let words = ["-std=gnu++17", "-O2", "-xcce", "-Xhost-start", "-Xhost-end", &arch, "-DREGISTER_BASE", "-c"];
            assert!(has_in_order(args, &words), "{args:?}");
            for option in [
                "-cce-aicore-stack-size=0x8000",
                "-cce-aicore-function-stack-size=0x8000",
                "-cce-aicore-record-overflow=true",
                "-cce-aicore-addr-transform",
                "-cce-aicore-dcci-insert-for-scalar=false",
            ] {
                assert!(args.windows(2).any(|pair| pair == ["-mllvm", option]), "{option}: {args:?}");
            }
            assert_eq!(count(args, |arg| arg == "-shared" || arg.contains("MEMORY_BASE")), 0, "{args:?}");
        }
        assert_ne!(first.last(), second.last(), "two sources of one name need two objects");
        let words = [
            "-shared",
            "--cce-fatobj-link",
            "-Wl,-soname,libvec_add.so",
            first.last().unwrap(),
            second.last().unwrap(),
            "-o",
        ];
        assert!(has_in_order(link, &words), "{link:?}");
        assert_eq!(count(link, |arg| arg.starts_with("--cce-aicore-arch") || arg == "-xcce"), 0, "{link:?}");
    }
}

#[test]
fn a_launcher_is_linked_against_the_kernels() {
    for (target, steps) in [(Target::A2a3, 3), (Target::A5, 4)] {
        let fake = cann_below(HOSTILE);
        let request = BishengRequest { launcher: Some(fake.source("launch.cpp")), ..request(target, Core::Mix) };
        let calls = run(&fake, &plan(&fake, request, &["mix.cpp"]));
        assert_eq!(calls.len(), steps, "{calls:?}");
        let [.., compile, link] = calls.as_slice() else { panic!("{calls:?}") };
        let words = ["-xc++", "-include", "stdint.h", "-include", "stddef.h", "-fPIC", "-c"];
        assert!(has_in_order(compile, &words), "{compile:?}");
        assert_eq!(count(compile, |arg| arg == "-xcce" || arg.starts_with("--cce")), 0, "{compile:?}");
        let out = fake.out_dir().join(HOSTILE);
        let [search, rpath] = ["-L", "-Wl,-rpath,"].map(|flag| format!("{flag}{}", out.display()));
        let words = ["-shared", compile.last().unwrap(), "-o", &search, "-lvec_add_kernels", "-lstdc++", &rpath];
        assert!(has_in_order(link, &words), "{link:?}");
    }
}

#[test]
fn an_acl_program_links_cann_and_the_kernel() {
    let fake = cann_below(HOSTILE);
    let kernels = plan(&fake, request(Target::A2a3, Core::Vec), &["k.cpp"]);
    let (out, lib64) = (fake.out_dir().join(HOSTILE), fake.root.join("lib64"));
    let request = HostProgramRequest {
        sources: vec![fake.source("main.cpp")],
        kernel: Some(KernelLibrary { dir: out.clone(), name: "vec_add".to_owned() }),
        out_dir: out.clone(),
        ..program(Target::A2a3, HostRuntime::Acl)
    };
    let calls = run(&fake, &kernels.then(host_program_plan(&fake.context(), &request, &toolchain(&fake)).unwrap()));
    let args = calls.last().unwrap();
    let [search, rpath] =
        [format!("-L{}", lib64.display()), format!("-Wl,-rpath,{}:{}", out.display(), lib64.display())];
    let words = ["-xc++", "-include", "stdint.h", "-include", "stddef.h", "-lvec_add", &search, "-lascendcl", "-ldl"];
    assert!(has_in_order(args, &words), "{args:?}");
    assert!(has_in_order(args, &["-lascendcl", "-ldl", "-lstdc++", "-lpthread", &rpath]), "{args:?}");
    assert_eq!(count(args, |arg| arg.contains("camodel") || arg == "-shared"), 0, "{args:?}");
}

#[test]
fn a_model_program_links_the_model_before_acl() {
    let fake = cann_below("opt");
    let kernels = plan(&fake, request(Target::A5, Core::Vec), &["k.cpp"]);
    let soc = Target::A5.default_soc().unwrap();
    let simulator = Simulator::find(&fake.context(), &fake.root, soc, Machine::X86_64).unwrap();
    let out = fake.out_dir().join(HOSTILE);
    let request = HostProgramRequest {
        sources: vec![fake.source("main.cpp")],
        kernel: Some(KernelLibrary { dir: out.clone(), name: "vec_add".to_owned() }),
        out_dir: out.clone(),
        ..program(Target::A5, HostRuntime::CaModel(simulator.clone()))
    };
    let calls = run(&fake, &kernels.then(host_program_plan(&fake.context(), &request, &toolchain(&fake)).unwrap()));
    assert_eq!(calls.len(), 4, "{calls:?}");
    let args = calls.last().unwrap();
    let word = |flag: &str, dir: &Path| format!("{flag}{}", dir.display());
    let lib64 = fake.root.join("lib64");
    let rpath = format!("-Wl,-rpath,{}:{}:{}", out.display(), lib64.display(), simulator.dir().display());
    let [l_out, l_lib64, l_sim] = [word("-L", &out), word("-L", &lib64), word("-L", simulator.dir())];
    let words = [
        &l_out,
        "-lvec_add",
        &l_lib64,
        &l_sim,
        "-lruntime_camodel",
        "-lstdc++",
        "-lascendcl",
        "-lm",
        "-lc_sec",
        "-ldl",
        "-lpthread",
        &rpath,
    ];
    assert!(has_in_order(args, &words), "{args:?}");
}

#[test]
fn a_failing_step_stops_the_plan_and_keeps_the_compilers_words() {
    let fake = cann_below("opt");
    let plan = plan(&fake, request(Target::A5, Core::Vec), &["a.cpp", "b.cpp"]);
    fs_err::remove_file(fake.source("a.cpp")).unwrap();
    let error = plan.run(&fake.context()).unwrap_err();
    assert_eq!(calls(&fake).len(), 1, "nothing runs after a failure");
    let text = format!("{error} {error:?}");
    assert!(text.contains("a.cpp") && text.contains("no such file"), "{text}");
}

#[test]
fn the_printed_plan_pasted_into_a_shell_asks_the_compiler_the_same() {
    let fake = cann_below(HOSTILE);
    let options = CompileOptions {
        defines: vec![("TEXT".to_owned(), Some(r#""it's $HOME; `x` \n *""#.to_owned()))],
        ..CompileOptions::default()
    };
    let request = BishengRequest { options, ..request(Target::A5, Core::Mix) };
    let plan = plan(&fake, request, &["cube side.cpp", "-o 核.cpp"]);
    Invocation::new("sh").args(["-e", "-c", &plan.to_shell()]).run(&fake.context()).unwrap().require_success().unwrap();
    assert_eq!(calls(&fake), plan.steps.iter().map(|step| step.args.clone()).collect::<Vec<_>>());
}

#[test]
fn a_compiler_that_writes_nothing_or_hangs_is_found_out() {
    let fake = cann_below("opt");
    let plan = plan(&fake, request(Target::A2a3, Core::Vec), &["a.cpp"]);
    fs_err::write(fake.root.join("bin/bisheng"), "#!/bin/sh\nexit 0\n").unwrap();
    let error = plan.run(&fake.context()).unwrap_err();
    assert!(matches!(&error, RunError::NoOutput { path, .. } if path.ends_with("libvec_add.so")), "{error}");

    fs_err::write(fake.root.join("bin/bisheng"), "#!/bin/sh\nexec sleep 60\n").unwrap();
    let error = plan.run(&fake.context().with_var(DEADLINE_VARIABLE, "1")).unwrap_err();
    assert!(matches!(error.compiler_output().unwrap().status, Status::TimedOut { .. }), "{error}");
    let error = plan.run(&fake.context().with_var(DEADLINE_VARIABLE, "soon")).unwrap_err();
    assert_eq!(error.to_string(), "`PTO_COMPILE_TIMEOUT_S` is `soon`; expected a number of seconds above 0");
}
