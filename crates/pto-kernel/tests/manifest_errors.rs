//! One mistake each in a manifest that is right otherwise, and what is said of it.

mod common;

use std::fmt::Write as _;

use common::{GOOD, manifest_dir};
use pto_kernel::Manifest;

/// What is replaced in the good manifest, and by what.
const MISTAKES: &[(&str, &str)] = &[
    // the text itself
    ("[kernel]", "[kernel"),
    ("n = \"dynamic\"", "n = \"dynamic\nm = 3"),
    ("tile = 16384", "tile = 16384\ntile = 5"),
    // unknown keys, on every level
    ("[cases]", "[case]"),
    ("summary =", "sumary ="),
    ("dtype = \"f16\"\nshape = [\"n\"]\nfill", "dtyp = \"f16\"\nshape = [\"n\"]\nfill"),
    ("block_dim =", "block_dims ="),
    ("mean = 0.0", "maen = 0.0"),
    ("expr = {", "timeout = 3\nexpr = {"),
    ("rtol = 2e-3", "rtoll = 2e-3"),
    ("list = [{ n = 4096 }]", "list = [{ n = 4096 }]\nseeds = 3"),
    // [kernel]
    ("[kernel]\nname = \"vec_add\"", "[kernel]"),
    ("name = \"vec_add\"", "name = \"vec add\""),
    ("name = \"vec_add\"", "name = 3"),
    ("core = \"vec\"", "core = \"vector\""),
    ("core = \"vec\"", "core = []"),
    ("sources = [\"vec_add.cpp\"]", "sources = [\"vec_sub.cpp\"]"),
    ("sources = [\"vec_add.cpp\"]", "sources = [\".\"]"),
    ("sources = [\"vec_add.cpp\"]", "sources = []"),
    ("sources = [\"vec_add.cpp\"]", "sources = \"vec_add.cpp\""),
    ("entry = \"call_vec_add\"", ""),
    ("entry = \"call_vec_add\"", "entry = \"call_vec_add\"\nglobal = \"vec_add\""),
    ("entry = \"call_vec_add\"", "entry = \"ns::call\""),
    ("entry = \"call_vec_add\"", "global = \"vec_add<half\""),
    ("targets = [\"a2a3\", \"a5\", \"cpu\"]", "targets = []"),
    ("targets = [\"a2a3\", \"a5\", \"cpu\"]", "targets = [\"a2a4\"]"),
    ("targets = [\"a2a3\", \"a5\", \"cpu\"]", "targets = [\"910b\"]"),
    ("targets = [\"a2a3\", \"a5\", \"cpu\"]", "targets = [\"cpu\", \"cpu\"]"),
    // [dims]
    ("n = \"dynamic\"", "n = \"dinamic\""),
    ("tile = 16384", "tile = 0"),
    ("tile = 16384", "tile = 1.5"),
    ("tile = 16384", "tile = 99999999999999999999"),
    ("tile = 16384", "tile = 16384\nTile = 3"),
    ("tile = 16384", "tile = 16384\nvector_cores = 3"),
    ("tile = 16384", "tile = 16384\n\"2n\" = 3"),
    // [[arg]]
    ("name = \"y\"\n", ""),
    ("name = \"y\"", "name = \"y-1\""),
    ("name = \"y\"", "name = \"x\""),
    ("name = \"y\"", "name = \"tile\""),
    ("name = \"y\"", "name = \"stream\""),
    ("dir = \"out\"", "dir = \"output\""),
    ("dir = \"out\"", "dir = \"in\""),
    ("dir = \"out\"\n", ""),
    ("dtype = \"f16\"\nshape = [\"n\"]\nfill", "dtype = \"f61\"\nshape = [\"n\"]\nfill"),
    ("shape = [\"n\"]\n\n", "shape = [\"n\", \"2 * mm\"]\n\n"),
    ("shape = [\"n\"]\n\n", "shape = [\"n\", \"2 *\"]\n\n"),
    ("shape = [\"n\"]\n\n", "shape = ['''\nn + m''']\n\n"),
    ("shape = [\"n\"]\n\n", "shape = [\"\\u006e + m\"]\n\n"),
    ("shape = [\"n\"]\n\n", "shape = [0]\n\n"),
    ("shape = [\"n\"]\n\n", "shape = [true]\n\n"),
    ("shape = [\"n\"]\n\n", "shape = \"n\"\n\n"),
    ("fill = { normal = { mean = 0.0, std = 1.0 } }", "fill = { gauss = 1 }"),
    ("fill = { normal = { mean = 0.0, std = 1.0 } }", "fill = { normal = { mean = 0.0, std = -1.0 } }"),
    ("fill = { normal = { mean = 0.0, std = 1.0 } }", "fill = { normal = { mean = 0.0 } }"),
    ("fill = { normal = { mean = 0.0, std = 1.0 } }", "fill = { }"),
    ("fill = { normal = { mean = 0.0, std = 1.0 } }", "fill = \"normal\""),
    ("fill = { normal = { mean = 0.0, std = 1.0 } }", "value = 3"),
    ("scalar = \"u32\"", "scalar = \"uint32\""),
    ("scalar = \"u32\"", "scalar = \"u32\"\nshape = [1]"),
    ("value = \"n\"", "value = \"n + k\""),
    ("value = \"n\"", "value = 1.5"),
    ("value = \"n\"\n", ""),
    // [launch]
    ("block_dim = \"min(vector_cores, ceil(n / tile))\"", ""),
    ("min(vector_cores, ceil", "min(vector_core, ceil"),
    ("min(vector_cores, ceil", "minn(vector_cores, ceil"),
    ("# signature", "signature = [\"block_dim\", \"stream\", \"y\", \"x\", \"zz\", \"n\"] #"),
    ("# signature", "signature = [\"block_dim\", \"stream\", \"y\", \"x\", \"x\", \"n\"] #"),
    ("# signature", "signature = [\"y\", \"x\", \"n\"] #"),
    ("# signature", "signature = \"y\" #"),
    // [golden]
    ("[golden]\nexpr = { y = \"x + z\" }", ""),
    ("expr = { y = \"x + z\" }", ""),
    ("expr = { y = \"x + z\" }", "expr = {}"),
    ("expr = { y = \"x + z\" }", "expr = { y = \"x + zz\" }"),
    ("expr = { y = \"x + z\" }", "expr = { y = \"x + y\" }"),
    ("expr = { y = \"x + z\" }", "expr = { y = \"x + (z\" }"),
    ("expr = { y = \"x + z\" }", "expr = { y = \"x\", x = \"z\" }"),
    ("expr = { y = \"x + z\" }", "expr = { y = \"x\", n = \"z\" }"),
    ("expr = { y = \"x + z\" }", "expr = { y = \"x\", yy = \"z\" }"),
    ("expr = { y = \"x + z\" }", "expr = { y = \"x\" }\ncommand = [\"true\"]"),
    ("expr = { y = \"x + z\" }", "command = []"),
    ("expr = { y = \"x + z\" }", "command = [\"true\"]\ntimeout_s = 0"),
    ("expr = { y = \"x + z\" }", "expr = { y = \"x\" }\ntimeout_s = 3"),
    ("expr = { y = \"x + z\" }", "files = \"golden/\""),
    // [tolerance]
    ("y = { rtol", "x = { rtol"),
    ("y = { rtol", "yy = { rtol"),
    ("rtol = 2e-3, atol = 1e-5, ", ""),
    ("rtol = 2e-3", "rtol = -1"),
    ("rtol = 2e-3", "rtol = nan"),
    ("rtol = 2e-3", "rule = \"pass-rat\""),
    ("rtol = 2e-3", "rule = \"exact\""),
    ("rtol = 2e-3, atol = 1e-5", "rule = \"quantized\""),
    ("rtol = 2e-3, atol = 1e-5", "rule = \"top-k\""),
    ("rtol = 2e-3, atol = 1e-5", "rule = \"top-k\", scores = \"k\""),
    ("rtol = 2e-3", "rate = \"all\""),
    ("rtol = 2e-3", "max_ulp = 3"),
    ("rtol = 2e-3", "valid = [\"m\"]"),
    ("rtol = 2e-3", "dtype = \"f16\""),
    // [cases]
    ("[cases]\nedges = [\"n\"]\nlist = [{ n = 4096 }]\n", ""),
    ("edges = [\"n\"]\nlist = [{ n = 4096 }]\n", ""),
    ("edges = [\"n\"]", "edges = [\"m\"]"),
    ("edges = [\"n\"]", "edges = [\"tile\"]"),
    ("edges = [\"n\"]", "edges = [\"n\", \"n\"]"),
    ("list = [{ n = 4096 }]", "list = [{ m = 4096 }]"),
    ("list = [{ n = 4096 }]", "list = [{ n = 4096, tile = 3 }]"),
    ("list = [{ n = 4096 }]", "list = [{ n = 0 }]"),
    ("list = [{ n = 4096 }]", "list = [{ n = 4.5 }]"),
    ("list = [{ n = 4096 }]", "list = [{ n = 4096, targets = [\"gpu\"] }]"),
    ("list = [{ n = 4096 }]", "list = [4096]"),
    ("list = [{ n = 4096 }]", "list = [{ n = 4096 }]\nseed = -1"),
];

