//! The probe of ACL against a library that plays a device, and that misbehaves.

use std::path::Path;
use std::time::Duration;

use pto_context::Context;
use pto_devices::acl_probe::{AclProbe, Choice, run};

use pto_test::host::PATIENCE;

// The library is built because this crate depends on it for its tests.
use ascendcl as _;

fn probe(fault: &str, device: u32, deadline: Duration) -> AclProbe {
    let cann = tempfile::tempdir().unwrap();
    let lib = cann.path().join("lib64");
    fs_err::create_dir_all(&lib).unwrap();
    let none: [(&str, &str); 0] = [];
    let acl = pto_launch::host_acl(&Context::fake("/", none), &std::env::current_exe().unwrap()).unwrap();
    fs_err::os::unix::fs::symlink(acl, lib.join("libascendcl.so")).unwrap();
    let cx = Context::fake("/", [("ASCEND_HOME_PATH", cann.path().to_str().unwrap()), ("PTO_ACLSIM_FAULT", fault)]);
    run(&cx, Path::new(env!("CARGO_BIN_EXE_pto-devices-worker")), Choice { device, among_all: false }, deadline)
}

#[test]
fn a_device_that_opens() {
    let probe = probe("", 0, PATIENCE);
    let answer = probe.success().unwrap_or_else(|| panic!("{probe:?}"));
    assert_eq!(answer.soc.as_deref(), Some("Ascend910B2"));
    assert!(answer.memory_mb.is_some_and(|(free, all)| free <= all && all == 65_536), "{answer:?}");
}

#[test]
fn a_code_is_reported_with_its_call() {
    let AclProbe::Answered(answer) = probe("aclrtSetDevice=507899", 0, PATIENCE) else { panic!() };
    let error = answer.error.unwrap();
    assert_eq!((answer.step.as_str(), error.code), ("aclrtSetDevice", Some(507_899)));
}

#[test]
fn a_library_that_crashes_or_hangs_is_survived() {
    let AclProbe::Died(how, answer) = probe("aclrtSetDevice=crash", 0, PATIENCE) else { panic!() };
    assert!(how.contains("signal 11") && answer.step == "aclrtSetDevice", "{how} {answer:?}");
    let AclProbe::Died(how, answer) = probe("aclrtGetMemInfo=hang", 0, Duration::from_secs(3)) else { panic!() };
    assert!(how.contains("no answer within 3s") && answer.step == "aclrtGetMemInfo", "{how} {answer:?}");
    assert_eq!(answer.soc.as_deref(), Some("Ascend910B2"), "what was reached before is kept");
}
