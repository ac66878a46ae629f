//! Launches as people write them.

use pto_platform::Core;

use crate::bench::benches;

#[test]
fn every_way_to_write_a_launch_runs_the_kernel_it_names() {
    for bench in benches() {
        let request = bench.request("launches.cpp", Core::Vec);
        let results = |which| bench.run(&request, which).results;
        assert_eq!(results(0), [-2.0, -2.0, -2.0, -2.0], "template arguments over lines");
        assert_eq!(results(1), [3.0, 3.0], "in a macro");
        assert_eq!(results(2), [7.0, 7.0, 7.0], "in a header");
        assert_eq!(results(3), [1.0, 1.5], "overloads");
        let mut instances = vec![4.0; 8];
        instances.extend([-8.0; 16]);
        assert_eq!(results(4), instances, "two instantiations of one template");
        assert_eq!(results(5), [8.0, 100.0, 101.0, 32.0, 32.0, 32.0, 33.0], "names of the device compiler");
    }
}

#[test]
fn any_number_of_blocks_runs() {
    for bench in benches() {
        let request = bench.request("launches.cpp", Core::Vec);
        for blocks in [6, 7, 20, 48, 100] {
            assert_eq!(bench.run(&request, blocks).results, vec![f64::from(blocks); blocks as usize]);
        }
    }
}

#[test]
fn kernels_of_one_name_in_two_libraries_do_not_collide() {
    for bench in benches() {
        let request = bench.request("collide_a.cpp", Core::Vec);
        let other = bench.build(&bench.request("collide_b.cpp", Core::Vec)).unwrap();
        // The first loads the second by its path and calls both.
        let mut request = request;
        request.defines.push(("OTHER".to_owned(), Some(format!("\"{}\"", other.library.display()))));
        assert_eq!(bench.run(&request, 0).results, [1.0, 2.0]);
    }
}
