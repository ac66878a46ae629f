//! Each rule on code that it is for, on code that is right, and on code that it cannot judge.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use pto_kernel::Manifest;
use pto_kernel::lint::{Finding, Rule, Subject, lint, lint_python, lint_source};
use pto_kernel::source::Source;
use pto_platform::{Core, Target};

fn found(text: &str, target: Target) -> Vec<Finding> {
    let subject = Subject { targets: vec![target], core: Some(Core::Vec) };
    lint_source(&Source::parse("k.cpp", text), &subject)
}

/// The findings of one rule, as `line: message`.
fn lines(text: &str, rule: Rule) -> Vec<String> {
    let findings = found(text, Target::A2a3).into_iter().filter(|finding| finding.rule == rule);
    findings.map(|finding| format!("{}: {}", finding.line, finding.message)).collect()
}

/// A kernel around some statements, which begin in line 2.
fn kernel(body: &str) -> String {
    format!("extern \"C\" __global__ AICORE void k(__gm__ half *x, uint32_t n, bool last) {{\n{body}\n}}\n")
}

const SET: &str = "set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);";
const WAIT: &str = "wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);";

/// Shorter than the real thing: `S;` and `W;` are a set and a wait of one flag.
fn flags(body: &str) -> Vec<String> {
    lines(&kernel(&body.replace("S;", SET).replace("W;", WAIT)), Rule::UnpairedFlag)
}

#[test]
fn paired_flags_are_left_alone() {
    for body in [
        "S; W;",
        "S; W; S; W;",
        "if (last) { S; W; }",
        "if (last) { S; }\nif (last) { W; }",
        "if (!last) { S; }\nif (last) { } else { W; }",
        "S; if (last) { W; } else { W; }",
        "S; for (uint32_t i = 0; i < n; ++i) { W; S; } W;",
        "for (uint32_t i = 0; i < n; ++i) { S; W; }",
        "for (uint32_t i = 0; i < n; ++i) { S; }\nfor (uint32_t i = 0; i < n; ++i) { W; }",
        "for (int i = 0; i < 2; ++i) { S; }\nW; W;",
        "S; if (n == 0) { W; return; } W;",
        "for (uint32_t i = 0; i < n; ++i) { if (i == 3) { continue; } S; W; }",
        "while (true) { S; W; if (last) break; }",
        "#if defined(X)\nS;\n#endif\n#if defined(X)\nW;\n#endif",
        "S; switch (n) { case 1: W; break; default: W; break; }",
        "switch (n) { case 1: S; break; default: break; }\nif (n == 1) { W; }",
    ] {
        assert_eq!(flags(body), [""; 0], "{body}");
    }
}

#[test]
fn unpaired_flags_are_found() {
    let nobody = "nobody waits for this flag: (PIPE_V, PIPE_MTE3, EVENT_ID0)";
    let starved = "this waits for a flag that nobody has set by then: (PIPE_V, PIPE_MTE3, EVENT_ID0)";
    for (body, line, expected) in [
        ("S;", 2, nobody.to_owned()),
        ("W;", 2, starved.to_owned()),
        ("S; W;\nW;", 3, starved.to_owned()),
        ("W; S;", 2, starved.to_owned()),
        ("if (last) {\nS;\n}\nW;", 5, format!("{starved}, when `last` is false")),
        ("S;\nif (n > 1) { W; }", 2, format!("{nobody}, when `n > 1` is false")),
        ("S;\nif (n == 0) { return; }\nW;", 2, format!("{nobody}, when `n == 0` is true")),
        ("for (uint32_t i = 0; i < n; ++i) {\nS;\n}\nW;", 3, nobody.to_owned()),
        ("for (int i = 0; i < 3; ++i) {\nS;\n}\nW; W;", 3, nobody.to_owned()),
        ("S;\nswitch (n) { case 1: W; break; default: break; }", 2, format!("{nobody}, when `n == 1` is false")),
        ("if (n == 1) {\nS;\n} else if (n == 2) { S; }", 3, format!("{nobody}, when `n == 1` is true")),
        ("S;\n#if defined(X)\nW;\n#endif", 2, format!("{nobody}, when `defined(X)` is false")),
        ("S;\n#ifndef X\nW;\n#endif", 2, format!("{nobody}, when `X` is true")),
    ] {
        assert_eq!(flags(body), [format!("{line}: in kernel `k`, {expected}")], "{body}");
    }
}

