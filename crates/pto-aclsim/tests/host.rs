//! A C++ host program, compiled against the real ACL headers and linked to the shared library as to a card's.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where the real headers are: a directory with `acl/acl.h` in it.
const HEADERS: &str = "PTOKIT_ACL_HEADERS";

#[expect(clippy::disallowed_methods, reason = "a test is told by the environment where the headers are")]
fn headers() -> Option<OsString> {
    let found = std::env::var_os(HEADERS);
    if found.is_none() {
        pto_test::skip(&format!("`{HEADERS}` is not set, so no host program was compiled against the real headers"));
    }
    found
}

fn library_directory() -> PathBuf {
    let directory = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    assert!(directory.join("libascendcl.so").exists(), "cargo did not build the shared library");
    directory
}

/// The first C++ compiler there is.
fn compiler() -> assert_cmd::Command {
    let found = ["c++", "g++", "clang++", "clang++-19"].into_iter().find(|name| {
        assert_cmd::Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    });
    assert_cmd::Command::new(found.expect("a C++ compiler on PATH"))
}

#[test]
fn an_acl_host_program_runs() {
    let Some(headers) = headers() else { return };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scratch = tempfile::tempdir().unwrap();
    let program = scratch.path().join("vector_add");
    let libraries = library_directory();
    compiler()
        .args(["-std=c++17", "-Wall", "-Wextra", "-O1", "-isystem"])
        .arg(headers)
        .arg("-I")
        .arg(here.join("include"))
        .arg(here.join("tests/host/vector_add.cpp"))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(&libraries)
        .arg("-lascendcl")
        .arg(format!("-Wl,-rpath,{}", libraries.display()))
        .assert()
        .success();
    assert_cmd::Command::new(&program).assert().success().stdout("vector_add: 10007 elements are right\n");
}

#[test]
fn the_header_is_c_and_cpp() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for language in ["c", "c++"] {
        compiler()
            .args(["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic", "-x", language])
            .arg(here.join("include/aclsim.h"))
            .assert()
            .success();
    }
}
