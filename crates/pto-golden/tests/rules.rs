//! The rules on the inputs that other comparisons get wrong.

use pto_golden::compare::{Region, judge_region, top_k};
use pto_golden::suite::{RuleKind, Spec};
use pto_golden::{DType, Options, Rule, Status, Tensor, Tolerance, bf16, f16, judge};

fn tensor<T: pto_golden::Element>(elements: &[T]) -> Tensor {
    Tensor::from_slice([elements.len()], elements).unwrap()
}

fn passes<T: pto_golden::Element>(rule: Rule, actual: &[T], expected: &[T]) -> bool {
    judge(&tensor(actual), &tensor(expected), &rule, &Options::default()).passed()
}

#[test]
fn one_unit_in_the_last_place_is_one_wherever_it_is() {
    let one = Rule::Ulp { max: 1 };
    let next = |value: f32, by: i16| bf16::from_bits((bf16::from_f32(value).to_bits() as i16 + by) as u16);
    for value in [1.0, 1e-30, -1.0, 3e38, 1e-40] {
        assert!(passes(one, &[next(value, 1)], &[bf16::from_f32(value)]), "{value}");
        assert!(!passes(one, &[next(value, 2)], &[bf16::from_f32(value)]), "{value}");
    }
    let smallest = f32::from_bits(1);
    assert!(passes(one, &[0.0f32], &[-0.0]), "the zeros are equal");
    assert!(!passes(one, &[smallest], &[-smallest]), "two across the sign");
    assert!(passes(Rule::Ulp { max: 2 }, &[smallest], &[-smallest]));
    assert!(!passes(Rule::Ulp { max: u64::MAX }, &[f32::INFINITY], &[f32::MAX]), "classes come first");
    assert!(passes(one, &[i64::MAX], &[i64::MAX - 1]) && !passes(one, &[i64::MAX], &[i64::MAX - 2]));
}

#[test]
fn a_long_tail_passes_only_below_its_cap() {
    let expected = vec![1.0f32; 65536];
    let mut actual = expected.clone();
    actual.iter_mut().step_by(800).for_each(|value| *value = 1.004);
    let rule = |rate, cap| Rule::PassRate { rtol: 1e-3, atol: 0.0, rate, cap };
    assert!(passes(rule(0.99, 5.0), &actual, &expected), "82 of 65536 are outside");
    assert!(!passes(rule(0.999, 5.0), &actual, &expected));
    assert!(!passes(rule(0.99, 3.0), &actual, &expected), "each is 4 times its limit");
    actual[7] = f32::NAN;
    let report = judge(&tensor(&actual), &tensor(&expected), &rule(0.5, 1e9), &Options::default());
    assert!(!report.passed(), "no rate excuses a NaN");
    assert!(report.message.contains("1 of them beyond the cap"), "{}", report.message);
}

#[test]
fn ties_are_legal_and_nothing_else_is() {
    let scores = Tensor::from_slice([2, 4], &[0.5f32, 0.9, 0.9, 0.1, 0.3, 0.2, 0.8, 0.8]).unwrap();
    let golden = Tensor::from_slice([2, 2], &[1i32, 2, 6 - 4, 3]).unwrap();
    let judged = |indices: [i32; 4], tolerance| {
        let actual = Tensor::from_slice([2, 2], &indices).unwrap();
        top_k(&actual, &golden, &scores, tolerance, &Options::default())
    };
    assert!(judged([2, 1, 3, 2], Tolerance::EXACT).passed(), "swapped where scores are equal");
    assert!(!judged([1, 0, 2, 3], Tolerance::EXACT).passed(), "another score");
    assert!(judged([1, 0, 2, 3], Tolerance { rtol: 0.0, atol: 0.5 }).passed());
    let twice = judged([1, 1, 2, 3], Tolerance::EXACT);
    assert!(!twice.passed() && twice.message.contains("1 indices out of range or there twice, first at [0, 1]"));
    assert!(!judged([1, 4, 2, 3], Tolerance::EXACT).passed());
    assert!(!judged([-1, 2, 2, 3], Tolerance::EXACT).passed());
}

