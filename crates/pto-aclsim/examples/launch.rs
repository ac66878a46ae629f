//! What a kernel runtime for the CPU does: looks the extension symbol up, and launches a kernel on a stream.
//!
//! `cargo run -p pto-aclsim --example launch`
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;
use std::ffi::{c_char, c_void};

use ascendcl as _; // so that cargo builds the shared library
use libloading::{Library, Symbol};

type Run = unsafe extern "C" fn(*mut c_void, *mut c_char, usize) -> i32;
type Drop = unsafe extern "C" fn(*mut c_void);

/// The "kernel": doubles the first 1024 integers of its argument.
unsafe extern "C" fn double(argument: *mut c_void, _reason: *mut c_char, _size: usize) -> i32 {
    // SAFETY: `main` launches this with a device buffer of 1024 integers, which is open while a kernel runs.
    unsafe { std::slice::from_raw_parts_mut(argument.cast::<i32>(), 1024) }.iter_mut().for_each(|value| *value *= 2);
    0
}

fn main() -> Result<(), Box<dyn Error>> {
    // target/<profile>/examples/launch -> target/<profile>/deps/libascendcl.so
    let program = std::env::current_exe()?;
    let path = program.parent().and_then(|examples| examples.parent()).ok_or("no target directory")?;
    let path = path.join("deps/libascendcl.so");
    let (host, bytes) = ((0..1024).collect::<Vec<i32>>(), 4096);
    let mut result = vec![0i32; 1024];
    // SAFETY: the symbols have these types, those of the ACL headers and of `include/aclsim.h`; sizes and pointers fit.
    unsafe {
        let library = Library::new(&path)?;
        let init: Symbol<unsafe extern "C" fn(*const c_char) -> i32> = library.get(b"aclInit")?;
        let set_device: Symbol<unsafe extern "C" fn(i32) -> i32> = library.get(b"aclrtSetDevice")?;
        let malloc: Symbol<unsafe extern "C" fn(*mut *mut c_void, usize, i32) -> i32> = library.get(b"aclrtMalloc")?;
        let memcpy: Symbol<unsafe extern "C" fn(*mut c_void, usize, *const c_void, usize, i32) -> i32> =
            library.get(b"aclrtMemcpy")?;
        let synchronize: Symbol<unsafe extern "C" fn(*mut c_void) -> i32> = library.get(b"aclrtSynchronizeStream")?;
        let launch: Symbol<unsafe extern "C" fn(*mut c_void, *const c_char, Run, Option<Drop>, *mut c_void) -> i32> =
            library.get(b"aclsimLaunchKernel")?;

        let (mut device, default_stream) = (std::ptr::null_mut(), std::ptr::null_mut());
        let codes = [
            init(std::ptr::null()),
            set_device(0),
            malloc(&mut device, bytes, 0),
            memcpy(device, bytes, host.as_ptr().cast(), bytes, 1),
            launch(default_stream, c"double".as_ptr(), double, None, device),
            synchronize(default_stream),
            memcpy(result.as_mut_ptr().cast(), bytes, device, bytes, 2),
        ];
        println!("codes: {codes:?}, result: {:?} ... {}", &result[..4], result[1023]);
    }
    Ok(())
}
