//! bisheng, host compilers, CMake. The first four are found by `pto-compile`, which knows the compiler's output.

use super::super::rule::{CauseRule, Clue, Family, FieldRule, Rule, Severity};

const BASE: Rule = Rule { family: Family::Compiler, ..Rule::BASE };

pub(super) static RULES: &[Rule] = &[
    Rule {
        id: "backend-lacks-instruction",
        title: "the device compiler is older than the code it is given",
        docs: "`Cannot select: intrinsic` means that the assembler (PTOAS) or a header uses an instruction that this CANN's \
               compiler does not have. It is a mismatch of versions: the compiler's request to report a bug to LLVM is no help.",
        causes: &[CauseRule {
            text: "PTOAS and CANN do not go together",
            clues: &[Clue::Text(&["Cannot select: intrinsic"])],
            check: "ptoas --version; bisheng --version; grep '^PTOAS_VERSION=' toolchain/versions.env",
        }],
        ..BASE
    },
    Rule {
        id: "memory-macro-redefined",
        severity: Severity::Warning,
        title: "`MEMORY_BASE` or `REGISTER_BASE` is defined twice",
        docs: "Every build passes the macro on the command line, `MEMORY_BASE` for A2 and A3, `REGISTER_BASE` for A5. A \
               definition in a source only warns (1 against empty), unless warnings are errors; without the one on the \
               command line symbols are undefined. So take it out of the source, or guard it with `#ifndef`.",
        causes: &[CauseRule {
            text: "a header or source defines the macro as well",
            clues: &[Clue::Text(&["macro redefined"])],
            check: "grep -rnE '#define (MEMORY_BASE|REGISTER_BASE)' .",
        }],
        ..BASE
    },
    Rule {
        id: "identifier-is-a-macro",
        title: "an identifier of the kernel is a macro of this CANN release",
        docs: "A patch release of CANN may define a macro with a short name in the compiler's headers, and a kernel that used \
               the name stops compiling. The line that names the header is the only sign of it.",
        causes: &[CauseRule {
            text: "the compiler's headers define a macro of that name",
            clues: &[Clue::Text(&["__clang_cce"])],
            check: "grep -rnE '#define [A-Z]{2,4}\\b' \"$ASCEND_HOME_PATH\"/*/ccec_compiler/lib/clang/*/include/__clang_cce*.h | head",
        }],
        ..BASE
    },
    Rule {
        id: "compile-error",
        title: "the source does not compile",
        docs: "The compiler reports an error of which nothing more is known than what it says. The first one counts; later \
               ones often follow from it.",
        causes: &[CauseRule {
            text: "what the compiler says at that place",
            clues: &[],
            check: "cargo xtask kernel build --verbose",
        }],
        ..BASE
    },
    Rule {
        id: "pto-isa-headers-old",
        title: "the PTO-ISA headers are older than the source",
        docs: "A name in namespace `pto` is missing: the headers that are found first, often those of the CANN install, are \
               older than what the source was written for.",
        patterns: &[&["no member named", "in namespace 'pto'"]],
        explains: &["compile-error"],
        fields: &[FieldRule { name: "member", after: "no member named '", until: &['\''] }],
        causes: &[CauseRule {
            text: "an older copy of the headers comes first on the include path",
            clues: &[],
            check: "export PTO_LIB_PATH=/path/to/pto-isa # a checkout at the pinned revision; then compile again",
        }],
        ..BASE
    },
    Rule {
        id: "header-missing",
        title: "a header is not found",
        docs: "An include directory is missing. A path with `aarch64-linux` written into it loses every include directory of \
               CANN on an x86_64 host, and the error appears much later as one missing kernel header.",
        patterns: &[&["fatal error: ", "file not found"], &["fatal error: ", ": No such file or directory"]],
        explains: &["compile-error"],
        fields: &[FieldRule { name: "header", after: "fatal error: ", until: &[':'] }],
        causes: &[CauseRule {
            text: "the include directories are those of another machine type, or CANN is not set up in this shell",
            clues: &[Clue::Text(&["aarch64-linux"])],
            check: "uname -m; ls -d \"$ASCEND_HOME_PATH\"/*-linux/include",
        }],
        ..BASE
    },
    Rule {
        id: "cmake-compiler-unusable",
        title: "CMake takes a command line for a compiler",
        docs: "`CC` or `CXX` holds a compiler with options, as conda environments set it (`gcc -pthread -B ...`). CMake wants \
               a path alone. Unset the variables, or give options through `CFLAGS` and `CXXFLAGS`.",
        patterns: &[
            &["The CMAKE_C_COMPILER:"],
            &["The CMAKE_CXX_COMPILER:"],
            &["is not a full path and was not found in the PATH"],
        ],
        explains: &["cmake-error"],
        causes: &[CauseRule {
            text: "`CC` or `CXX` of a conda environment holds options",
            clues: &[Clue::Text(&["compiler_compat"]), Clue::Text(&["/envs/"])],
            check: "env | grep -E '^(CC|CXX|CONDA_PREFIX)='; env -u CC -u CXX cmake -S . -B build",
        }],
        ..BASE
    },
    Rule {
        id: "cmake-error",
        title: "CMake could not configure the build",
        docs: "CMake stopped while configuring. The lines below the first `CMake Error` say why; what was configured before \
               is kept in the build directory and may hide a correction.",
        patterns: &[&["CMake Error at "], &["CMake Error: "]],
        causes: &[CauseRule {
            text: "what the lines below the first `CMake Error` say",
            clues: &[],
            check: "cmake -S . -B build --fresh",
        }],
        ..BASE
    },
];
