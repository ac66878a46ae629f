//! Python packages of kernels, built and used.
#![expect(clippy::disallowed_methods, reason = "a test is the caller whom the rules are for")]

mod scratch;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use scratch::{Ran, Scratch};

/// Compares a kernel with NumPy, through the binding and through the runner.
const VEC_ADD: &str = r#"
import numpy as np, pytest_like, vec_add, run_vec_add
x, z = (np.random.default_rng(seed).standard_normal(10000).astype(np.float16) for seed in (1, 2))
y = vec_add.vec_add(x, z)
assert y.dtype == np.float16 and (y == x + z).all()
assert (run_vec_add.run({"x": x, "z": z})["y"] == x + z).all()
mine = np.zeros_like(x)
assert vec_add.vec_add(x, z=z, y=mine) is mine and (mine == x + z).all()
launch, outputs = vec_add.prepare(x=x, z=z)
for _ in range(3):
    outputs["y"][:] = 0
    launch()
    assert (outputs["y"] == x + z).all()

refuses = pytest_like.refuses
refuses(lambda: vec_add.vec_add(x, z[:10]), "`z` has shape (10,), expected (10000,) with n=10000")
refuses(lambda: vec_add.vec_add(x, z, n=7), "`x` has shape (10000,), expected (7,) with n=7")
refuses(lambda: vec_add.vec_add(x.reshape(100, 100), z), "`x` has 2 dimensions, expected 1")
refuses(lambda: vec_add.vec_add(x.astype(np.float32), z), "`x` is float32, expected float16")
refuses(lambda: vec_add.vec_add(x[::2], z[::2]), "`x` is not contiguous")
refuses(lambda: vec_add.vec_add(x), "`z` is missing")
refuses(lambda: vec_add.vec_add(x, z, alpha=1), "takes no `alpha`")
refuses(lambda: vec_add.vec_add(x, z, x), "takes 2 inputs")
mine.flags.writeable = False
refuses(lambda: vec_add.vec_add(x, z, y=mine), "`y` is read-only")
refuses(lambda: run_vec_add.run({"x": x, "z": z.astype(np.float32)}), "`z` is float32, expected float16")
"#;

/// A tensor of torch on a device, as far as a binding looks at one: the memory is the simulated device's.
const ON_DEVICE: &str = r#"
import ctypes, sys, types, numpy as np, pytest_like, vec_add
from vec_add import _acl

class Tensor:
    dtype, device = "torch.float16", types.SimpleNamespace(type="npu")
    def __init__(self, device, array):
        self.array, self.shape, self.pointer = array, array.shape, device.upload(array)
    def data_ptr(self): return self.pointer.value
    def is_contiguous(self): return True
    def dim(self): return len(self.shape)

device = _acl.Device()
x, z, y = (np.random.default_rng(seed).standard_normal(10000).astype(np.float16) for seed in (1, 2, 3))
on = {name: Tensor(device, array) for name, array in (("x", x), ("z", z), ("y", y))}
launch, outputs = vec_add.prepare(stream=device.stream.value, **on)
assert outputs["y"] is on["y"]
launch()
device.synchronize()
device.download(on["y"].pointer, y)
assert (y == x + z).all()
pytest_like.refuses(lambda: vec_add.prepare(x=x, z=on["z"], y=on["y"]), "cannot be mixed")
on["x"].device = types.SimpleNamespace(type="cpu")
pytest_like.refuses(lambda: vec_add.vec_add(stream=device.stream.value, **on), "`x` is on the CPU")
"#;

/// The device never gets done; whoever holds the interpreter's lock meanwhile keeps this thread from ending the process.
const WAITS: &str = r#"
import os, threading, time, numpy as np, vec_add
x = np.zeros(100, np.float16)
threading.Thread(target=lambda: vec_add.vec_add(x, x), daemon=True).start()
time.sleep(0.5)
os._exit(7)
"#;

