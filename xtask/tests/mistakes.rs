//! Mistakes, and what is said of them. One row per mistake: what is written, the exit code, the lines that must be there.

mod scratch;

use scratch::Scratch;

/// One mistake in a kernel from the template, `foo`.
struct Row {
    what: &'static str,
    /// File, what is there, what stands there instead.
    edits: &'static [(&'static str, &'static str, &'static str)],
    /// Behind `kernel test foo --offline`.
    options: &'static [&'static str],
    code: i32,
    says: &'static [&'static str],
}

const MANIFEST: &str = "foo/kernel.toml";
const SOURCE: &str = "foo/foo.cpp";
/// The smallest case, where the number of cases does not matter.
const ONE: &[&str] = &["--case", "n=4096"];
const EXPR: &str = r#"expr = { y = "x + z" }"#;
const ADD: &str = "TADD(yTile, xTile, zTile);";
const BLOCK_DIM: &str = r#"block_dim = "min(vector_cores, ceil(n / tile))""#;
const DECLARATION: &str = "void *stream, void *y, void *x, void *z";
const Y_SHAPE: &str = "dtype = \"f16\"\nshape = [\"n\"]\n\n[[arg]]\nname = \"x\"";

/// Runs the rows one after the other in one place, so that what did not change is not compiled again, and reports all
/// that are not as they should be.
fn check(rows: &[Row]) {
    let Some(scratch) = Scratch::new() else { return };
    let wrong: Vec<String> = rows.iter().filter_map(|row| problem(&scratch, row)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n======\n"));
}

fn problem(scratch: &Scratch, row: &Row) -> Option<String> {
    scratch.kernel("foo");
    for (file, find, replace) in row.edits {
        scratch.edit(file, find, replace);
    }
    let args = [&["kernel", "test", "./foo", "--offline"], row.options].concat();
    let ran: scratch::Ran = scratch.command(&args).env("PTO_SYNC_TIMEOUT_S", "2").output().unwrap().into();
    let missing: Vec<_> = row.says.iter().filter(|text| !ran.says(text)).collect();
    let panicked = ran.says("panicked at") || ran.says("RUST_BACKTRACE");
    let fine = ran.code == Some(row.code) && missing.is_empty() && !panicked;
    (!fine).then(|| format!("{}: expected exit code {} and {missing:?}\n{ran}", row.what, row.code))
}

#[test]
fn in_the_manifest() {
    check(&[
        Row {
            what: "nothing wrong",
            edits: &[],
            options: ONE,
            code: 0,
            says: &["passed: 1 of 1 cases passed in 1 kernel"],
        },
        Row {
            what: "unknown key",
            edits: &[(MANIFEST, "core = ", "kore = ")],
            options: &[],
            code: 2,
            says: &["./foo/kernel.toml:4:1: unknown key `kore` in [kernel]", "help: did you mean `core`?"],
        },
        Row {
            what: "unknown dim",
            edits: &[(MANIFEST, r#"shape = ["n"]"#, r#"shape = ["nn"]"#)],
            options: &[],
            code: 2,
            says: &["./foo/kernel.toml:17:11: unknown dim `nn` in `shape` of `y`", "did you mean `n`?"],
        },
        Row {
            what: "a section misspelt",
            edits: &[(MANIFEST, "[launch]", "[lanch]")],
            options: &[],
            code: 2,
            says: &[
                "error: ./foo/kernel.toml:38:2: unknown key `lanch` in kernel.toml\n  help: did you mean `launch`?\n\n",
            ],
        },
        Row {
            what: "one table for each argument",
            edits: &[
                (MANIFEST, "[[arg]]", "[arg]"),
                (MANIFEST, "[[arg]]", "[arg]"),
                (MANIFEST, "[[arg]]", "[arg]"),
                (MANIFEST, "[[arg]]", "[arg]"),
            ],
            options: &[],
            code: 2,
            says: &[
                "error: ./foo/kernel.toml:13:1: `[arg]` is one table, and there are 4 of it\n  help: write `[[arg]]` above each argument\n\n",
            ],
        },
        Row {
            what: "a key twice",
            edits: &[(MANIFEST, "[dims]", "[dims]\nn = 3")],
            options: &[],
            code: 2,
            says: &["./foo/kernel.toml:11:1: `n` is there twice"],
        },
        Row {
            what: "a length in quotes",
            edits: &[(MANIFEST, "tile = 16384", "tile = \"16384\"")],
            options: &[],
            code: 2,
            says: &["./foo/kernel.toml:11:8: dim `tile` is `16384`", "help: remove the quotes: `tile = 16384`"],
        },
        Row {
            what: "a shape without brackets",
            edits: &[(MANIFEST, r#"shape = ["n"]"#, r#"shape = "n""#)],
            options: &[],
            code: 2,
            says: &["./foo/kernel.toml:17:9: `shape` of `y` is a string, expected an array", r#"help: write `["n"]`"#],
        },
        Row {
            what: "a scalar that no launcher takes",
            edits: &[(MANIFEST, r#"scalar = "u32""#, r#"scalar = "f16""#)],
            options: &[],
            code: 2,
            says: &["unknown scalar type `f16` of `n`", "help: pass it as `f32`, and let the kernel round it"],
        },
        Row {
            what: "no TOML",
            edits: &[(MANIFEST, "[dims]", "[dims")],
            options: &[],
            code: 2,
            says: &["./foo/kernel.toml:9:"],
        },
        Row {
            what: "missing source",
            edits: &[(MANIFEST, r#"sources = ["foo.cpp"]"#, r#"sources = ["fo.cpp"]"#)],
            options: &[],
            code: 2,
            says: &["./foo/kernel.toml:5:12: source `fo.cpp`: no such file (./foo/fo.cpp)"],
        },
        Row {
            what: "wrong entry symbol",
            edits: &[(MANIFEST, r#"entry = "call_foo""#, r#"entry = "call_fo""#)],
            options: ONE,
            code: 2,
            says: &[
                "./foo/kernel.toml:6: `call_fo` is not in the built library; it exports `call_foo`",
                "hint: set `entry`",
            ],
        },
        Row {
            what: "wrong global",
            edits: &[(MANIFEST, r#"entry = "call_foo""#, r#"global = "fo_kernel""#)],
            options: ONE,
            code: 2,
            says: &["`fo_kernel`", "did you mean `foo_kernel`?"],
        },
        Row {
            what: "argument type",
            edits: &[(MANIFEST, r#"scalar = "u32""#, r#"scalar = "f32""#)],
            options: ONE,
            code: 2,
            says: &[
                "./foo/foo.cpp:63: parameter 6 of `call_foo` is `uint32_t n`, an integer of 32 bits; the manifest passes `n`, a floating point number of 32 bits",
            ],
        },
        Row {
            what: "argument count",
            edits: &[(MANIFEST, "[[arg]]\nname = \"n\"\nscalar = \"u32\"\nvalue = \"n\"\n", "")],
            options: ONE,
            code: 2,
            says: &["./foo/foo.cpp:63: `call_foo` takes 6 arguments, the manifest passes 5", "`signature` of [launch]"],
        },
        Row {
            what: "an extent that divides by zero",
            edits: &[(MANIFEST, Y_SHAPE, "dtype = \"f16\"\nshape = [\"n / (n - 4096)\"]\n\n[[arg]]\nname = \"x\"")],
            options: ONE,
            code: 2,
            says: &[
                "./foo/kernel.toml:17: an extent in `shape` of `y` is `n / (n - 4096)`, which has no value in case n=4096: division by zero",
            ],
        },
        Row {
            what: "a negative extent",
            edits: &[(MANIFEST, Y_SHAPE, "dtype = \"f16\"\nshape = [\"n - 5000\"]\n\n[[arg]]\nname = \"x\"")],
            options: ONE,
            code: 2,
            says: &[
                "./foo/kernel.toml:17: `shape` of `y` has the extent `n - 5000`, which is -904 in case n=4096; expected at least 1",
            ],
        },
        Row {
            what: "no blocks",
            edits: &[(MANIFEST, BLOCK_DIM, r#"block_dim = "n / tile""#)],
            options: ONE,
            code: 2,
            says: &["./foo/kernel.toml:39: `block_dim` is `n / tile`"],
        },
        Row {
            what: "a scalar that does not fit",
            edits: &[
                (MANIFEST, r#"scalar = "u32""#, r#"scalar = "u8""#),
                (SOURCE, "void *z, uint32_t n)\n{\n    foo", "void *z, uint8_t n)\n{\n    foo"),
            ],
            options: ONE,
            code: 2,
            says: &["./foo/kernel.toml:36: `n` is 4096 in case n=4096, and u8 holds 0 to 255"],
        },
        Row {
            what: "another dtype than the source's",
            edits: &[(MANIFEST, Y_SHAPE, "dtype = \"f32\"\nshape = [\"n\"]\n\n[[arg]]\nname = \"x\"")],
            options: ONE,
            code: 1,
            says: &["hint: foo: ./foo/kernel.toml:14: `y` is f32, and the source uses it as f16\n\ndiffers foo"],
        },
        Row {
            what: "more blocks than cores",
            edits: &[(MANIFEST, BLOCK_DIM, r#"block_dim = "ceil(n / 64)""#)],
            options: ONE,
            code: 0,
            says: &[
                "note: foo: 64 blocks, and Ascend910B2 has 48 vector cores in case n=4096",
                "(./foo/kernel.toml:39)",
            ],
        },
        Row {
            what: "more blocks than cores, and a kernel that fails",
            edits: &[(MANIFEST, BLOCK_DIM, r#"block_dim = "ceil(n / 64)""#), (SOURCE, "TADD(", "TSUB(")],
            options: ONE,
            code: 1,
            says: &[
                "hint: ./foo/kernel.toml:39: `block_dim` gives 64 blocks, and Ascend910B2 has 48 vector cores: write `min(vector_cores, ...)`",
            ],
        },
    ]);
}

#[test]
fn in_the_golden() {
    check(&[
        Row {
            what: "an output without golden",
            edits: &[(MANIFEST, EXPR, "expr = {}")],
            options: ONE,
            code: 2,
            says: &["./foo/kernel.toml:42:8: golden does not cover output `y`"],
        },
        Row {
            what: "unknown input",
            edits: &[(MANIFEST, EXPR, r#"expr = { y = "x + q" }"#)],
            options: ONE,
            code: 2,
            says: &["./foo/kernel.toml:42:19: unknown input `q` in golden of `y`", "expected `n`, `tile`, `x` or `z`"],
        },
        Row {
            what: "another shape",
            edits: &[(MANIFEST, EXPR, r#"expr = { y = "sum(x)" }"#)],
            options: ONE,
            code: 2,
            says: &[
                "./foo/kernel.toml:42: golden of `y` is `sum(x)`, which has shape [] in case n=4096; the output has [4096]",
            ],
        },
        Row {
            what: "a command that fails",
            edits: &[(MANIFEST, EXPR, r#"command = ["sh", "-c", "echo it broke >&2; exit 3"]"#)],
            options: ONE,
            code: 2,
            says: &["no golden foo n=4096: the golden command `sh -c", "exited with code 3\n  it broke"],
        },
        Row {
            what: "a command that hangs",
            edits: &[(MANIFEST, EXPR, "command = [\"sleep\", \"100\"]\ntimeout_s = 1")],
            options: ONE,
            code: 2,
            says: &["the golden command `sleep 100` was still running at its deadline of 1s and was ended"],
        },
        Row {
            what: "a command that writes nothing",
            edits: &[(MANIFEST, EXPR, r#"command = ["true"]"#)],
            options: ONE,
            code: 2,
            says: &["no golden foo n=4096: the golden command wrote no `golden/y.npy`"],
        },
        Row {
            what: "a command that writes another shape",
            edits: &[(
                MANIFEST,
                EXPR,
                r#"command = ["sh", "-c", "printf '\\223NUMPY\\001\\000v\\000{%-116s\\n12' \"'descr': '<f2', 'fortran_order': False, 'shape': (1,), }\" >golden/y.npy"]"#,
            )],
            options: ONE,
            code: 2,
            says: &["`golden/y.npy` has shape [1]; `y` has [4096] in case n=4096"],
        },
        Row {
            what: "a command that writes another type",
            edits: &[(
                MANIFEST,
                EXPR,
                r#"command = ["sh", "-c", "printf '\\223NUMPY\\001\\000v\\000{%-116s\\n12345678' \"'descr': '<f8', 'fortran_order': False, 'shape': (1,), }\" >golden/y.npy"]"#,
            )],
            options: ONE,
            code: 2,
            says: &["no golden foo n=4096: ", "hint: save it as f16 with `.astype(numpy.float16)`"],
        },
        Row {
            what: "a program that is not here",
            edits: &[(MANIFEST, EXPR, r#"command = ["nonesuch-python"]"#)],
            options: ONE,
            code: 3,
            says: &[
                "the golden command cannot be run: program `nonesuch-python` not found",
                "hint: install `nonesuch-python`",
            ],
        },
        Row {
            what: "no directory",
            edits: &[(MANIFEST, EXPR, r#"files = "golden""#)],
            options: ONE,
            code: 2,
            says: &["./foo/kernel.toml:42:9: golden directory `golden` does not exist (./foo/golden)"],
        },
        Row {
            what: "no file",
            edits: &[(MANIFEST, EXPR, r#"files = ".""#)],
            options: ONE,
            code: 2,
            says: &["no golden foo n=4096: there is no `y.npy` in `./foo"],
        },
    ]);
}

#[test]
fn on_the_command_line() {
    let row = |what, options, code, says| Row { what, edits: &[], options, code, says };
    check(&[
        row("unknown name", &["fo"], 2, &["error: there is no kernel `fo`", "hint: did you mean `foo`?"]),
        row("unknown path", &["./bar"], 2, &["./bar"]),
        row("unknown target", &["--target", "npu"], 2, &["`npu` is not a target; expected `a2a3`, `a5` or `cpu`"]),
        row(
            "unknown SoC",
            &["--soc", "Ascend910B9"],
            2,
            &["`Ascend910B9` is not a known SoC", "did you mean `Ascend910B"],
        ),
        row(
            "a SoC that is like none",
            &["--soc", "Foo"],
            2,
            &[
                "`Foo` is not a known SoC",
                "those that PTO is built for: a2a3: Ascend910",
                "Ascend910B2C, ",
                "; a5: Ascend",
            ],
        ),
        row(
            "a case without a number",
            &["--case", "nonsense"],
            2,
            &["`nonsense` is not of the form `dim=length`", "write `n=4096`"],
        ),
        row("a case of no length", &["--case", "n=0"], 2, &["`0` is not a length of at least 1"]),
        row("a case of another dim", &["--case", "m=3"], 2, &["`m=3` gives `m`, which is no dim of `foo`"]),
        row("a case that is not there", &["--case", "99"], 2, &["`99` selects no case", "the cases of `foo` are 1: "]),
        row("no jobs", &["--jobs", "0"], 2, &["--jobs"]),
        row("an unknown option", &["--jsn"], 2, &["unexpected argument '--jsn'", "'--json'"]),
        row(
            "an NPU that is not here",
            &["--target", "a2a3"],
            3,
            &["no CANN toolkit found", "the `cpu` target needs none"],
        ),
        row("headers that are not there", &["--pto-isa", "/nonesuch"], 3, &["/nonesuch", "hint:"]),
    ]);
    check(&[Row {
        what: "a target that the kernel is not written for",
        edits: &[(MANIFEST, r#"targets = ["a2a3", "a5", "cpu"]"#, r#"targets = ["cpu"]"#)],
        options: &["--target", "a5"],
        code: 2,
        says: &["kernel `foo` is not written for `a5`; its targets are `cpu`", "hint: use `--target cpu`"],
    }]);
}

#[test]
fn in_the_source() {
    let row = |what, edits, code, says| Row { what, edits, options: ONE, code, says };
    check(&[
        row(
            "a syntax error",
            &[(SOURCE, ADD, "TADD(yTile, xTile, zTile)")],
            1,
            &["does not build", "./foo/foo.cpp:53:34: error: expected ';'"],
        ),
        row(
            "a launch that is none",
            &[(SOURCE, "nullptr, stream>>>", "nullptr, stream>>")],
            1,
            &["./foo/foo.cpp:65:15: `<<<` is not understood here: expected `kernel<<<grid, nullptr, stream>>>(args)`"],
        ),
        row(
            "a function that is not there",
            &[(SOURCE, ADD, "nonesuch();"), (SOURCE, "using namespace pto;", "using namespace pto;\nvoid nonesuch();")],
            1,
            &["the kernel does not link", "foo/foo.cpp:54: undefined reference to `nonesuch()'"],
        ),
        row(
            "another operation",
            &[(SOURCE, "TADD(", "TSUB(")],
            1,
            &[
                "differs foo n=4096\n  `y`: 409",
                "worst at [",
                "repeat: cargo xtask kernel test ./foo --case n=4096 --seed 1",
            ],
        ),
        row(
            "beyond the buffer",
            &[(SOURCE, "yGlobal(y + begin", "yGlobal(y + begin + 40000")],
            1,
            &["past the end of the 8192-byte device buffer of `y`"],
        ),
        row(
            "beyond on-chip memory",
            &[(SOURCE, "TASSIGN(yTile, Y_AT)", "TASSIGN(yTile, 300 * 1024)")],
            1,
            &[
                "fault foo n=4096: vector core 0: TASSIGN: a tile of 32768 bytes at byte 307200 of UB ends past its 196608 bytes",
                "(launched at ./foo/foo.cpp:65)",
            ],
        ),
        row(
            "never written",
            &[(SOURCE, "TSTORE(yGlobal, yTile);", "")],
            1,
            &["`y`: never written: all 4096 elements still hold the fill pattern"],
        ),
        row(
            "an input is written to",
            &[(SOURCE, "TSTORE(yGlobal, yTile);", "TSTORE(yGlobal, yTile); TSTORE(xGlobal, yTile);")],
            1,
            &["differs foo n=4096: the kernel wrote to its input `x`: ", " of 4096 elements, the first at [0]"],
        ),
        row(
            "written in part",
            &[
                (
                    SOURCE,
                    "yGlobal(y + begin, {static_cast<int>(length)}",
                    "yGlobal(y + begin, {static_cast<int>(length - 5)}",
                ),
                (SOURCE, "yTile(length)", "yTile(length - 5)"),
            ],
            1,
            &["`y`: 5 of 4096 elements never written, first at [4091], last at [4095]; the others agree"],
        ),
        row(
            "a null pointer",
            &[(SOURCE, ADD, "*(volatile int *)8 = 1;")],
            1,
            &["crashed foo n=4096: crashed by SIGSEGV", "near null"],
        ),
        row("exit(0)", &[(SOURCE, ADD, "exit(0);")], 1, &["exited foo n=4096: ended the process with exit code 0"]),
        row("abort()", &[(SOURCE, ADD, "abort();")], 1, &["crashed foo n=4096: crashed by SIGABRT"]),
        row(
            "no end",
            &[(SOURCE, ADD, "for (volatile int i = 0;; i = i + 1) {}")],
            1,
            &["hung foo n=4096: hung while the kernel ran: killed after 2.0 s", "`PTO_SYNC_TIMEOUT_S`"],
        ),
        row(
            "a wait that nobody satisfies",
            &[(SOURCE, ADD, "wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID3);")],
            1,
            &[
                "deadlock: vector core 0 waits for event 3 from PIPE_V to PIPE_MTE3, which is never set",
                "hint: the flag that does not pair is in ./foo/foo.cpp:53",
            ],
        ),
        row(
            "a flag that nobody waits for",
            &[(SOURCE, "wait_flag(PIPE_MTE2, PIPE_V", "// wait_flag(PIPE_MTE2, PIPE_V")],
            0,
            &["flag left set at the end of the kernel: event 0 from PIPE_MTE2 to PIPE_V (./foo/foo.cpp:50)"],
        ),
        row(
            "arguments in another order",
            &[(SOURCE, DECLARATION, "void *stream, void *x, void *y, void *z")],
            1,
            &[
                "hint: foo: ./foo/foo.cpp:63: parameter 3 of `call_foo` is named `x`, the manifest passes `y`",
                "the kernel wrote to its input `x`: 4096 of 4096 elements",
            ],
        ),
        row(
            "a load that is missing",
            &[(SOURCE, "TLOAD(xTile, xGlobal);", "")],
            1,
            &["everything is NaN: all 4096 elements are NaN", "a missing TLOAD"],
        ),
        row(
            "a flood on stdout",
            &[
                (SOURCE, ADD, "for (int i = 0; i < 300000; i++) std::printf(\"flood %d\\n\", i);"),
                (SOURCE, "#include <cstdint>", "#include <cstdint>\n#include <cstdio>"),
            ],
            1,
            &["differs foo n=4096", "    ...\n", "    flood 299999\n"],
        ),
    ]);
}

/// What only all cases together show.
#[test]
fn in_some_sizes() {
    let row = |what, edits, says| Row { what, edits, options: &[], code: 1, says };
    check(&[
        row(
            "the step of the loop",
            &[(SOURCE, "tile += cores", "tile += tiles")],
            &[
                "failed: 5 of 6 cases passed",
                "whole tiles at the end: elements 786432 to 802815 of 802816: all but the first tile of 16384 of each of the 48 cores",
            ],
        ),
        row(
            "tiles that are not full",
            &[(SOURCE, "n - begin < TILE ? n - begin : TILE", "TILE")],
            &[
                "hint: foo: every case whose `n` is no multiple of the tile, 16384, fails, and no other: the tail is not handled",
                "SIGSEGV while the kernel ran: aclsim: fault at 0x",
                ": the first byte past the end of the 8192-byte device buffer of `x`\n  repeat:",
            ],
        ),
    ]);
}
