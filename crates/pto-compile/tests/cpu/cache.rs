//! What is built again, and what is not.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use pto_compile::cpu::{CpuError, KernelRequest, Toolchain, ToolchainRequest, build};
use pto_context::Context;
use pto_platform::Core;
use pto_process::Invocation;
use pto_store::Store;

use crate::bench::{Bench, benches, in_dir, tree};
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

/// A compiler and a copy of headers that the test may change.
struct Changeable {
    dir: tempfile::TempDir,
    store: Store,
    cx: Context,
}

impl Changeable {
    fn new(bench: &Bench) -> Self {
        let dir = tree(&[("k.cpp", SOURCE), ("part.hpp", "#define PART 1\n")]);
        let copied = Invocation::new("cp").arg("-r").arg(&bench.toolchain.headers).arg(dir.path().join("headers"));
        copied.run(&bench.cx).unwrap().require_success().unwrap();
        let this = Self { store: Store::open(dir.path().join("store")), cx: in_dir(&bench.cx, dir.path()), dir };
        this.write_compiler(bench, "");
        this
    }

    /// A script in front of the real compiler.
    fn write_compiler(&self, bench: &Bench, lines: &str) {
        let path = self.dir.path().join("cxx");
        let real = bench.toolchain.compiler.command[0].display();
        fs_err::write(&path, format!("#!/bin/sh\n{lines}\nexec {real} \"$@\"\n")).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn build(&self, request: &KernelRequest) -> Result<bool, CpuError> {
        let cxx = self.dir.path().join("cxx").display().to_string();
        let wanted = ToolchainRequest { headers: self.dir.path().join("headers"), cxx: Some(cxx), fallback: None };
        let toolchain = Toolchain::configure(&self.cx, &self.store, &wanted)?;
        Ok(build(&self.cx, &self.store, &self.store, &toolchain, request)?.cached)
    }
}

#[test]
fn a_pto_header_and_the_compiler_count_and_a_full_disk_is_not_the_kernels_fault() {
    for bench in benches().iter().take(1) {
        let place = Changeable::new(bench);
        let first = request(bench, "1");
        assert!(!place.build(&first).unwrap());
        assert!(place.build(&first).unwrap());
        let header = place.dir.path().join("headers/pto/cpu/TAdd.hpp");
        let text = fs_err::read_to_string(&header).unwrap();
        fs_err::write(&header, text + "\n// changed\n").unwrap();
        assert!(!place.build(&first).unwrap(), "a PTO header");
        assert!(place.build(&first).unwrap());
        // Fails where an object is to be written, as LLVM does on a full disk.
        let full = "case \"$*\" in *source-0*) echo 'LLVM ERROR: IO failure on output stream: No space left on device' >&2; exit 1;; esac";
        place.write_compiler(bench, full);
        let error = place.build(&first).unwrap_err();
        assert!(!error.is_the_kernels() && error.hint().unwrap().contains("PTOKIT_HOME"), "{error}");
        place.write_compiler(bench, "");
        assert!(!place.build(&first).unwrap(), "the compiler");
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
