//! From a machine to a report.

use std::collections::BTreeSet;

use pto_compile::cann::{Toolchain, ToolchainOptions};
use pto_context::Context;
use pto_platform::Target;

use crate::check::{Check, Source, check, checks};
use crate::error::DoctorError;
use crate::facts;
use crate::finding::{Finding, Status};
use crate::names;
use crate::probes::{Pinned, Probes};
use crate::redact::Redactor;
use crate::report::{CheckReport, Readiness, Report};
use crate::snapshot;
use pto_devices::ProbeOptions;

/// How to examine.
#[derive(Debug, Clone)]
pub struct Examination {
    /// Ids of the checks to run; all when there are none.
    pub only: Vec<String>,
    /// Whether what cannot be verified is a failure.
    pub strict: bool,
    /// How to ask programs.
    pub probes: ProbeOptions,
    /// What is fetched already.
    pub pinned: Pinned,
}

impl Examination {
    /// All checks, not strict.
    pub fn new(cx: &Context) -> Self {
        Self { only: Vec::new(), strict: false, probes: ProbeOptions::new(cx), pinned: Pinned::default() }
    }

    fn chosen(&self) -> Result<Vec<&'static Check>, DoctorError> {
        if self.only.is_empty() {
            return Ok(checks().collect());
        }
        let unknown = |id: &String| DoctorError::UnknownCheck {
            id: id.clone(),
            nearest: names::nearest(id, checks().map(|check| check.id), 0.6),
        };
        let find = |id: &String| check(id).ok_or_else(|| unknown(id));
        self.only.iter().map(find).collect()
    }
}

/// Asks what the chosen checks want to know, then judges.
///
/// # Errors
/// A check is chosen that does not exist, or an interrupt was asked for.
pub fn examine(cx: &Context, examination: &Examination) -> Result<Report, DoctorError> {
    let chosen = examination.chosen()?;
    let wanted: BTreeSet<Source> = chosen.iter().flat_map(|check| check.needs).copied().collect();
    let mut probes = Probes::gather(cx, &wanted, &examination.probes);
    probes.pinned = examination.pinned.clone();
    if pto_context::interrupt::requested() {
        // Programs that were ended early would be judged as if they were broken.
        return Err(DoctorError::Interrupted);
    }
    Ok(judge(cx, &probes, &chosen, examination.strict))
}

/// Judges a machine by what is known of it: no program is run.
pub fn judge(cx: &Context, probes: &Probes, chosen: &[&'static Check], strict: bool) -> Report {
    let redactor = Redactor::of(cx);
    let checks: Vec<CheckReport> =
        chosen.iter().map(|check| report(check, spelled(cx, check.judge(cx, probes)), strict, &redactor)).collect();
    let facts = snapshot::facts(cx, probes).into_iter().map(|(name, value)| (name, redactor.apply(&value))).collect();
    Report { ready_for: readiness(cx, probes, &checks), checks, facts }
}

/// Checks name verbs as they are typed in the workspace.
fn spelled(cx: &Context, finding: Finding) -> Finding {
    Finding { remedy: finding.remedy.map(|remedy| cx.called().spell(&remedy)), ..finding }
}

fn report(check: &Check, finding: Finding, strict: bool, redactor: &Redactor) -> CheckReport {
    let status = if strict && finding.unverified { Status::Fail } else { finding.status };
    let evidence = redactor.apply(&finding.evidence);
    CheckReport {
        id: check.id.to_owned(),
        status,
        title: check.title.to_owned(),
        line: format!("{}{}{evidence}", check.title, check.joint),
        evidence,
        remedy: finding.remedy.map(|remedy| redactor.apply(&remedy)),
    }
}

/// What the machine can do. A target that the chosen checks say nothing about is left out.
fn readiness(cx: &Context, probes: &Probes, checks: &[CheckReport]) -> Vec<Readiness> {
    let status = |id: &str| checks.iter().find(|check| check.id == id).map(|check| check.status);
    let works = |id: &str| matches!(status(id), Some(Status::Ok | Status::Warn));
    let mut ready = Vec::new();
    if works("cpu-compiler") && works("pto-isa-headers") {
        ready.push(Readiness { target: Target::Cpu, compile: true, run: true });
    }
    let compiles = works("bisheng") && Toolchain::find(cx, &ToolchainOptions::default()).is_ok();
    let broken = |id: &str| status(id) == Some(Status::Fail);
    let opened = works("device-access") && !broken("driver") && !broken("driver-cann-pair") && !broken("npu-smi");
    let here = if opened { present_target(probes) } else { None };
    for target in [Target::A2a3, Target::A5] {
        let run = here == Some(target);
        if compiles || run {
            ready.push(Readiness { target, compile: compiles, run });
        }
    }
    ready
}

/// The target of the device that ACL opened.
fn present_target(probes: &Probes) -> Option<Target> {
    let soc = probes.acl.success()?.soc.as_deref();
    soc.and_then(|soc| pto_platform::identify(soc).target).or_else(|| match facts::generation(probes)? {
        pto_platform::Generation::A2 | pto_platform::Generation::A3 => Some(Target::A2a3),
        pto_platform::Generation::A5 => Some(Target::A5),
        _ => None,
    })
}
