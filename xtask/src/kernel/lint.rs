//! `kernel lint`: what compiles and yet goes wrong.

use std::path::PathBuf;

use pto_context::counted;
use pto_kernel::lint::{Finding, Rule, lint};
use pto_kernel::run::Problem;
use serde::Serialize;

use super::select::{refusals, select};
use crate::exit::{Failure, Outcome};
use crate::setup::{Common, shown};
use crate::{out, style};

/// `kernel lint`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  cargo xtask kernel lint\n  cargo xtask kernel lint vec_add --allow vector-mask")]
pub struct Args {
    /// Names or paths of kernels [default: all of this workspace]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// A rule that is off; may be given several times
    #[arg(long, value_name = "ID")]
    allow: Vec<Rule>,
    #[command(flatten)]
    common: Common,
}

/// What `kernel lint --json` prints.
#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    passed: bool,
    kernels: Vec<Entry<'a>>,
    findings: &'a [Finding],
    allowed: usize,
    failures: Vec<Problem>,
}

/// A kernel that was looked at.
#[derive(Debug, Serialize)]
struct Entry<'a> {
    name: &'a str,
    path: PathBuf,
}

/// Runs the verb. A kernel that cannot be read does not keep the rest from being looked at.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let mut suite = select(&cx, &args.names)?;
    let (mut kernels, mut findings, mut allowed) = (Vec::new(), Vec::new(), 0);
    let mut failures = refusals(&mut suite);
    for kernel in &suite.kernels {
        match lint(kernel, &args.allow) {
            Ok(report) => {
                kernels.push(Entry { name: &kernel.name, path: shown(&cx, &kernel.path) });
                allowed += report.allowed;
                findings.extend(report.findings.into_iter().map(|mut finding| {
                    finding.path = shown(&cx, &finding.path);
                    finding
                }));
            }
            Err(error) => failures.push(error.into()),
        }
    }
    findings.sort();
    let outcome = Outcome::of_all([Outcome::passed_if(findings.is_empty()), Outcome::unless_refused(&failures)]);
    if args.common.json {
        let failures = failures.iter().map(Failure::problem).collect();
        let (schema, passed) = ("ptokit.kernel-lint/1", outcome == Outcome::Passed);
        out::json(&Document { schema, passed, kernels, findings: &findings, allowed, failures })?;
    } else {
        let text: String = findings.iter().map(text).collect();
        out::text(&(text + &summary(kernels.len(), findings.len(), allowed)))?;
        failures.iter().for_each(|failure| out::say(&failure.text()));
    }
    Ok(outcome)
}

fn text(finding: &Finding) -> String {
    let place = format!("{}:{}:{}", finding.path.display(), finding.line, finding.column);
    let rule = style::warning(finding.rule);
    format!("{}: {rule}: {}\n  {}\n", style::bold(place), finding.message, style::dim(finding.reason))
}

fn summary(kernels: usize, findings: usize, allowed: usize) -> String {
    let allowed = if allowed == 0 { String::new() } else { format!(", {allowed} more allowed") };
    format!("{}: {}{allowed}\n", counted(kernels, "kernel"), counted(findings, "finding"))
}
