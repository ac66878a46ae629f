//! What is built again, and what is not.

use std::path::Path;
use std::time::Duration;

use pto_compile::cpu::KernelRequest;
use pto_platform::Core;
use pto_process::Invocation;

use crate::bench::{Bench, benches, tree};
use crate::child;

const SOURCE: &str =
    "#include <pto/pto-inst.hpp>\n#include \"part.hpp\"\nextern \"C\" int call() { return PART + EXTRA; }\n";

fn request(bench: &Bench, extra: &str) -> KernelRequest {
    KernelRequest { defines: vec![("EXTRA".to_owned(), Some(extra.to_owned()))], ..bench.request("k.cpp", Core::Vec) }
}

#[test]
fn exactly_what_has_changed_is_built_again() {
    for bench in benches() {
        let dir = tree(&[("k.cpp", SOURCE), ("part.hpp", "#define PART 1\n")]);
        let unique = dir.path().file_name().unwrap().len().to_string();
        let cached = |request: &KernelRequest| bench.build_in(dir.path(), request).unwrap().cached;
        let first = request(bench, &unique);
        // Other runs of this test have built the same text in other directories: the paths count too.
        assert!(!cached(&first));
        assert!(cached(&first));
        fs_err::write(dir.path().join("part.hpp"), "#define PART 2\n").unwrap();
        assert!(!cached(&first), "a header");
        fs_err::write(dir.path().join("k.cpp"), format!("{SOURCE}\n")).unwrap();
        assert!(!cached(&first), "the source");
        assert!(cached(&first));
        assert!(!cached(&request(bench, "7")), "a macro");
        assert!(!cached(&KernelRequest { opt_level: 0, ..first.clone() }), "a flag");
        fs_err::write(dir.path().join("part.hpp"), "#define PART 1\n").unwrap();
        fs_err::write(dir.path().join("k.cpp"), SOURCE).unwrap();
        assert!(cached(&first), "back to what was built before");
        let built = bench.build_in(dir.path(), &first).unwrap();
        fs_err::remove_dir_all(built.library.parent().unwrap()).unwrap();
        assert!(!cached(&first), "an entry that somebody removed");
    }
}

/// What a compiler says of the headers it read is believed for the rest of a store's life; that a change of one counts is
/// shown with a stand-in.
#[test]
fn the_compilers_lists_of_what_they_read_name_the_pto_headers() {
    for bench in benches() {
        bench.build(&bench.request("launches.cpp", Core::Vec)).unwrap();
        let header = bench.toolchain.headers.join("pto/cpu/TAdd.hpp");
        let header = format!("\"{}\"", header.display());
        for kind in ["cpu-config", "cpu-pch"] {
            let entries = fs_err::read_dir(bench.store.root().join(kind)).unwrap();
            let lists =
                entries.filter_map(|entry| fs_err::read_to_string(entry.unwrap().path().join("deps.json")).ok());
            assert!(lists.into_iter().any(|list| list.contains(&header)), "{kind} names no {header}");
        }
    }
}

/// Another process that builds the kernel in `dir`.
fn builder(dir: &Path) -> Invocation {
    Invocation::new(std::env::current_exe().unwrap())
        .args(["--exact", "cache::build_in_a_process", "--ignored", "--nocapture"])
        .env(child::LIBRARY, dir)
        .deadline(Duration::from_secs(300))
}

#[test]
#[ignore = "started by the other tests, in a process of its own"]
fn build_in_a_process() {
    let bench = &benches()[0];
    let Some(dir) = bench.cx.var(child::LIBRARY) else { return };
    let built = bench.build_in(Path::new(&dir), &request(bench, "1")).unwrap();
    println!("\n{}{}", child::RESULTS, built.cached);
}

#[test]
fn processes_that_build_the_same_kernel_at_once_share_one_result() {
    for bench in benches().iter().take(1) {
        let dir = tree(&[("k.cpp", SOURCE), ("part.hpp", "#define PART 1\n")]);
        let outputs: Vec<_> = std::thread::scope(|scope| {
            let run = || builder(dir.path()).run(&bench.cx).unwrap();
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(run)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(outputs.iter().all(pto_process::Output::success), "{outputs:?}");
        assert!(bench.build_in(dir.path(), &request(bench, "1")).unwrap().cached);
    }
}

#[test]
fn a_build_that_is_killed_leaves_a_store_to_go_on_with() {
    for bench in benches().iter().take(1) {
        let dir = tree(&[("k.cpp", SOURCE), ("part.hpp", "#define PART 1\n")]);
        for after in ["0.1", "0.3", "0.6"] {
            let line = builder(dir.path()).to_shell_line();
            let kill = format!("{line} >/dev/null 2>&1 & sleep {after}; kill -9 $!");
            Invocation::new("sh").args(["-c", &kill]).deadline(Duration::from_secs(60)).run(&bench.cx).unwrap();
        }
        let built = bench.build_in(dir.path(), &request(bench, "1")).unwrap();
        assert!(built.library.is_file());
    }
}
