//! A device, a kernel and its buffers: the steps of a launch, and its repeats.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::time::{Duration, Instant};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use pto_acl::{Acl, Device, DeviceBuffer, Event, LoadPlan, Stream};

use crate::args::Argument;
use crate::barrier::without_handlers;
use crate::call::{TooMany, Value, call};
use crate::exchange::{Exchange, Refusal};
use crate::phase::Phase;
use crate::request::LaunchRequest;
use crate::run::{KEPT_VARIANTS, Run};
use crate::verdict::{Note, Verdict};

use super::steps::Steps;
use super::{notes, process, timed};

/// Everything a launch holds on the device. Dropped in this order, and only after a launch that completed.
pub(super) struct Session {
    /// For each argument its buffer, if it has one.
    buffers: Vec<Option<DeviceBuffer>>,
    times: Option<(Event, Event)>,
    /// The repeats that completed.
    runs: Vec<Run>,
    /// How many different sets of outputs they gave.
    variants: u32,
    /// The times of the launches that were timed.
    samples: Vec<Duration>,
    stream: Stream,
    device: Device,
    launcher: *const c_void,
    /// Never unloaded: threads of the kernel's runtime may still be on their way out.
    kernel: ManuallyDrop<Library>,
}

const ACL_ERROR_INVALID_PARAM: i32 = 100_000;

