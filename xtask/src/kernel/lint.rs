//! `kernel lint`: what compiles and yet goes wrong.

use std::path::Path;

use pto_kernel::lint::{Finding, Rule, lint};
use pto_kernel::run::Problem;
use serde::Serialize;

use super::select::select;
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
    kernels: Vec<&'a str>,
    findings: &'a [Finding],
    allowed: usize,
    failures: Vec<Problem>,
}

/// Runs the verb. A kernel that cannot be read does not keep the rest from being looked at.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let suite = select(&cx, &args.names)?;
    let (mut kernels, mut findings, mut allowed) = (Vec::new(), Vec::new(), 0);
    let mut failures: Vec<Failure> = suite.refused.into_iter().map(|(_, error)| error.into()).collect();
    for kernel in &suite.kernels {
        match lint(kernel, &args.allow) {
            Ok(report) => {
                kernels.push(kernel.name.as_str());
                allowed += report.allowed;
                findings.extend(report.findings);
            }
            Err(error) => failures.push(error.into()),
        }
    }
    findings.sort();
    if args.common.json {
        let failures = failures.iter().map(Failure::problem).collect();
        out::json(&Document { schema: "ptokit.kernel-lint/1", kernels, findings: &findings, allowed, failures })?;
    } else {
        let text: String = findings.iter().map(|finding| text(&shown(&cx, &finding.path), finding)).collect();
        out::text(&(text + &summary(kernels.len(), findings.len(), allowed)))?;
        failures.iter().for_each(|failure| anstream::eprintln!("{}", failure.text()));
    }
    let malformed = if failures.is_empty() { Outcome::Passed } else { Outcome::Malformed };
    Ok(Outcome::of_all([Outcome::passed_if(findings.is_empty()), malformed]))
}

fn text(path: &Path, finding: &Finding) -> String {
    let place = format!("{}:{}:{}", path.display(), finding.line, finding.column);
    let rule = style::warning(finding.rule);
    format!("{}: {rule}: {}\n  {}\n", style::bold(place), finding.message, style::dim(finding.reason))
}

fn summary(kernels: usize, findings: usize, allowed: usize) -> String {
    let counted = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let allowed = if allowed == 0 { String::new() } else { format!(", {allowed} more allowed") };
    format!("{}: {}{allowed}\n", counted(kernels, "kernel"), counted(findings, "finding"))
}
