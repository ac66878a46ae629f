//! PyPTO's home and checkout: what setup and build would do, and what git says. Nothing of an inspected tree is asked.

use std::path::Path;
use std::time::{Duration, SystemTime};

use pto_build::{
    Blocked, BuildOptions, Decision, Helpers, Plan, SetupOptions, branch_standing, plan_build, plan_setup,
};
use pto_checkout::{Checkout, Git};
use pto_context::{Context, with_causes};
use pto_devices::{Answer, ProbeOptions, ask};
use pto_process::Invocation;

use super::RuntimeGit;
use crate::digest::sha256;
use crate::facts;
use crate::files;

/// Changes of an image are far below this; a list that is cut would be another one.
const LARGEST_DIFF: usize = 1 << 30;

/// How the next build would begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextBuild {
    /// With what is there, or with nothing.
    pub decision: Decision,
    /// When the last one began that went well, if it was recorded.
    pub last_begun: Option<SystemTime>,
}

/// What is asked where there is a home and a checkout. Without a program to compare with, helpers are compared with nothing.
pub(super) fn setup(cx: &Context, options: &ProbeOptions) -> Option<Result<Plan, String>> {
    if files::is_tree(cx) || !facts::pypto_home(cx).is_dir() {
        return None;
    }
    let program = options.worker.clone()?;
    let helpers = Helpers { program, names: facts::helper_names(cx) };
    // Which release somebody would fetch says nothing of the one that is here.
    let uv_version = Some("latest".to_owned());
    let options = SetupOptions { src: Some(facts::pypto_src(cx)?), uv_version, helpers, ..SetupOptions::default() };
    Some(plan_setup(cx, &options).map(|setup| setup.plan).map_err(|error| with_causes(&error)))
}

/// The checkout, and what keeps an update from its branch; of each why it cannot be told.
pub(super) type Seen = (Option<Result<Checkout, String>>, Option<Result<Option<Blocked>, String>>);

pub(super) fn checkout(cx: &Context) -> Seen {
    let Some(src) = facts::pypto_src(cx).filter(|_| !files::is_tree(cx)) else { return (None, None) };
    let checkout = Checkout::open(cx, src).map_err(|error| with_causes(&error));
    let standing = |checkout| branch_standing(cx, checkout).map_err(|error| with_causes(&error));
    let branch = checkout.as_ref().ok().map(standing);
    (Some(checkout), branch)
}

/// Without an environment there is nothing that a build could be compared with.
pub(super) fn build(cx: &Context) -> Option<Result<NextBuild, String>> {
    facts::pypto_src(cx).filter(|_| !files::is_tree(cx) && facts::pypto_home(cx).join("venv").is_dir())?;
    // What the user chose for the build is no reason to make another one.
    let plan = plan_build(cx, &BuildOptions { as_recorded: true, ..BuildOptions::default() });
    let next = plan.map(|plan| NextBuild { decision: plan.decision, last_begun: plan.last_begun });
    Some(next.map_err(|error| with_causes(&error)))
}

/// What git says of the runtime's checkout, which may be somebody else's.
pub(super) fn runtime(cx: &Context, deadline: Duration) -> RuntimeGit {
    let Some(runtime) =
        facts::pypto_src(cx).map(|src| src.join("runtime")).filter(|dir| files::exists(cx, dir.join(".git")))
    else {
        return RuntimeGit::default();
    };
    // The configuration that lets git look at another owner's files is there as long as this is.
    let git = if files::is_tree(cx) { None } else { Some(Git::at(cx, &runtime)) };
    let git = match git.transpose() {
        Ok(git) => git,
        Err(error) => return RuntimeGit { head: Answer::Broken(with_causes(&error)), ..RuntimeGit::default() },
    };
    let reading = || git.as_ref().map_or_else(|| of_tree(cx, &runtime), Git::reading);
    let status = ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=none"];
    let diff = reading().args(["diff", "--binary", "HEAD"]).capture_limit(LARGEST_DIFF).deadline(deadline).run(cx);
    RuntimeGit {
        head: ask(cx, reading().args(["rev-parse", "HEAD"]), deadline),
        status: ask(cx, reading().args(status), deadline),
        diff_sha256: diff.ok().filter(|output| output.success()).map(|output| sha256(output.stdout.bytes())),
    }
}

/// Git in a tree that was mounted here. Whose its files are on the machine that it is of says nothing of who may look.
fn of_tree(cx: &Context, runtime: &Path) -> Invocation {
    Invocation::new("git")
        .args(["-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-C"])
        .arg(files::open_path(cx, runtime))
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("LC_ALL", "C")
}
