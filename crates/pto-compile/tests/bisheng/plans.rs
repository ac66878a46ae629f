//! Every plan, as a snapshot: made for a machine without CANN, so it is the same everywhere.

use crate::support::{lines, program, request};
use proptest::prelude::*;
use pto_compile::bisheng::{
    BishengRequest, CompileOptions, HostProgramRequest, HostRuntime, Simulator, host_program_plan, kernel_plan,
};
use pto_compile::cann::{Toolchain, ToolchainOptions};
use pto_compile::plan::Plan;
use pto_context::Context;
use pto_platform::{Core, Machine, Target};

fn bare() -> Context {
    Context::fake("/home/user", [("HOME", "/home/user")])
}

fn kernel(request: &BishengRequest) -> Plan {
    kernel_plan(&bare(), request, &Toolchain::assume(&bare(), &ToolchainOptions::default())).unwrap()
}

fn host(request: &HostProgramRequest) -> Plan {
    host_program_plan(&bare(), request, &Toolchain::assume(&bare(), &ToolchainOptions::default())).unwrap()
}

#[test]
fn one_per_target_and_core() {
    for target in [Target::A2a3, Target::A5] {
        for core in Core::ALL {
            insta::assert_snapshot!(format!("{target}_{core}"), lines(&kernel(&request(target, core))));
        }
    }
}

#[test]
fn mix_with_several_sources_and_a_launcher() {
    for target in [Target::A2a3, Target::A5] {
        let request = BishengRequest {
            sources: vec!["cube/side.cpp".into(), "vec/side.cpp".into()],
            launcher: Some("launch.cpp".into()),
            ..request(target, Core::Mix)
        };
        insta::assert_snapshot!(format!("{target}_mix_launcher"), lines(&kernel(&request)));
    }
}

#[test]
fn acl_host_program() {
    for target in [Target::A2a3, Target::A5] {
        insta::assert_snapshot!(format!("{target}_host_acl"), lines(&host(&program(target, HostRuntime::Acl))));
    }
    let loads_it = HostProgramRequest { kernel: None, ..program(Target::A5, HostRuntime::Acl) };
    insta::assert_snapshot!("a5_host_acl_without_kernel", lines(&host(&loads_it)));
}

#[test]
fn camodel_program_with_its_kernel() {
    let soc = Target::A5.default_soc().unwrap();
    let simulator = Simulator::assume(&bare(), "/usr/local/Ascend/cann-9.0.0".as_ref(), soc, Machine::X86_64);
    let both =
        kernel(&request(Target::A5, Core::Vec)).then(host(&program(Target::A5, HostRuntime::CaModel(simulator))));
    insta::assert_snapshot!("a5_camodel", lines(&both));
}

#[test]
fn printed_for_a_shell_and_as_json() {
    let request = BishengRequest {
        sources: vec!["/home/Jürgen Müller/核 1.cpp".into()],
        out_dir: "/home/Jürgen Müller/out".into(),
        ..request(Target::A2a3, Core::Vec)
    };
    let plan = kernel(&request);
    insta::assert_snapshot!("shell", plan.to_shell());
    insta::assert_json_snapshot!("json", plan);
}

proptest! {
    /// Whatever a user's names and values are: refused with a reason, or the same words after printing and splitting.
    #[test]
    fn any_text_survives_the_shell(source in "\\PC{0,12}", dir in "\\PC{0,12}", value in "\\PC{0,12}") {
        let options = CompileOptions { defines: vec![("V".to_owned(), Some(value))], include_dirs: vec![dir.into()], ..CompileOptions::default() };
        let request = BishengRequest { sources: vec![source.into()], options, ..request(Target::A5, Core::Mix) };
        let Ok(plan) = kernel_plan(&bare(), &request, &Toolchain::assume(&bare(), &ToolchainOptions::default())) else {
            return Ok(());
        };
        for step in &plan.steps {
            let mut words = shlex::split(&step.to_shell()).unwrap();
            prop_assert_eq!(words.remove(0), step.program.to_str().unwrap());
            prop_assert_eq!(&words, &step.args);
        }
    }
}
