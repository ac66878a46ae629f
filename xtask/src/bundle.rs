//! `bundle`: what a problem report should carry, in one file.

use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_doctor::ProbeOptions;
use pto_doctor::bundle::{Bundle, BundleRequest, Manifest};
use serde::Serialize;

use crate::exit::{Failure, Outcome};
use crate::setup::{Common, generated_dir};
use crate::{doctor, out, style};

/// `bundle`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Nothing is sent anywhere. Look into the file before you attach it to a report.\n\n\
                        Example:\n  cargo xtask bundle -o report.tar.gz --log slog.txt --note 'docker run ...'")]
pub struct Args {
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Logs, or directories of logs, besides those that are found
    #[arg(long, value_name = "PATH", num_args = 1..)]
    log: Vec<PathBuf>,
    /// What should be read with it: the exact command that failed, what was expected
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    output: &'a Path,
    manifest: &'a Manifest,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let mut probes = ProbeOptions::new(&cx);
    // The probe of ACL is this same program; without it everything else is still gathered.
    probes.worker = std::env::current_exe().ok();
    let request = BundleRequest { logs: args.log.clone(), note: args.note.clone(), probes };
    let mut bundle = Bundle::gather(&cx, &request)?;
    let report = doctor::rendered(&bundle.report, |_| true, true);
    bundle.attach("doctor.txt", "what `doctor` says", &anstream::adapter::strip_str(&report).to_string())?;
    attach_last_run(&cx, &mut bundle)?;
    let manifest = bundle.write(&cx.cwd().join(&args.output))?;
    if args.common.json {
        out::json(&Document { schema: "ptokit.bundle/1", output: &args.output, manifest: &manifest })?;
    } else {
        out::text(&text(args, &manifest))?;
    }
    Ok(Outcome::Passed)
}

/// The report of the last `kernel test`, if there is one.
fn attach_last_run(cx: &Context, bundle: &mut Bundle) -> Result<(), Failure> {
    if let Ok(text) = std::fs::read_to_string(generated_dir(cx).join("report.json")) {
        bundle.attach_json("kernel-test.json", "the report of the last `kernel test`", &text)?;
    }
    Ok(())
}

fn text(args: &Args, manifest: &Manifest) -> String {
    let mut lines = vec![format!("wrote {}, nothing was sent anywhere", args.output.display())];
    if !args.common.quiet {
        lines.extend(manifest.files.iter().map(|file| format!("  {:28} {}", file.path, style::dim(&file.what))));
    }
    let missing = manifest.missing.iter();
    lines.extend(missing.map(|one| format!("{} {}: {}", style::warning("without"), one.what, one.why)));
    lines.push(
        "masked: secrets, addresses, names of users and of this host. Look into it before you attach it.".to_owned(),
    );
    lines.join("\n") + "\n"
}
