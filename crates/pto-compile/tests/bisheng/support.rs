//! The CANN of these tests, and requests for it.

use std::path::Path;

use pto_compile::bisheng::{BishengRequest, CompileOptions, HostProgramRequest, HostRuntime, KernelLibrary};
use pto_compile::plan::Plan;
use pto_platform::{Core, Target};
use pto_test::cann::{SimulatorLayout, StandInCann};

/// A CANN below a directory of this name.
pub(crate) fn cann_below(name: &str) -> StandInCann {
    StandInCann::below(name, SimulatorLayout::BySoc)
}

/// What `bisheng` was asked, call by call.
pub(crate) fn calls(cann: &StandInCann) -> Vec<Vec<String>> {
    cann.calls("bisheng").into_iter().map(|call| call.args).collect()
}

pub(crate) fn touch(path: &Path) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, "").unwrap();
}

/// A request with nothing but what is necessary.
pub(crate) fn request(target: Target, core: Core) -> BishengRequest {
    BishengRequest {
        target,
        core,
        name: "vec_add".to_owned(),
        sources: vec!["vec_add.cpp".into()],
        generated: Vec::new(),
        launcher: None,
        out_dir: "out".into(),
        options: CompileOptions::default(),
    }
}

/// A host program with nothing but what is necessary.
pub(crate) fn program(target: Target, runtime: HostRuntime) -> HostProgramRequest {
    HostProgramRequest {
        target,
        name: "run_vec_add".to_owned(),
        sources: vec!["main.cpp".into()],
        kernel: Some(KernelLibrary { dir: "out".into(), name: "vec_add".to_owned() }),
        runtime,
        out_dir: "out".into(),
        options: CompileOptions::default(),
    }
}

/// Purpose and one argument per line: what changes in a plan is one line of the snapshot.
pub(crate) fn lines(plan: &Plan) -> String {
    let mut text: String = plan.notes.iter().map(|note| format!("note: {note}\n")).collect();
    for step in &plan.steps {
        text += &format!("[{}]\n{}\n", step.purpose, step.program.display());
        text.extend(step.args.iter().map(|arg| format!("  {arg}\n")));
    }
    text
}

/// The arguments hold these words one after another, other words between them or not.
pub(crate) fn has_in_order(args: &[String], words: &[&str]) -> bool {
    let mut args = args.iter();
    words.iter().all(|word| args.any(|arg| arg == word))
}
