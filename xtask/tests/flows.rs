//! What people do with kernels, from the first command to the verdict.

mod scratch;

use pto_golden::{DType, Tensor, npy};
use scratch::Scratch;
use serde_json::Value;

#[test]
fn new_test_break_test() {
    let Some(scratch) = Scratch::new() else { return };
    let ran = scratch.run(&["kernel", "new", "foo", "--dir", "."]).expect(0);
    assert_eq!(ran.stdout, "wrote ./foo\nnext: cargo xtask kernel test ./foo\n");
    let ran = scratch.run(&["kernel", "test", "foo"]).expect(0);
    assert!(ran.says("passed: 6 of 6 cases passed in 1 kernel"), "{ran}");
    scratch.edit("foo/foo.cpp", "TADD(", "TMUL(");
    let ran = scratch.run(&["kernel", "test", "foo"]).expect(1);
    assert!(ran.says("failed: 0 of 6 cases passed in 1 kernel"), "{ran}");
    scratch.edit("foo/foo.cpp", "TMUL(", "TADD(");
    let _ = scratch.run(&["kernel", "clean"]).expect(0);
    let _ = scratch.run(&["kernel", "test", "foo", "--jobs", "1"]).expect(0);
}

#[test]
fn nothing_is_compiled_twice() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    let cached = |args: &[&str]| {
        let args = [&["kernel", "test", "./foo", "--case", "n=64", "--json"], args].concat();
        scratch.run(&args).expect(0).json()["kernels"][0]["build"]["cached"].as_bool().unwrap()
    };
    assert_eq!((cached(&[]), cached(&[]), cached(&["--seed", "5"])), (false, true, true));
    assert_eq!((cached(&["--opt-level", "2"]), cached(&[])), (false, true));
    assert_eq!((cached(&["--soc", "Ascend950PR_9599"]), cached(&[])), (false, true));
}

#[test]
fn paths_of_all_kinds() {
    let Some(scratch) = Scratch::new() else { return };
    let dir = "Jürgen's Kerne 核/foo";
    fs_err::create_dir_all(scratch.path().join("Jürgen's Kerne 核")).unwrap();
    scratch.kernel("foo");
    fs_err::rename(scratch.path().join("foo"), scratch.path().join(dir)).unwrap();
    for path in [dir.to_owned(), format!("{dir}/kernel.toml"), scratch.path().join(dir).display().to_string()] {
        let _ = scratch.run(&["kernel", "test", &path, "--case", "n=64"]).expect(0);
    }
    for (from, path) in [(dir, "."), ("Jürgen's Kerne 核", "foo"), ("Jürgen's Kerne 核/foo", "../foo")] {
        let mut command = scratch.command(&["kernel", "test", path, "--case", "n=64"]);
        let ran: scratch::Ran = command.current_dir(scratch.path().join(from)).output().unwrap().into();
        let _ = ran.expect(0);
    }
    // What is proposed can be pasted.
    scratch.edit(&format!("{dir}/foo.cpp"), "TADD(", "TSUB(");
    let ran = scratch.run(&["kernel", "test", dir, "--case", "n=64"]).expect(1);
    assert!(ran.says(&format!("repeat: cargo xtask kernel test \"{dir}\" --case n=64 --seed 1")), "{ran}");
}

#[test]
fn adopt_an_example_and_finish_its_golden() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.example("static_add");
    fs_err::remove_file(scratch.path().join("static_add/kernel.toml")).unwrap();
    let ran = scratch.run(&["kernel", "adopt", "static_add/static_add.cpp"]).expect(0);
    assert!(ran.says("wrote static_add/kernel.toml") && ran.says("next: finish the lines marked `check:`"), "{ran}");
    let again = scratch.run(&["kernel", "adopt", "static_add/static_add.cpp"]).expect(2);
    assert!(again.says("exists already"), "{again}");
    // What no source says is what the user has to say.
    let manifest = "static_add/kernel.toml";
    scratch.edit(manifest, "side = 64 # check: the source uses SIDE", "side = 64 # checked: it uses SIDE");
    for _ in 0..3 {
        scratch.edit(manifest, "shape = [1024] # check", "shape = [\"side\", \"side\"] # checked");
    }
    scratch.edit(manifest, r#"block_dim = "vector_cores""#, r#"block_dim = "1""#);
    let ran = scratch.run(&["kernel", "test", "static_add/static_add.cpp"]).expect(1);
    assert!(ran.says("hint: static_add: static_add/kernel.toml:") && ran.says("(golden)"), "{ran}");
    scratch.edit(manifest, r#"y = "x""#, r#"y = "x + z""#);
    let _ = scratch.run(&["kernel", "test", "static_add"]).expect(0);
}

#[test]
fn seeds_repeat() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    // Wrong on purpose, so that the report shows numbers that come from the inputs.
    scratch.edit("foo/foo.cpp", "TADD(", "TSUB(");
    let outputs = |seed: &str| -> Value {
        let args = ["kernel", "test", "./foo", "--case", "n=4096", "--json", "--seed", seed];
        scratch.run(&args).expect(1).json()["kernels"][0]["cases"][0]["outputs"].take()
    };
    let first = outputs("7");
    assert_eq!(first, outputs("7"));
    assert_ne!(first, outputs("8"));
}

