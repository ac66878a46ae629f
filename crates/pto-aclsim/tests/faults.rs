//! Faults injected through the environment, and what is said about a wrong environment.

mod support;

use std::time::{Duration, Instant};

use ascendcl::abi::*;
use support::*;

const FAULT: &str = "PTO_ACLSIM_FAULT";

#[test]
fn a_numbered_call_fails_with_a_code() {
    child("a_numbered_call_fails_with_a_code", &[(FAULT, "aclrtMalloc=207001@2")], || {
        begin();
        malloc(8);
        let mut place = std::ptr::null_mut();
        // SAFETY: the place is valid for a write.
        assert_eq!(unsafe { aclrtMalloc(&mut place, 8, 0) }, 207_001);
        assert_eq!(message(), "injected fault: `aclrtMalloc` fails with 207001");
        malloc(8);
    })
    .passed();
}

#[test]
fn an_injected_device_fault_puts_the_device_in_error() {
    child("an_injected_device_fault_puts_the_device_in_error", &[(FAULT, "aclrtSynchronizeStream=507014@1")], || {
        begin();
        assert_eq!(aclrtSynchronizeStream(std::ptr::null_mut()), 507_014);
        assert_eq!(aclrtSynchronizeStream(std::ptr::null_mut()), 507_899);
        assert_eq!((aclrtResetDevice(0), aclrtSetDevice(0)), (0, 0));
        assert_eq!(aclrtSynchronizeStream(std::ptr::null_mut()), 0);
    })
    .passed();
}

#[test]
fn a_call_hangs() {
    let limit = Duration::from_secs(2);
    let ended = child_within(limit, "a_call_hangs", &[(FAULT, "aclrtSetDevice=hang")], begin);
    assert_eq!(ended.code, None, "killed, not ended: {ended:?}");
}

#[test]
fn a_call_crashes() {
    child("a_call_crashes", &[(FAULT, "aclrtSetDevice=crash")], begin).died(libc::SIGSEGV, "");
}

#[test]
fn a_call_aborts() {
    child("a_call_aborts", &[(FAULT, "aclrtSetDevice=abort")], begin).died(libc::SIGABRT, "");
}

#[test]
fn a_call_exits() {
    let ended = child("a_call_exits", &[(FAULT, "aclrtSetDevice=exit:7")], begin);
    assert_eq!(ended.code, Some(7), "{ended:?}");
}

#[test]
fn a_call_is_late() {
    child("a_call_is_late", &[(FAULT, "aclrtSetDevice=delay:50")], || {
        let started = Instant::now();
        begin();
        assert!(started.elapsed() >= Duration::from_millis(50));
    })
    .passed();
}

#[test]
fn a_wrong_fault_makes_the_initialization_fail() {
    child("a_wrong_fault_makes_the_initialization_fail", &[(FAULT, "aclrtMaloc=hang")], || {
        // SAFETY: a null path is allowed.
        assert_eq!(unsafe { aclInit(std::ptr::null()) }, 100_000);
        let expected =
            "`PTO_ACLSIM_FAULT`: `aclrtMaloc=hang` names the function `aclrtMaloc`, which this library does not have";
        assert_eq!(message(), expected);
    })
    .passed();
}

#[test]
fn the_machine_is_what_the_environment_says() {
    let vars = [
        ("PTO_ACLSIM_SOC", "Ascend950PR_9589"),
        ("PTO_ACLSIM_CUBE_CORES", "32"),
        ("PTO_ACLSIM_VECTOR_CORES", "64"),
        ("PTO_ACLSIM_DEVICES", "2"),
    ];
    child("the_machine_is_what_the_environment_says", &vars, || {
        begin();
        // SAFETY: the name is a C string; the places are valid for writes.
        unsafe {
            assert_eq!(std::ffi::CStr::from_ptr(aclrtGetSocName()), c"Ascend950PR_9589");
            let (mut cubes, mut vectors, mut devices) = (0, 0, 0);
            assert_eq!((aclrtGetDeviceInfo(1, 102, &mut cubes), aclrtGetDeviceInfo(1, 201, &mut vectors)), (0, 0));
            assert_eq!((cubes, vectors), (32, 64));
            assert_eq!((aclGetDeviceCapability(0, 0, &mut cubes), aclGetDeviceCapability(0, 1, &mut vectors)), (0, 0));
            assert_eq!((cubes, vectors), (32, 64));
            assert_eq!((aclrtGetDeviceCount(&mut devices), devices), (0, 2));
            assert_eq!(aclrtGetDeviceInfo(2, 102, &mut cubes), 107_001);
        }
        assert_eq!((aclrtSetDevice(1), aclrtSetDevice(2), aclrtSetDevice(-1)), (0, 107_001, 107_001));
        assert_eq!(message(), "there is no device -1: this machine has 2, counted from 0");
    })
    .passed();
}

#[test]
fn begin_and_end_come_once_and_in_order() {
    child("begin_and_end_come_once_and_in_order", &[], || {
        assert_eq!((aclFinalize(), aclrtSetDevice(0)), (100_001, 100_001));
        begin();
        // SAFETY: a null path is allowed.
        assert_eq!(unsafe { aclInit(std::ptr::null()) }, 100_002);
        assert_eq!((aclFinalize(), aclFinalize(), aclrtSetDevice(0)), (0, 100_037, 100_001));
        begin();
    })
    .passed();
}