#[test]
fn each_flag_counts_for_itself() {
    let body = "set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);\nwait_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);";
    assert_eq!(lines(&kernel(body), Rule::UnpairedFlag).len(), 2);
    let casts = "set_flag(PIPE_V, PIPE_MTE3, (event_t)0);\nwait_flag(PIPE_V, PIPE_MTE3, static_cast<event_t>(0));";
    assert_eq!(lines(&kernel(casts), Rule::UnpairedFlag), [""; 0]);
}

#[test]
fn helpers_are_entered_with_their_arguments() {
    let helpers = "template <pipe_t A, pipe_t B>\nAICORE void both(event_t e) { set_flag(A, B, e); wait_flag(A, B, e); }\n\
                   AICORE void only_set(event_t e) { set_flag(PIPE_V, PIPE_MTE3, e); }\n\
                   AICORE void only_wait(event_t e) { wait_flag(PIPE_V, PIPE_MTE3, e); }\n";
    let text = |body: &str| format!("{helpers}{}", kernel(body));
    assert_eq!(lines(&text("both<PIPE_V, PIPE_MTE3>(EVENT_ID0);"), Rule::UnpairedFlag), [""; 0]);
    assert_eq!(lines(&text("only_set(EVENT_ID0); only_wait(EVENT_ID0);"), Rule::UnpairedFlag), [""; 0]);
    let unpaired = lines(&text("only_set(EVENT_ID0); only_wait(EVENT_ID1);"), Rule::UnpairedFlag);
    assert_eq!(unpaired.len(), 2, "{unpaired:?}");
    assert!(unpaired[0].starts_with("3: ") && unpaired[1].starts_with("4: "), "{unpaired:?}");
}

#[test]
fn flags_that_cannot_be_judged_are_left_alone() {
    for body in [
        // Which event it is, is known when it runs.
        "set_flag(PIPE_V, PIPE_MTE3, (event_t)(n % 2)); W;",
        "event_t e = last ? EVENT_ID0 : EVENT_ID1; S; wait_flag(PIPE_V, PIPE_MTE3, e);",
        // Not in the first round, and once more after the last.
        "for (uint32_t i = 0; i < n; ++i) { if (i > 0) { W; } S; }\nif (n > 0) { W; }",
        // Two conditions, which may always go together.
        "if (last) { S; }\nif (n > 1) { W; }",
        // A function that nobody here can see.
        "SyncPipes(x); W;",
        "auto later = [&]() { S; }; later(); W;",
        "switch (n) { case 1: S; case 2: W; break; default: break; }",
    ] {
        assert_eq!(flags(body), [""; 0], "{body}");
    }
    let by_macro =
        "#define LEAVE set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0)\n#define SIGNAL(e) set_flag(PIPE_V, PIPE_MTE3, e)\n";
    assert_eq!(lines(&format!("{by_macro}{}", kernel("SIGNAL(EVENT_ID0);")), Rule::UnpairedFlag), [""; 0]);
}

#[test]
fn a_vector_kernel_sets_its_mask_first() {
    let message = |missing: &str| format!("2: kernel `k` reaches this `TADD` without {missing}");
    let mask = |body: &str| lines(&kernel(body), Rule::VectorMask);
    assert_eq!(mask("TADD(y, x, z);"), [message("`set_mask_norm` and `set_vector_mask`")]);
    assert_eq!(mask("set_mask_norm(); TADD(y, x, z); set_vector_mask(-1, -1);"), [message("`set_vector_mask`")]);
    assert_eq!(mask("set_mask_norm(); set_vector_mask(-1, -1); TADD(y, x, z);"), [""; 0]);
    assert_eq!(mask("TLOAD(x_tile, x_gm);"), [""; 0]);
    assert_eq!(mask("init_vector_core(); TADD(y, x, z);"), [""; 0]);
    let helper = "AICORE void prepare() { set_mask_norm(); set_vector_mask(-1, -1); }\n";
    assert_eq!(lines(&format!("{helper}{}", kernel("prepare(); TADD(y, x, z);")), Rule::VectorMask), [""; 0]);
    // A5 has no such mask, and cube cores have no such instructions.
    assert!(!found(&kernel("TADD(y, x, z);"), Target::A5).iter().any(|finding| finding.rule == Rule::VectorMask));
}

