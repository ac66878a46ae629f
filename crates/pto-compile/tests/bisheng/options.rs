//! One row per option: what it does to the command lines, and that nothing else does it.

use crate::support::{has_in_order, program, request};
use pto_compile::bisheng::{
    BishengError, BishengRequest, CompileOptions, HostProgramRequest, HostRuntime, KernelLibrary, OptLevel, Simulator,
    host_program_plan, kernel_plan,
};
use pto_compile::cann::{Toolchain, ToolchainOptions};
use pto_compile::plan::Plan;
use pto_context::Context;
use pto_platform::{Core, Machine, Target};

fn cx() -> Context {
    Context::fake("/home/user", [("HOME", "/home/user")])
}

fn toolchain() -> Toolchain {
    Toolchain::assume(&cx(), &ToolchainOptions::default())
}

fn plan(request: &BishengRequest) -> Plan {
    kernel_plan(&cx(), request, &toolchain()).unwrap()
}

/// The base of the table: every kind of step occurs in its plan.
fn base() -> BishengRequest {
    BishengRequest { launcher: Some("launch.cpp".into()), ..request(Target::A5, Core::Vec) }
}

/// How many of the four steps (object, link, launcher object, launcher link) hold all of `words` in this order.
fn steps_with(plan: &Plan, words: &[&str]) -> Vec<usize> {
    (0..plan.steps.len()).filter(|step| has_in_order(&plan.steps[*step].args, words)).collect()
}

#[test]
fn each_option_changes_the_steps_it_is_for_and_no_others() {
    // The patterns name every field: a new one does not compile until it has a row.
    let BishengRequest { target: _, core: _, name: _, sources: _, generated: _, launcher: _, out_dir: _, options } =
        base();
    let CompileOptions {
        defines: _,
        include_dirs: _,
        opt_level: _,
        debug_info: _,
        device_flags: _,
        host_flags: _,
        link_flags: _,
    } = options;
    type Change = fn(&mut BishengRequest);
    let rows: [(&str, Change, &[&str], &[usize]); 13] = [
        ("target", |r| r.target = Target::A2a3, &["-DMEMORY_BASE"], &[0, 1]),
        ("core", |r| r.core = Core::Cube, &["--cce-aicore-arch=dav-c310-cube"], &[0]),
        ("name", |r| r.name = "other".into(), &["-lother_kernels"], &[3]),
        ("sources", |r| r.sources.push("two.cpp".into()), &["-c", "two.cpp"], &[1]),
        ("launcher", |r| r.launcher = None, &["-Wl,-soname,libvec_add.so", "out/libvec_add.so"], &[1]),
        ("out_dir", |r| r.out_dir = "/o".into(), &["-L/o", "-Wl,-rpath,/o"], &[3]),
        ("defines", |r| r.options.defines.push(("TILE".into(), Some("16".into()))), &["-DTILE=16"], &[0, 2]),
        (
            "include_dirs",
            |r| r.options.include_dirs.push("inc".into()),
            &["-Iinc", "-I/usr/local/Ascend/cann-9.0.0/include"],
            &[0, 2],
        ),
        ("opt_level", |r| r.options.opt_level = OptLevel::O0, &["-O0"], &[0, 2]),
        ("debug_info", |r| r.options.debug_info = true, &["-g"], &[0, 2]),
        ("device_flags", |r| r.options.device_flags.push("-Wall".into()), &["-DREGISTER_BASE", "-Wall", "-c"], &[0]),
        ("host_flags", |r| r.options.host_flags.push("-Wextra".into()), &["-xc++", "-Wextra", "-c"], &[2]),
        ("link_flags", |r| r.options.link_flags.push("-lhccl".into()), &["-o", "-lhccl"], &[1, 3]),
    ];
    for (option, change, words, steps) in rows {
        assert_eq!(steps_with(&plan(&base()), words), [] as [usize; 0], "{option}: without it");
        let mut request = base();
        change(&mut request);
        assert_eq!(steps_with(&plan(&request), words), steps, "{option}: {words:?}");
    }
}

