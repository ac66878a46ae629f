//! Launches that complete: what comes back, and what is said about it.

mod support;

use pto_launch::{Argument, Init, Note, Scalar, Timing, Verdict};
use support::{N, PATTERN, Rig, filled, library};

#[test]
fn outputs_time_notes_and_run_mode_come_back() {
    let Some(kernels) = library("kernels.c") else { return };
    let rig = Rig::new();
    let launched = rig.launch(&rig.request(&kernels, "fill")).unwrap();
    assert_eq!(launched.verdict, Verdict::Completed, "{}", launched.said);
    assert_eq!(launched.outputs.keys().collect::<Vec<_>>(), ["y"]);
    assert_eq!(launched.outputs["y"], filled(N));
    assert!(launched.device_time.unwrap() < launched.duration);
    assert_eq!(launched.notes, [Note { text: "shape".into(), file: "a.hpp".into(), line: 7, count: 2 }]);
    assert_eq!(launched.said, "", "nothing is said that the kernel has not said");
    let mode = launched.run_mode.unwrap();
    assert_eq!((mode.acl, mode.simulator), (rig.acl(), None));
}

#[test]
fn what_was_not_written_keeps_its_pattern() {
    let Some(kernels) = library("kernels.c") else { return };
    let rig = Rig::new();
    let launched = rig.launch(&rig.request(&kernels, "fill_half")).unwrap();
    let (written, rest) = launched.outputs["y"].split_at(4 * (N / 2));
    assert_eq!(written, (0..N as i32 / 2).flat_map(i32::to_ne_bytes).collect::<Vec<_>>());
    assert!(rest.iter().all(|byte| *byte == PATTERN));
    let nothing = rig.launch(&rig.request(&kernels, "nothing")).unwrap();
    assert_eq!((nothing.verdict, &nothing.outputs["y"]), (Verdict::Completed, &vec![PATTERN; 4 * N]));
}

#[test]
fn given_bytes_arrive_and_only_outputs_come_back() {
    let Some(kernels) = library("kernels.c") else { return };
    let rig = Rig::new();
    let mut request = rig.request(&kernels, "negate");
    let Argument::Buffer(y) = &mut request.arguments[2] else { panic!() };
    y.init = Init::Bytes((0..N as i32).flat_map(i32::to_ne_bytes).collect());
    let launched = rig.launch(&request).unwrap();
    assert_eq!(launched.outputs["y"], (0..N as i32).flat_map(|i| (-i).to_ne_bytes()).collect::<Vec<_>>());
    let Argument::Buffer(y) = &mut request.arguments[2] else { panic!() };
    y.output = false;
    assert!(rig.launch(&request).unwrap().outputs.is_empty());
}

#[test]
fn a_buffer_of_no_bytes_is_an_output_too() {
    let Some(kernels) = library("kernels.c") else { return };
    let rig = Rig::new();
    let mut request = rig.request(&kernels, "fill");
    let Argument::Buffer(y) = &mut request.arguments[2] else { panic!() };
    (y.bytes, y.init) = (0, Init::Bytes(Vec::new()));
    request.arguments[3] = Argument::Scalar(Scalar::U32(0));
    let launched = rig.launch(&request).unwrap();
    assert_eq!((launched.verdict, &launched.outputs["y"]), (Verdict::Completed, &Vec::new()));
}

#[test]
fn a_kernel_runs_within_limits_and_leaves_no_core_file() {
    let Some(kernels) = library("kernels.c") else { return };
    let rig = Rig::new();
    let mut request = rig.request(&kernels, "tell_limits");
    request.memory_limit = Some(1 << 32);
    assert_eq!(rig.launch(&request).unwrap().said, "core 0 memory 4294967296\n");
}

#[test]
fn paths_are_those_of_the_callers_directory() {
    let Some(kernels) = library("kernels.c") else { return };
    let rig = Rig::new();
    let bare = rig.scratch.path().join("kernel.so");
    std::os::unix::fs::symlink(&kernels, &bare).unwrap();
    let launched = pto_launch::launch(&rig.cx, &rig.worker, &rig.request("kernel.so".as_ref(), "fill")).unwrap();
    assert_eq!(launched.outputs["y"], filled(N));
}

#[test]
fn the_worker_sees_the_contexts_variables() {
    let Some(kernels) = library("kernels.c") else { return };
    let rig = Rig::new().with_var("PTO_ACLSIM_DEVICES", "3");
    let mut request = rig.request(&kernels, "fill");
    request.device = 2;
    assert_eq!(rig.launch(&request).unwrap().verdict, Verdict::Completed);
}

#[test]
fn a_launch_is_timed_as_often_as_asked() {
    let Some(kernels) = library("kernels.c") else { return };
    let rig = Rig::new();
    let mut request = rig.request(&kernels, "fill");
    assert!(rig.launch(&request).unwrap().samples.is_empty());
    request.timing = Some(Timing { warmup: 2, repeats: 5, flush_bytes: 1 << 16 });
    let launched = rig.launch(&request).unwrap();
    assert_eq!((launched.verdict, &launched.outputs["y"]), (Verdict::Completed, &filled(N)));
    assert_eq!(launched.samples.len(), 5);
}
