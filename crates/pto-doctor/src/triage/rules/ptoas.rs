//! The PTOAS assembler and what is pinned with it.

use super::super::rule::{CauseRule, Clue, Family, FieldRule, Rule, Severity};

const BASE: Rule = Rule { family: Family::Ptoas, ..Rule::BASE };

pub(super) static RULES: &[Rule] = &[
    Rule {
        id: "ptoas-too-old",
        title: "PTOAS is older than this checkout of PyPTO needs",
        docs: "Code generation refuses an assembler older than the checkout's pin. Images lag behind the main branch: after a \
               pull the pinned release has to be installed again.",
        patterns: &[&["ptoas at ", "PyPTO requires PTOAS"]],
        fields: &[
            FieldRule { name: "installed", after: "is version ", until: &[',', ' '] },
            FieldRule { name: "needed", after: "requires PTOAS >= ", until: &[' ', '\n'] },
        ],
        causes: &[CauseRule {
            text: "the installed release is not the pinned one",
            clues: &[],
            check: "grep '^PTOAS_VERSION=' \"$PYPTO_SRC/toolchain/versions.env\"; cargo xtask ptoas install",
        }],
        ..BASE
    },
    Rule {
        id: "wheel-not-supported",
        title: "the wheel is for another Python, C library or machine type",
        docs: "pip only says that a wheel is not supported on this platform. The three parts of its name say what it is for: \
               the CPython version (cp310), the C library (manylinux_2_34) and the machine type. PTOAS has cp310 wheels only.",
        patterns: &[&["is not a supported wheel on this platform"]],
        fields: &[FieldRule { name: "wheel", after: "ERROR: ", until: &[' '] }],
        causes: &[
            CauseRule {
                text: "the Python interpreter has another version than the wheel",
                clues: &[Clue::Text(&["-cp310-", "is not a supported wheel"])],
                check: "python3 --version",
            },
            CauseRule {
                text: "the C library is older, or not glibc",
                clues: &[Clue::Text(&["manylinux_2_34", "is not a supported wheel"])],
                check: "ldd --version | head -1",
            },
            CauseRule { text: "the machine type is another", clues: &[], check: "uname -m" },
        ],
        ..BASE
    },
    Rule {
        id: "ptoas-rejects-program",
        title: "PTOAS rejects the program",
        docs: "The assembler found an operation that is not valid: the line names the operation and the place in the `.pto` \
               file. If it is legal on another target, the target attribute, `--pto-arch` and the compiler's architecture \
               disagree.",
        patterns: &[&["error: 'pto."], &["error: unknown PTO"]],
        explains: &["compile-error"],
        fields: &[FieldRule { name: "operation", after: "error: '", until: &['\''] }],
        causes: &[
            CauseRule {
                text: "the file is for another target than the flags",
                clues: &[Clue::Text(&["pto.target_arch"])],
                check: "grep -n 'pto.target_arch' FILE.pto; ptoas --help | grep -A2 pto-arch",
            },
            CauseRule {
                text: "the assembler is older than what generated the file",
                clues: &[],
                check: "ptoas --version",
            },
        ],
        ..BASE
    },
    Rule {
        id: "binding-does-not-match",
        title: "the installed `simpler` was built from another source",
        docs: "The binding's build revision differs from the checkout: a mounted source is almost never the one that the image \
               was built from. Build again before anything else.",
        patterns: &[&["simpler", "does not match its source"]],
        causes: &[CauseRule {
            text: "the checkout changed after the build",
            clues: &[],
            check: "pypto-build && pypto-doctor",
        }],
        ..BASE
    },
    Rule {
        id: "pto-isa-clone",
        severity: Severity::Warning,
        title: "PTO-ISA is fetched over the network",
        docs: "The runtime's pin of PTO-ISA differs from the checkout that the image carries, so it is cloned. It is expected \
               after a new pin; where HTTP/2 is unstable, `git config --global http.version HTTP/1.1` helps.",
        patterns: &[&["Cloning into", "pto-isa"]],
        causes: &[CauseRule {
            text: "the pin was raised, or the managed checkout modified",
            clues: &[],
            check: "cat \"$PYPTO_SRC/runtime/pto_isa.pin\"",
        }],
        ..BASE
    },
];
