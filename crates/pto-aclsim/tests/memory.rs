//! Device memory is not host memory.

mod support;

use std::ffi::c_void;

use ascendcl::abi::*;
use proptest::prelude::*;
use support::*;

const H2H: i32 = 0;
const H2D: i32 = 1;
const D2H: i32 = 2;
const D2D: i32 = 3;

fn sync() -> i32 {
    aclrtSynchronizeStream(std::ptr::null_mut())
}

#[test]
fn a_kernel_past_the_end_dies_with_a_line() {
    child("a_kernel_past_the_end_dies_with_a_line", &[], || {
        begin();
        let buffer = Address::of(malloc(8192));
        launch(std::ptr::null_mut(), c"far", move || {
            buffer.write(8192 + 64, 1);
            Ok(())
        });
        sync();
    })
    .died(libc::SIGSEGV, ": 64 bytes past the end of the 8192-byte device buffer #1");
}

#[test]
fn a_kernel_before_the_start_dies_with_a_line() {
    child("a_kernel_before_the_start_dies_with_a_line", &[], || {
        begin();
        let buffer = Address::of(malloc(4096));
        launch(std::ptr::null_mut(), c"early", move || {
            buffer.write(-4, 1);
            Ok(())
        });
        sync();
    })
    .died(libc::SIGSEGV, ": 4 bytes before the start of the 4096-byte device buffer #1");
}

#[test]
fn a_kernel_in_freed_memory_dies_with_a_line() {
    child("a_kernel_in_freed_memory_dies_with_a_line", &[], || {
        begin();
        let buffer = malloc(100);
        assert_eq!(aclrtFree(buffer), 0);
        let buffer = Address::of(buffer);
        launch(std::ptr::null_mut(), c"late", move || {
            buffer.write(8, 1);
            Ok(())
        });
        sync();
    })
    .died(libc::SIGSEGV, ": freed device memory: byte 8 of the 100-byte device buffer #1");
}

#[test]
fn a_kernel_with_a_null_pointer_dies_with_a_line() {
    child("a_kernel_with_a_null_pointer_dies_with_a_line", &[], || {
        begin();
        launch(std::ptr::null_mut(), c"null", || {
            Address(0).write(256, 1);
            Ok(())
        });
        sync();
    })
    .died(libc::SIGSEGV, ": near null: a null pointer and 256 bytes");
}

#[test]
fn a_host_that_dereferences_device_memory_dies_with_a_line() {
    child("a_host_that_dereferences_device_memory_dies_with_a_line", &[], || {
        begin();
        Address::of(malloc(64)).write(3, 1);
    })
    .died(libc::SIGSEGV, "host code dereferenced device memory: byte 3 of the 64-byte device buffer #1");
}

#[test]
fn a_write_that_no_guard_catches_is_found_afterwards() {
    child("a_write_that_no_guard_catches_is_found_afterwards", &[], || {
        begin();
        let pointer = malloc(8190);
        let buffer = Address::of(pointer);
        let stream = stream();
        launch(stream, c"sloppy", move || {
            (0..8192).for_each(|offset| buffer.write(offset, 0x77));
            Ok(())
        });
        assert_eq!(aclrtSynchronizeStream(stream), 507_043);
        assert_eq!(message(), "kernel `sloppy` wrote 2 bytes past the end of the 8190-byte device buffer #1");
    })
    .passed();
}

#[test]
fn a_pointer_of_the_wrong_kind_is_refused() {
    child("a_pointer_of_the_wrong_kind_is_refused", &[], || {
        begin();
        let device = malloc(128);
        let mut bytes = [7u8; 128];
        let host: *mut c_void = bytes.as_mut_ptr().cast();
        let rows = [
            (host, host, H2D, "argument `dst` must be device memory for `ACL_MEMCPY_HOST_TO_DEVICE`"),
            (device, device, H2D, "argument `src` must be host memory for `ACL_MEMCPY_HOST_TO_DEVICE`"),
            (host, host, D2H, "argument `src` must be device memory for `ACL_MEMCPY_DEVICE_TO_HOST`"),
            (device, device, D2H, "argument `dst` must be host memory for `ACL_MEMCPY_DEVICE_TO_HOST`"),
            (device, host, D2D, "argument `src` must be device memory for `ACL_MEMCPY_DEVICE_TO_DEVICE`"),
            (device, host, H2H, "argument `dst` must be host memory for `ACL_MEMCPY_HOST_TO_HOST`"),
            (device, host, 9, "argument `kind` is 9"),
        ];
        for (dst, src, kind, expected) in rows {
            assert_eq!(memcpy(dst, src, 128, kind), 107_000);
            assert!(message().starts_with(expected), "{}", message());
        }
        assert_eq!(memcpy(device, host, 128, H2D), 0);
        bytes.fill(0);
        assert_eq!(memcpy(host, device, 128, D2H), 0);
        assert_eq!(bytes, [7; 128]);
    })
    .passed();
}