#[test]
fn the_valid_region_and_its_tail() {
    let golden = Tensor::from_slice([2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let buffer = |junk: f32| {
        let rows = [1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, junk, 0.0, 0.0, junk, 0.0];
        Tensor::from_slice([3, 4], &rows).unwrap()
    };
    let judged = |actual: &Tensor, zero_tail| {
        let region = Region { valid: vec![2, 3], zero_tail };
        judge_region(actual, &golden, &region, &Rule::Exact, &Options::default())
    };
    assert!(judged(&buffer(0.0), true).passed());
    assert!(judged(&buffer(9.0), false).passed());
    let junk = judged(&buffer(9.0), true);
    assert_eq!((junk.status, junk.mismatches), (Status::Differs, 2));
    assert_eq!(junk.first[0].index, [1, 3]);
    let outside = Region { valid: vec![2, 5], zero_tail: false };
    let report = judge_region(&buffer(0.0), &golden, &outside, &Rule::Exact, &Options::default());
    assert_eq!(report.message, "the valid region [2, 5] does not lie in shape [3, 4]");
}

#[test]
fn quantized_integers_are_steps_apart() {
    let rule = Rule::Quantized { scale: 0.5, zero_point: 3, steps: 1 };
    let report = judge(&tensor(&[4i8, 9, -128]), &tensor(&[3i8, 10, -127]), &rule, &Options::default());
    assert!(report.passed());
    assert_eq!(report.worst_abs.unwrap().error, Some(0.5), "in real units");
    assert!(!passes(rule, &[5i8], &[3i8]));
}

#[test]
fn runs_that_differ_in_the_last_place_are_not_deterministic() {
    let report = judge(&tensor(&[1.0f32, 0.0]), &tensor(&[1.0f32, -0.0]), &Rule::Determinism, &Options::default());
    assert!(report.message.starts_with("not deterministic: 1 of 2 elements differ"), "{}", report.message);
    assert!(passes(Rule::Determinism, &[f32::NAN], &[f32::NAN]));
}

#[test]
fn saturation_has_its_own_word() {
    let report =
        judge(&tensor(&[f16::MAX]), &tensor(&[f16::INFINITY]), &Rule::default_for(DType::F16), &Options::default());
    assert!(!report.passed() && report.saturated == 1);
    assert!(report.message.contains("1 of them saturated where an infinity is expected"), "{}", report.message);
}

#[test]
fn what_is_looser_needs_a_reason() {
    let refused = |spec: &Spec, dtype: DType| spec.lacks_reason(&spec.rule(dtype).unwrap(), dtype).is_some();
    let loose = Spec { rtol: Some(0.1), ..Spec::default() };
    assert!(refused(&loose, DType::F16) && refused(&loose, DType::I32));
    assert!(!refused(&Spec { reason: Some("split k".to_owned()), ..loose.clone() }, DType::F16));
    assert!(refused(&Spec { reason: Some("  ".to_owned()), ..loose }, DType::F16));
    let atol = Spec { atol: Some(1e-2), reason: Some("r".to_owned()), ..Spec::default() };
    let warnings = atol.rule(DType::F32).unwrap().warnings();
    assert!(warnings[0].contains("a loose absolute tolerance can mark incorrect kernels as PASS"), "{warnings:?}");
    let kinds = [RuleKind::PassRate, RuleKind::Whole];
    for rule in kinds {
        let spec = Spec { rule: Some(rule), cosine: (rule == RuleKind::Whole).then_some(0.9), ..Spec::default() };
        assert!(refused(&spec, DType::F32), "{rule:?}");
    }
    for spec in [RuleKind::Exact, RuleKind::BitExact, RuleKind::Ulp, RuleKind::Determinism] {
        assert!(!refused(&Spec { rule: Some(spec), ..Spec::default() }, DType::F32), "{spec:?}");
    }
}

#[test]
fn numbers_of_other_rules_and_nonsense_are_refused() {
    let spec = |text: &str| toml::from_str::<Spec>(text).unwrap();
    for (text, message) in [
        ("cap = 3.0", "`cap` means nothing to the rule `close`"),
        ("rule = 'ulp'\nrtol = 0.1", "`rtol` means nothing to the rule `ulp`"),
        ("rule = 'quantized'", "the rule `quantized` needs `scale`, the value of one step"),
        ("rule = 'whole'", "the rule `whole` needs at least one of `rmse`, `r-squared`, `cosine` and `snr`"),
        ("rtol = -1.0", "rtol is -1, expected a finite number of at least 0"),
        ("rule = 'pass-rate'\nrate = 1.5", "rate is 1.5, which no rule can use"),
    ] {
        assert_eq!(spec(text).rule(DType::F32).unwrap_err().to_string(), message);
    }
    assert!(toml::from_str::<Spec>("rtoll = 1.0").unwrap_err().to_string().contains("unknown field `rtoll`"));
}

#[test]
fn a_rule_is_written_by_its_name() {
    for rule in RuleKind::ALL {
        assert_eq!(serde_json::to_string(&rule).unwrap(), format!("\"{}\"", rule.name()));
    }
}
