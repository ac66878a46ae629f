//! Opens a device, says what it is, and sends some bytes there and back.
//!
//! `cargo run -p pto-acl --example device` uses the simulated device, `... -- cann` the installed CANN, and
//! `... -- PATH` the library at that path.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ascendcl as _; // so that cargo builds the simulated library
use pto_acl::{Acl, Device, LoadPlan};
use pto_context::{Context, Silent};

fn plan() -> Result<LoadPlan, Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("cann") => Ok(LoadPlan::cann(&Context::from_process(Arc::new(Silent))?)),
        Some(path) => Ok(LoadPlan::new([path])),
        None => {
            // target/<profile>/examples/device -> target/<profile>/deps/libascendcl.so
            let program = std::env::current_exe()?;
            let profile = program.ancestors().nth(2).ok_or("no target directory")?;
            Ok(LoadPlan::new([profile.join("deps/libascendcl.so")]))
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let acl = Acl::load(&plan()?)?;
    let device = Device::open(&acl, 0)?;
    let (cores, memory) = (device.core_counts()?, device.mem_info()?);
    println!("{} from `{}`", device.soc_name()?, acl.path().display());
    println!("{} cube cores, {} vector cores, {} MiB of memory", cores.cube, cores.vector, memory.total >> 20);

    let bytes = vec![0xa5; 16 << 20];
    let started = Instant::now();
    let buffer = device.upload(&bytes)?;
    let same = buffer.to_vec()? == bytes;
    println!(
        "{} MiB there and back in {:.1?}: {}",
        bytes.len() >> 20,
        started.elapsed(),
        if same { "equal" } else { "different" }
    );

    let (stream, start, end) = (device.stream()?, device.event()?, device.event()?);
    stream.record(&start)?;
    stream.record(&end)?;
    stream.synchronize(Some(Duration::from_secs(10)))?;
    println!("two events on an idle stream are {:.1?} apart", start.elapsed_until(&end)?);
    Ok(())
}