#[test]
fn sizes_are_checked() {
    child("sizes_are_checked", &[], || {
        begin();
        let device = malloc(100);
        let bytes = [0u8; 200];
        assert_eq!(memcpy(device, bytes.as_ptr().cast(), 101, H2D), 107_000);
        assert!(message().contains("101 bytes do not fit"), "{}", message());
        // SAFETY: refused before anything is touched.
        let code = unsafe { aclrtMemcpy(device, 50, bytes.as_ptr().cast(), 60, H2D) };
        assert_eq!(
            (code, message().as_str()),
            (107_000, "argument `count` is 60, more than the 50 bytes of `destMax`")
        );
        assert_eq!(memcpy(device, bytes.as_ptr().cast(), 0, H2D), 107_000);
        assert_eq!(memcpy(std::ptr::null_mut(), bytes.as_ptr().cast(), 1, H2D), 100_000);
        assert_eq!(aclrtMemset(device, 100, 0, 101), 107_000);
        assert_eq!(aclrtMemset(device, 100, 0x101, 100), 0);
        let mut byte = 0u8;
        assert_eq!(memcpy((&raw mut byte).cast(), device, 1, D2H), 0);
        assert_eq!(byte, 1, "the low byte of the value");
    })
    .passed();
}

#[test]
fn memory_is_freed_once() {
    child("memory_is_freed_once", &[], || {
        begin();
        let device = malloc(100);
        assert_eq!(aclrtFree(device), 0);
        assert_eq!(aclrtFree(device), 107_000);
        assert!(message().contains("was freed before: freed device memory"), "{}", message());
        let mut byte = 0u8;
        assert_eq!(aclrtFree((&raw mut byte).cast()), 107_000);
        assert!(message().contains("is not the start of a device buffer: it is host memory"), "{}", message());
        let device = malloc(100);
        assert_eq!(aclrtFree(device.wrapping_byte_add(32)), 107_000);
        assert!(message().contains("it is byte 32 of the 100-byte device buffer #2"), "{}", message());
        assert_eq!(aclrtFree(std::ptr::null_mut()), 100_000);
        let mut host = std::ptr::null_mut();
        // SAFETY: the place is valid for a write.
        assert_eq!(unsafe { aclrtMallocHost(&mut host, 64) }, 0);
        assert_eq!(memcpy(device, host, 64, H2D), 0);
        assert_eq!((aclrtFreeHost(host), aclrtFreeHost(host)), (0, 107_000));
    })
    .passed();
}

#[test]
fn memory_runs_out() {
    child("memory_runs_out", &[("PTO_ACLSIM_MEMORY", "1000")], || {
        begin();
        let first = malloc(600);
        let mut place = std::ptr::null_mut();
        // SAFETY: the place is valid for a write.
        assert_eq!(unsafe { aclrtMalloc(&mut place, 401, 0) }, 207_001);
        assert_eq!(message(), "out of device memory: 401 bytes asked for, 400 of 1000 bytes free on device 0");
        let (mut free, mut total) = (0, 0);
        // SAFETY: both places are valid for writes.
        assert_eq!(unsafe { aclrtGetMemInfo(1, &mut free, &mut total) }, 0);
        assert_eq!((free, total), (400, 1000));
        assert_eq!(aclrtFree(first), 0);
        malloc(1000);
    })
    .passed();
}

#[test]
fn what_was_never_freed_is_named_at_the_end() {
    let ended = child("what_was_never_freed_is_named_at_the_end", &[], || {
        begin();
        malloc(8192);
        malloc(10);
        assert_eq!(aclFinalize(), 0);
    });
    ended.passed();
    let line =
        "aclsim: device 0 was reset with 2 device buffers (8202 bytes) never freed: #1 (8192 bytes), #2 (10 bytes)";
    assert!(ended.stderr.contains(line), "{}", ended.stderr);
}