#[test]
fn hardware_numbers_are_found_where_they_mean_hardware() {
    let literals = |text: &str| lines(text, Rule::HardwareLiteral);
    assert_eq!(literals("constexpr uint32_t UB = 192 * 1024;"), ["1: `192 * 1024` is the UB of Ascend910B, in bytes"]);
    for text in ["constexpr int n = 196608;", "constexpr int n = 0x30000;", "constexpr int n = 253952u / 4;"] {
        assert_eq!(literals(text).len(), 1, "{text}");
    }
    assert_eq!(literals("int num_cores = 48;"), ["1: `num_cores` is 48, a number of cores that some SoCs have"]);
    assert_eq!(literals("#define BLOCK_DIM 20").len(), 1);
    assert_eq!(literals("void f(void *s) { k<<<24, nullptr, s>>>(); }").len(), 1);
    for text in [
        "static_assert(A <= 192 * 1024, \"fits\");",
        "int rows = 48;",
        "int core_id = 20;",
        "int num_cores = 2;",
        "void f(void *s) { k<<<1, nullptr, s>>>(); }",
        "int n = 192 * 1023;",
    ] {
        assert_eq!(literals(text), [""; 0], "{text}");
    }
}

#[test]
fn blocks_that_follow_the_data_are_found() {
    let launches = |text: &str| lines(text, Rule::BlockDimGrows);
    let direct = "void f(void *s, uint32_t n) { k<<<(n + 255) / 256, nullptr, s>>>(n); }";
    assert_eq!(launches(direct), ["1: the number of blocks, `(n + 255) / 256`, grows with `n`"]);
    assert_eq!(launches("void f(void *s, int n) {\n int b = n / 64;\n k<<<b, nullptr, s>>>(n); }").len(), 1);
    for text in [
        "void f(uint32_t block_dim, void *s, uint32_t n) { k<<<block_dim, nullptr, s>>>(n); }",
        "void f(uint32_t block_dim, void *s) { k<<<block_dim / 2, nullptr, s>>>(); }",
        "void f(void *s, uint32_t n) { k<<<std::min((n + 255) / 256, cores()), nullptr, s>>>(n); }",
        "void f(void *s, int n) {\n int b = n / 64;\n if (b > 8) b = 8;\n k<<<b, nullptr, s>>>(n); }",
    ] {
        assert_eq!(launches(text), [""; 0], "{text}");
    }
}

#[test]
fn macros_and_guards_of_pipes_and_generations() {
    let text = "#ifndef PIPE_FIX\n#define PIPE_FIX PIPE_M\n#endif\n";
    assert_eq!(lines(text, Rule::PipeMacro), ["2: `PIPE_FIX` is defined as a macro"]);
    assert_eq!(lines("#define MY_PIPE PIPE_M\n", Rule::PipeMacro), [""; 0]);

    let guards = |text: &str, target| {
        found(text, target).into_iter().filter(|finding| finding.rule == Rule::GuardGeneration).count()
    };
    let c220 = "#if defined(__DAV_C220_VEC__)\nint x;\n#endif\n";
    assert_eq!((guards(c220, Target::A5), guards(c220, Target::A2a3)), (1, 0));
    let c310 = "#ifdef __DAV_C310_VEC__\nint x;\n#endif\n";
    assert_eq!((guards(c310, Target::A2a3), guards(c310, Target::A5)), (1, 0));
    let both = "#if defined(__DAV_VEC__) || defined(__DAV_C220_VEC__)\nint x;\n#endif\n";
    assert_eq!((guards(both, Target::A5), guards(both, Target::A2a3)), (0, 0));
}

