//! The repeats of a launch, and which of them gave the same bits.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::args::Buffer;
use crate::exchange::Exchange;

/// As many different sets of outputs are kept. With five repeats every one has its place; of a thousand that all differ
/// the first few say enough, and a disk has an end.
pub(crate) const KEPT_VARIANTS: u32 = 16;

/// One repeat that completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Which of the different [sets of outputs](Variants) it gave; `None` for one more beyond those that are kept.
    pub variant: Option<u32>,
    /// From the call of the launcher to its return.
    pub call: Duration,
    /// From launch to end by the stream's clock, when events were recorded.
    pub device_time: Option<Duration>,
}

/// The different sets of outputs that the repeats of a launch gave, in the order in which they came. They are compared
/// byte by byte in the worker, one buffer at a time, so that repeats which agree, as they should, cost no memory here.
///
/// All but the first stay in files until they are asked for, or the value is dropped.
#[derive(Debug, Clone, Default)]
pub struct Variants {
    count: u32,
    files: Option<Arc<TempDir>>,
    buffers: Vec<(usize, Buffer)>,
}

impl Variants {
    /// Keeps the launch's directory only where there is something left to read.
    pub(crate) fn new(dir: TempDir, runs: &[Run], buffers: impl Iterator<Item = (usize, Buffer)>) -> Self {
        let count = runs.iter().filter_map(|run| run.variant).max().map_or(0, |last| last + 1);
        if count < 2 {
            return Self { count, ..Self::default() };
        }
        Self { count, files: Some(Arc::new(dir)), buffers: buffers.collect() }
    }

    /// How many there are: 1 if all repeats agree.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The outputs of a variant but the first, which is [`Launched::outputs`](crate::Launched::outputs).
    ///
    /// # Errors
    /// A file cannot be read, or there is no such variant.
    pub fn read(&self, variant: u32) -> io::Result<BTreeMap<String, Vec<u8>>> {
        let files = self.files.as_ref().ok_or(io::ErrorKind::NotFound)?;
        read(&Exchange::new(files.path()), variant, self.buffers.iter().map(|(index, buffer)| (*index, buffer)))
    }
}

/// The outputs of a variant by name.
pub(crate) fn read<'a>(
    exchange: &Exchange,
    variant: u32,
    buffers: impl Iterator<Item = (usize, &'a Buffer)>,
) -> io::Result<BTreeMap<String, Vec<u8>>> {
    buffers.map(|(index, buffer)| Ok((buffer.name.clone(), exchange.read_output(variant, index, buffer)?))).collect()
}

/// The middle of the times by the stream's clock.
pub(crate) fn median_device_time(runs: &[Run]) -> Option<Duration> {
    let mut times: Vec<_> = runs.iter().filter_map(|run| run.device_time).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}
