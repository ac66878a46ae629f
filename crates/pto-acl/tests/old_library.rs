//! A library that lacks what newer ones have: everything that can be done without it works, the rest is named on use.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pto_acl::{Acl, Device, Error, LoadPlan, sys};

/// Compiles the old library with these flags.
fn build(directory: &Path, flags: &[&str]) -> PathBuf {
    let library = directory.join("libascendcl.so");
    let compiler = ["cc", "gcc", "clang"].into_iter().find(|name| {
        assert_cmd::Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    });
    assert_cmd::Command::new(compiler.expect("a C compiler on PATH"))
        .args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"])
        .args(flags)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old/ascendcl.c"))
        .arg("-o")
        .arg(&library)
        .assert()
        .success();
    library
}

fn load(flags: &[&str]) -> Result<Arc<Acl>, Error> {
    let scratch = tempfile::tempdir().unwrap();
    Acl::load(&LoadPlan::new([build(scratch.path(), flags)]))
}

#[test]
fn what_is_missing_is_named_on_use() {
    let device = Device::open(&load(&[]).unwrap(), 0).unwrap();
    let error = device.soc_name().unwrap_err();
    assert!(error.to_string().ends_with("libascendcl.so` has no `aclrtGetSocName`, which is needed here"), "{error}");
    assert!(matches!(device.core_counts(), Err(Error::Unsupported { function: "aclGetDeviceCapability", .. })));
    let limit = Some(Duration::from_secs(1));
    assert!(matches!(
        device.synchronize(limit),
        Err(Error::Unsupported { function: "aclrtSynchronizeDeviceWithTimeout", .. })
    ));
    device.synchronize(None).unwrap();
    assert_eq!(device.upload(&[1, 2]).unwrap().to_vec().unwrap(), [1, 2]);
}

#[test]
fn a_wait_with_a_limit_asks_again_and_again() {
    let device = Device::open(&load(&[]).unwrap(), 0).unwrap();
    let stream = device.stream().unwrap();
    let error = stream.synchronize(Some(Duration::ZERO)).unwrap_err();
    assert_eq!((error.to_string().as_str(), error.is_timeout()), ("the stream was not done after 0 ms", true));
    stream.synchronize(Some(Duration::from_secs(10))).unwrap();
}

#[test]
fn an_unknown_code_without_a_message_is_said_to_be_unknown() {
    let error = Device::open(&load(&[]).unwrap(), 1).unwrap_err();
    assert_eq!(error.to_string(), "`aclrtSetDevice` failed with 4711 (unknown code)");
}

#[test]
fn each_required_function_is_named_when_it_is_missing() {
    for name in ["aclrtMalloc", "aclrtSynchronizeStream", "aclrtEventElapsedTime"] {
        let error = load(&[&format!("-D{name}=static_elsewhere")]).unwrap_err();
        assert!(matches!(error, Error::MissingSymbol { symbol, .. } if symbol == name), "{error}");
    }
    assert!(sys::SIGNATURES.iter().filter(|signature| signature.required).count() > 20);
}
