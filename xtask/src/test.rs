//! `test`: the workspace's own tests, with all they need set up.

use std::path::PathBuf;

use pto_context::Context;
use pto_fetch::WheelPin;
use pto_kernel::run::{ACL_HEADERS, ARTIFACTS, CpuTools, Fetching, RunError, Setup};
use pto_process::{Invocation, Status, Stream};
use serde::Serialize;

use crate::exit::{Failure, Outcome};
use crate::setup::{Build, Common, workspace_root};
use crate::{out, progress};

/// `test`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  cargo xtask test\n  cargo xtask test -- --package pto-golden")]
pub struct Args {
    /// Passed on to cargo-nextest, or to cargo test where that is not installed
    #[arg(last = true, value_name = "ARGS")]
    rest: Vec<String>,
    #[command(flatten)]
    build: Build,
    #[command(flatten)]
    common: Common,
}

/// What `test --json` prints.
#[derive(Debug, Serialize)]
struct Document {
    schema: &'static str,
    passed: bool,
    steps: Vec<Step>,
}

/// One run of cargo.
#[derive(Debug, Serialize)]
struct Step {
    command: String,
    passed: bool,
    seconds: f64,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let setup = args.build.setup(&cx)?;
    let headers = CpuTools::find(&cx, &setup)?.headers.dir;
    let mut environment = vec![("PTOKIT_TEST_HEADERS", headers)];
    environment.extend(package(&cx, &setup, &ACL_HEADERS)?.map(|dir| ("PTOKIT_ACL_HEADERS", dir)));
    environment.extend(package(&cx, &setup, &ARTIFACTS)?.map(|dir| ("PTOKIT_TEST_ARTIFACTS", dir)));
    let cargo = Cargo { cx: &cx, json: args.common.json, environment };
    let mut steps = vec![cargo.step(cargo.suite(), &args.rest)?];
    if args.rest.is_empty() {
        // Doc tests are cargo's own: no other runner has them.
        steps.push(cargo.step(&["test", "--doc"], &[])?);
    }
    let passed = steps.iter().all(|step| step.passed);
    if args.common.json {
        out::json(&Document { schema: "ptokit.test/1", passed, steps })?;
    }
    Ok(Outcome::passed_if(passed))
}

/// What only tests need: the headers and libraries of others that ours are compared with. `None` if it may not be fetched:
/// the tests that need it say that they are skipped.
fn package(cx: &Context, setup: &Setup, pin: &WheelPin) -> Result<Option<PathBuf>, Failure> {
    if setup.fetching == Fetching::Offline {
        return Ok(pin.find(&setup.shared));
    }
    Ok(Some(pin.fetch(cx, &setup.shared).map_err(RunError::from)?))
}

struct Cargo<'a> {
    cx: &'a Context,
    json: bool,
    environment: Vec<(&'static str, PathBuf)>,
}

impl Cargo<'_> {
    fn program(&self) -> String {
        self.cx.var("CARGO").unwrap_or_else(|| "cargo".to_owned())
    }

    fn suite(&self) -> &'static [&'static str] {
        let asked = Invocation::new(self.program()).args(["nextest", "--version"]).run(self.cx);
        if asked.is_ok_and(|output| output.success()) { &["nextest", "run"] } else { &["test", "--all-targets"] }
    }

    /// Runs cargo with its output passed through; with `--json` stdout belongs to the document.
    fn step(&self, args: &[&str], rest: &[String]) -> Result<Step, Failure> {
        let start = Invocation::new(self.program()).args(args).args(rest).cwd(workspace_root(self.cx)).deadline(None);
        let invocation = self.environment.iter().fold(start, |invocation, (name, value)| invocation.env(*name, value));
        let command = invocation.to_shell_line();
        progress::end();
        out::say(&format!("$ {command}"));
        let output = invocation
            .run_streaming(self.cx, |stream, line| match stream {
                Stream::Stdout if !self.json => {
                    let _ = out::text(&format!("{line}\n"));
                }
                _ => out::say(line),
            })
            .map_err(|error| Failure::process(&error))?;
        if output.status == Status::Interrupted {
            return Err(RunError::Interrupted.into());
        }
        Ok(Step { command, passed: output.success(), seconds: output.duration.as_secs_f64() })
    }
}
