//! A manifest that is right, and the directory it needs.
#![allow(dead_code, reason = "each test uses its part")]

use pto_kernel::Manifest;

/// Uses every section.
pub(crate) const GOOD: &str = r#"[kernel]
name = "vec_add"
summary = "y = x + z over f16, any n"
core = "vec"
sources = ["vec_add.cpp"]
entry = "call_vec_add"
targets = ["a2a3", "a5", "cpu"]

[dims]
n = "dynamic"
tile = 16384

[[arg]]
name = "y"
dir = "out"
dtype = "f16"
shape = ["n"]

[[arg]]
name = "x"
dir = "in"
dtype = "f16"
shape = ["n"]
fill = { normal = { mean = 0.0, std = 1.0 } }

[[arg]]
name = "z"
dir = "in"
dtype = "f16"
shape = ["n"]

[[arg]]
name = "n"
scalar = "u32"
value = "n"

[launch]
block_dim = "min(vector_cores, ceil(n / tile))"
# signature = ["block_dim", "stream", "y", "x", "z", "n"]

[golden]
expr = { y = "x + z" }

[tolerance]
y = { rtol = 2e-3, atol = 1e-5, reason = "f16 accumulation" }

[cases]
edges = ["n"]
list = [{ n = 4096 }]
"#;

/// A directory with the source that the good manifest names.
pub(crate) fn manifest_dir() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs_err::write(dir.path().join("vec_add.cpp"), "").unwrap();
    dir
}

/// A changed good manifest, which has to be valid still.
pub(crate) fn parsed(changes: &[(&str, &str)]) -> Manifest {
    let dir = manifest_dir();
    let mut text = GOOD.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from:?} is not in the manifest");
        text = text.replacen(from, to, 1);
    }
    Manifest::parse(&dir.path().join("kernel.toml"), &text).unwrap_or_else(|errors| panic!("{}", errors.render()))
}
