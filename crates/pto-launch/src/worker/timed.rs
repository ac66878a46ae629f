//! The timed loop of a bench.

use std::time::Duration;

use pto_acl::{Device, Stream};

use super::session::Stop;
use super::steps::Steps;
use crate::timing::Timing;

/// What is written over caches.
const FLUSH: u8 = 0x5a;

/// Launches again and again, and gives the time of each launch that counts, by the stream's clock.
///
/// The stream is taken once, outside of the loop. Each end event is waited for, so that no launch overlaps the next one, and
/// so that what is measured is a kernel and not a queue. What is said of each step is said outside of the two events: it
/// takes time of its own.
pub(super) fn run(
    timing: &Timing,
    device: &Device,
    stream: &Stream,
    steps: &Steps<'_>,
    run: u32,
    mut call: impl FnMut() -> Result<(), Stop>,
) -> Result<Vec<Duration>, Stop> {
    let (start, end) = (device.event()?, device.event()?);
    let mut cache = if timing.flush_bytes > 0 { Some(device.alloc(timing.flush_bytes)?) } else { None };
    let mut samples = Vec::new();
    for round in 0..timing.warmup.saturating_add(timing.repeats) {
        if let Some(cache) = &mut cache {
            cache.fill(FLUSH)?;
        }
        steps.launch(run);
        stream.record(&start)?;
        call()?;
        stream.bind()?;
        stream.record(&end)?;
        steps.synchronize(run);
        stream.synchronize(Some(steps.limits.sync))?;
        steps.done();
        if round >= timing.warmup {
            samples.push(start.elapsed_until(&end)?);
        }
    }
    Ok(samples)
}
