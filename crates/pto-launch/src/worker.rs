//! The worker's side: one launch in this process, which then ends.

use std::ffi::{CStr, OsString, c_char, c_void};
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use pto_acl::{Acl, Device, DeviceBuffer, LoadPlan, Stream};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::args::{Argument, Buffer};
use crate::call::{Value, call};
use crate::exchange::{Answer, Exchange};
use crate::request::LaunchRequest;
use crate::verdict::{Note, Phase, Verdict};

/// The first argument that makes a program a worker. The second is the directory of the launch.
pub const ARGUMENT: &str = "__pto-launch-worker";

/// Makes this process a worker, if it was started as one, and then does not return. The first line of `main` of every
/// program that launches.
pub fn intercept() {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_none_or(|first| first != ARGUMENT) {
        return;
    }
    let dir: OsString = args.next().unwrap_or_default();
    std::process::exit(run(Path::new(&dir)))
}

fn run(dir: &Path) -> i32 {
    let exchange = Exchange::new(dir);
    let request = match exchange.read_request() {
        Ok(request) => request,
        Err(error) => return answer(&exchange, Answer::Setup(format!("unreadable request: {error}"))),
    };
    limit(&request);
    let acl = match open(&exchange, &request) {
        Ok(opened) => opened,
        Err(message) => return answer(&exchange, Answer::Setup(message)),
    };
    let result = launch(&exchange, &request, &acl);
    let completed = matches!(result, Answer::Launched { verdict: Verdict::Completed, .. });
    let code = answer(&exchange, result);
    if !completed {
        // After a fault cores may still run or hold locks: nothing of this process is worth releasing in order.
        // SAFETY: the answer is on the disk; no other state of this process outlives it.
        unsafe { libc::_exit(code) };
    }
    exchange.enter(Phase::Teardown);
    drop(acl);
    code
}

fn answer(exchange: &Exchange, answer: Answer) -> i32 {
    i32::from(exchange.write_answer(&answer).is_err())
}

/// A kernel that allocates without end must meet its own limit before the machine's. And a core file of gigabytes helps
/// nobody who did not ask for it.
fn limit(request: &LaunchRequest) {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    let _ = setrlimit(Resource::Core, none);
    if let Some(bytes) = request.memory_limit {
        let _ = setrlimit(Resource::As, Rlimit { current: Some(bytes), maximum: Some(bytes) });
    }
}

/// The device, ready for a launch.
struct Opened {
    stream: Stream,
    device: Device,
    kernel: Library,
    launcher: *const c_void,
}

fn open(exchange: &Exchange, request: &LaunchRequest) -> Result<Opened, String> {
    exchange.enter(Phase::Open);
    let acl = Acl::load(&LoadPlan::new(request.acl.iter().cloned())).map_err(|error| error.to_string())?;
    let device = Device::open(&acl, request.device).map_err(|error| error.to_string())?;
    let stream = device.stream().map_err(|error| error.to_string())?;
    exchange.enter(Phase::Load);
    // SAFETY: loading runs the initialisers of a library that the caller asked to run.
    let kernel = unsafe { Library::open(Some(&request.library), RTLD_NOW | RTLD_LOCAL) }
        .map_err(|error| format!("`{}` does not load: {error}", request.library.display()))?;
    // SAFETY: the symbol is only taken as an address here.
    let launcher = unsafe { kernel.get::<*const c_void>(request.symbol.as_bytes()) }
        .map_err(|_| format!("`{}` has no symbol `{}`", request.library.display(), request.symbol))?
        .into_raw()
        .cast_const();
    Ok(Opened { stream, device, kernel, launcher })
}