const EXPRESSIONS: &str = r#"
from vec_add._spec import evaluate, Refused
for text, value in [("ceil(n / 3)", 4), ("n // 3", 3), ("n % 4", 2), ("min(48, ceil(n / tile))", 2), ("(n - 1) / 9 * 2", 2),
                    ("2 ** 3 - -n", 18), ("abs(3 - n)", 7), ("floor(n / 4)", 2), ("1 / 3 * 3", 1)]:
    assert evaluate(text, {"n": 10, "tile": 8}) == value, text
for text in ("n / 3", "__import__('os')", "n.real", "m"):
    try:
        evaluate(text, {"n": 10})
    except Refused:
        continue
    raise AssertionError(text)
"#;

const MIX: &str = r#"
import numpy as np, matmul_add
random = np.random.default_rng(1)
a, b, d = (random.standard_normal(shape).astype(np.float16) for shape in ((200, 128), (128, 64), (200, 64)))
arguments = dict(zip("abd", (a, b, d)))
dtypes = {name: dtype for name, _, dtype, _ in matmul_add._spec.TENSORS}
arguments = {name: array.astype(dtypes[name]) for name, array in arguments.items()}
c = matmul_add.matmul_add(**arguments)
expected = a.astype(float) @ b.astype(float) + d.astype(float)
assert np.abs(c.astype(float) - expected).max() < 0.1, np.abs(c - expected).max()
"#;

const HELPER: &str = r"
def refuses(call, message):
    try:
        call()
    except (TypeError, ValueError) as error:
        assert message in str(error), str(error)
    else:
        raise AssertionError(f'not refused: {message}')
";

/// Whether this machine can build bindings, said where it cannot.
fn tools() -> bool {
    let runs = |program: &str, args: &[&str]| {
        Command::new(program).args(args).output().is_ok_and(|output| output.status.success())
    };
    let there = runs("cmake", &["--version"]) && runs("python3", &["-c", "import numpy, pybind11"]);
    if !there {
        pto_test::skip("no cmake, or a python3 without numpy and pybind11; `.ci/run` installs them");
    }
    there
}

/// Writes and builds a package of an example, and runs scripts with it.
fn check(example: &str, scripts: &[&str]) {
    let Some(scratch) = Scratch::new() else { return };
    if !tools() {
        return;
    }
    scratch.example(example);
    let document = scratch.run(&["kernel", "bind", example, "-o", "py", "--json"]).expect(0).json();
    assert_eq!((&document["schema"], &document["path"]), (&"ptokit.kernel-bind/1".into(), &"py".into()));
    assert!(document["extension"].as_str().unwrap().contains(&format!("/{example}/_{example}.")), "{document}");
    for file in document["files"].as_array().unwrap() {
        assert!(scratch.path().join("py").join(file.as_str().unwrap()).is_file(), "{file}");
    }
    scratch.write("py/pytest_like.py", HELPER);
    for script in scripts {
        let mut python = Command::new("python3");
        python.args(["-c", script]).current_dir(scratch.path()).env("PYTHONPATH", scratch.path().join("py"));
        let waits = *script == WAITS;
        if waits {
            python.env("PTO_ACLSIM_FAULT", "aclrtSynchronizeStream=hang");
        }
        let output = assert_cmd::Command::from_std(python).timeout(Duration::from_secs(120)).output().unwrap();
        let _ = Ran::from(output).expect(if waits { 7 } else { 0 });
    }
}

#[test]
fn a_vector_kernel_from_python() {
    check("vec_add", &[VEC_ADD, ON_DEVICE, EXPRESSIONS, WAITS]);
}

#[test]
fn a_mix_kernel_brings_its_other_side() {
    check("matmul_add", &[MIX]);
}

