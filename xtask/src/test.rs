//! `test`: the workspace's own tests, with all they need set up.

use pto_context::Context;
use pto_kernel::run::ACL_HEADERS;
use pto_process::{Invocation, Stream};

use crate::exit::{Failure, Outcome, chain};
use crate::setup::{Build, Common, workspace_root};

/// `test`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask test -- pto-golden")]
pub struct Args {
    /// Passed on to the test runner
    #[arg(last = true, value_name = "ARGS")]
    rest: Vec<String>,
    #[command(flatten)]
    build: Build,
    #[command(flatten)]
    common: Common,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let setup = args.build.setup(&cx)?;
    let workshop = args.build.workshop(&cx)?;
    let acl = ACL_HEADERS.fetch(&cx, &setup.shared).map_err(|error| Failure::blocked(chain(&error), error.hint()))?;
    let environment = [("PTOKIT_ACL_HEADERS", acl), ("PTOKIT_TEST_HEADERS", workshop.headers.dir.clone())];
    let cargo = cx.var("CARGO").unwrap_or_else(|| "cargo".to_owned());
    let nextest = runs(&cx, &cargo, &["nextest", "--version"]);
    let suite: &[&str] =
        if nextest { &["nextest", "run", "--workspace"] } else { &["test", "--workspace", "--all-targets"] };
    let mut passed = step(&cx, &cargo, suite, &args.rest, &environment)?;
    // Doc tests are cargo's own: no other runner has them.
    passed &= step(&cx, &cargo, &["test", "--workspace", "--doc"], &[], &environment)?;
    Ok(Outcome::passed_if(passed))
}

fn runs(cx: &Context, cargo: &str, args: &[&str]) -> bool {
    Invocation::new(cargo).args(args).run(cx).is_ok_and(|output| output.success())
}

/// Runs cargo with its output passed through.
fn step(
    cx: &Context,
    cargo: &str,
    args: &[&str],
    rest: &[String],
    environment: &[(&str, std::path::PathBuf)],
) -> Result<bool, Failure> {
    let mut invocation = Invocation::new(cargo).args(args).args(rest).cwd(workspace_root(cx)).deadline(None);
    for (name, value) in environment {
        invocation = invocation.env(*name, value);
    }
    anstream::eprintln!("$ {}", invocation.to_shell_line());
    let output = invocation
        .run_streaming(cx, |stream, line| match stream {
            Stream::Stdout => anstream::println!("{line}"),
            Stream::Stderr => anstream::eprintln!("{line}"),
        })
        .map_err(|error| Failure::blocked(chain(&error), error.hint()))?;
    Ok(output.success())
}