fn launch(exchange: &Exchange, request: &LaunchRequest, opened: &Opened) -> Answer {
    let mut device_time_ns = None;
    let verdict = match try_launch(exchange, request, opened, &mut device_time_ns) {
        Ok(()) => Verdict::Completed,
        Err(Stop::Acl(pto_acl::Error::Call(error))) => Verdict::Fault {
            call: error.call.to_owned(),
            code: error.code,
            name: error.name.unwrap_or("unknown code").to_owned(),
            message: error.message.unwrap_or_default(),
        },
        Err(Stop::Acl(pto_acl::Error::Timeout { limit, .. })) => Verdict::Hung {
            phase: exchange.phase(),
            limit_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
            last_words: String::new(),
        },
        Err(Stop::Acl(error)) => return Answer::Setup(error.to_string()),
        Err(Stop::Output(error)) => return Answer::Setup(format!("cannot hand an output over: {error}")),
    };
    Answer::Launched { verdict, notes: notes(&opened.kernel), device_time_ns }
}

/// What ends a launch early.
enum Stop {
    Acl(pto_acl::Error),
    Output(std::io::Error),
}

impl From<pto_acl::Error> for Stop {
    fn from(error: pto_acl::Error) -> Self {
        Self::Acl(error)
    }
}

fn try_launch(
    exchange: &Exchange,
    request: &LaunchRequest,
    opened: &Opened,
    time: &mut Option<u64>,
) -> Result<(), Stop> {
    exchange.enter(Phase::Upload);
    let mut buffers = Vec::new();
    for argument in &request.arguments {
        if let Argument::Buffer(buffer) = argument {
            buffers.push((buffer, upload(&opened.device, buffer)?));
        }
    }
    let (start, end) = (opened.device.event()?, opened.device.event()?);
    exchange.enter(Phase::Launch);
    opened.stream.record(&start)?;
    let values = values(request, opened, &buffers);
    // SAFETY: the caller of `launch` gives the launcher's parameters, checked against its declaration where there is one.
    unsafe { call(opened.launcher, &values) };
    opened.stream.record(&end)?;
    exchange.enter(Phase::Synchronize);
    opened.stream.synchronize(Some(request.sync_timeout))?;
    *time = start.elapsed_until(&end).ok().and_then(|elapsed| u64::try_from(elapsed.as_nanos()).ok());
    exchange.enter(Phase::Download);
    let mut buffers = buffers.into_iter();
    for (index, argument) in request.arguments.iter().enumerate() {
        if let Argument::Buffer(_) = argument
            && let Some((buffer, device)) = buffers.next()
            && buffer.output
        {
            exchange.write_output(index, &device.to_vec()?).map_err(Stop::Output)?;
        }
    }
    Ok(())
}

fn upload(device: &Device, buffer: &Buffer) -> Result<DeviceBuffer, pto_acl::Error> {
    device.upload(&buffer.init.contents(buffer.bytes))
}

fn values(request: &LaunchRequest, opened: &Opened, buffers: &[(&Buffer, DeviceBuffer)]) -> Vec<Value> {
    let mut buffers = buffers.iter();
    let value = |argument: &Argument| match argument {
        Argument::BlockDim(blocks) => Value::U32(*blocks),
        Argument::Stream => Value::Pointer(opened.stream.as_raw()),
        Argument::Buffer(_) => {
            Value::Pointer(buffers.next().map_or(std::ptr::null_mut(), |(_, device)| device.as_ptr()))
        }
        Argument::Scalar(scalar) => Value::Scalar(*scalar),
    };
    request.arguments.iter().map(value).collect()
}

/// What the CPU runtime counted, when the kernel was built with it.
fn notes(kernel: &Library) -> Vec<Note> {
    type Report = unsafe extern "C" fn(*mut c_char, usize) -> usize;
    // SAFETY: the symbol, where it exists, is the CPU runtime's and has this signature.
    let Ok(report) = (unsafe { kernel.get::<Report>(b"ptocpu_report") }) else { return Vec::new() };
    // SAFETY: with size 0 nothing is written.
    let size = unsafe { report(std::ptr::null_mut(), 0) };
    let mut text = vec![0u8; size + 1];
    // SAFETY: the buffer has the size that is given.
    unsafe { report(text.as_mut_ptr().cast(), text.len()) };
    let text = CStr::from_bytes_until_nul(&text).map(CStr::to_bytes).unwrap_or_default();
    serde_json::from_slice(text).unwrap_or_default()
}

/// The program that plays the worker for the calling program: itself.
pub(crate) fn current_program() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}
