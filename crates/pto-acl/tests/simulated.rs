//! The whole crate against the simulated device. The library has one state per process, so each scenario has its own.

mod support;

use std::ffi::{c_char, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pto_acl::{Acl, CoreCounts, Device, Error, LoadPlan, Stream};
use support::{acl, child, library, passed};

const FAULT: &str = "PTO_ACLSIM_FAULT";

/// What a launched kernel does.
type Run = unsafe extern "C" fn(*mut c_void, *mut c_char, usize) -> i32;
type Launch = unsafe extern "C" fn(
    *mut c_void,
    *const c_char,
    Run,
    Option<unsafe extern "C" fn(*mut c_void)>,
    *mut c_void,
) -> i32;

/// Launches a kernel as the CPU's kernel runtime does.
fn launch(stream: &Stream, run: Run, argument: *mut c_void) {
    stream.bind().unwrap();
    // SAFETY: the symbol has this type by contract; it is global, as the kernel runtime needs it.
    unsafe {
        let library = libloading::os::unix::Library::this();
        let launch = library.get::<Launch>(b"aclsimLaunchKernel\0").unwrap();
        assert_eq!(launch(stream.as_raw(), c"test".as_ptr(), run, None, argument), 0);
    }
}

unsafe extern "C" fn increment(argument: *mut c_void, _: *mut c_char, _: usize) -> i32 {
    // SAFETY: the tests launch this with a device buffer of at least one byte.
    unsafe { *argument.cast::<u8>() += 1 };
    0
}

/// Waits at a gate.
unsafe extern "C" fn gate(argument: *mut c_void, _: *mut c_char, _: usize) -> i32 {
    // SAFETY: the tests launch this with an atomic that outlives the kernel.
    let open = unsafe { &*argument.cast::<AtomicBool>() };
    while !open.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(1));
    }
    0
}

unsafe extern "C" fn fail(_: *mut c_void, reason: *mut c_char, size: usize) -> i32 {
    let text = b"tile 3 is out of bounds\0";
    assert!(size >= text.len());
    // SAFETY: the text fits.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr().cast(), reason, text.len()) };
    507_035
}

unsafe extern "C" fn never(_: *mut c_void, _: *mut c_char, _: usize) -> i32 {
    loop {
        std::thread::park();
    }
}

fn open() -> Device {
    Device::open(&acl(), 0).unwrap()
}

#[test]
fn bytes_go_there_and_back() {
    passed(&child("bytes_go_there_and_back", &[], || {
        let device = open();
        let bytes: Vec<u8> = (0..=255).cycle().take(10_001).collect();
        let source = device.upload(&bytes).unwrap();
        let mut copy = device.alloc(bytes.len()).unwrap();
        copy.copy_from(&source).unwrap();
        assert_eq!(copy.to_vec().unwrap(), bytes);
        copy.fill(0x5a).unwrap();
        assert_eq!(copy.to_vec().unwrap(), vec![0x5a; bytes.len()]);
        let info = device.mem_info().unwrap();
        assert_eq!(info.total - info.free, 2 * bytes.len());
        drop((source, copy));
        assert_eq!(device.mem_info().unwrap().free, info.total);
    }));
}

#[test]
fn an_empty_buffer_is_allowed() {
    passed(&child("an_empty_buffer_is_allowed", &[], || {
        let device = open();
        let mut empty = device.upload(&[]).unwrap();
        empty.fill(1).unwrap();
        assert!(empty.is_empty() && !empty.as_ptr().is_null());
        assert_eq!(empty.to_vec().unwrap(), Vec::<u8>::new());
    }));
}

#[test]
fn both_sides_of_a_copy_have_one_size() {
    passed(&child("both_sides_of_a_copy_have_one_size", &[], || {
        let mut buffer = open().alloc(8).unwrap();
        let error = buffer.copy_from_host(&[0; 9]).unwrap_err();
        assert_eq!(error.to_string(), "the host side has 9 bytes, the device buffer 8");
    }));
}

#[test]
fn a_kernel_runs_on_a_stream_and_is_timed() {
    passed(&child("a_kernel_runs_on_a_stream_and_is_timed", &[], || {
        let device = open();
        let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
        let (start, end) = (device.event().unwrap(), device.event().unwrap());
        let buffer = device.upload(&[41]).unwrap();
        stream.record(&start).unwrap();
        let open = AtomicBool::new(false);
        launch(&stream, gate, (&raw const open).cast_mut().cast());
        launch(&stream, increment, buffer.as_ptr());
        stream.record(&end).unwrap();
        other.wait(&end).unwrap();
        assert!(!stream.is_done().unwrap() && !end.is_reached().unwrap());
        std::thread::sleep(Duration::from_millis(30));
        open.store(true, Ordering::SeqCst);
        other.synchronize(Some(Duration::from_secs(10))).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [42]);
        end.synchronize(None).unwrap();
        assert!(start.elapsed_until(&end).unwrap() > Duration::ZERO);
        device.synchronize(None).unwrap();
    }));
}

#[test]
fn a_kernels_fault_has_code_name_and_reason() {
    passed(&child("a_kernels_fault_has_code_name_and_reason", &[], || {
        let device = open();
        let stream = device.stream().unwrap();
        launch(&stream, fail, std::ptr::null_mut());
        let error = stream.synchronize(Some(Duration::from_secs(10))).unwrap_err();
        let expected = "`aclrtSynchronizeStreamWithTimeout` failed with 507035 (ACL_ERROR_RT_VECTOR_CORE_EXCEPTION): tile 3 is out of bounds";
        assert_eq!(error.to_string(), expected);
        assert_eq!(device.alloc(8).unwrap_err().acl().unwrap().code, 507_899);
        drop(stream); // says the fault again; nobody is left to be told but the next call
        let Err(Error::Release(error)) = device.alloc(8) else { panic!("the release was not reported") };
        assert_eq!((error.call, error.code), ("aclrtDestroyStream", 507_035));
        drop(device);
        open().alloc(8).unwrap(); // opened again, it works
    }));
}

