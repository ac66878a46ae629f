//! The loop as a whole, through the example: it is its own worker, which a test program cannot be.
#![expect(clippy::disallowed_methods, reason = "a test is the caller whom the rules are for")]

use std::path::PathBuf;
use std::process::{Command, Output};

use pto_kernel::scaffold;

/// Beside this test program, in `target/<profile>/examples`.
fn example() -> Option<PathBuf> {
    let here = std::env::current_exe().unwrap();
    let path = here.parent()?.parent()?.join("examples/verify");
    if !path.is_file() {
        pto_test::skip("the example is not built; `cargo test -p pto-kernel` builds it");
        return None;
    }
    Some(path)
}

fn verify(manifest: &std::path::Path) -> Option<Output> {
    let mut command = Command::new(example()?);
    command.env("PTO_LIB_PATH", pto_test::headers()?).env_remove("CXX").arg(manifest);
    Some(command.output().unwrap())
}

#[test]
fn a_right_kernel_passes_and_a_wrong_one_does_not() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scaffold::create(scratch.path(), "foo").unwrap();
    let manifest = dir.join("kernel.toml");
    let Some(output) = verify(&manifest) else { return };
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("  n=4096 passed\n") && text.ends_with("foo: passed\n"), "{text}");

    let source = dir.join("foo.cpp");
    let text = fs_err::read_to_string(&source).unwrap();
    fs_err::write(&source, text.replacen("TADD(", "TSUB(", 1)).unwrap();
    let output = verify(&manifest).unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("foo: failed\n"));

    fs_err::write(&source, text.replacen("TADD(", "NONE(", 1)).unwrap();
    let output = verify(&manifest).unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8(output.stderr).unwrap().contains("foo.cpp:53:9: error:"));
}

/// Two legal answers that no golden gives: ties named in another order, and a buffer of which five elements are data.
const TIED: &str = r#"
#include <pto/pto-inst.hpp>
__global__ AICORE void tied(__gm__ int32_t *index, __gm__ float *padded)
{
    index[0] = 3;
    index[1] = 1;
    for (int i = 0; i < 8; i++) {
        padded[i] = i < 5 ? padded[i] + 1 : 0;
    }
}
extern "C" void call_tied(uint32_t blocks, void *stream, void *index, void *padded, void *)
{
    tied<<<blocks, nullptr, stream>>>((__gm__ int32_t *)index, (__gm__ float *)padded);
}
"#;

const TIED_MANIFEST: &str = r#"
[kernel]
name = "tied"
core = "vec"
sources = ["tied.cpp"]
entry = "call_tied"
targets = ["cpu"]
[[arg]]
name = "index"
dir = "out"
dtype = "i32"
shape = [1, 2]
[[arg]]
name = "padded"
dir = "inout"
dtype = "f32"
shape = [8]
[[arg]]
name = "x"
dir = "in"
dtype = "f32"
shape = [1, 4]
fill = { constant = 2.0 }
[launch]
block_dim = 1
[golden]
expr = { index = "topk_indices(x, 2)", padded = "padded + 1" }
[tolerance]
index = { rule = "top-k", scores = "x" }
padded = { valid = [5], tail = "zero" }
"#;

#[test]
fn the_rules_of_the_manifest_decide() {
    let scratch = tempfile::tempdir().unwrap();
    let manifest = scratch.path().join("kernel.toml");
    fs_err::write(scratch.path().join("tied.cpp"), TIED).unwrap();
    for (from, to, code) in [
        ("", "", 0),
        ("index = { rule = \"top-k\", scores = \"x\" }", "", 1),
        ("valid = [5]", "valid = [6]", 1),
        ("padded = { valid = [5], tail = \"zero\" }", "", 1),
        ("valid = [5]", "valid = [9]", 2),
    ] {
        fs_err::write(&manifest, TIED_MANIFEST.replacen(from, to, 1)).unwrap();
        let Some(output) = verify(&manifest) else { return };
        assert_eq!(output.status.code(), Some(code), "{from} -> {to}: {output:?}");
    }
}