#[test]
fn each_option_of_a_host_program_shows() {
    let soc = Target::A5.default_soc().unwrap();
    let simulator = Simulator::assume(&cx(), &toolchain().cann.path, soc, Machine::X86_64);
    let base = || program(Target::A5, HostRuntime::Acl);
    let HostProgramRequest { target: _, name: _, sources: _, kernel: _, runtime: _, out_dir: _, options: _ } = base();
    type Change<'a> = &'a dyn Fn(&mut HostProgramRequest);
    let rows: [(&str, Change<'_>, &[&str]); 7] = [
        ("target", &|r| r.target = Target::A2a3, &["-std=c++17", "-DMEMORY_BASE"]),
        ("name", &|r| r.name = "other".into(), &["-o", "out/other"]),
        ("sources", &|r| r.sources.push("util.cpp".into()), &["main.cpp", "util.cpp"]),
        ("kernel", &|r| r.kernel = Some(KernelLibrary { dir: "/k".into(), name: "k".into() }), &["-L/k", "-lk"]),
        ("runtime", &|r| r.runtime = HostRuntime::CaModel(simulator.clone()), &["-lruntime_camodel", "-lascendcl"]),
        ("out_dir", &|r| r.out_dir = "/o".into(), &["-o", "/o/run_vec_add"]),
        ("options", &|r| r.options.host_flags.push("-Wextra".into()), &["-xc++", "-Wextra", "main.cpp"]),
    ];
    let made = |request: &HostProgramRequest| host_program_plan(&cx(), request, &toolchain()).unwrap();
    for (option, change, words) in rows {
        assert!(steps_with(&made(&base()), words).is_empty(), "{option}: without it");
        let mut request = base();
        change(&mut request);
        assert_eq!(steps_with(&made(&request), words).len(), 1, "{option}: {words:?}");
    }
}

#[test]
fn the_memory_macro_is_passed_once_whoever_else_passes_it() {
    for (target, name) in [(Target::A2a3, "MEMORY_BASE"), (Target::A5, "REGISTER_BASE")] {
        let options = CompileOptions {
            defines: vec![(name.to_owned(), None), (name.to_owned(), Some("1".to_owned()))],
            device_flags: vec![format!("-D{name}"), "-D".to_owned(), name.to_owned()],
            host_flags: vec![format!("-D{name}=1")],
            ..CompileOptions::default()
        };
        let plan = plan(&BishengRequest { options, target, ..base() });
        let counts: Vec<_> =
            plan.steps.iter().map(|step| step.args.iter().filter(|arg| arg.contains(name)).count()).collect();
        let compiles: Vec<_> =
            plan.steps.iter().map(|step| usize::from(step.args.iter().any(|arg| arg.starts_with("-x")))).collect();
        assert_eq!(counts, compiles, "{target}");
    }
}

#[test]
fn what_cannot_be_built_is_refused_with_a_reason() {
    type Change = fn(&mut BishengRequest);
    let rows: [(Change, &str); 9] = [
        (|r| r.target = Target::Cpu, "target `cpu` is not built with bisheng"),
        (|r| r.sources.clear(), "`vec_add` has no sources"),
        (|r| r.name = "a/b".into(), "`a/b` cannot name a library"),
        (|r| r.options.defines.push(("A B".into(), None)), "`A B` is not the name of a macro"),
        (|r| r.options.defines.push(("MEMORY_BASE".into(), None)), "`MEMORY_BASE` is defined for target `a5`"),
        (|r| r.options.device_flags.push("-f\0".into()), "has a NUL byte"),
        (|r| r.sources.push("".into()), "the path `` is empty"),
        (|r| r.out_dir = "/a:b".into(), "`/a:b` has a colon in its name"),
        (|r| r.sources.push(not_unicode()), "is not valid UTF-8"),
    ];
    for (change, message) in rows {
        let mut request = base();
        change(&mut request);
        let error = kernel_plan(&cx(), &request, &toolchain()).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}

fn not_unicode() -> std::path::PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    std::ffi::OsString::from_vec(b"k\xff.cpp".to_vec()).into()
}

#[test]
fn the_model_is_linked_for_a5_alone() {
    let soc = Target::A5.default_soc().unwrap();
    let simulator = Simulator::assume(&cx(), &toolchain().cann.path, soc, Machine::X86_64);
    let request = program(Target::A2a3, HostRuntime::CaModel(simulator));
    let error = host_program_plan(&cx(), &request, &toolchain()).unwrap_err();
    assert_eq!(error, BishengError::NoLinkedModel { target: Target::A2a3 });
    assert!(error.hint().unwrap().contains("msprof"));
}

#[test]
fn an_archive_among_the_link_flags_is_not_read_as_source() {
    let options = CompileOptions { link_flags: vec!["-lm".into(), "libx.a".into()], ..CompileOptions::default() };
    let one_step = plan(&BishengRequest { options: options.clone(), ..request(Target::A2a3, Core::Vec) });
    assert_eq!(steps_with(&one_step, &["-xcce", "vec_add.cpp", "-xnone", "-lm", "libx.a"]), [0]);
    let two_steps = plan(&BishengRequest { options: options.clone(), ..request(Target::A5, Core::Vec) });
    assert_eq!(steps_with(&two_steps, &["-lm", "libx.a"]), [1]);
    assert_eq!(steps_with(&two_steps, &["-xnone"]), [] as [usize; 0]);
    let request = HostProgramRequest { options, ..program(Target::A5, HostRuntime::Acl) };
    let host = host_program_plan(&cx(), &request, &toolchain()).unwrap();
    assert_eq!(steps_with(&host, &["-xc++", "main.cpp", "-xnone", "-lm", "libx.a"]), [0]);
}
