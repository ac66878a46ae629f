//! What a valid manifest becomes.

mod common;

use std::time::Duration;

use common::{GOOD, manifest_dir, parsed};
use proptest::prelude::*;
use pto_golden::{DType, Fill, Rule, Tolerance};
use pto_kernel::manifest::{ArgKind, Dim, Dir, Entry, Golden, ScalarFormula, ScalarType, SignatureItem};
use pto_kernel::{KernelError, Manifest};
use pto_platform::{Core, Target};

#[test]
fn every_section_arrives() {
    let manifest = parsed(&[]);
    assert_eq!(manifest.name, "vec_add");
    assert_eq!(manifest.summary.as_deref(), Some("y = x + z over f16, any n"));
    assert_eq!((manifest.core, manifest.targets.as_slice()), (Core::Vec, &Target::ALL[..]));
    assert_eq!(manifest.entry, Entry::Launcher("call_vec_add".into()));
    assert_eq!(manifest.sources, [manifest.dir.join("vec_add.cpp")]);
    assert_eq!(manifest.dims["n"], Dim::Dynamic);
    assert_eq!(manifest.defines(), [("TILE".to_owned(), 16384)]);
    assert_eq!(manifest.args.iter().map(|arg| arg.line).collect::<Vec<_>>(), [14, 20, 27, 33]);
    let (_, x) = manifest.tensors().nth(1).unwrap();
    assert_eq!((x.dir, x.dtype, x.fill.clone()), (Dir::In, DType::F16, Fill::Normal { mean: 0.0, std: 1.0 }));
    assert_eq!(manifest.outputs().map(|(arg, _)| arg.name.as_str()).collect::<Vec<_>>(), ["y"]);
    let expected = [SignatureItem::BlockDim, SignatureItem::Stream].into_iter().chain((0..4).map(SignatureItem::Arg));
    assert_eq!(manifest.launch.signature, expected.collect::<Vec<_>>());
    assert_eq!(manifest.rule_of("y", DType::F16), Rule::Close(Tolerance { rtol: 2e-3, atol: 1e-5 }));
    assert!(matches!(&manifest.golden, Golden::Expr(exprs) if exprs["y"].source() == "x + z"));
    assert_eq!(manifest.cases.edges, ["n"]);
    assert!(manifest.warnings.is_empty(), "{:?}", manifest.warnings);
}

#[test]
fn what_is_left_out_has_a_default() {
    let manifest = parsed(&[
        ("summary = \"y = x + z over f16, any n\"\n", ""),
        ("y = { rtol = 2e-3, atol = 1e-5, reason = \"f16 accumulation\" }", "y = { rtol = 1e-4 }"),
        ("\nexpr = { y = \"x + z\" }", "\ncommand = [\"python3\", \"golden.py\"]\ntimeout_s = 2.5"),
    ]);
    assert_eq!(manifest.summary, None);
    assert_eq!(manifest.rule_of("y", DType::F16), Rule::Close(Tolerance { rtol: 1e-4, atol: 1e-5 }));
    assert_eq!(manifest.rule_of("other", DType::F32), Rule::default_for(DType::F32));
    let Golden::Command { argv, timeout } = &manifest.golden else { panic!("{:?}", manifest.golden) };
    assert_eq!((argv.len(), *timeout), (2, Some(Duration::from_millis(2500))));
    let (_, z) = manifest.tensors().nth(2).unwrap();
    assert_eq!(z.fill, Fill::default_for(DType::F16));
}

#[test]
fn a_signature_has_the_launchers_order() {
    let manifest = parsed(&[
        ("# signature = [\"block_dim\", \"stream\", ", "signature = [\"n\", \"stream\", "),
        (", \"z\", \"n\"]", ", \"z\"]"),
    ]);
    let names: Vec<&str> = manifest.launch.signature.iter().map(|item| manifest.item_name(item)).collect();
    assert_eq!(names, ["n", "stream", "y", "x", "z"]);
}

#[test]
fn floating_point_scalars_may_be_decimal() {
    for (value, number) in [("1.5", 1.5), ("\"-2.5e-3\"", -2.5e-3)] {
        let manifest = parsed(&[
            ("scalar = \"u32\"\nvalue = \"n\"", &format!("scalar = \"f32\"\nvalue = {value}")),
            ("name = \"n\"", "name = \"eps\""),
        ]);
        let ArgKind::Scalar(scalar) = &manifest.args[3].kind else { panic!() };
        assert_eq!(scalar.dtype, ScalarType::F32);
        assert!(matches!(scalar.value, ScalarFormula::Number(found) if found == number), "{:?}", scalar.value);
    }
}

#[test]
fn a_golden_directory_has_to_exist() {
    let dir = manifest_dir();
    fs_err::create_dir(dir.path().join("golden")).unwrap();
    let text = GOOD.replace("expr = { y = \"x + z\" }", "files = \"golden/\"");
    let manifest = Manifest::parse(&dir.path().join("kernel.toml"), &text).unwrap();
    assert!(matches!(&manifest.golden, Golden::Files(path) if *path == dir.path().join("golden/")));
}