/// What ends a launch early.
#[derive(Debug, thiserror::Error)]
pub(super) enum Stop {
    #[error(transparent)]
    Acl(#[from] pto_acl::Error),
    #[error(transparent)]
    TooMany(#[from] TooMany),
    #[error("cannot read an input: {0}")]
    Input(#[source] std::io::Error),
    #[error("cannot hand an output over: {0}")]
    Output(#[source] std::io::Error),
}

impl Session {
    /// Opens the device and loads the kernel.
    pub(super) fn open(exchange: &Exchange, request: &LaunchRequest) -> Result<Self, Refusal> {
        let (device, stream) = open_device(request).map_err(|error| not_opened(&error))?;
        super::tell_run_mode(exchange, device.acl());
        exchange.enter(0, Phase::Load);
        let kernel = load(&request.library)?;
        // SAFETY: the symbol is only taken as an address here.
        let launcher = unsafe { kernel.get::<*const c_void>(request.symbol.as_bytes()) };
        let launcher = launcher.map_err(|_| Refusal::NoSymbol)?.into_raw().cast_const();
        Ok(Self {
            buffers: Vec::new(),
            times: None,
            runs: Vec::new(),
            variants: 0,
            samples: Vec::new(),
            stream,
            device,
            launcher,
            kernel,
        })
    }

    /// Times further launches with the same buffers, which are not filled anew.
    pub(super) fn time(&mut self, steps: &Steps<'_>, request: &LaunchRequest) -> Result<(), Stop> {
        let Some(timing) = &request.timing else { return Ok(()) };
        let values = values(&request.arguments, &self.buffers, &self.stream);
        let call = || Ok(call_here(self.launcher, &values).map(drop)?);
        self.samples = timed::run(timing, &self.device, &self.stream, steps, request.repeats - 1, call)?;
        Ok(())
    }

    /// The times of the launches that were timed.
    pub(super) fn samples(&self) -> Vec<Duration> {
        self.samples.clone()
    }

    /// Launches as often as is asked for, and stops at the first repeat that goes wrong.
    pub(super) fn launch_all(&mut self, steps: &Steps<'_>, request: &LaunchRequest) -> Result<(), Stop> {
        for run in 0..request.repeats {
            let run = self.launch(steps, request, run)?;
            self.runs.push(run);
        }
        Ok(())
    }

    /// Fills the buffers, calls the launcher, waits, and hands the outputs over.
    fn launch(&mut self, steps: &Steps<'_>, request: &LaunchRequest, run: u32) -> Result<Run, Stop> {
        steps.exchange.enter(run, Phase::Upload);
        self.upload(steps.exchange, request)?;
        if self.times.is_none() {
            self.times = Some((self.device.event()?, self.device.event()?));
        }
        let values = values(&request.arguments, &self.buffers, &self.stream);
        self.record(|(start, _)| start)?;
        steps.launch(run);
        let call = call_here(self.launcher, &values)?;
        // At once: the kernel runs already, and what it does from now on is its own doing.
        steps.synchronize(run);
        // Bound anew: the launcher may have left another device current.
        self.stream.bind()?;
        self.record(|(_, end)| end)?;
        self.stream.synchronize(Some(steps.limits.sync))?;
        steps.done();
        steps.exchange.enter(run, Phase::Download);
        let variant = self.download(steps.exchange, request)?;
        Ok(Run { variant, call, device_time: self.device_time() })
    }

    /// Gives every buffer what it holds before a launch, the first time with memory to hold it.
    fn upload(&mut self, exchange: &Exchange, request: &LaunchRequest) -> Result<(), Stop> {
        self.buffers.resize_with(request.arguments.len(), || None);
        for (index, buffer) in request.buffers() {
            let contents = exchange.contents(index, buffer).map_err(Stop::Input)?;
            match &mut self.buffers[index] {
                Some(there) => there.copy_from_host(&contents)?,
                none => *none = Some(self.device.upload(&contents)?),
            }
        }
        Ok(())
    }

    /// Compares the outputs with those that came before, and keeps them if they are others. One buffer at a time: what
    /// is kept is copied from the device again.
    fn download(&mut self, exchange: &Exchange, request: &LaunchRequest) -> Result<Option<u32>, Stop> {
        process::occupy_standard_descriptors();
        let mut alike: Vec<u32> = (0..self.variants).collect();
        let mut outputs = self.outputs(request);
        while !alike.is_empty()
            && let Some((index, bytes)) = outputs.next()
        {
            let bytes = bytes?;
            for variant in std::mem::take(&mut alike) {
                if exchange.holds_output(variant, index, &bytes).map_err(Stop::Output)? {
                    alike.push(variant);
                }
            }
        }
        drop(outputs);
        if let Some(variant) = alike.first() {
            return Ok(Some(*variant));
        }
        if self.variants == KEPT_VARIANTS {
            return Ok(None);
        }
        for (index, bytes) in self.outputs(request) {
            exchange.write_output(self.variants, index, &bytes?).map_err(Stop::Output)?;
        }
        self.variants += 1;
        Ok(Some(self.variants - 1))
    }

    /// The outputs with their places, copied from the device when their turn comes.
    fn outputs<'a>(
        &'a self,
        request: &'a LaunchRequest,
    ) -> impl Iterator<Item = (usize, Result<Vec<u8>, pto_acl::Error>)> + 'a {
        let outputs = request.buffers().filter(|(_, buffer)| buffer.output);
        outputs.filter_map(|(index, _)| Some((index, self.buffers[index].as_ref()?.to_vec())))
    }

    fn record(&self, which: impl FnOnce(&(Event, Event)) -> &Event) -> Result<(), Stop> {
        let recorded = self.times.as_ref().map(|times| self.stream.record(which(times)));
        Ok(recorded.unwrap_or(Ok(()))?)
    }

    /// The time between the two events, if both were reached.
    fn device_time(&self) -> Option<Duration> {
        let (start, end) = self.times.as_ref()?;
        start.elapsed_until(end).ok()
    }

    /// The repeats that completed.
    pub(super) fn runs(&self) -> Vec<Run> {
        self.runs.clone()
    }

    pub(super) fn notes(&self) -> Vec<Note> {
        notes::read(&self.kernel)
    }
}

/// What the end of a launch means.
pub(super) fn verdict(exchange: &Exchange, request: &LaunchRequest, end: Result<(), Stop>) -> Result<Verdict, Refusal> {
    let stop = match end {
        Ok(()) => return Ok(Verdict::Completed),
        Err(stop) => stop,
    };
    match stop {
        Stop::Acl(error) if error.is_timeout() => {
            let phase = exchange.phase().map_or(Phase::Synchronize, |(_, phase)| phase);
            Ok(Verdict::hung(phase, request.limits.of(phase), String::new()))
        }
        Stop::Acl(pto_acl::Error::Call(error)) => Ok(Verdict::Fault {
            call: error.call.to_owned(),
            code: error.code,
            name: error.name.unwrap_or_default().to_owned(),
            message: error.message.unwrap_or_default(),
        }),
        stop => Err(Refusal::Setup { message: stop.to_string(), hint: None }),
    }
}

fn open_device(request: &LaunchRequest) -> Result<(Device, Stream), pto_acl::Error> {
    let acl = Acl::load(&LoadPlan::new(request.acl.iter().cloned()))?;
    let device = Device::open(&acl, request.device)?;
    let stream = device.stream()?;
    Ok((device, stream))
}

fn not_opened(error: &pto_acl::Error) -> Refusal {
    let message = error.to_string();
    match error {
        // We pass it nothing: what it takes exception to is what the environment says.
        pto_acl::Error::Call(call) if call.call == "aclInit" && call.code == ACL_ERROR_INVALID_PARAM => {
            Refusal::Environment { message }
        }
        _ => Refusal::Setup { message, hint: error.hint().map(str::to_owned) },
    }
}

fn load(library: &Path) -> Result<ManuallyDrop<Library>, Refusal> {
    // SAFETY: loading runs the initialisers of a library that the caller asked to run.
    let loaded = unsafe { Library::open(Some(library), RTLD_NOW | RTLD_LOCAL) };
    let reason = |error: libloading::Error| {
        // The loader's own words: `libloading` wraps them.
        std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string)
    };
    loaded.map(ManuallyDrop::new).map_err(|error| Refusal::NotLoaded { reason: reason(error) })
}

fn values(arguments: &[Argument], buffers: &[Option<DeviceBuffer>], stream: &Stream) -> Vec<Value> {
    let value = |(argument, buffer): (&Argument, &Option<DeviceBuffer>)| match argument {
        Argument::BlockDim(blocks) => Value::U32(*blocks),
        Argument::Stream => Value::Pointer(stream.as_raw()),
        Argument::Buffer(_) => Value::Pointer(buffer.as_ref().map_or(std::ptr::null_mut(), DeviceBuffer::as_ptr)),
        Argument::Scalar(scalar) => Value::Scalar(*scalar),
    };
    arguments.iter().zip(buffers).map(value).collect()
}

/// Calls the launcher; how long that took. One that forks returns twice; the copy of this process has no launch to report.
fn call_here(launcher: *const c_void, values: &[Value]) -> Result<Duration, TooMany> {
    let worker = std::process::id();
    let begin = Instant::now();
    // SAFETY: the caller of `launch` gives the launcher's parameters, checked against its declaration where there is one.
    without_handlers(|| unsafe { call(launcher, values) })?;
    let time = begin.elapsed();
    if std::process::id() != worker {
        process::end(0);
    }
    Ok(time)
}
