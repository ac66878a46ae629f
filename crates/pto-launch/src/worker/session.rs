//! A device, a kernel and its buffers: the steps of one launch.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::time::Duration;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use pto_acl::{Acl, Device, DeviceBuffer, Event, LoadPlan, Stream};

use crate::args::Argument;
use crate::barrier::without_handlers;
use crate::call::{TooMany, Value, call};
use crate::exchange::{Exchange, Refusal};
use crate::phase::Phase;
use crate::request::LaunchRequest;
use crate::verdict::{Note, Verdict};

use super::{notes, process, timed};

/// Everything a launch holds on the device. Dropped in this order, and only after a launch that completed.
pub(super) struct Session {
    /// For each argument its buffer, if it has one.
    buffers: Vec<Option<DeviceBuffer>>,
    times: Option<(Event, Event)>,
    /// The times of the launches that were timed.
    samples: Vec<Duration>,
    stream: Stream,
    device: Device,
    launcher: *const c_void,
    /// Never unloaded: threads of the kernel's runtime may still be on their way out.
    kernel: ManuallyDrop<Library>,
}

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
        let (device, stream) = open_device(request)
            .map_err(|error| Refusal::Setup { message: error.to_string(), hint: error.hint().map(str::to_owned) })?;
        super::tell_run_mode(exchange, device.acl());
        exchange.enter(Phase::Load);
        let kernel = load(&request.library)?;
        // SAFETY: the symbol is only taken as an address here.
        let launcher = unsafe { kernel.get::<*const c_void>(request.symbol.as_bytes()) };
        let launcher = launcher.map_err(|_| Refusal::NoSymbol)?.into_raw().cast_const();
        Ok(Self { buffers: Vec::new(), times: None, samples: Vec::new(), stream, device, launcher, kernel })
    }

    /// Fills the buffers, calls the launcher, waits, and hands the outputs over.
    pub(super) fn launch(&mut self, exchange: &Exchange, request: &LaunchRequest) -> Result<(), Stop> {
        exchange.enter(Phase::Upload);
        self.upload(exchange, request)?;
        let (start, end) = self.times.insert((self.device.event()?, self.device.event()?));
        let values = values(&request.arguments, &self.buffers, &self.stream);
        self.stream.record(start)?;
        exchange.enter(Phase::Launch);
        call_here(self.launcher, &values)?;
        exchange.enter(Phase::Synchronize);
        // Bound anew: the launcher may have left another device current.
        self.stream.bind()?;
        self.stream.record(end)?;
        self.stream.synchronize(Some(request.sync_timeout))?;
        exchange.enter(Phase::Download);
        self.download(exchange, request)
    }

    /// Times further launches with the same buffers, which are not filled anew.
    pub(super) fn time(&mut self, exchange: &Exchange, request: &LaunchRequest) -> Result<(), Stop> {
        let Some(timing) = &request.timing else { return Ok(()) };
        exchange.enter(Phase::Launch);
        let values = values(&request.arguments, &self.buffers, &self.stream);
        let call = || Ok(call_here(self.launcher, &values)?);
        self.samples = timed::run(timing, &self.device, &self.stream, request.sync_timeout, call)?;
        Ok(())
    }

    /// The times of the launches that were timed.
    pub(super) fn samples(&self) -> Vec<Duration> {
        self.samples.clone()
    }

    fn upload(&mut self, exchange: &Exchange, request: &LaunchRequest) -> Result<(), Stop> {
        self.buffers.resize_with(request.arguments.len(), || None);
        for (index, buffer) in request.buffers() {
            let contents = exchange.contents(index, buffer).map_err(Stop::Input)?;
            self.buffers[index] = Some(self.device.upload(&contents)?);
        }
        Ok(())
    }

    fn download(&self, exchange: &Exchange, request: &LaunchRequest) -> Result<(), Stop> {
        process::occupy_standard_descriptors();
        for (index, _) in request.buffers().filter(|(_, buffer)| buffer.output) {
            if let Some(buffer) = &self.buffers[index] {
                exchange.write_output(index, &buffer.to_vec()?).map_err(Stop::Output)?;
            }
        }
        Ok(())
    }

    /// The time between the two events, if both were reached.
    pub(super) fn device_time_ns(&self) -> Option<u64> {
        let (start, end) = self.times.as_ref()?;
        u64::try_from(start.elapsed_until(end).ok()?.as_nanos()).ok()
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
        Stop::Acl(error) if error.is_timeout() => Ok(Verdict::Hung {
            phase: exchange.phase().unwrap_or(Phase::Synchronize),
            limit_ms: u64::try_from(request.sync_timeout.as_millis()).unwrap_or(u64::MAX),
            last_words: String::new(),
        }),
        Stop::Acl(pto_acl::Error::Call(error)) => Ok(Verdict::Fault {
            call: error.call.to_owned(),
            code: error.code,
            name: error.name.unwrap_or("unknown code").to_owned(),
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

/// Calls the launcher. One that forks returns twice; the copy of this process has no launch to report.
fn call_here(launcher: *const c_void, values: &[Value]) -> Result<(), TooMany> {
    let worker = std::process::id();
    // SAFETY: the caller of `launch` gives the launcher's parameters, checked against its declaration where there is one.
    without_handlers(|| unsafe { call(launcher, values) })?;
    if std::process::id() != worker {
        process::end(0);
    }
    Ok(())
}
