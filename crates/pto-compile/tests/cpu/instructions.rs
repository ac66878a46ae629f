//! Instructions whose simulation is ours: what the device gives, whatever the headers' simulator does.

use pto_platform::Core;

use crate::bench::benches;

#[test]
fn a_conversion_to_integers_saturates_or_wraps_as_the_device_does() {
    for bench in benches() {
        let request = bench.request("instructions.cpp", Core::Vec);
        let run = |which| {
            let run = bench.run(&request, which);
            assert!(run.passed, "{}", run.stderr);
            run.results
        };
        // 70000 is 4464 past 65536; 3e9 is 0xb2d05e00.
        let (wrapped_9, wrapped_32) = (f64::from(0x5e00), f64::from(0xb2d0_5e00_u32.cast_signed()));
        assert_eq!(run(0), [0., 2., -2., 4464., -4464., wrapped_9, 0., -1.], "wraps, to even");
        assert_eq!(run(1), [1., 2., -3., 32767., -32768., 32767., 0., -1.], "saturates, half away from zero");
        assert_eq!(run(2), [0., 1., -3., 4464., -4464., wrapped_9, 0., -1.], "f32 to i16 wraps by default, down");
        assert_eq!(run(3), [0., 1., -2., 70000., -70000., 2147483648., 0., 0.], "f32 to i32 saturates, to zero");
        assert_eq!(run(4), [1., 2., -2., 70000., -70000., wrapped_32, 0., 0.], "wraps when told, up");
    }
}

#[test]
fn l0a_has_its_fractals_in_the_order_of_the_generation() {
    for bench in benches() {
        // Fractals of f32 are 16 rows of 8. Row by row the lower half of a 32 x 16 tile lies behind the upper one; column
        // by column, its first 8 columns are what lies there.
        let rows =
            |from: usize| (from..from + 16).flat_map(|row| (0..16).map(move |column| (row * 16 + column) as f64));
        let lower: Vec<f64> = rows(16).collect();
        let run = bench.run(&bench.request("instructions.cpp", Core::Cube), 0);
        assert_eq!(run.results, lower, "A2");
        let right_half = (0..16).flat_map(|row| {
            let at = move |row: usize, column: usize| (row * 16 + column) as f64;
            (0..8).map(move |column| at(row, 8 + column)).chain((0..8).map(move |column| at(16 + row, 8 + column)))
        });
        let run = bench.run(&bench.a5("instructions.cpp", Core::Cube), 0);
        assert_eq!(run.results, right_half.collect::<Vec<_>>(), "A5");
    }
}

#[test]
fn what_the_compiler_for_a5_refuses_is_noted() {
    for bench in benches() {
        let a2 = bench.run(&bench.request("instructions.cpp", Core::Vec), 5);
        assert_eq!(a2.report, "[]");
        let a5 = bench.run(&bench.a5("instructions.cpp", Core::Vec), 5).report;
        for what in ["set_mask_norm", "set_vector_mask", "pipe_barrier(PIPE_V)"] {
            assert!(a5.contains(&format!("the compiler for A5 refuses `{what}`")), "{a5}");
        }
        assert_eq!(a5.matches("refuses").count(), 3, "{a5}");
    }
}
