//! What is decided before anything runs: the SoC, the cases, the plans for NPUs.

use std::path::Path;

use pto_context::Context;
use pto_kernel::run::{Fetching, RunError, Setup, TestOptions, plan_kernel, select_cases, soc_for};
use pto_kernel::{Manifest, scaffold};
use pto_launch::Worker;
use pto_platform::{Soc, Target};
use pto_store::Store;

/// The template's kernel, with an edit of its manifest.
fn kernel(dir: &Path, find: &str, replace: &str) -> Manifest {
    let path = scaffold::create(dir, "foo").unwrap().join("kernel.toml");
    let text = fs_err::read_to_string(&path).unwrap();
    assert!(text.contains(find), "{text}");
    fs_err::write(&path, text.replacen(find, replace, 1)).unwrap();
    Manifest::load(&path).unwrap()
}

fn setup(root: &Path) -> Setup {
    Setup {
        pto_isa: None,
        cxx: None,
        fetching: Fetching::Offline,
        opt_level: 1,
        shared: Store::open(root.join("shared")),
        artifacts: Store::open(root.join("artifacts")),
        worker: Worker::at("/nonesuch"),
    }
}

#[test]
fn the_cpu_plays_a_soc_that_the_kernel_is_written_for() {
    let scratch = tempfile::tempdir().unwrap();
    let foo = kernel(scratch.path(), r#"targets = ["a2a3", "a5", "cpu"]"#, r#"targets = ["a5", "cpu"]"#);
    let a5 = Soc::by_name("Ascend950PR_9599").unwrap();
    let a2 = Soc::by_name("Ascend910B2").unwrap();
    assert_eq!(soc_for(&foo, Target::Cpu, None).unwrap().target(), Some(Target::A5));
    assert_eq!(soc_for(&foo, Target::Cpu, Some(a5)).unwrap().name, a5.name);
    let error = soc_for(&foo, Target::Cpu, Some(a2)).unwrap_err();
    assert!(matches!(error, RunError::WrongSoc { .. }) && error.is_about_the_target(), "{error}");
    let error = soc_for(&foo, Target::A2a3, None).unwrap_err();
    assert_eq!(error.to_string(), "kernel `foo` is not written for `a2a3`; its targets are `a5`, `cpu`");
}

#[test]
fn seeds_come_from_the_user_then_the_manifest() {
    let scratch = tempfile::tempdir().unwrap();
    let foo = kernel(scratch.path(), "[cases]", "[cases]\nseed = 11");
    let soc = Soc::by_name("Ascend910B2").unwrap();
    let seed = |seed| {
        let options = TestOptions { seed, ..TestOptions::default() };
        select_cases(&foo, Target::Cpu, soc, &options).unwrap()[0].seed
    };
    assert_eq!((seed(None), seed(Some(3))), (11, 3));
}

#[test]
fn a_plan_holds_the_launcher_and_writes_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let foo = kernel(scratch.path(), r#"entry = "call_foo""#, r#"global = "foo_kernel""#);
    let cx = Context::fake(scratch.path(), [("PATH", "/usr/bin")]);
    for target in [Target::A2a3, Target::A5] {
        let plan = plan_kernel(&cx, &setup(scratch.path()), &foo, target).unwrap();
        let [launcher] = &plan.plan.generated[..] else { panic!("{plan:?}") };
        assert!(launcher.text.contains("foo_kernel<<<"), "{}", launcher.text);
        assert!(plan.plan.artifact() == Some(plan.library.as_path()) && plan.library.ends_with("libfoo.so"));
        assert!(plan.plan.steps.iter().any(|step| step.inputs.contains(&launcher.path)), "{plan:?}");
        assert!(plan.plan.to_shell().contains("<<'END_OF_LAUNCHER'\n"));
    }
    let left: Vec<_> = fs_err::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["foo"]);
}
