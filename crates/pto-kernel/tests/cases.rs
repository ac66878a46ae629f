//! From manifests to cases that can be launched.

mod common;

use common::parsed;
use pto_kernel::cases::{BoundValue, Case, CaseFilter, Cores, Edge, Origin, ScalarValue, bind, derive};
use pto_kernel::manifest::ScalarType;
use pto_kernel::{KernelError, Manifest};
use pto_platform::{Soc, Target};

const CORES: Cores = Cores { vector: 48, cube: 24 };

fn shown(manifest: &Manifest, target: Target) -> Vec<String> {
    derive(manifest, target, CORES, 7).iter().map(|case| format!("{case} ({})", case.origin)).collect()
}

fn case(dims: &[(&str, i64)]) -> Case {
    let dims = dims.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    Case { dims, origin: Origin::Asked, seed: 7 }
}

#[test]
fn listed_cases_come_first_and_edges_follow() {
    assert_eq!(
        shown(&parsed(&[]), Target::A2a3),
        [
            "n=4096 (listed in line 49)",
            "n=16384 (n: one tile)",
            "n=32768 (n: two tiles)",
            "n=24577 (n: a tail)",
            "n=802816 (n: more tiles than cores)",
            "n=1 (n: one element)",
        ]
    );
}

#[test]
fn sizes_are_not_repeated() {
    let manifest = parsed(&[("{ n = 4096 }", "{ n = 16384 }, { n = 1 }")]);
    let found = shown(&manifest, Target::A5);
    assert_eq!(found.len(), 5, "{found:?}");
}

#[test]
fn a_case_can_be_for_some_targets_only() {
    let manifest = parsed(&[("{ n = 4096 }", "{ n = 5, targets = [\"cpu\"] }, { n = 6 }"), ("edges = [\"n\"]\n", "")]);
    assert_eq!(shown(&manifest, Target::A5), ["n=6 (listed in line 48)"]);
    assert_eq!(shown(&manifest, Target::Cpu).len(), 2);
}

#[test]
fn while_one_dim_is_at_its_edge_the_others_stay() {
    let changes = [
        ("n = \"dynamic\"", "n = \"dynamic\"\nm = \"dynamic\"\nm_tile = 4"),
        ("shape = [\"n\"]", "shape = [\"m\", \"n\"]"),
    ];
    let listed = parsed(
        &[&changes[..], &[("edges = [\"n\"]\nlist = [{ n = 4096 }]", "edges = [\"m\"]\nlist = [{ n = 3, m = 9 }]")]]
            .concat(),
    );
    assert_eq!(shown(&listed, Target::A2a3)[1..3], ["m=4,n=3 (m: one tile)", "m=8,n=3 (m: two tiles)"]);
    let unlisted =
        parsed(&[&changes[..], &[("edges = [\"n\"]\nlist = [{ n = 4096 }]", "edges = [\"m\", \"n\"]")]].concat());
    assert_eq!(shown(&unlisted, Target::A2a3)[0], "m=4,n=32768 (m: one tile)");
}

#[test]
fn a_kernel_of_fixed_size_has_one_case() {
    let manifest = parsed(&[("n = \"dynamic\"", "n = 64"), ("[cases]\nedges = [\"n\"]\nlist = [{ n = 4096 }]\n", "")]);
    assert_eq!(shown(&manifest, Target::Cpu), ["fixed (fixed size)"]);
}

#[test]
fn edges_have_lengths_that_hit_them() {
    for tile in [1_i64, 2, 3, 4, 5, 7, 16, 128, 16384] {
        let tail = Edge::Tail.length(tile, 48);
        assert_eq!(tail.is_some(), tile > 1);
        assert!(tail.is_none_or(|length| length > tile && length < 2 * tile), "{tile}: {tail:?}");
        assert!(Edge::MoreThanCores.length(tile, 48).unwrap() > 48 * tile);
    }
    assert_eq!(Edge::TwoTiles.length(i64::MAX, 1), None);
}

#[test]
fn cores_of_a_kind_are_counted() {
    let soc = Soc::by_name("Ascend910B2").unwrap();
    assert_eq!(Cores::from(soc), CORES);
    let cube = parsed(&[("core = \"vec\"", "core = \"cube\"")]);
    assert!(shown(&cube, Target::A2a3).contains(&"n=409600 (n: more tiles than cores)".to_owned()));
}

#[test]
fn a_bound_case_has_sizes_and_numbers() {
    let manifest = parsed(&[("shape = [\"n\"]\n\n", "shape = [\"ceil(n / tile)\", 3]\n\n")]);
    let bound = bind(&manifest, &case(&[("n", 40_000)]), CORES).unwrap();
    assert_eq!(bound.block_dim, 3);
    let (name, y) = bound.tensors().next().unwrap();
    assert_eq!((name, y.shape.as_slice(), y.elements, y.bytes), ("y", &[3, 3][..], 9, 18));
    assert_eq!(bound.args[3].value, BoundValue::Scalar(ScalarValue::Integer { dtype: ScalarType::U32, value: 40_000 }));
}

