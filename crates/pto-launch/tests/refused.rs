//! Launches that cannot be tried: an error that names what is missing, not a verdict on the kernel.

mod support;

use std::path::Path;

use pto_launch::{Argument, Init, LaunchError, Verdict, Worker};
use support::{Rig, library};

#[test]
fn a_library_without_the_symbol() {
    let Some(kernels) = library("kernels.c") else { return };
    let rig = Rig::new();
    let error = rig.launch(&rig.request(&kernels, "fil")).unwrap_err();
    assert_eq!(error.to_string(), format!("`{}` has no symbol `fil`", kernels.display()));
    assert!(error.is_the_kernels() && error.hint().unwrap().contains("extern \"C\""));
}

#[test]
fn a_library_that_does_not_load() {
    let rig = Rig::new();
    let text = rig.launch(&rig.request(Path::new("/nowhere/kernel.so"), "fill")).unwrap_err().to_string();
    assert!(text.starts_with("`/nowhere/kernel.so` does not load: ") && text.contains("No such file"), "{text}");

    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("kernel.so");
    fs_err::write(&file, "no library at all").unwrap();
    let error = rig.launch(&rig.request(&file, "fill")).unwrap_err();
    assert!(matches!(&error, LaunchError::NotLoaded { library, .. } if *library == file), "{error:?}");
}

#[test]
fn no_acl_library_and_no_such_device() {
    let rig = Rig::new();
    let mut request = rig.request(Path::new("/nowhere/kernel.so"), "fill");
    request.acl = vec!["/nowhere/a/libascendcl.so".into(), "/nowhere/b/libascendcl.so".into()];
    let error = rig.launch(&request).unwrap_err();
    let text = error.to_string();
    assert!(request.acl.iter().all(|path| text.contains(path.to_str().unwrap())), "{text}");
    assert!(!error.is_the_kernels() && error.hint().unwrap().contains("CANN"));

    let mut request = rig.request(Path::new("/nowhere/kernel.so"), "fill");
    request.device = 5;
    let error = rig.launch(&request).unwrap_err();
    assert!(matches!(error, LaunchError::Setup { .. }) && error.to_string().contains("aclrtSetDevice"), "{error}");
}

#[test]
fn a_request_that_contradicts_itself_starts_nothing() {
    let rig = Rig::new();
    let mut request = rig.request(Path::new("/nowhere/kernel.so"), "fill");
    let Argument::Buffer(y) = &mut request.arguments[2] else { panic!() };
    y.init = Init::Bytes(vec![1, 2, 3]);
    let worker = Worker::at("/nowhere/worker");
    let error = pto_launch::launch(&rig.cx, &worker, &request).unwrap_err();
    assert_eq!(error.to_string(), "buffer `y` has 4004 bytes, but is to be filled with 3");
}

#[test]
fn a_worker_that_is_none() {
    let rig = Rig::new();
    let request = rig.request(Path::new("/nowhere/kernel.so"), "fill");
    let error = pto_launch::launch(&rig.cx, &Worker::at("/nowhere/worker"), &request).unwrap_err();
    assert!(matches!(error, LaunchError::Start(_)), "{error:?}");
    let error = pto_launch::launch(&rig.cx, &Worker::at("/bin/true"), &request).unwrap_err();
    assert_eq!(error.to_string(), "`/bin/true` does not act as a worker (it exited with code 0)");
    assert!(error.hint().unwrap().contains("intercept"));
    #[expect(clippy::disallowed_methods, reason = "the program is run by hand")]
    let by_hand = std::process::Command::new(rig.worker.program()).output().unwrap();
    assert_eq!(by_hand.status.code(), Some(2));
    rig.assert_clean();
}

#[test]
fn a_worker_starts_no_worker() {
    let rig = Rig::new().with_var("PTO_LAUNCH_WORKER", "1");
    let request = rig.request(Path::new("/nowhere/kernel.so"), "fill");
    assert!(matches!(pto_launch::launch(&rig.cx, &rig.worker, &request), Err(LaunchError::Nested)));
}

#[test]
fn answers_that_cannot_be_written_are_no_verdict() {
    let Some(kernels) = library("kernels.c") else { return };
    let rig = Rig::new();
    let error = rig.launch(&rig.request(&kernels, "no_more_files")).unwrap_err();
    assert!(error.to_string().starts_with("the worker could not write its answer: "), "{error}");
    assert!(error.hint().unwrap().contains("TMPDIR"));
}

#[test]
fn a_temporary_directory_that_is_not_there() {
    let rig = Rig::new().with_var("TMPDIR", "/nowhere");
    let request = rig.request(Path::new("/nowhere/kernel.so"), "fill");
    let error = pto_launch::launch(&rig.cx, &rig.worker, &request).unwrap_err();
    assert!(matches!(error, LaunchError::Exchange(_)), "{error:?}");
}

#[test]
fn calls_of_the_library_that_fail_on_the_way() {
    let Some(kernels) = library("kernels.c") else { return };
    let fault = |fault: &str| {
        let rig = Rig::new().with_var("PTO_ACLSIM_FAULT", fault);
        pto_launch::launch(&rig.cx, &rig.worker, &rig.request(&kernels, "fill"))
    };
    for call in ["aclInit", "aclrtSetDevice", "aclrtCreateStream"] {
        let error = fault(&format!("{call}=507899")).unwrap_err();
        assert!(error.to_string().contains(call), "{error}");
    }
    for (call, code) in
        [("aclrtMalloc", 207_001), ("aclrtMemcpy", 507_899), ("aclrtSynchronizeStreamWithTimeout", 507_015)]
    {
        let verdict = fault(&format!("{call}={code}")).unwrap().verdict;
        assert!(matches!(&verdict, Verdict::Fault { call: c, code: n, .. } if c == call && *n == code), "{verdict:?}");
    }
}
