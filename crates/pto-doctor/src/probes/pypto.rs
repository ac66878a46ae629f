//! PyPTO's home and checkout: what setup and build would do, and what git says. Nothing of an inspected tree is asked.

use pto_build::{Decision, Helpers, Plan, SetupOptions, plan_build, plan_setup};
use pto_checkout::Checkout;
use pto_context::{Context, with_causes};
use pto_devices::ProbeOptions;

use crate::facts;
use crate::files;

/// What is asked where there is a home and a checkout. Without a program to compare with, helpers are compared with nothing.
pub(super) fn setup(cx: &Context, options: &ProbeOptions) -> Option<Result<Plan, String>> {
    if files::is_tree(cx) || !facts::pypto_home(cx).is_dir() {
        return None;
    }
    let program = options.worker.clone()?;
    let helpers = Helpers { program, names: facts::helper_names(cx) };
    let options = SetupOptions { src: Some(facts::pypto_src(cx)?), helpers, ..SetupOptions::default() };
    Some(plan_setup(cx, &options).map(|setup| setup.plan).map_err(|error| with_causes(&error)))
}

pub(super) fn checkout(cx: &Context) -> Option<Result<Checkout, String>> {
    let src = facts::pypto_src(cx).filter(|_| !files::is_tree(cx))?;
    Some(Checkout::open(cx, src).map_err(|error| with_causes(&error)))
}

/// Without an environment there is nothing that a build could be compared with.
pub(super) fn build(cx: &Context) -> Option<Result<Decision, String>> {
    facts::pypto_src(cx).filter(|_| !files::is_tree(cx) && facts::pypto_home(cx).join("venv").is_dir())?;
    // What the user chose for the build is no reason to make another one.
    let plan = plan_build(cx, &pto_build::BuildOptions { as_recorded: true, ..pto_build::BuildOptions::default() });
    Some(plan.map(|plan| plan.decision).map_err(|error| with_causes(&error)))
}
