//! After a run: its records.

use pto_context::Context;
use pto_kernel::Manifest;
use pto_kernel::bench::{BenchReport, BenchedKernel};
use pto_kernel::record::{Circumstances, Contents, Logbook, Record, RecordedBench, record};
use pto_kernel::run::{KernelResult, KernelStatus, Report, Suite};
use pto_process::shell_word;

use crate::exit::Failure;
use crate::setup::generated_dir;
use crate::{out, style};

/// The records of this workspace.
pub fn logbook(cx: &Context) -> Logbook {
    Logbook::at(generated_dir(cx).join("verification"))
}

/// All that is in them. What is no record is said on stderr and does not hide the others.
///
/// # Errors
/// The directory cannot be read.
pub fn read(cx: &Context) -> Result<Contents, Failure> {
    let contents = logbook(cx).contents().map_err(|error| Failure::io(&error))?;
    for unreadable in &contents.unreadable {
        out::say(&format!("{} {}", style::warning("warning:"), out::plain(&unreadable.message)));
    }
    Ok(contents)
}

/// What a run was asked to do, kept from before it: the kernels, and the words of the command line.
pub struct Asked<'a> {
    cx: &'a Context,
    kernels: Vec<Manifest>,
    circumstances: Circumstances,
}

impl<'a> Asked<'a> {
    /// `complete` says whether all cases are to run.
    pub fn new(cx: &'a Context, suite: &Suite, complete: bool) -> Self {
        let circumstances =
            Circumstances { verb: "test".to_owned(), repeat: typed(), complete, ..Circumstances::default() };
        Self { cx, kernels: suite.kernels.clone(), circumstances }
    }

    /// Records every kernel of a report, also one that the user ended the run of. One whose manifest does not load is none
    /// yet, and what was asked for wrongly says nothing about a kernel.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn tested(&self, report: &Report) -> Result<(), Failure> {
        let wanted = |result: &&KernelResult| result.status != KernelStatus::Skipped && !result.usage;
        let records = report.kernels.iter().filter(wanted).filter_map(|result| {
            let manifest = self.kernels.iter().find(|manifest| manifest.path == result.path)?;
            Some(record(self.cx, manifest, result, &self.circumstances))
        });
        self.save(records)
    }

    /// Records every kernel of a bench, with its times.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn benched(&self, report: &BenchReport) -> Result<(), Failure> {
        let says = |kernel: &&BenchedKernel| kernel.status != KernelStatus::Skipped && !kernel.verified.usage;
        let wanted = report.kernels.iter().filter(says);
        let records = wanted.filter_map(|kernel| {
            let manifest = self.kernels.iter().find(|manifest| manifest.path == kernel.path)?;
            let bench = Some(RecordedBench::of(report, kernel));
            let circumstances = Circumstances { verb: "bench".to_owned(), bench, ..self.circumstances.clone() };
            Some(record(self.cx, manifest, &kernel.verified, &circumstances))
        });
        self.save(records)
    }

    fn save(&self, records: impl Iterator<Item = std::io::Result<Record>>) -> Result<(), Failure> {
        let records = records.collect::<Result<Vec<_>, _>>().map_err(|error| Failure::io(&error))?;
        logbook(self.cx).save(&records).map(drop).map_err(|error| Failure::io(&error))
    }
}

/// The command line as it can be typed again.
pub fn typed() -> String {
    let words = std::env::args_os().skip(1).map(|word| shell_word(&word.to_string_lossy()));
    ["cargo".to_owned(), "xtask".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}
