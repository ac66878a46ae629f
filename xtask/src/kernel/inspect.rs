//! `kernel inspect`: what is in a built library, and whether this machine can use it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pto_compile::artifact::{Artifact, Fit, Host, Image, Kernel, Library, Problem, Where};
use pto_context::{Context, counted, with_causes};
use pto_doctor::ProbeOptions;
use pto_doctor::devices::{Devices, Look};
use pto_platform::{Arch, Core, Machine};
use serde::Serialize;

use super::table::{Cell, Table};
use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::{out, style};

/// `kernel inspect`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask kernel inspect libvec_add.so")]
pub struct Args {
    /// A shared library, program or object, of ours or of others
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    common: Common,
}

/// What `kernel inspect --json` prints.
#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    path: &'a Path,
    archs: Vec<Arch>,
    core: Option<Core>,
    cpu: bool,
    ca_model: bool,
    fits: bool,
    libraries: &'a [Library],
    problems: Vec<Told<'a>>,
    #[serde(flatten)]
    artifact: &'a Artifact,
}

#[derive(Debug, Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    problem: &'a Problem,
    message: String,
}

/// Runs the verb. That a library is for another machine is an answer, not a failure.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let artifact = Artifact::read(&args.file).map_err(|error| Failure::usage(with_causes(&error), error.hint()))?;
    let host = Host { machine: Machine::current(), npus: npus(&cx, &artifact) };
    let fit = Fit::of(&cx, &artifact, &args.file, &host);
    if args.common.json {
        out::json(&Document {
            schema: "ptokit.kernel-inspect/1",
            path: &args.file,
            archs: artifact.archs(),
            core: artifact.core(),
            cpu: artifact.is_for_cpu(),
            ca_model: artifact.links_ca_model(),
            fits: fit.fits(),
            libraries: &fit.libraries,
            problems: fit.problems.iter().map(|problem| Told { problem, message: problem.to_string() }).collect(),
            artifact: &artifact,
        })?;
    } else {
        out::text(&text(&args.file, &artifact, &fit))?;
    }
    Ok(Outcome::Passed)
}

/// The machine's NPUs, which are asked for only where there is code for one.
fn npus(cx: &Context, artifact: &Artifact) -> Vec<Arch> {
    if artifact.images.is_empty() {
        return Vec::new();
    }
    let devices = Devices::ask(cx, &Look { probes: ProbeOptions::new(cx), acl: false });
    let archs: BTreeSet<Arch> = devices.devices.iter().filter_map(|npu| npu.target?.arch()).collect();
    archs.into_iter().collect()
}

fn text(path: &Path, artifact: &Artifact, fit: &Fit) -> String {
    let mut lines = vec![format!("{}: {}", style::bold(path.display()), summary(artifact))];
    let told = |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("{name} {value}"));
    lines.extend(told("soname  ", &artifact.dynamic.soname));
    lines.extend(told("build id", &artifact.dynamic.build_id));
    if !artifact.dynamic.run_path.is_empty() {
        lines.push(format!("run path {}", artifact.dynamic.run_path.join(":")));
    }
    section(&mut lines, "device code", images(&artifact.images));
    section(&mut lines, "kernels", kernels(artifact));
    let exports = artifact.exports.iter().map(|export| export.signature.as_ref().unwrap_or(&export.symbol).clone());
    section(&mut lines, "exported functions", exports.collect());
    section(&mut lines, "needs", fit.libraries.iter().map(needed).collect());
    if fit.fits() {
        lines.push(format!("\n{} on this machine", style::good("fits")));
    } else {
        section(&mut lines, "does not fit this machine", fit.problems.iter().map(Problem::to_string).collect());
    }
    lines.join("\n") + "\n"
}

fn section(lines: &mut Vec<String>, title: &str, contents: Vec<String>) {
    if !contents.is_empty() {
        lines.push(format!("\n{}", style::bold(title)));
        lines.extend(contents.into_iter().map(|line| format!("  {line}")));
    }
}

fn summary(artifact: &Artifact) -> String {
    let archs: Vec<String> = artifact.archs().into_iter().map(Arch::with_target).collect();
    let purpose = match archs[..] {
        [] if artifact.is_for_cpu() => ", built for the target `cpu`".to_owned(),
        [] if artifact.images.is_empty() => ", without device code".to_owned(),
        [] => ", with device code of an unknown architecture".to_owned(),
        _ => format!(", with device code for {}", archs.join(" and ")),
    };
    let model = if artifact.links_ca_model() { ", linked with the CA model" } else { "" };
    format!("{} for {}{purpose}{model}", artifact.kind, artifact.machine)
}

/// One line for all images of one section and architecture.
fn images(images: &[Image]) -> Vec<String> {
    let mut rows: Vec<(String, String, bool, usize, u64)> = Vec::new();
    for image in images {
        let section = image.section.clone().unwrap_or_else(|| "the whole file".to_owned());
        let arch = image.arch.map_or_else(|| format!("flags {:#x}", image.flags), Arch::with_target);
        match rows.iter_mut().find(|row| (&row.0, &row.1, row.2) == (&section, &arch, image.linked)) {
            Some(row) => {
                row.3 += 1;
                row.4 += image.size;
            }
            None => rows.push((section, arch, image.linked, 1, image.size)),
        }
    }
    let line = |(section, arch, linked, count, size): &(String, String, bool, usize, u64)| {
        let linked = if *linked { "linked" } else { "relocatable" };
        format!("{section}: {} for {arch}, {size} bytes", counted(*count, &format!("{linked} image")))
    };
    rows.iter().map(line).collect()
}

/// Those that can be launched; where nothing is linked yet, those that could be.
fn kernels(artifact: &Artifact) -> Vec<String> {
    let any = artifact.images.iter().any(|image| image.linked);
    let images = artifact.images.iter().filter(|image| image.linked || !any);
    let mut kernels: Vec<&Kernel> = images.flat_map(|image| &image.kernels).collect();
    kernels.sort_by(|one, other| one.name.cmp(&other.name));
    if kernels.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new(&["core", "kernel"]);
    for kernel in kernels {
        let core = kernel.core.map_or("?", Core::name);
        table.row(vec![Cell::new(core), Cell::new(kernel.signature.as_ref().unwrap_or(&kernel.name))]);
    }
    table.lines()
}

fn needed(library: &Library) -> String {
    match &library.place {
        Where::Found(path) => format!("{} {}", library.name, style::dim(path.display())),
        Where::InCann(path) => format!("{} {}", library.name, style::warning(path.display())),
        Where::Missing => format!("{} {}", library.name, style::error("missing")),
    }
}