#[test]
fn the_runner_needs_nothing_built() {
    let Some(scratch) = Scratch::new() else { return };
    if !tools() {
        return;
    }
    scratch.example("softmax");
    let document = scratch.run(&["kernel", "bind", "softmax", "--no-build", "--json"]).expect(0).json();
    assert_eq!((&document["extension"], &document["commands"]), (&serde_json::Value::Null, &serde_json::json!([])));
    let dir = scratch.path().join(document["path"].as_str().unwrap());
    let mut python = Command::new("python3");
    python.arg(dir.join("run_softmax.py")).args(["rows=70", "--out", "outputs"]).current_dir(scratch.path());
    let summary = Ran::from(python.output().unwrap()).expect(0).json();
    // Each row of a softmax sums up to 1.
    let sum = summary["outputs"]["y"]["sum"].as_f64().unwrap();
    assert!((sum - 70.0).abs() < 1e-3, "{summary}");
    assert!(scratch.path().join("outputs/y.npy").is_file());
    // Without its binding the package says how to get it.
    let mut python = Command::new("python3");
    let script = "import numpy, softmax; softmax.softmax(numpy.zeros((32, 128), numpy.float32))";
    python.args(["-c", script]).env("PYTHONPATH", &dir);
    let ran = Ran::from(python.output().unwrap()).expect(1);
    assert!(ran.stderr.contains("the binding is not built: cmake -S . -B build"), "{ran}");
}

#[test]
fn what_is_to_be_tried_next_works_and_mistakes_have_no_traceback() {
    let Some(scratch) = Scratch::new() else { return };
    if !tools() {
        return;
    }
    scratch.kernel("foo");
    let ran = scratch.run(&["kernel", "bind", "foo", "--no-build", "-o", "py"]).expect(0);
    let next = ran.stdout.lines().find_map(|line| line.strip_prefix("next: ")).unwrap();
    let python = |words: &[&str]| -> Ran {
        Command::new(words[0]).args(&words[1..]).current_dir(scratch.path()).output().unwrap().into()
    };
    let summary = python(&next.split(' ').collect::<Vec<_>>()).expect(0).json();
    assert_eq!(summary["dims"]["n"], 4096, "{next}");
    scratch.write("text.npy", "text");
    scratch.write("empty.npy", "");
    for (words, says) in [
        (&[][..], "no tensor tells `n`; pass n=..."),
        (&["n=none"], "`none` is not a length of at least 1 for `n`"),
        (&["m=3"], "`m` is neither a dim nor an input; expected one of `n`, `x`, `z`"),
        (&["n"], "`n` is not of the form NAME=VALUE"),
        (&["x=/nonesuch.npy"], "cannot read `/nonesuch.npy`: No such file or directory"),
        (&["x=text.npy"], "`text.npy` is no .npy file of numbers"),
        (&["x=empty.npy"], "`empty.npy` is no .npy file of numbers"),
        (&["n=64", "--out", "text.npy"], "text.npy"),
    ] {
        let ran = python(&[&["python3", "py/run_foo.py"], words].concat()).expect(2);
        assert!(ran.stderr.contains(says) && !ran.stderr.contains("Traceback"), "{words:?}: {ran}");
    }
}

#[test]
fn what_is_missing_is_named() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    let ran = scratch.run(&["kernel", "bind", "foo", "--python", "nonesuch-python"]).expect(3);
    assert!(ran.stderr.contains("cannot start `python`") && ran.stderr.contains("--python"), "{ran}");
    scratch.edit("foo/kernel.toml", "dtype = \"f16\"", "dtype = \"hif8\"");
    let ran = scratch.run(&["kernel", "bind", "foo"]).expect(2);
    assert!(ran.stderr.contains("`y` is hif8, which NumPy and torch have no type for"), "{ran}");
}

/// A stand-in.
fn program(scratch: &Scratch, name: &str, script: &str) -> PathBuf {
    scratch.write(name, &format!("#!/bin/sh\n{script}\n"));
    let path = scratch.path().join(name);
    fs_err::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    path
}

