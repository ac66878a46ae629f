//! Launches one function of a library that is there, and says what came of it.
//!
//! `cargo run -p pto-launch --example run_kernel -- KERNEL.so call_add blocks=8 stream out:y=4096 in:x=x.bin u32:n=1024`
//!
//! Each parameter of the launcher is one argument here, in the order of its declaration:
//! `blocks=N`, `stream`, `in:NAME=FILE`, `out:NAME=BYTES`, and for a number its type and value, as in `f32:alpha=0.5`.
//!
//! Before them, `device=N` takes the device to itself first, as on a card that is shared.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of the command line")]

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use pto_context::{Context, Silent};
use pto_launch::{
    Argument, Buffer, DevicePool, Init, LaunchError, LaunchRequest, Launched, Limits, Scalar, Slot, Verdict, Worker,
};

/// Outputs hold this until the kernel writes: it is neither 0 nor a sensible number of any type.
const NEVER_WRITTEN: u8 = 0xa5;

fn main() -> ExitCode {
    // First of all: this program is its own worker.
    pto_launch::worker::intercept();
    match run() {
        Ok(launched) => {
            show(&launched);
            ExitCode::from(u8::from(launched.verdict != Verdict::Completed))
        }
        Err(error) => explain(&*error),
    }
}

fn run() -> Result<Launched, Box<dyn Error>> {
    // Ctrl-C ends the worker, then us.
    pto_process::interrupt::install()?;
    let cx = Context::from_process(Arc::new(Silent))?;
    let mut words = std::env::args().skip(1).peekable();
    let (Some(library), Some(symbol)) = (words.next(), words.next()) else {
        return Err("expected LIBRARY SYMBOL [PARAMETER...]".into());
    };
    let shared = words.next_if(|word| word.starts_with("device="));
    let worker = Worker::this_program()?;
    let request = LaunchRequest {
        library: library.into(),
        symbol,
        arguments: words.map(|word| argument(&word)).collect::<Result<_, _>>()?,
        acl: vec![pto_launch::host_acl(&cx, worker.program())?],
        device: 0,
        memory_limit: Some(16 << 30),
        repeats: 1,
        timing: None,
        limits: Limits {
            process: Duration::from_secs(60),
            launch: Duration::from_secs(20),
            sync: Duration::from_secs(30),
            teardown: Duration::from_secs(20),
        },
    };
    let Some(node) = shared.as_ref().and_then(|word| word.strip_prefix("device=")) else {
        return Ok(pto_launch::launch(&cx, &worker, &request)?);
    };
    let slot = Slot { device: request.device, node: node.parse()? };
    Ok(DevicePool::new(&cx, vec![slot], "run_kernel", Duration::from_secs(10)).launch(&cx, &worker, &request)?)
}

fn argument(word: &str) -> Result<Argument, Box<dyn Error>> {
    let (kind, value) = word.split_once('=').unwrap_or((word, ""));
    let (kind, name) = kind.split_once(':').unwrap_or((kind, ""));
    Ok(match kind {
        "blocks" => Argument::BlockDim(value.parse()?),
        "stream" => Argument::Stream,
        "in" => {
            let contents = fs_err::read(value)?;
            let (name, bytes) = (name.to_owned(), contents.len());
            Argument::Buffer(Buffer { name, bytes, init: Init::Bytes(contents), output: false })
        }
        "out" => {
            let init = Init::Pattern(vec![NEVER_WRITTEN]);
            Argument::Buffer(Buffer { name: name.to_owned(), bytes: value.parse()?, init, output: true })
        }
        number => Argument::Scalar(scalar(number, value)?),
    })
}

fn scalar(kind: &str, value: &str) -> Result<Scalar, Box<dyn Error>> {
    Ok(match kind {
        "i8" => Scalar::I8(value.parse()?),
        "i16" => Scalar::I16(value.parse()?),
        "i32" => Scalar::I32(value.parse()?),
        "i64" => Scalar::I64(value.parse()?),
        "u8" => Scalar::U8(value.parse()?),
        "u16" => Scalar::U16(value.parse()?),
        "u32" => Scalar::U32(value.parse()?),
        "u64" => Scalar::U64(value.parse()?),
        "f32" => Scalar::F32(value.parse()?),
        "f64" => Scalar::F64(value.parse()?),
        _ => return Err(format!("`{kind}` is no kind of parameter").into()),
    })
}

fn show(launched: &Launched) {
    println!("{}", launched.verdict);
    if let Some(hint) = launched.verdict.hint() {
        println!("  {hint}");
    }
    if let Some(time) = launched.device_time {
        println!("device time: {time:?}");
    }
    if let Some(mode) = &launched.run_mode {
        println!("ACL: {}", mode.acl.display());
    }
    for note in &launched.notes {
        println!("note: {} ({}:{}, {} times)", note.text, note.file, note.line, note.count);
    }
    for (name, bytes) in &launched.outputs {
        println!("{name}: {} bytes, {:02x?} ...", bytes.len(), &bytes[..bytes.len().min(16)]);
    }
}

fn explain(error: &(dyn Error + 'static)) -> ExitCode {
    const BLOCKED: u8 = 3;
    eprintln!("error: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        eprintln!("  because {cause}");
        source = cause.source();
    }
    let launch = error.downcast_ref::<LaunchError>();
    if let Some(hint) = launch.and_then(LaunchError::hint) {
        eprintln!("hint: {hint}");
    }
    match launch {
        Some(LaunchError::Interrupted) => ExitCode::from(pto_process::interrupt::EXIT_CODE as u8),
        _ => ExitCode::from(BLOCKED),
    }
}