#[test]
fn every_mistake_is_named_with_its_place() {
    let dir = manifest_dir();
    let mut report = String::new();
    for (from, to) in MISTAKES {
        assert!(GOOD.contains(from), "{from:?} is not in the good manifest");
        let text = GOOD.replacen(from, to, 1);
        let errors = Manifest::parse(&dir.path().join("kernel.toml"), &text).expect_err(&format!("{from:?} -> {to:?}"));
        let rendered = errors.render().replace(&format!("{}/", dir.path().display()), "");
        writeln!(report, "{}\n{rendered}\n", to.replace('\n', "\u{23ce}")).unwrap();
    }
    insta::assert_snapshot!(report);
}

#[test]
fn a_tile_that_nobody_names_is_asked_for() {
    let dir = manifest_dir();
    let text = GOOD.replace("tile = 16384", "size = 16384").replace("ceil(n / tile)", "n");
    let errors = Manifest::parse(&dir.path().join("kernel.toml"), &text).unwrap_err();
    let help = errors.diagnostics[0].help.as_deref().unwrap();
    assert!(errors.to_string().contains("nothing says how large a tile of it is"), "{errors}");
    assert!(help.contains("`tile_n`"), "{help}");
}

#[test]
fn several_mistakes_are_found_in_one_go() {
    let dir = manifest_dir();
    let text = GOOD.replace("core = \"vec\"", "core = \"vex\"").replace("n = 4096", "k = 1").replace("+ z", "+ w");
    let errors = Manifest::parse(&dir.path().join("kernel.toml"), &text).unwrap_err();
    let lines: Vec<usize> = errors.diagnostics.iter().map(|finding| finding.line).collect();
    assert_eq!(lines.len(), 4, "{errors}");
    assert!(lines.is_sorted(), "{errors}");
}