/// A kernel whose launcher is generated: it runs here, and the plans for both NPUs hold the launcher and write nothing.
#[test]
fn a_generated_launcher() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    scratch.edit("foo/kernel.toml", r#"entry = "call_foo""#, r#"global = "foo_kernel""#);
    let source = fs_err::read_to_string(scratch.path().join("foo/foo.cpp")).unwrap();
    scratch.write("foo/foo.cpp", &source[..source.find("extern \"C\" void call_foo").unwrap()]);
    let _ = scratch.run(&["kernel", "test", "foo"]).expect(0);
    for target in ["a2a3", "a5"] {
        fs_err::remove_dir_all(scratch.path().join("target")).unwrap_or_default();
        let args = ["kernel", "build", "foo", "--target", target, "--dry-run"];
        let ran = scratch.run(&args).expect(0);
        assert!(ran.stdout.starts_with(&format!("# foo for {target}\n")), "{ran}");
        for part in
            ["# write the launcher\ncat > ", "<<'END_OF_LAUNCHER'", "extern \"C\" void call_foo_kernel(", "bisheng"]
        {
            assert!(ran.stdout.contains(part), "`{part}` is missing\n{ran}");
        }
        let plan = scratch.run(&[&args[..], &["--json"]].concat()).expect(0).json()["kernels"][0]["plan"].take();
        assert_eq!(plan["symbol"], "call_foo_kernel");
        assert!(plan["generated"][0]["text"].as_str().unwrap().contains("foo_kernel<<<"), "{plan}");
        assert!(!scratch.path().join("target").exists(), "a dry run wrote something");
        // The shell takes it as it is.
        let mut shell = assert_cmd::Command::new("sh");
        shell.args(["-n", "-c", &ran.stdout]).assert().success();
    }
}

/// Every type of scalar, inout, several outputs, a workspace, and an order of arguments that is the launcher's own.
#[test]
fn arguments_of_every_kind() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.write("all/all.cpp", ALL_SOURCE);
    scratch.write("all/kernel.toml", ALL_MANIFEST);
    let ran = scratch.run(&["kernel", "test", "all"]).expect(0);
    assert!(ran.says("passed: "), "{ran}");
    scratch.edit("all/kernel.toml", "(i8v + ", "(2 * u64v + i8v + ");
    let ran = scratch.run(&["kernel", "test", "all", "--json"]).expect(1);
    let outputs = &ran.json()["kernels"][0]["cases"][0]["outputs"];
    assert_eq!(outputs.as_object().unwrap().len(), 3, "{ran}");
}

const ALL_MANIFEST: &str = r#"
[kernel]
name = "all"
core = "vec"
sources = ["all.cpp"]
entry = "call_all"
targets = ["a2a3", "cpu"]

[dims]
n = "dynamic"

[[arg]]
name = "acc"
dir = "inout"
dtype = "i32"
shape = ["n"]

[[arg]]
name = "wide"
dir = "out"
dtype = "f32"
shape = ["n"]

[[arg]]
name = "total"
dir = "out"
dtype = "f32"
shape = ["8"]

[[arg]]
name = "scratch"
dir = "workspace"
dtype = "u8"
shape = ["n"]

[[arg]]
name = "half_x"
dir = "in"
dtype = "bf16"
shape = ["n"]

[[arg]]
name = "any"
dir = "in"
dtype = "f32"
shape = ["8"]

[[arg]]
name = "i8v"
scalar = "i8"
value = -5

[[arg]]
name = "i16v"
scalar = "i16"
value = -300

[[arg]]
name = "i32v"
scalar = "i32"
value = -70000

[[arg]]
name = "i64v"
scalar = "i64"
value = -5000000000

[[arg]]
name = "u8v"
scalar = "u8"
value = 200

[[arg]]
name = "u16v"
scalar = "u16"
value = 60000

[[arg]]
name = "u32v"
scalar = "u32"
value = 4000000000

[[arg]]
name = "u64v"
scalar = "u64"
value = 9000000000

[[arg]]
name = "f32v"
scalar = "f32"
value = 0.5

[[arg]]
name = "f64v"
scalar = "f64"
value = 0.25

[[arg]]
name = "n"
scalar = "u32"
value = "n"

[launch]
block_dim = "1"
signature = ["stream", "n", "acc", "wide", "total", "scratch", "half_x", "any", "i8v", "i16v", "i32v", "i64v", "u8v", "u16v",
    "u32v", "u64v", "f32v", "f64v", "block_dim"]

