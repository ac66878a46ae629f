//! What real compiler output is taken to mean.

use proptest::prelude::*;
use pto_compile::bisheng::{Diagnosis, Versions, diagnose, without_crash_report};

const REDEFINED: &str = include_str!("data/memory-macro-redefined.txt");
const MACRO: &str = include_str!("data/identifier-is-a-macro.txt");
const BACKEND: &str = include_str!("data/backend-lacks-instruction.txt");

const VERSIONS: Versions<'_> = Versions { cann: Some("9.0.0-beta.1"), ptoas: Some("0.61") };

fn only(output: &str) -> Diagnosis {
    let mut found = diagnose(output, VERSIONS);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0)
}

#[test]
fn a_generator_newer_than_the_compiler_names_both_versions() {
    let found = only(BACKEND);
    assert_eq!(found.id, "backend-lacks-instruction");
    insta::assert_snapshot!(found.summary, @"PTOAS 0.61 uses `llvm.hivm.MOV.UB.TO.OUT.ALIGN.V2.DV`, which the device compiler of CANN 9.0.0-beta.1 does not have");
    assert!(found.evidence[1].contains("@TINSERT_acc2vec_nd_f16_16x16_mix_aic"), "{found:?}");
    insta::assert_snapshot!(without_crash_report(BACKEND), @"fatal error: error in backend: Cannot select: intrinsic %llvm.hivm.MOV.UB.TO.OUT.ALIGN.V2.DV");
}

#[test]
fn the_memory_macro_in_a_source_is_told_apart_from_the_command_line() {
    let found = only(REDEFINED);
    assert_eq!(found.id, "memory-macro-redefined");
    insta::assert_snapshot!(found.summary, @"`MEMORY_BASE` is defined in `/workdir/pto-kernels/csrc/kernel/kernel_utils.h:11:9` and on the command line, where every build passes it");
    assert!(found.evidence.iter().any(|line| line.contains("previous definition is here")), "{found:?}");
    // With -Werror the same line is the error, and there is no second cause.
    let as_error = REDEFINED.replace("warning: 'MEMORY_BASE'", "error: 'MEMORY_BASE'");
    assert_eq!(only(&as_error).id, "memory-macro-redefined");
}

#[test]
fn a_macro_of_the_release_keeps_the_line_that_betrays_it() {
    let found = only(MACRO);
    assert_eq!(found.id, "identifier-is-a-macro");
    insta::assert_snapshot!(found.summary, @"an identifier of the kernel is a macro in the compiler's headers of CANN 9.0.0-beta.1: illegal initializer (only variables can be initialized)");
    assert!(found.evidence.iter().any(|line| line.starts_with("__clang_cce_vector_intrinsics.h")), "{found:?}");
    let named = "k.cpp:3:9: error: expected unqualified-id\n__clang_cce_types.h:5:9: note: expanded from macro 'BLK'\n";
    assert!(only(named).summary.starts_with("`BLK` is a macro"));
}

#[test]
fn any_other_error_shows_the_release() {
    let output = "k.cpp:1:1: warning: unused\nk.cpp:3:9: error: unknown type name 'Tile'\n  Tile x;\n  ^\nk.cpp:4:1: error: later\n2 errors generated.\n";
    let found = only(output);
    assert_eq!(found.id, "compile-error");
    insta::assert_snapshot!(found.summary, @"unknown type name 'Tile' under CANN 9.0.0-beta.1");
    assert_eq!(found.evidence.len(), 3, "{found:?}");
    let unknown = diagnose(output, Versions::default());
    assert!(unknown[0].summary.ends_with("under this CANN (release unknown)"), "{unknown:?}");
}

#[test]
fn a_warning_does_not_hide_the_error_behind_it() {
    let output = format!("{REDEFINED}k.cpp:3:9: error: unknown type name 'Tile'\n");
    let ids: Vec<_> = diagnose(&output, VERSIONS).iter().map(|found| found.id).collect();
    assert_eq!(ids, ["memory-macro-redefined", "compile-error"]);
}

#[test]
fn output_without_trouble_has_no_diagnosis_and_loses_nothing() {
    let output = "k.cpp:1:1: warning: unused variable 'x'\n  1 | int x;\n1 warning generated.";
    assert_eq!(diagnose(output, VERSIONS), []);
    assert_eq!(without_crash_report(output), output);
}

proptest! {
    #[test]
    fn never_panics(output in "((error: |: warning: |Stack dump:|Cannot select: intrinsic |'MEMORY_BASE' macro redefined|expanded from macro '|\n)\\PC{0,6}){0,12}") {
        let _ = diagnose(&output, VERSIONS);
        let _ = without_crash_report(&output);
    }
}