#[test]
fn what_cannot_be_bound_is_named() {
    type Row = (&'static [(&'static str, &'static str)], i64, &'static str);
    let table: &[Row] = &[
        (
            &[("shape = [\"n\"]\n\n", "shape = [\"n - 5\"]\n\n")],
            3,
            "`shape` of `y` has the extent `n - 5`, which is -2 in case n=3; expected at least 1",
        ),
        (
            &[("shape = [\"n\"]\n\n", "shape = [\"n // 5\"]\n\n")],
            3,
            "`shape` of `y` has the extent `n // 5`, which is 0 in case n=3; expected at least 1",
        ),
        (
            &[("shape = [\"n\"]\n\n", "shape = [\"n // (n - 3)\"]\n\n")],
            3,
            "an extent in `shape` of `y` is `n // (n - 3)`, which has no value in case n=3",
        ),
        (
            &[("value = \"n\"", "value = \"n * n\""), ("name = \"n\"", "name = \"nn\"")],
            70_000,
            "`nn` is 4900000000 in case n=70000, and u32 holds 0 to 4294967295",
        ),
        (&[("scalar = \"u32\"", "scalar = \"i8\"")], 128, "`n` is 128 in case n=128, and i8 holds -128 to 127"),
        (
            &[("scalar = \"u32\"\nvalue = \"n\"", "scalar = \"f32\"\nvalue = 1e39"), ("name = \"n\"", "name = \"e\"")],
            1,
            "`e` is 1e39 in case n=1, and f32 holds -3.4028235e38 to 3.4028235e38",
        ),
        (
            &[("ceil(n / tile))", "n // tile)")],
            3,
            "`block_dim` is `min(vector_cores, n // tile)`, which is 0 in case n=3; expected 1 to 4294967295",
        ),
        (
            &[("shape = [\"n\"]\n\n", "shape = [\"n\", \"n\"]\n\n")],
            1 << 40,
            "`y` of shape [1099511627776, 1099511627776] is too large to be addressed in case n=1099511627776",
        ),
    ];
    for (changes, n, message) in table {
        let error = bind(&parsed(changes), &case(&[("n", *n)]), CORES).unwrap_err();
        assert_eq!(error.to_string(), *message);
    }
}

#[test]
fn scalars_have_the_bytes_of_their_type() {
    let integer = |dtype, value| ScalarValue::Integer { dtype, value }.to_le_bytes();
    assert_eq!(integer(ScalarType::I8, -2), (-2_i8).to_le_bytes());
    assert_eq!(integer(ScalarType::U32, 0x1234_5678), 0x1234_5678_u32.to_le_bytes());
    assert_eq!(integer(ScalarType::I64, i64::MIN.into()), i64::MIN.to_le_bytes());
    let float = |dtype, value| ScalarValue::Float { dtype, value }.to_le_bytes();
    assert_eq!(float(ScalarType::F32, 1.5), 1.5_f32.to_le_bytes());
    assert_eq!(float(ScalarType::F64, 1.5), 1.5_f64.to_le_bytes());
}

fn selected(filter: &str) -> Result<Vec<String>, KernelError> {
    let manifest = parsed(&[]);
    let cases = derive(&manifest, Target::A2a3, CORES, 7);
    let found = filter.parse::<CaseFilter>()?.select(&manifest, &cases, 7)?;
    Ok(found.iter().map(|case| format!("{case} ({})", case.origin)).collect())
}

#[test]
fn cases_are_selected_by_size_or_number() {
    assert_eq!(selected("n=4096").unwrap(), ["n=4096 (listed in line 49)"]);
    assert_eq!(selected(" n = 1 ").unwrap(), ["n=1 (n: one element)"]);
    assert_eq!(selected("2").unwrap(), ["n=16384 (n: one tile)"]);
    assert_eq!(selected("n=777").unwrap(), ["n=777 (asked for)"]);
}

#[test]
fn a_selection_that_selects_nothing_says_why() {
    for (filter, message) in [
        ("0", "`0` selects case 0, and the first case is 1"),
        ("9", "`9` selects no case"),
        ("n", "`n` selects no case: `n` is not of the form `dim=length`"),
        ("n=0", "`n=0` selects no case: `0` is not a length of at least 1"),
        ("n=1,n=2", "`n=1,n=2` gives `n` twice"),
        ("m=1", "`m=1` gives `m`, which is no dim of `vec_add`"),
        ("tile=1", "`tile=1` gives `tile`, which is static (16384)"),
        ("", "`` selects no case: `` is not of the form `dim=length`"),
    ] {
        assert_eq!(selected(filter).unwrap_err().to_string(), message);
    }
}