fn python(text: &str) -> Vec<usize> {
    lint_python(Path::new("bench.py"), text).iter().map(|finding| finding.line).collect()
}

#[test]
fn streams_are_asked_for_outside_of_measured_loops() {
    let timed = "def bench(lib, x):\n    start.record()\n    for _ in range(10):\n        \
                 lib.k(x, torch.npu.current_stream()._as_parameter_)\n    end.record()\n";
    assert_eq!(python(timed), [4]);
    let inside = "for _ in range(10):\n    t = time.perf_counter()\n    lib.k(torch.npu.current_stream())\n    \
                  d = time.perf_counter() - t\n";
    assert_eq!(python(inside), [3]);
    let through = "def launch(x):\n    lib.k(x, torch.npu.current_stream()._as_parameter_)\n\ndef bench(x):\n    \
                   start.record()\n    for _ in range(10):\n        launch(x)\n    end.record()\n";
    assert_eq!(python(through), [7]);

    let cached = "def bench(lib, x):\n    s = torch.npu.current_stream()._as_parameter_\n    start.record()\n    \
                  for _ in range(10):\n        lib.k(x, s)\n    end.record()\n";
    let per_shape = "for n in shapes:\n    s = torch.npu.current_stream()\n    start.record()\n    \
                     for _ in range(10):\n        lib.k(n, s)\n    end.record()\n";
    let untimed = "for _ in range(10):\n    lib.k(torch.npu.current_stream())\n";
    for text in [cached, per_shape, untimed] {
        assert_eq!(python(text), [0; 0], "{text}");
    }
}

/// A kernel as files: its findings as `file:line rule`.
fn in_directory(source: &str, change: impl Fn(String) -> String) -> (Vec<String>, usize) {
    let scratch = tempfile::tempdir().unwrap();
    let dir = pto_kernel::scaffold::create(scratch.path(), "mine").unwrap();
    let path = dir.join("kernel.toml");
    fs::write(dir.join("mine.cpp"), fs::read_to_string(dir.join("mine.cpp")).unwrap() + source).unwrap();
    fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
    let report = lint(&Manifest::load(&path).unwrap(), &[]).unwrap();
    let named = report
        .findings
        .iter()
        .map(|finding| format!("{} {}", finding.path.file_name().unwrap().to_string_lossy(), finding.rule));
    (named.collect(), report.allowed)
}

#[test]
fn a_manifest_shows_what_it_counts_on() {
    let with = |from: &'static str, to: &'static str| {
        in_directory("", move |text| {
            assert!(text.contains(from), "{text}");
            text.replace(from, to)
        })
    };
    let (findings, _) = with("min(vector_cores, ceil(n / tile))", "ceil(n / tile)");
    assert_eq!(findings, ["kernel.toml block-dim-grows"]);
    let (findings, _) = with("min(vector_cores, ceil(n / tile))", "min(48, ceil(n / tile))");
    assert_eq!(findings, ["kernel.toml hardware-literal"]);
}

#[test]
fn a_loose_tolerance_wants_a_reason() {
    let tolerance = |line: &'static str| {
        in_directory("", move |text| text.replace("[tolerance]", "").trim_end().to_owned() + "\n[tolerance]\n" + line)
    };
    assert_eq!(tolerance("y = { rtol = 0.1 }\n").0, ["kernel.toml loose-tolerance"]);
    assert_eq!(tolerance("y = { rtol = 0.1, reason = \"sums of 4096\" }\n").0, [""; 0]);
}

/// `LOADED` and `STORED` are the waits of the two directions.
fn sync(body: &str) -> Vec<String> {
    let wait = |from, to| format!("set_flag({from}, {to}, EVENT_ID0); wait_flag({from}, {to}, EVENT_ID0);");
    let body = body.replace("LOADED", &wait("PIPE_MTE2", "PIPE_V")).replace("STORED", &wait("PIPE_V", "PIPE_MTE3"));
    lines(&kernel(&format!("TASSIGN(a, 0); TASSIGN(b, 64);\n{body}")), Rule::MissingSync)
}