[golden.expr]
acc = "acc + 1"
wide = "half_x * 2"
total = "0 * any + (i8v + i16v + i32v + i64v + u8v + u16v + u32v + u64v + f32v + f64v)"

[cases]
list = [{ n = 8 }, { n = 256 }]
"#;

const ALL_SOURCE: &str = r#"#include <pto/pto-inst.hpp>

__global__ AICORE void all_kernel(__gm__ int32_t *sum, __gm__ float *wide, __gm__ float *total, __gm__ bfloat16_t *x,
                                  uint32_t n, float all)
{
#if defined(__DAV_VEC__) || defined(__DAV_C220_VEC__)
    for (uint32_t i = 0; i < n; ++i) {
        sum[i] += 1;
        wide[i] = 2 * static_cast<float>(x[i]);
    }
    for (uint32_t i = 0; i < 8; ++i) {
        total[i] = all;
    }
#endif
}

extern "C" void call_all(void *stream, uint32_t n, void *sum, void *wide, void *total, void *scratch, void *half_x,
                         void *any, int8_t i8v, int16_t i16v, int32_t i32v, int64_t i64v, uint8_t u8v, uint16_t u16v,
                         uint32_t u32v, uint64_t u64v, float f32v, double f64v, uint32_t block_dim)
{
    const double all = i8v + i16v + i32v + double(i64v) + u8v + u16v + double(u32v) + double(u64v) + f32v + f64v;
    all_kernel<<<block_dim, nullptr, stream>>>((__gm__ int32_t *)sum, (__gm__ float *)wide, (__gm__ float *)total,
                                               (__gm__ bfloat16_t *)half_x, n, float(all));
}
"#;

#[test]
fn golden_by_a_program() {
    let Some(scratch) = Scratch::new() else { return };
    let numpy = assert_cmd::Command::new("python3").args(["-c", "import numpy"]).output();
    if !numpy.is_ok_and(|output| output.status.success()) {
        pto_test::skip("`python3` with NumPy is not here");
        return;
    }
    scratch.kernel("foo");
    scratch.edit("foo/kernel.toml", r#"expr = { y = "x + z" }"#, r#"command = ["python3", "golden.py"]"#);
    scratch.write(
        "foo/golden.py",
        "import json, numpy\n\
         case = json.load(open('case.json'))\n\
         x, z = (numpy.load(f'inputs/{name}.npy') for name in 'xz')\n\
         assert x.shape == (case['dims']['n'],) and x.dtype == numpy.float16, x\n\
         numpy.save('golden/y.npy', x + z)\n",
    );
    let _ = scratch.run(&["kernel", "test", "foo"]).expect(0);
    scratch.edit("foo/golden.py", "x + z", "x - z");
    let _ = scratch.run(&["kernel", "test", "foo", "--case", "n=64"]).expect(1);
    scratch.edit("foo/golden.py", "x - z", "x + q");
    let ran = scratch.run(&["kernel", "test", "foo", "--case", "n=64"]).expect(2);
    assert!(ran.says("NameError: name 'q' is not defined"), "{ran}");
}

#[test]
fn golden_from_files() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    scratch.edit("foo/kernel.toml", r#"expr = { y = "x + z" }"#, r#"files = "golden""#);
    // In f16 1.0 is 0x3c00, 2.0 is 0x4000 and 3.0 is 0x4200.
    let write = |name: &str, count: usize, bits: u16| {
        let bytes = bits.to_le_bytes().repeat(count);
        let path = scratch.path().join("foo/golden/n=64").join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        npy::write(path, &Tensor::new(DType::F16, [count], bytes).unwrap()).unwrap();
    };
    let test = || scratch.run(&["kernel", "test", "foo", "--case", "n=64"]);
    write("x.npy", 64, 0x3c00);
    write("z.npy", 64, 0x4000);
    write("y.npy", 64, 0x4200);
    let _ = test().expect(0);
    write("y.npy", 64, 0x4000);
    let ran = test().expect(1);
    assert!(ran.says("at [0]: 3, expected 2"), "{ran}");
    write("y.npy", 63, 0x4200);
    let ran = test().expect(2);
    assert!(ran.says("foo/golden/n=64/y.npy` has shape [63]; `y` has [64] in case n=64"), "{ran}");
    fs_err::remove_file(scratch.path().join("foo/golden/n=64/y.npy")).unwrap();
    let ran = test().expect(2);
    assert!(ran.says("there is no `y.npy` in `foo/golden/n=64`"), "{ran}");
    write("y.npy", 64, 0x4200);
    write("x.npy", 63, 0x3c00);
    let ran = test().expect(2);
    assert!(ran.says("foo/golden/n=64/x.npy` has shape [63]; the argument has [64]"), "{ran}");
}
