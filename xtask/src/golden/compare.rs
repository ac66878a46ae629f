//! `golden compare`: two tensor files, or two directories of them.

use std::fmt::Write as _;
use std::path::PathBuf;

use pto_golden::suite::{Judged, Named, SuiteError, compare_files};
use pto_golden::{Error, Report, Status};
use pto_kernel::run::with_causes;
use serde::Serialize;

use super::flags::Flags;
use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::{out, style};

/// `golden compare`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 every tensor is right, 1 something differs or is missing, 2 wrong usage or a malformed file.\n\n\
                  Examples:\n  cargo xtask golden compare actual.npy expected.npy\n  \
                  cargo xtask golden compare out/ golden/ --rules golden.toml --report report.html\n  \
                  cargo xtask golden compare y.bin y_golden.bin --dtype bf16 --shape 64,128 --rule ulp --max-ulp 2"
)]
pub struct Args {
    /// What the kernel gave: .npy, .npz, .safetensors, .bin, or a directory
    #[arg(value_name = "ACTUAL")]
    actual: PathBuf,
    /// What it should have given, likewise
    #[arg(value_name = "EXPECTED")]
    expected: PathBuf,
    /// Further runs, each compared with EXPECTED as well
    #[arg(long, value_name = "PATH", num_args = 1..)]
    run: Vec<PathBuf>,
    #[command(flatten)]
    flags: Flags,
    #[command(flatten)]
    common: Common,
}

/// What `golden compare --json` prints.
#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    passed: bool,
    totals: Totals,
    tensors: &'a [Named],
}

#[derive(Debug, Serialize)]
struct Totals {
    tensors: usize,
    passed: usize,
    failed: usize,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let rules = args.flags.rules()?;
    let mut tensors = Vec::new();
    let mut keep = |judged: Judged| tensors.push(judged.named);
    compare_files(&args.actual, &args.expected, &rules, &mut keep).map_err(refused)?;
    for run in &args.run {
        let about = run.display().to_string();
        let keep = |judged: Judged| {
            let named = judged.named;
            tensors.push(Named { name: format!("{} ({about})", named.name), ..named });
        };
        compare_files(run, &args.expected, &rules, keep).map_err(refused)?;
    }
    let right = tensors.iter().filter(|tensor| tensor.report.passed()).count();
    let totals = Totals { tensors: tensors.len(), passed: right, failed: tensors.len() - right };
    let passed = !tensors.is_empty() && totals.failed == 0;
    if args.common.json {
        let schema = "ptokit.golden-compare/1";
        out::json(&Document { schema, passed, totals, tensors: &tensors })?;
    } else {
        out::text(&text(&tensors, &totals))?;
    }
    Ok(Outcome::passed_if(passed))
}

fn refused(error: SuiteError) -> Failure {
    let hint = error.hint();
    match &error {
        SuiteError::Tensor(Error::Io(source)) if source.kind() != std::io::ErrorKind::NotFound => Failure::io(source),
        _ => Failure::usage(with_causes(&error), hint),
    }
}

fn text(tensors: &[Named], totals: &Totals) -> String {
    if tensors.is_empty() {
        return format!("{} there are no tensors\n", style::error("nothing was compared:"));
    }
    let mut text = String::new();
    let widest = tensors.iter().map(|tensor| tensor.name.chars().count()).max().unwrap_or(0);
    for Named { name, report } in tensors {
        let word = word(report);
        let _ = writeln!(text, "{name:widest$}  {} {:?}  {word}  {}", report.dtype, report.shape, indented(report));
    }
    let Totals { tensors, passed, failed } = totals;
    let _ = match failed {
        0 => writeln!(text, "{} {passed} of {tensors} tensors are right", style::good("passed:")),
        _ => writeln!(text, "{} {failed} of {tensors} tensors are wrong", style::error("failed:")),
    };
    text
}

/// The report in full where it is wrong, and in one line where it is right.
fn indented(report: &Report) -> String {
    if report.passed() && report.warnings.is_empty() && report.reason.is_none() {
        return report.message.clone();
    }
    report.to_string()
}

fn word(report: &Report) -> String {
    let word = match report.status {
        Status::Passed => return style::good("passed"),
        Status::Differs => "differs",
        Status::NeverWritten => "never written",
        Status::PartlyWritten => "partly written",
        Status::ShapeDiffers => "shape differs",
        Status::DTypeDiffers => "dtype differs",
        Status::Empty => "empty",
        Status::Missing => "missing",
        Status::Unexpected => "unexpected",
    };
    style::error(word)
}