/// `CMakeCache.txt` of another place, of another generator, or cut off, and objects that are half there.
#[test]
fn what_an_earlier_build_left_keeps_no_package_from_being_built() {
    let Some(scratch) = Scratch::new() else { return };
    if !tools() {
        return;
    }
    scratch.kernel("foo");
    let bind = ["kernel", "bind", "foo", "-o", "py"];
    let _ = scratch.run(&bind).expect(0);
    fs_err::rename(scratch.path().join("py"), scratch.path().join("moved")).unwrap();
    scratch.write("moved/build/CMakeCache.txt", "CMAKE_GENERATOR:INTERNAL=None such\n");
    scratch.write("moved/build/mine.txt", "kept");
    let _ = scratch.run(&["kernel", "bind", "foo", "-o", "moved"]).expect(0);
    assert!(scratch.path().join("moved/build/mine.txt").exists());
}

#[test]
fn a_package_can_be_imported_whatever_the_kernels_name() {
    let Some(scratch) = Scratch::new() else { return };
    for (name, module) in [("lambda", "lambda_kernel"), ("select", "select_kernel")] {
        scratch.kernel(name);
        let bind = ["kernel", "bind", name, "-o", name, "--no-build", "--json"];
        assert_eq!(scratch.run(&bind).expect(0).json()["module"], module);
        assert!(scratch.path().join(name).join(module).join("__init__.py").is_file());
        assert!(scratch.path().join(name).join("kernel.toml").is_file(), "what was there stays");
    }
}

#[test]
fn a_place_that_is_taken_is_refused_and_what_cannot_be_replaced_is_named() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    scratch.write("file", "");
    let ran = scratch.run(&["kernel", "bind", "foo", "-o", "file", "--no-build"]).expect(2);
    assert!(ran.stderr.contains("`file` is there and is no directory"), "{ran}");
    fs_err::create_dir_all(scratch.path().join("py/foo/_spec.py")).unwrap();
    let ran = scratch.run(&["kernel", "bind", "foo", "-o", "py", "--no-build"]).expect(3);
    assert!(ran.stderr.contains("py/foo/_spec.py`"), "{ran}");
}

#[test]
fn a_python_that_does_not_answer_is_named() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    for (script, found) in [
        ("exit 0", "wrote nothing"),
        ("echo '/a;b'", "wrote 5 bytes that are none"),
        ("echo /a; echo /b", "wrote 6 bytes that are none"),
        ("head -c 20000000 /dev/zero", "bytes that are none"),
        ("kill -SEGV $$", "was ended by signal 11 (SIGSEGV)"),
    ] {
        let python = program(&scratch, "bin/python", script);
        let ran = scratch.run(&["kernel", "bind", "foo", "-o", "py", "--python", python.to_str().unwrap()]).expect(3);
        assert!(ran.stderr.contains(found) && ran.stderr.contains("expected a path on one line"), "{ran}");
        assert!(ran.stderr.len() < 10_000, "{}", ran.stderr.len());
    }
}

#[test]
fn a_binding_that_does_not_compile_is_a_verdict() {
    let Some(scratch) = Scratch::new() else { return };
    scratch.kernel("foo");
    let python = program(&scratch, "bin/python", "echo /somewhere");
    let cmake = program(&scratch, "bin/cmake", "echo 'binding.cpp:1: error: no'; exit 2");
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let dirs = std::iter::once(cmake.parent().unwrap().to_path_buf()).chain(std::env::split_paths(&usual));
    let mut command = scratch.command(&["kernel", "bind", "foo", "--python", python.to_str().unwrap()]);
    let ran = Ran::from(command.env("PATH", std::env::join_paths(dirs).unwrap()).output().unwrap()).expect(1);
    assert!(ran.stderr.contains("cmake") && ran.stderr.contains("binding.cpp:1: error: no"), "{ran}");
}