#[test]
fn a_wait_that_runs_out_of_time_leaves_nothing_to_wait_for() {
    passed(&child("a_wait_that_runs_out_of_time_leaves_nothing_to_wait_for", &[], || {
        let started = Instant::now();
        let device = open();
        let stream = device.stream().unwrap();
        let _buffer = device.alloc(8).unwrap();
        launch(&stream, never, std::ptr::null_mut());
        let error = stream.synchronize(Some(Duration::from_millis(20))).unwrap_err();
        assert!(error.is_timeout() && error.acl().unwrap().code == 507_046, "{error}");
        assert!(device.is_stuck());
        drop(stream);
        drop(_buffer);
        drop(device);
        assert!(started.elapsed() < Duration::from_secs(30), "dropping the handles does not wait");
    }));
}

#[test]
fn a_failed_release_is_reported_by_the_next_call_once() {
    passed(&child(
        "a_failed_release_is_reported_by_the_next_call_once",
        &[(FAULT, "aclrtDestroyEvent=507006")],
        || {
            let device = open();
            drop(device.event().unwrap());
            let error = device.alloc(8).unwrap_err();
            assert_eq!(error.to_string(), "an earlier release failed");
            assert_eq!(error.acl().unwrap().call, "aclrtDestroyEvent");
            device.alloc(8).unwrap();
        },
    ));
}

#[test]
fn the_device_says_what_it_is() {
    let vars =
        [("PTO_ACLSIM_SOC", "Ascend910_9362"), ("PTO_ACLSIM_CUBE_CORES", "20"), ("PTO_ACLSIM_VECTOR_CORES", "40")];
    passed(&child("the_device_says_what_it_is", &vars, || {
        let device = open();
        assert_eq!(device.soc_name().unwrap(), "Ascend910_9362");
        assert_eq!(device.core_counts().unwrap(), CoreCounts { cube: 20, vector: 40 });
        assert_eq!(device.acl().device_count().unwrap(), 1);
        assert_eq!(device.acl().version().unwrap()[0], 1);
        let error = Device::open(device.acl(), 7).unwrap_err();
        let expected = "`aclrtSetDevice` failed with 107001 (ACL_ERROR_RT_INVALID_DEVICEID): there is no device 7: this machine has 1, counted from 0";
        assert_eq!(error.to_string(), expected);
    }));
}

#[test]
fn one_device_is_shared_by_all_who_open_it() {
    passed(&child("one_device_is_shared_by_all_who_open_it", &[], || {
        let acl = acl();
        let first = Device::open(&acl, 0).unwrap();
        let buffer = first.upload(&[1, 2, 3]).unwrap();
        drop(Device::open(&acl, 0).unwrap());
        assert_eq!(buffer.to_vec().unwrap(), [1, 2, 3], "not reset by the second one");
    }));
}

#[test]
fn handles_of_two_devices_do_not_mix() {
    passed(&child("handles_of_two_devices_do_not_mix", &[("PTO_ACLSIM_DEVICES", "2")], || {
        let acl = acl();
        let (one, two) = (Device::open(&acl, 0).unwrap(), Device::open(&acl, 1).unwrap());
        let stream = one.stream().unwrap();
        let error = stream.record(&two.event().unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "the event belongs to another device");
        let mut buffer = one.alloc(8).unwrap();
        assert!(matches!(buffer.copy_from(&two.alloc(8).unwrap()), Err(Error::ForeignHandle { .. })));
    }));
}

#[test]
fn eight_threads_share_a_device() {
    passed(&child("eight_threads_share_a_device", &[], || {
        let device = open();
        std::thread::scope(|scope| {
            for number in 0..8u8 {
                let device = &device;
                scope.spawn(move || {
                    let stream = device.stream().unwrap();
                    let buffer = device.upload(&[number]).unwrap();
                    (0..50).for_each(|_| launch(&stream, increment, buffer.as_ptr()));
                    stream.synchronize(None).unwrap();
                    assert_eq!(buffer.to_vec().unwrap(), [number + 50]);
                });
            }
        });
    }));
}

#[test]
fn a_library_that_somebody_else_initialized_is_not_finalized() {
    passed(&child("a_library_that_somebody_else_initialized_is_not_finalized", &[], || {
        let acl = acl();
        acl.init().unwrap();
        drop(Device::open(&Acl::load(&LoadPlan::new([library()])).unwrap(), 0).unwrap());
        acl.set_device(0).unwrap();
    }));
}

#[test]
fn the_library_is_finalized_with_the_last_handle() {
    passed(&child("the_library_is_finalized_with_the_last_handle", &[], || {
        let acl = acl();
        let other = Arc::clone(&acl);
        let buffer = Device::open(&acl, 0).unwrap().alloc(8).unwrap();
        drop(acl);
        assert_eq!(buffer.to_vec().unwrap().len(), 8, "the buffer keeps its device open");
        drop(other);
        drop(buffer);
        let again = support::acl();
        assert_eq!(again.set_device(0).unwrap_err().code, 100_001, "finalized");
    }));
}
