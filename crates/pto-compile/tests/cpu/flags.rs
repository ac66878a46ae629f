//! Cores of one launch that wait for each other.

use pto_platform::Core;

use crate::bench::{Bench, benches};

const NOTHING_LEFT: &str = "[]";

#[test]
fn cross_core_flags_of_a2a3_in_all_modes() {
    for bench in benches() {
        let request = bench.request("flags_a2a3.cpp", Core::Mix);
        let run = |which| {
            let run = bench.run(&request, which);
            assert_eq!(run.report, NOTHING_LEFT);
            run.results
        };
        // 5 rounds: 1 + .. + 5 = 15 times what one round gives.
        assert_eq!(run(0), [300., 300., 300., 0., 0., 0., 0., 0., 0.], "mode 2");
        assert_eq!(run(1), [30., 15., 30., 15., 30., 15., 0., 0., 0.], "mode 1");
        assert_eq!(run(2), [90., 90., 90., 90., 90., 90., 45., 45., 45.], "mode 0");
    }
}

#[test]
fn an_a5_block_shares_flags_ub_and_l1() {
    for bench in benches() {
        let request = bench.a5("blocks_a5.cpp", Core::Mix);
        let counted: Vec<f64> = (0..256).map(f64::from).collect();
        let none = vec![0.0; 256];
        let run = |which| {
            let run = bench.run(&request, which);
            assert!(run.passed, "{}", run.stderr);
            let (first, second) = run.results.split_at(256);
            (first.to_vec(), second.to_vec())
        };
        assert_eq!(run(0), (counted.clone(), none.clone()), "SingleModeVec0");
        assert_eq!(run(1), (none.clone(), counted.clone()), "SingleModeVec1");
        let half = |values: Vec<f64>| values.into_iter().chain(vec![0.0; 128]).collect::<Vec<_>>();
        assert_eq!(run(2), (half(counted[..128].to_vec()), half(counted[128..].to_vec())), "DualModeSplitM");
        let columns = |from: usize| half(counted.chunks(16).flat_map(|row| row[from..from + 8].to_vec()).collect());
        assert_eq!(run(3), (columns(0), columns(8)), "DualModeSplitN");
        assert_eq!(run(4), (counted.clone(), none), "TINSERT");
    }
}

#[test]
fn syncall_lets_all_cores_meet() {
    for bench in benches() {
        for request in [bench.request("syncall.cpp", Core::Mix), bench.a5("syncall.cpp", Core::Mix)] {
            // 4 cubes, 8 vector cores, 1 + 2 + 3 = 6 from each that takes part.
            let expect = |cube: f64, vector: f64| [vec![cube; 4], vec![vector; 8]].concat();
            assert_eq!(bench.run(&request, 0).results, expect(0.0, 48.0), "vector cores");
            assert_eq!(bench.run(&request, 1).results, expect(24.0, 0.0), "cubes");
            assert_eq!(bench.run(&request, 2).results, expect(72.0, 72.0), "both");
        }
    }
}

#[test]
fn syncall_of_both_kinds_in_a_vector_kernel_is_a_deadlock() {
    for bench in benches() {
        let run = bench.run(&bench.request("syncall.cpp", Core::Vec), 2);
        assert!(
            run.stderr.contains(
                "deadlock: vector core 0 waits for SYNCALL with the other kind of core, and 3 more cores wait"
            ),
            "{}",
            run.stderr
        );
    }
}

fn fifo(bench: &Bench, more: i32) -> crate::bench::Run {
    bench.run(&bench.request("fifo.cpp", Core::Mix), more)
}

#[test]
fn a_fifo_carries_tiles_from_the_cube_to_the_vector_cores() {
    for bench in benches() {
        let run = fifo(bench, 0);
        if bench.toolchain.features.has_pipes() {
            assert_eq!(run.results, [0.0], "{}", run.stderr);
        } else {
            assert!(run.stderr.contains("TPUSH/TPOP: these PTO-ISA headers have no FIFO"), "{}", run.stderr);
        }
    }
}

#[test]
fn a_fifo_that_nobody_fills_or_empties_is_a_deadlock() {
    for bench in benches().iter().filter(|bench| bench.toolchain.features.has_pipes()) {
        let stderr = fifo(bench, 1).stderr;
        let expected = "deadlock: vector core 0.0 waits for a slot of a TPUSH/TPOP pipe, and 3 more cores wait";
        assert!(stderr.contains(expected), "{stderr}");
        let stderr = fifo(bench, -4).stderr;
        assert!(stderr.contains("deadlock: cube core 0 waits for a slot of a TPUSH/TPOP pipe"), "{stderr}");
    }
}
