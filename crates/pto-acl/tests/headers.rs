//! Constants and types against the real ACL headers: a C++ file of static assertions is generated from the tables of
//! `sys` and compiled.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pto_acl::{known_codes, sys};

/// Where the real headers are: a directory with `acl/acl.h` in it.
const HEADERS: &str = "PTOKIT_ACL_HEADERS";

/// Functions that only runtimes newer than the tested headers declare.
const NEWER: [&str; 5] = [
    "aclrtGetDeviceInfo",
    "aclrtLaunchHostFunc",
    "aclrtResetDeviceForce",
    "aclrtSynchronizeDeviceWithTimeout",
    "aclrtSynchronizeEventWithTimeout",
];

#[expect(clippy::disallowed_methods, reason = "a test is told by the environment where the headers are")]
fn headers() -> Option<PathBuf> {
    let found = std::env::var_os(HEADERS).map(PathBuf::from);
    if found.is_none() {
        pto_test::skip(&format!("`{HEADERS}` is not set, so nothing was compared with the real headers"));
    }
    found
}

/// The text of the headers, to see which names they have.
fn text(directory: &Path) -> String {
    let files = ["acl/acl.h", "acl/acl_rt.h", "acl/acl_base.h", "acl/error_codes/rt_error_codes.h"];
    files.iter().map(|file| fs_err::read_to_string(directory.join(file)).unwrap()).collect()
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|found| found == word)
}

fn compile(directory: &Path, source: &str) -> assert_cmd::assert::Assert {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("check.cpp");
    fs_err::write(&file, source).unwrap();
    let compiler = ["c++", "g++", "clang++", "clang++-19"].into_iter().find(|name| {
        assert_cmd::Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    });
    assert_cmd::Command::new(compiler.expect("a C++ compiler on PATH"))
        .args(["-std=c++17", "-fsyntax-only", "-isystem"])
        .arg(directory)
        .arg(&file)
        .assert()
}

fn prologue() -> String {
    "#include <acl/acl.h>\n#include <type_traits>\n".into()
}

#[test]
fn constants_have_the_values_of_the_headers() {
    let Some(directory) = headers() else { return };
    let mut source = prologue();
    let enumerators = sys::ENUMERATORS.iter().map(|(name, value)| (*name, i64::from(*value)));
    for (name, value) in enumerators.chain(sys::CONSTANTS.iter().copied()) {
        writeln!(source, "static_assert({name} == {value}, \"{name}\");").unwrap();
    }
    for name in ["aclrtMemcpyKind", "aclrtMemMallocPolicy", "aclrtStreamStatus", "aclDeviceInfo", "aclError"] {
        writeln!(source, "static_assert(sizeof({name}) == sizeof(int32_t), \"{name}\");").unwrap();
    }
    compile(&directory, &source).success();
}

#[test]
fn functions_have_the_types_of_the_headers() {
    let Some(directory) = headers() else { return };
    let text = text(&directory);
    let mut source = prologue();
    for sys::Signature { name, spell, .. } in sys::SIGNATURES {
        if has_word(&text, name) {
            let spelled = spell();
            writeln!(source, "static_assert(std::is_same<decltype(&{name}), {spelled}>::value, \"{name}\");").unwrap();
        } else {
            assert!(NEWER.contains(name), "`{name}` is in no header");
        }
    }
    compile(&directory, &source).success();
}

#[test]
fn the_check_notices_a_wrong_type() {
    let Some(directory) = headers() else { return };
    let wrong = "static_assert(std::is_same<decltype(&aclrtFree), int32_t (*)(const void *)>::value, \"aclrtFree\");\n";
    compile(&directory, &(prologue() + wrong)).failure();
}

#[test]
fn error_codes_have_the_names_of_the_headers() {
    let Some(directory) = headers() else { return };
    let text = text(&directory);
    let mut source = prologue();
    let shared: Vec<_> = known_codes().iter().filter(|known| has_word(&text, known.name)).collect();
    assert!(shared.len() > 150, "only {} codes are in the headers", shared.len());
    for known in shared {
        writeln!(source, "static_assert({} == {}, \"{}\");", known.name, known.code, known.name).unwrap();
    }
    compile(&directory, &source).success();
}