#[test]
fn an_address_can_be_described() {
    child("an_address_can_be_described", &[], || {
        begin();
        let device = malloc(100);
        let describe = |pointer: *const c_void, size: usize| {
            let mut text = [1u8; 80];
            // SAFETY: the buffer has at least `size` bytes.
            unsafe { aclsimDescribe(pointer, text.as_mut_ptr().cast(), size) };
            std::ffi::CStr::from_bytes_until_nul(&text).unwrap().to_str().unwrap().to_owned()
        };
        assert_eq!(
            describe(device.wrapping_byte_add(164), 80),
            "64 bytes past the end of the 100-byte device buffer #1"
        );
        assert_eq!(describe((&raw const device).cast(), 80), "host memory");
        assert_eq!(describe((&raw const device).cast(), 5), "host");
        let inside = |offset, bytes| aclsimIsDeviceRange(device.wrapping_byte_add(offset), bytes);
        assert_eq!([inside(0, 100), inside(99, 1), inside(99, 2), inside(100, 0)], [1, 1, 0, 0]);
    })
    .passed();
}

/// One step on one of a few buffers.
#[derive(Debug, Clone)]
enum Step {
    Allocate { size: usize },
    Free { which: usize },
    Fill { which: usize, value: u8 },
    Upload { which: usize, seed: u8 },
    Copy { from: usize, to: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let which = || 0..6usize;
    let step = prop_oneof![
        (1usize..9000).prop_map(|size| Step::Allocate { size }),
        which().prop_map(|which| Step::Free { which }),
        (which(), any::<u8>()).prop_map(|(which, value)| Step::Fill { which, value }),
        (which(), any::<u8>()).prop_map(|(which, seed)| Step::Upload { which, seed }),
        (which(), which()).prop_map(|(from, to)| Step::Copy { from, to }),
    ];
    prop::collection::vec(step, 1..60)
}

/// Runs the steps on the device and on plain vectors, and compares what is in them.
fn check(steps: &[Step]) {
    let mut buffers: Vec<(*mut c_void, Vec<u8>)> = Vec::new();
    for step in steps {
        match *step {
            Step::Allocate { size } => {
                let device = malloc(size);
                assert_eq!(aclrtMemset(device, size, 0, size), 0, "{}", message());
                buffers.push((device, vec![0; size]));
            }
            Step::Free { which } if which < buffers.len() => {
                assert_eq!(aclrtFree(buffers.swap_remove(which).0), 0, "{}", message());
            }
            Step::Fill { which, value } if which < buffers.len() => {
                let (device, model) = &mut buffers[which];
                assert_eq!(aclrtMemset(*device, model.len(), value.into(), model.len()), 0, "{}", message());
                model.fill(value);
            }
            Step::Upload { which, seed } if which < buffers.len() => {
                let (device, model) = &mut buffers[which];
                model.iter_mut().enumerate().for_each(|(index, byte)| *byte = seed.wrapping_add(index as u8));
                assert_eq!(memcpy(*device, model.as_ptr().cast(), model.len(), H2D), 0, "{}", message());
            }
            Step::Copy { from, to } if from < buffers.len() && to < buffers.len() => {
                let source = buffers[from].1.clone();
                let count = source.len().min(buffers[to].1.len());
                assert_eq!(memcpy(buffers[to].0, buffers[from].0, count, D2D), 0, "{}", message());
                buffers[to].1[..count].copy_from_slice(&source[..count]);
            }
            _ => {} // no such buffer at the moment
        }
    }
    for (device, model) in buffers {
        let mut bytes = vec![0u8; model.len()];
        assert_eq!(memcpy(bytes.as_mut_ptr().cast(), device, bytes.len(), D2H), 0, "{}", message());
        assert!(bytes == model);
        assert_eq!(aclrtFree(device), 0, "{}", message());
    }
}

#[test]
fn device_memory_behaves_like_memory() {
    let ended = child("device_memory_behaves_like_memory", &[], || {
        begin();
        // A failure is printed with its steps; there is no file to keep it in beside a child.
        let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) };
        proptest!(config, |(steps in steps())| check(&steps));
        assert_eq!(aclFinalize(), 0);
    });
    ended.passed();
    assert!(!ended.stderr.contains("never freed"), "{}", ended.stderr);
}
