//! The runtime that plays the cores on the CPU: its faults arrive as verdicts, its warnings as notes.

mod support;

use std::path::{Path, PathBuf};

use pto_launch::{Note, Verdict};
use support::{N, Rig, filled};

fn cores() -> Option<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let runtime = crates.join("pto-compile/cpu/runtime/runtime.cpp");
    support::compile("cores", &[&runtime, &crates.join("pto-launch/tests/kernels/cores.cpp")])
}

#[test]
fn cores_work_together_and_their_faults_have_a_reason() {
    let Some(library) = cores() else { return };
    let rig = Rig::new();
    let launch = |symbol: &str| rig.launch(&rig.request(&library, symbol)).unwrap();

    let good = launch("cores_fill");
    assert_eq!((good.verdict, &good.outputs["y"]), (Verdict::Completed, &filled(N)));
    let note = |count| Note { text: "a warning".into(), file: "cores.cpp".into(), line: 2, count };
    assert_eq!(good.notes, [note(8)], "one per core");

    let stuck = launch("cores_wait");
    let Verdict::Fault { code: 507_034, message, .. } = &stuck.verdict else { panic!("{:?}", stuck.verdict) };
    assert!(message.starts_with("deadlock: vector core") && message.contains("waits for flag 2"), "{message}");
    assert_eq!(stuck.notes, [note(8)], "notes are read after a fault too");

    let foreign = launch("cores_host_pointer").verdict;
    let Verdict::Fault { code: 107_000, message, .. } = &foreign else { panic!("{foreign:?}") };
    assert!(message.contains("pointer argument 1 of the kernel is not device memory: host memory"), "{message}");
}