#[test]
fn a_direction_that_nothing_waits_for_is_found() {
    let read = "4: `TADDS` reads `a`, which `TLOAD` in line 3 writes, and nothing in `k` waits for PIPE_MTE2";
    let store = |line| {
        format!("{line}: `TSTORE` reads `b`, which `TADDS` in line 4 writes, and nothing in `k` waits for PIPE_V")
    };
    assert_eq!(sync("TLOAD(a, x);\nTADDS(b, a, 1);\nSTORED TSTORE(x, b);"), [read]);
    assert_eq!(sync("TLOAD(a, x); LOADED\nTADDS(b, a, 1);\nTSTORE(x, b);"), [store(5)]);
    assert_eq!(sync("TLOAD(a, x);\nTADDS(b, a, 1);\nTSTORE(x, b);"), [read.to_owned(), store(5)]);
    // A barrier that is not between, a wait of another direction.
    assert_eq!(sync("TLOAD(a, x);\nTADDS(b, a, 1);\nSTORED TSTORE(x, b); pipe_barrier(PIPE_ALL);"), [read]);
    assert_eq!(sync("TLOAD(a, x);\nTADDS(b, a, 1);\nSTORED TSTORE(x, b); pipe_barrier(PIPE_V);"), [read]);
    assert_eq!(sync("TLOAD(a, x); pipe_barrier(PIPE_MTE2);\nTADDS(b, a, 1);\nSTORED TSTORE(x, b);"), [read]);
}

#[test]
fn what_synchronizes_or_may_is_left_alone() {
    for body in [
        "TLOAD(a, x); LOADED TADDS(b, a, 1); STORED TSTORE(x, b);",
        "TLOAD(a, x); pipe_barrier(PIPE_ALL); TADDS(b, a, 1); pipe_barrier(PIPE_ALL); TSTORE(x, b);",
        "for (int i = 0; i < 2; i++) { TLOAD(a, x); LOADED TADDS(b, a, 1); STORED TSTORE(x, b); }",
        "TLOAD(a, x); sync_somehow(); TADDS(b, a, 1); TSTORE(x, b);",
        "TLOAD(a, x); SYNC; TADDS(b, a, 1); TSTORE(x, b);",
        "TLOAD(a, x); TSYNC<Op::TLOAD>(); TADDS(b, a, 1); TSTORE(x, b);",
        "Event<Op::TLOAD, Op::TADDS> e; TLOAD(a, x, e); TADDS(b, a, 1, e); TSTORE(x, b);",
        "TLOAD(a, x); wait_flag(from, PIPE_V, EVENT_ID0); TADDS(b, a, 1); TSTORE(x, b);",
        "TADDS(b, a, 1); STORED TSTORE(x, b); TLOAD(a, x);",
        "TLOAD(c, x); TADDS(b, a, 1); STORED TSTORE(x, b);",
        "auto wait = [] { wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); }; TLOAD(a, x); wait(); TADDS(b, a, 1);",
    ] {
        assert_eq!(sync(body), [""; 0], "{body}");
    }
    let placed_by_the_compiler = kernel("TLOAD(a, x); TADDS(b, a, 1); TSTORE(x, b);");
    assert_eq!(lines(&placed_by_the_compiler, Rule::MissingSync), [""; 0]);
}

#[test]
fn a_rule_is_turned_off_by_a_comment_or_by_the_manifest() {
    let pipe = "\n#ifndef PIPE_FIX\n#define PIPE_FIX PIPE_M\n#endif\n";
    assert_eq!(in_directory(pipe, |text| text), (vec!["mine.cpp pipe-macro".to_owned()], 0));
    let commented = pipe.replace("#define", "// ptokit-lint: allow(pipe-macro) old headers\n#define");
    assert_eq!(in_directory(&commented, |text| text), (Vec::new(), 1));
    let off = |text: String| text + "\n[lint]\nallow = [\"pipe-macro\"]\n";
    assert_eq!(in_directory(pipe, off), (Vec::new(), 1));
}