#[test]
fn loose_tolerances_are_warned_about() {
    let reason = "rtol = 2e-3, atol = 1e-5, reason = \"f16 accumulation\"";
    for (tolerance, warnings) in [
        (
            "rtol = 2e-3",
            vec![
                "45:1: tolerance of `y` (rtol 2e-3, atol 1e-5) is looser than that of `f16` (rtol 1e-3, atol 1e-5) and has no `reason`",
            ],
        ),
        ("rtol = 1e-4", vec![]),
        (
            "atol = 1e-2, reason = \"it fails otherwise\"",
            vec!["45:1: tolerance of `y`: atol 1e-2: a loose absolute tolerance can mark incorrect kernels as PASS"],
        ),
        ("rtol = 1.0, reason = \"random order of accumulation\"", vec![]),
    ] {
        let manifest = parsed(&[(reason, tolerance)]);
        let found: Vec<String> = manifest.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(found, warnings, "{tolerance}");
    }
}

#[test]
fn an_output_may_be_judged_by_any_rule() {
    let tolerance = "rtol = 2e-3, atol = 1e-5, reason = \"f16 accumulation\"";
    let read = |text: &str| parsed(&[(tolerance, text)]);
    let manifest = read("rule = \"pass-rate\", rate = 0.9, cap = 3, reason = \"long tail\"");
    let rule = Rule::PassRate { rtol: 1e-3, atol: 1e-5, rate: 0.9, cap: 3.0 };
    assert_eq!((manifest.rule_of("y", DType::F16), manifest.warnings.len()), (rule, 0));
    assert_eq!(read("rule = \"ulp\"").rule_of("y", DType::F16), Rule::Ulp { max: 1 });
    let manifest = read("valid = [\"n - 1\"], tail = \"zero\"");
    let given = &manifest.tolerance["y"];
    assert_eq!(given.valid.as_ref().unwrap()[0].source(), "n - 1");
    assert_eq!(manifest.rule_of("y", DType::F16), Rule::default_for(DType::F16));
    assert_eq!(read("rule = \"top-k\", scores = \"x\"").tolerance["y"].scores.as_deref(), Some("x"));
}

#[test]
fn a_fill_that_has_no_effect_is_warned_about() {
    let manifest = parsed(&[("dir = \"out\"\n", "dir = \"out\"\nfill = { constant = 1 }\n")]);
    assert_eq!(manifest.warnings.len(), 1, "{:?}", manifest.warnings);
    assert_eq!(manifest.warnings[0].line, 16);
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = Manifest::load("/nowhere/kernel.toml".as_ref()).unwrap_err();
    assert!(matches!(error, KernelError::Read { .. }));
    assert_eq!(error.to_string(), "cannot read `/nowhere/kernel.toml`");
}

/// Pieces of manifests in any order: more of them get past the TOML parser than of random text.
fn pieces() -> impl Strategy<Value = String> {
    let lines: Vec<String> = GOOD.lines().map(str::to_owned).collect();
    proptest::collection::vec((proptest::sample::select(lines), "\\PC{0,3}", 0..40_usize), 0..40).prop_map(|pieces| {
        let mangled = pieces.into_iter().map(|(mut line, noise, at)| {
            if at < 4 && line.is_char_boundary(at.min(line.len())) {
                line.insert_str(at.min(line.len()), &noise);
            }
            line
        });
        mangled.collect::<Vec<_>>().join("\n")
    })
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_with_a_reason(text in "\\PC*") {
        refused_or_read(&text);
    }

    #[test]
    fn any_mixture_of_lines_is_read_or_refused_with_a_reason(text in pieces()) {
        refused_or_read(&text);
    }

    #[test]
    fn any_cut_and_insertion_is_read_or_refused(from in 0..GOOD.len(), length in 0..30_usize, noise in "\\PC{0,6}") {
        let mut text = GOOD.to_owned();
        text.replace_range(from..(from + length).min(GOOD.len()), &noise);
        refused_or_read(&text);
    }
}

fn refused_or_read(text: &str) {
    if let Err(errors) = Manifest::parse("kernel.toml".as_ref(), text) {
        assert!(!errors.diagnostics.is_empty(), "refused without a reason");
        let lines = text.lines().count().max(1) + 1;
        for finding in errors.diagnostics {
            assert!((1..=lines).contains(&finding.line) && finding.column >= 1, "{finding}");
        }
    }
}

#[test]
fn a_static_dim_that_would_rewrite_the_headers_is_warned_of() {
    let manifest = parsed(&[("tile = 16384", "tile = 16384\nk = 256")]);
    let warnings: Vec<&str> = manifest.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(warnings, ["static dim `k` becomes the macro `K`, a name that PTO-ISA's headers use"]);
}
