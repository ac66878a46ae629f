//! Linking and loading.

use super::super::rule::{CauseRule, Clue, Family, FieldRule, Rule, Severity};

const BASE: Rule = Rule { family: Family::Linker, ..Rule::BASE };

const REQUIRED_BY: FieldRule = FieldRule { name: "required_by", after: "required by ", until: &[')'] };

pub(super) static RULES: &[Rule] = &[
    Rule {
        id: "glibcxx-too-old",
        title: "libstdc++ is older than a library needs",
        docs: "glibc can be new enough and libstdc++ not: openEuler 22.03 has glibc 2.34, so a manylinux_2_34 wheel installs, \
               but its libstdc++ ends at GLIBCXX_3.4.28, so it does not load. The cure is a newer libstdc++ before the \
               system's on the library path, or a wheel for this system.",
        patterns: &[&["version `GLIBCXX_", "not found"], &["version `CXXABI_", "not found"]],
        explains: &["inner-error"],
        fields: &[FieldRule { name: "needed", after: "version `", until: &['\''] }, REQUIRED_BY],
        causes: &[
            CauseRule {
                text: "the system's libstdc++ is too old for the wheel",
                clues: &[
                    Clue::Text(&["lib64/libstdc++.so.6: version"]),
                    Clue::Text(&["lib/x86_64-linux-gnu/libstdc++.so.6: version"]),
                ],
                check: "strings -a /usr/lib64/libstdc++.so.6 /usr/lib/*-linux-gnu/libstdc++.so.6 2>/dev/null | grep -oE '^GLIBCXX_3[0-9.]+$' | sort -uV | tail -1",
            },
            CauseRule {
                text: "an older copy comes first on the library path, as in conda environments and some SDKs",
                clues: &[Clue::Text(&["/envs/", "libstdc++.so.6"])],
                check: "echo \"$LD_LIBRARY_PATH\" | tr : '\\n' | xargs -I{} ls {}/libstdc++.so.6 2>/dev/null",
            },
        ],
        ..BASE
    },
    Rule {
        id: "glibc-too-old",
        title: "glibc is older than a library or program needs",
        docs: "The program was built on a newer system. glibc cannot be exchanged on its own: use a build for this system, or \
               a container.",
        patterns: &[&["version `GLIBC_", "not found"]],
        explains: &["inner-error"],
        fields: &[FieldRule { name: "needed", after: "version `", until: &['\''] }, REQUIRED_BY],
        causes: &[CauseRule {
            text: "this system is older than the one the file was built on",
            clues: &[],
            check: "ldd --version | head -1",
        }],
        ..BASE
    },
    Rule {
        id: "shared-library-missing",
        title: "a shared library is not found",
        docs: "The loader does not find a library. In ssh, sudo and CI shells CANN's environment is often not set up; \
               libraries of the driver are not in CANN but in the driver's own directories.",
        patterns: &[&["error while loading shared libraries"], &["cannot open shared object file"]],
        explains: &["inner-error"],
        fields: &[FieldRule { name: "library", after: "shared libraries: ", until: &[':'] }],
        causes: &[
            CauseRule {
                text: "the environment of CANN is not set up in this shell",
                clues: &[Clue::Text(&["libascendcl.so: cannot open"]), Clue::Text(&["libruntime.so: cannot open"])],
                check: "source \"${ASCEND_HOME_PATH:-/usr/local/Ascend/ascend-toolkit/latest}\"/bin/setenv.bash",
            },
            CauseRule {
                text: "the driver's library directories are not on the library path",
                clues: &[
                    Clue::Text(&["libascend_hal.so"]),
                    Clue::Text(&["libdrvdsmi_host.so"]),
                    Clue::Text(&["libc_sec.so"]),
                ],
                check: "export LD_LIBRARY_PATH={driver}/lib64/common:{driver}/lib64/driver:{driver}/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}",
            },
        ],
        ..BASE
    },
    Rule {
        id: "undefined-symbol",
        title: "a symbol is undefined",
        docs: "Linking or loading needs a symbol that no library has. For a kernel: the memory macro was not passed, an object \
               was not linked, or headers and libraries are of different releases. `devlib` directories hold stubs that \
               satisfy the linker only.",
        patterns: &[&["undefined symbol: "], &["undefined reference to "]],
        explains: &["link-failed"],
        fields: &[
            FieldRule { name: "symbol", after: "undefined symbol: ", until: &[' ', ',', '\n'] },
            FieldRule { name: "reference", after: "undefined reference to `", until: &['\''] },
        ],
        causes: &[
            CauseRule {
                text: "`-DMEMORY_BASE` (A2, A3) or `-DREGISTER_BASE` (A5) was not passed to the device compile",
                clues: &[],
                check: "cargo xtask kernel build --verbose",
            },
            CauseRule {
                text: "a library of another release, or a stub, comes first on the library path",
                clues: &[Clue::Text(&["devlib"])],
                check: "echo \"$LD_LIBRARY_PATH\" | tr : '\\n' | grep -nE 'devlib|stub'",
            },
        ],
        ..BASE
    },
    Rule {
        id: "link-library-missing",
        title: "the linker does not find a library",
        docs: "A library named with `-l` is in none of the directories named with `-L`. The directory of CANN's libraries \
               differs by machine type and release.",
        patterns: &[&["cannot find -l"], &["unable to find library -l"]],
        explains: &["link-failed"],
        fields: &[FieldRule { name: "library", after: " -l", until: &[' ', ':', '\n'] }],
        causes: &[CauseRule {
            text: "CANN's library directory is not passed, or of another release",
            clues: &[],
            check: "ls -d \"$ASCEND_HOME_PATH\"/lib64 \"$ASCEND_HOME_PATH\"/*-linux/simulator/*/lib \"$ASCEND_HOME_PATH\"/tools/simulator/*/lib",
        }],
        ..BASE
    },
    Rule {
        id: "file-for-another-machine",
        title: "a file is for another machine type",
        docs: "A library or object was built for another processor: an aarch64 file on x86_64 or the reverse, or a device \
               object given to the host's linker.",
        patterns: &[&["file in wrong format"], &["wrong ELF class"], &["is incompatible with elf"]],
        explains: &["link-failed"],
        causes: &[CauseRule { text: "files of two machine types are mixed", clues: &[], check: "uname -m; file FILE" }],
        ..BASE
    },
    Rule {
        id: "link-failed",
        fallout: true,
        severity: Severity::Fault,
        title: "the link failed",
        docs: "The compiler driver passes on that its linker failed. The linker's own lines right before it say why.",
        patterns: &[&["linker command failed"], &["ld returned 1 exit status"]],
        causes: &[CauseRule {
            text: "what the linker's own lines say",
            clues: &[],
            check: "grep -nE 'undefined|cannot find|incompatible|wrong format' {log} | head",
        }],
        ..BASE
    },
];
