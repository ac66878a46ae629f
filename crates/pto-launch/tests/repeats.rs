//! A kernel that is launched several times in one process: buffers are filled anew, and the bits of all runs compared.

mod support;

use std::time::Duration;

use pto_launch::{Argument, Init, Launched, Phase, Timing, Verdict};
use support::{N, Rig, filled, library};

fn repeat(rig: &Rig, symbol: &str, repeats: u32) -> Option<Launched> {
    let kernels = library("kernels.c")?;
    let mut request = rig.request(&kernels, symbol);
    request.repeats = repeats;
    request.limits.sync = Duration::from_secs(2);
    Some(pto_launch::launch(&rig.cx, &rig.worker, &request).unwrap())
}

fn variants(launched: &Launched) -> Vec<Option<u32>> {
    launched.runs.iter().map(|run| run.variant).collect()
}

#[test]
fn buffers_are_filled_before_each_run() {
    let Some(kernels) = library("kernels.c") else { return };
    let rig = Rig::new();
    let mut request = rig.request(&kernels, "add_one");
    request.repeats = 5;
    let Argument::Buffer(y) = &mut request.arguments[2] else { panic!() };
    y.init = Init::Bytes((0..N as i32).flat_map(i32::to_ne_bytes).collect());
    let launched = rig.launch(&request).unwrap();
    assert_eq!(launched.outputs["y"], (1..=N as i32).flat_map(i32::to_ne_bytes).collect::<Vec<_>>());
    assert_eq!((launched.repeat, variants(&launched)), (5, vec![Some(0); 5]));
    assert_eq!(launched.variants.count(), 1);
    assert!(launched.runs.iter().all(|run| run.device_time.is_some()));
}

#[test]
fn the_run_that_differs_is_named_and_its_outputs_are_there() {
    let rig = Rig::new();
    let Some(launched) = repeat(&rig, "third_differs", 5) else { return };
    assert_eq!(variants(&launched), [Some(0), Some(0), Some(1), Some(0), Some(0)]);
    assert_eq!(launched.outputs["y"], filled(N));
    let other = &launched.variants.read(1).unwrap()["y"];
    assert_eq!(other[28..32], [255; 4]);
    assert_eq!((&other[..28], &other[32..]), (&filled(N)[..28], &filled(N)[32..]));
    assert!(launched.variants.read(2).is_err());
}

#[test]
fn of_runs_that_all_differ_some_are_kept() {
    let rig = Rig::new();
    let Some(launched) = repeat(&rig, "each_differs", 20) else { return };
    assert_eq!(launched.verdict, Verdict::Completed);
    assert_eq!(launched.variants.count(), 16);
    assert_eq!(variants(&launched)[14..], [Some(14), Some(15), None, None, None, None]);
}

#[test]
fn the_files_of_other_runs_are_gone_with_the_result() {
    let Some(kernels) = library("kernels.c") else { return };
    let rig = Rig::new();
    let mut request = rig.request(&kernels, "each_differs");
    request.repeats = 2;
    let launched = pto_launch::launch(&rig.cx, &rig.worker, &request).unwrap();
    let clone = launched.clone();
    drop(launched);
    assert!(clone.variants.read(1).is_ok());
    drop(clone);
    rig.assert_clean();
}

#[test]
fn a_run_that_hangs_is_told_from_those_before_it() {
    let rig = Rig::new();
    let Some(launched) = repeat(&rig, "third_hangs", 5) else { return };
    assert!(matches!(launched.verdict, Verdict::Hung { phase: Phase::Synchronize, .. }), "{}", launched.verdict);
    assert_eq!((launched.repeat, launched.runs.len()), (3, 2));
    assert!(launched.outputs.is_empty());
}

#[test]
fn a_timed_launch_that_hangs_is_told_as_any_other() {
    let Some(kernels) = library("kernels.c") else { return };
    let rig = Rig::new();
    let mut request = rig.request(&kernels, "third_hangs");
    request.timing = Some(Timing { warmup: 1, repeats: 4, flush_bytes: 0 });
    request.limits.sync = Duration::from_secs(2);
    let launched = rig.launch(&request).unwrap();
    let Verdict::Hung { phase, limit_ms, .. } = launched.verdict else { panic!("{}", launched.verdict) };
    assert_eq!((phase, limit_ms), (Phase::Synchronize, 2000));
    assert_eq!((launched.repeat, launched.runs.len()), (1, 1));
    assert!(launched.samples.is_empty());
}
