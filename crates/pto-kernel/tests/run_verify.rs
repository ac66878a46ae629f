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
