//! Faults inside of one core.

use pto_compile::cpu::KernelRequest;
use pto_platform::Core;

use crate::bench::{Bench, benches};

fn requests(bench: &Bench) -> [KernelRequest; 2] {
    let with_sizes = |mut request: KernelRequest| {
        request.defines.push(("UB_BYTES".to_owned(), Some(request.soc.ub_bytes.to_string())));
        request.defines.push(("L0C_BYTES".to_owned(), Some(request.soc.l0c_bytes.to_string())));
        request
    };
    [with_sizes(bench.request("faults.cpp", Core::Vec)), with_sizes(bench.a5("faults.cpp", Core::Vec))]
}

#[test]
fn a_tile_past_the_end_of_its_memory_is_a_fault() {
    for (bench, request) in benches().iter().flat_map(|bench| requests(bench).map(|request| (bench, request))) {
        assert!(bench.run(&request, 0).passed);
        let (ub, l0c) = (request.soc.ub_bytes, request.soc.l0c_bytes);
        let kinds = [
            (1, format!("TASSIGN: a tile of 32 bytes at byte {} of UB ends past its {ub} bytes", ub - 31)),
            (2, "TASSIGN: a tile of 262144 bytes at byte 300000 of L1 ends past its 524288 bytes".to_owned()),
            (3, format!("TASSIGN: a tile of 65536 bytes at byte {} of L0C ends past its {l0c} bytes", l0c - 65024)),
        ];
        for (which, expected) in kinds {
            let run = bench.run(&request, which);
            assert!(!run.passed && run.stderr.contains(&format!("vector core 0: {expected}")), "{}", run.stderr);
        }
    }
}

#[test]
fn memory_that_was_never_written_holds_no_numbers() {
    for bench in benches() {
        let [request, _] = requests(bench);
        assert!(bench.run(&request, 4).results.iter().all(|value| value.is_nan()));
    }
}

#[test]
fn a_condition_on_shapes_is_counted_once_per_kind() {
    for bench in benches() {
        let [request, _] = requests(bench);
        let run = bench.run(&request, 5);
        assert!(run.passed, "{}", run.stderr);
        let text = r#""text":"TLOAD: the tile's valid region is 16x16, the GlobalTensor is 8x16""#;
        assert!(run.report.contains(text) && run.report.contains(r#""count":3"#), "{}", run.report);
    }
}

#[test]
fn an_assertion_or_exception_of_the_kernel_is_a_fault() {
    let kinds = [
        (6, "vector core 0: assertion failed: `get_block_idx() == 7` (faults.cpp:39)"),
        (7, "vector core 0: exception: thrown by the kernel"),
        (8, "vector core 0: unknown exception"),
    ];
    for bench in benches() {
        let [request, _] = requests(bench);
        for (which, expected) in kinds {
            let run = bench.run(&request, which);
            assert!(!run.passed && run.stderr.contains(expected), "{}", run.stderr);
        }
    }
}
