//! Mistakes in a source point to the user's file and line, and to nothing of ours.

use std::path::Path;

use pto_compile::cpu::CpuError;
use pto_platform::Core;

use crate::bench::{Bench, benches, tree};

const INCLUDE: &str = "#include <pto/pto-inst.hpp>\n";

/// What a build of `k.cpp` among these files says.
fn refusal(bench: &Bench, core: Core, files: &[(&str, &str)]) -> CpuError {
    let dir = tree(files);
    bench.build_in(dir.path(), &bench.request("k.cpp", core)).unwrap_err()
}

fn assert_nothing_of_ours(text: &str) {
    for ours in ["scratch", "cpu-prelude", "cpu-kernel", "/tmp"] {
        assert!(!text.contains(ours), "{text}");
    }
}

#[test]
fn a_compile_error_names_the_users_line_once() {
    let source = format!("{INCLUDE}\nvoid ok();\n__global__ AICORE void k(int n) {{\n    int a = n +* 2;\n}}\n");
    for bench in benches() {
        for core in [Core::Vec, Core::Mix] {
            let error = refusal(bench, core, &[("k.cpp", &source)]);
            let text = error.to_string();
            assert!(text.starts_with("the kernel does not compile\nk.cpp:5:16: error: "), "{text}");
            assert_eq!(text.matches("k.cpp:5:").count(), 1, "{text}");
            assert!(error.is_the_kernels());
            assert_nothing_of_ours(&text);
        }
    }
}

#[test]
fn an_error_in_a_header_names_the_header_and_who_includes_it() {
    let source = format!("{INCLUDE}#include \"part/tile.hpp\"\n");
    // The second header holds a launch, so it is a rewritten copy that is compiled.
    for header in [
        "#pragma once\nint a = missing;\n",
        "#pragma once\nint a = missing;\n__global__ void k();\ninline void f() { k<<<1, nullptr, nullptr>>>(); }\n",
    ] {
        for bench in benches() {
            let text = refusal(bench, Core::Vec, &[("k.cpp", &source), ("part/tile.hpp", header)]).to_string();
            assert!(text.contains("In file included from k.cpp:2:\n"), "{text}");
            assert!(text.contains("part/tile.hpp:2:9: error: "), "{text}");
            assert_nothing_of_ours(&text);
        }
    }
}

#[test]
fn a_launch_with_arguments_that_do_not_fit_names_its_line() {
    let source = format!(
        "{INCLUDE}__global__ AICORE void k(float *x, int n) {{}}\nvoid call(float *x) {{\n    k<<<1, nullptr, nullptr>>>(x);\n}}\n"
    );
    for bench in benches() {
        let text = refusal(bench, Core::Vec, &[("k.cpp", &source)]).to_string();
        assert!(text.contains("k.cpp:4:"), "{text}");
        assert!(text.contains("no matching function for call to 'k'"), "{text}");
        assert_nothing_of_ours(&text);
    }
}

#[test]
fn an_undefined_function_is_named() {
    let source =
        format!("{INCLUDE}void nobody_defines_this(int);\nextern \"C\" void call() {{ nobody_defines_this(1); }}\n");
    for bench in benches() {
        let error = refusal(bench, Core::Vec, &[("k.cpp", &source)]);
        assert!(matches!(error, CpuError::Link { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("undefined reference to `nobody_defines_this(int)'"), "{text}");
        assert_nothing_of_ours(&text);
    }
}

#[test]
fn a_source_that_cannot_be_read_is_named() {
    for bench in benches().iter().take(1) {
        let error = refusal(bench, Core::Vec, &[]);
        let CpuError::Source(cause) = &error else { panic!("{error}") };
        assert!(cause.to_string().contains("k.cpp"), "{cause}");
        let dir = tempfile::tempdir().unwrap();
        fs_err::write(dir.path().join("k.cpp"), b"// \xe9\n").unwrap();
        let error = bench.build_in(dir.path(), &bench.request("k.cpp", Core::Vec)).unwrap_err();
        assert_eq!(error.to_string(), "`k.cpp` is not UTF-8 at byte 3");
        let error = refusal(bench, Core::Vec, &[("k.cpp", "void f() {\n  k<<<1, nullptr, s(x);\n}\n")]);
        assert!(error.to_string().starts_with("k.cpp:2:4: "), "{error}");
    }
}

#[test]
fn warnings_are_kept_and_name_the_users_line() {
    let dir = tree(&[("k.cpp", &format!("{INCLUDE}#warning look here\nint a;\n"))]);
    for bench in benches() {
        let request = bench.request(Path::new("k.cpp"), Core::Mix);
        for _ in 0..2 {
            let built = bench.build_in(dir.path(), &request).unwrap();
            assert!(built.warnings.starts_with("k.cpp:2:2: warning: look here"), "{}", built.warnings);
            assert_eq!(built.warnings.matches("look here [").count(), 1, "{}", built.warnings);
            assert_nothing_of_ours(&built.warnings);
        }
    }
}
