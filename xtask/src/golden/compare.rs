//! `golden compare`: two tensor files, or two directories of them.

use std::fmt::Write as _;
use std::path::PathBuf;

use pto_golden::html::Case;
use pto_golden::suite::{Hints, Judged, Named, SuiteError, compare_files};
use pto_golden::{Error, Report, Status};
use pto_kernel::run::with_causes;
use serde::Serialize;

use super::flags::Flags;
use super::page;
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
    /// What the run before gave, to tell what is left from it
    #[arg(long, value_name = "PATH")]
    previous: Option<PathBuf>,
    /// What the kernel was given, to tell what was copied
    #[arg(long, value_name = "PATH", num_args = 1..)]
    input: Vec<PathBuf>,
    /// Write an HTML page about all tensors
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write pictures of wrong tensors: NAME.map.svg, NAME.errors.svg, NAME.values.svg
    #[arg(long, value_name = "DIR")]
    pictures: Option<PathBuf>,
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
    let hints = Hints { previous: args.previous.clone(), inputs: args.input.clone() };
    let mut tensors = Vec::new();
    let mut keep = |judged: Judged| tensors.push(judged.named);
    compare_files(&args.actual, &args.expected, &rules, &hints, &mut keep).map_err(refused)?;
    for run in &args.run {
        let about = run.display().to_string();
        let keep = |judged: Judged| {
            let named = judged.named;
            tensors.push(Named { name: format!("{} ({about})", named.name), ..named });
        };
        compare_files(run, &args.expected, &rules, &hints, keep).map_err(refused)?;
    }
    let right = tensors.iter().filter(|tensor| tensor.report.passed()).count();
    let totals = Totals { tensors: tensors.len(), passed: right, failed: tensors.len() - right };
    let passed = !tensors.is_empty() && totals.failed == 0;
    let written = write(args, &tensors);
    if args.common.json {
        let schema = "ptokit.golden-compare/1";
        out::json(&Document { schema, passed, totals, tensors: &tensors })?;
    } else {
        out::text(&text(&tensors, &totals))?;
    }
    written?;
    Ok(Outcome::passed_if(passed))
}

/// The page and the pictures that were asked for.
fn write(args: &Args, tensors: &[Named]) -> Result<(), Failure> {
    if let Some(path) = &args.report {
        let case = |named: &Named| Case {
            name: named.name.clone(),
            passed: named.report.passed(),
            message: named.report.message.clone(),
            command: None,
            report: None,
        };
        let cases = tensors.iter().map(|named| Case { report: Some(&named.report), ..case(named) }).collect();
        let title = format!("{} against {}", args.actual.display(), args.expected.display());
        page::write(path, title, cases)?;
    }
    if let Some(dir) = &args.pictures {
        fs_err::create_dir_all(dir).map_err(|error| Failure::io(&error))?;
        for Named { name, report } in tensors.iter().filter(|named| !named.report.passed()) {
            page::pictures(dir, &name.replace('/', "."), report)?;
        }
    }
    Ok(())
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