#[test]
fn a_rule_that_is_misspelt_in_a_manifest_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let path = pto_kernel::scaffold::create(scratch.path(), "mine").unwrap().join("kernel.toml");
    let text = fs::read_to_string(&path).unwrap() + "\n[lint]\nallow = [\"pipe-makro\"]\n";
    let errors = Manifest::parse(&path, &text).unwrap_err();
    assert_eq!(errors.diagnostics[0].message, "`allow` lists `pipe-makro`, which is no rule");
    assert!(errors.diagnostics[0].help.as_deref().unwrap().contains("pipe-macro"));
}

#[test]
fn the_examples_and_the_template_are_clean() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let kernels = pto_kernel::discover::discover(&examples).kernels;
    assert!(kernels.len() >= 7, "{}", kernels.len());
    for manifest in kernels {
        assert_eq!(lint(&manifest, &[]).unwrap().findings, [], "{}", manifest.name);
    }
    assert_eq!(in_directory("", |text| text), (Vec::new(), 0));
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(text in "\\PC{0,300}") {
        let _ = found(&text, Target::A2a3);
        let _ = lint_python(Path::new("x.py"), &text);
    }

    /// Pieces of kernels in any order.
    #[test]
    fn pieces_of_kernels_never_panic(pieces in prop::collection::vec(prop::sample::select(vec![
        "__global__ AICORE void k(int n) {", "}", "if (n > 1) {", "} else {", "for (int i = 0; i < n; ++i) {", "return;",
        "set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);", "wait_flag(PIPE_V, PIPE_MTE3, e);", "break;", "#if X", "#endif",
        "k(n);", "TADD(a, b, c);", "while (true) {", "switch (n) {", "case 1:", "do {", "} while (n);", "f<<<n / 2, 0, s>>>(n);",
    ]), 0..30)) {
        let _ = found(&pieces.join("\n"), Target::A2a3);
    }
}

/// What nobody wrote by hand: where a rule takes time with the square of the length, or worse, this does not end.
#[test]
fn time_goes_with_the_length_of_a_source() {
    const N: usize = 20_000;
    let mut random = 1_u32;
    let mut next = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        random.to_be_bytes()[0]
    };
    let garbage: Vec<u8> = (0..10 * N).map(|_| next()).collect();
    let chain = |from: &dyn Fn(usize) -> usize| -> String {
        (0..N / 4).map(|at| format!("void f{}() {{ f{}(); }}\n", from(at), from(at) + 1)).collect()
    };
    let fan = |call: &str| -> String {
        let helpers =
            (0..40).map(|at| format!("void f{at}() {{ {} }}\n", call.replace('N', &(at + 1).to_string()).repeat(6)));
        helpers.collect::<String>() + "__global__ AICORE void k() { f0(); }"
    };
    let launches = "k<<<(n + 1) / 2, 0, s>>>(n);\n".repeat(N / 8);
    for source in [
        String::from_utf8_lossy(&garbage).into_owned(),
        "a = ".repeat(N),
        "template<".repeat(N),
        "int a = 1;\n".repeat(N),
        chain(&|at| at) + &format!("void f{}() {{ {SET} }}", N / 4),
        chain(&|at| N - at) + &format!("void f{}() {{ {SET} }}", N + 1),
        fan("fN();"),
        fan(&format!("fN(); {SET} {WAIT}")),
        format!("extern \"C\" void f(void *s, int n) {{ {launches} }}"),
    ] {
        let _ = found(&source, Target::A2a3);
    }
}

#[test]
fn a_variable_stands_for_the_only_value_that_it_is_given() {
    let launcher = |body: &str| format!("extern \"C\" void f(void *s, int n) {{\n{body}\nk<<<blocks, 0, s>>>(n);\n}}");
    let grows = |body: &str| lines(&launcher(body), Rule::BlockDimGrows).len();
    assert_eq!(grows("int blocks = (n + 1) / 2;"), 1);
    assert_eq!(grows("int blocks = (n + 1) / 2; blocks = 8;"), 0);
    assert_eq!(grows("if (n) { int blocks = (n + 1) / 2; } int blocks = 8;"), 0);
}
