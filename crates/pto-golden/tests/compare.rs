//! Verdicts: what passes, what does not, and what the report says about it.

use std::collections::BTreeMap;

use proptest::prelude::*;
use pto_golden::compare::Difference;
use pto_golden::{
    Criterion, DType, Element, Options, Report, Rule, Scalar, Status, Tensor, Tolerance, bf16, compare, compare_set,
    f16, poison,
};

fn tensor<T: Element>(elements: &[T]) -> Tensor {
    Tensor::from_slice([elements.len()], elements).unwrap()
}

fn plain<T: Element>(actual: &[T], expected: &[T]) -> Report {
    compare(&tensor(actual), &tensor(expected), Tolerance::default_for(T::DTYPE), &Options::default())
}

#[test]
fn non_finite_values_are_compared_by_class_and_sign() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let equal_nan = Options { equal_nan: true, ..Options::default() };
    for (a, e, passes, passes_equal_nan) in [
        (1.0, inf, false, false),
        (inf, 1.0, false, false),
        (inf, inf, true, true),
        (-inf, -inf, true, true),
        (-inf, inf, false, false),
        (nan, nan, false, true),
        (nan, 1.0, false, false),
        (1.0, nan, false, false),
        (nan, inf, false, false),
        (f32::MAX, inf, false, false),
        (-0.0, 0.0, true, true),
    ] {
        assert_eq!(plain(&[a], &[e]).passed(), passes, "{a} for {e}");
        let report = compare(&tensor(&[a]), &tensor(&[e]), Tolerance::default_for(DType::F32), &equal_nan);
        assert_eq!(report.passed(), passes_equal_nan, "{a} for {e}, NaN equal to NaN");
    }
}

#[test]
fn no_tolerance_lets_an_infinity_pass() {
    let huge = Tolerance::new(2.0, f64::MAX).unwrap();
    let report = compare(&tensor(&[f64::INFINITY]), &tensor(&[f64::MAX]), huge, &Options::default());
    assert_eq!(report.status, Status::Differs);
    let report = compare(&tensor(&[-f64::MAX]), &tensor(&[f64::MAX]), huge, &Options::default());
    assert_eq!(report.status, Status::Differs, "the difference overflows");
    for (rtol, atol) in [(-1.0, 0.0), (0.0, f64::INFINITY), (f64::NAN, 0.0)] {
        assert!(Tolerance::new(rtol, atol).is_err());
    }
    let by_hand = Tolerance { rtol: f64::NAN, atol: 0.0 };
    let report = compare(&tensor(&[1.0f32]), &tensor(&[1.5f32]), by_hand, &Options::default());
    assert_eq!(report.status, Status::Differs, "a NaN limit lets nothing pass");
    assert!(serde_json::from_str::<Tolerance>(r#"{"rtol": -1.0, "atol": 0.0}"#).is_err());
    assert!(serde_json::from_str::<Tolerance>(r#"{"rtol": 1.0, "atol": 0.0, "etol": 0}"#).is_err());
}

#[test]
fn what_was_not_compared_does_not_pass() {
    let one = Tensor::from_slice([1], &[1.0f32]).unwrap();
    let three = Tensor::from_slice([3], &[1.0f32; 3]).unwrap();
    let ints = Tensor::from_slice([3], &[1i64; 3]).unwrap();
    let none = Tensor::zeros(DType::F32, [0, 4]).unwrap();
    let run = |a: &Tensor, e: &Tensor| compare(a, e, Tolerance::EXACT, &Options::default());
    for (report, status, message) in [
        (run(&one, &three), Status::ShapeDiffers, "shape is [1], expected [3]; nothing is broadcast"),
        (run(&ints, &three), Status::DTypeDiffers, "dtype is i64, expected f32"),
        (run(&none, &none), Status::Empty, "nothing was compared: shape [0, 4] has no elements"),
    ] {
        assert_eq!((report.status, report.message.as_str()), (status, message));
        assert!(!report.passed());
    }
    let declared = Options { allow_empty: true, ..Options::default() };
    assert!(compare(&none, &none, Tolerance::EXACT, &declared).passed());
}

#[test]
fn sets_miss_nothing() {
    let rules = |_: &str, golden: &Tensor| Criterion::new(Rule::default_for(golden.dtype()), Options::default());
    let set = |names: &[&str]| -> BTreeMap<String, Tensor> {
        names.iter().map(|name| ((*name).to_owned(), tensor(&[1.0f32]))).collect()
    };
    assert!(compare_set(&set(&["a", "b"]), &set(&["a", "b"]), rules).passed());
    let report = compare_set(&set(&["a"]), &set(&["a", "b"]), rules);
    assert_eq!(report.outputs["b"].status, Status::Missing);
    assert_eq!(report.summary(), "`b`: the kernel gave no such output");
    let report = compare_set(&set(&["a", "c"]), &set(&["a"]), rules);
    assert_eq!(report.outputs["c"].status, Status::Unexpected);
    assert!(!report.passed());
    let nothing = compare_set(&set(&[]), &set(&[]), rules);
    assert!(!nothing.passed());
    assert_eq!(nothing.to_string(), "nothing was compared: there are no outputs");
}

#[test]
fn integers_are_compared_in_their_own_width() {
    assert!(!plain(&[i64::MAX - 1], &[i64::MAX]).passed(), "equal as doubles");
    assert!(!plain(&[u64::MAX - 1], &[u64::MAX]).passed());
    let far = plain(&[i64::MIN], &[i64::MAX]);
    assert_eq!(far.worst_abs.unwrap().error, Some(u64::MAX as f64));
    let one_off = Tolerance::new(0.0, 1.0).unwrap();
    assert!(compare(&tensor(&[7i8]), &tensor(&[8i8]), one_off, &Options::default()).passed());
    assert!(!compare(&tensor(&[6i8]), &tensor(&[8i8]), one_off, &Options::default()).passed());
    assert!(!plain(&[true], &[false]).passed());
    let strange = Tensor::new(DType::Bool, [1], vec![2]).unwrap();
    assert!(!compare(&strange, &tensor(&[true]), Tolerance::EXACT, &Options::default()).passed());
}

fn poisoned(expected: &Tensor, written: usize) -> Report {
    let mut actual = expected.clone();
    let size = expected.dtype().size();
    let fill = poison(expected.dtype(), expected.len() - written);
    actual.bytes_mut()[written * size..].copy_from_slice(&fill);
    let options = Options { poisoned: true, equal_nan: true, ..Options::default() };
    compare(&actual, expected, Tolerance::default_for(expected.dtype()), &options)
}

#[test]
fn an_output_nobody_wrote_is_called_that_for_every_dtype() {
    for dtype in DType::ALL {
        let golden = Tensor::zeros(dtype, [16, 16]).unwrap();
        let report = poisoned(&golden, 0);
        assert_eq!(report.status, Status::NeverWritten, "{dtype}");
        assert_eq!(report.message, "never written: all 256 elements still hold the fill pattern");
        let report = poisoned(&golden, 200);
        assert_eq!(report.status, Status::PartlyWritten, "{dtype}");
        assert!(
            report
                .message
                .starts_with("56 of 256 elements never written, first at [12, 8], last at [15, 15]; the others agree"),
            "{}",
            report.message
        );
        assert!(poisoned(&golden, 256).passed(), "{dtype}");
    }
}

#[test]
fn what_nobody_wrote_does_not_hide_what_was_written_wrong() {
    let golden = tensor(&[1i32; 100]);
    let mut actual = vec![i32::from_le_bytes([0xA5; 4]); 50];
    actual.extend([1; 49]);
    actual.push(3);
    let options = Options { poisoned: true, ..Options::default() };
    let report = compare(&tensor(&actual), &golden, Tolerance::EXACT, &options);
    assert_eq!(report.status, Status::PartlyWritten);
    assert_eq!(report.message, "50 of 100 elements never written, first at [0], last at [49]; 1 more differ (exact)");
    assert_eq!(report.first.iter().map(|difference| difference.index[0]).collect::<Vec<_>>(), [99]);
    assert_eq!(report.worst_abs.unwrap().error, Some(2.0));
}

#[test]
fn a_golden_nan_does_not_excuse_the_pattern() {
    let golden = tensor(&[f16::NAN; 4]);
    assert_eq!(poisoned(&golden, 1).status, Status::PartlyWritten);
}

#[test]
fn an_element_that_honestly_equals_the_pattern_is_not_accused() {
    let pattern = i32::from_le_bytes([0xA5; 4]);
    let golden = tensor(&[1, pattern, 3]);
    let options = Options { poisoned: true, ..Options::default() };
    assert!(compare(&golden, &golden, Tolerance::EXACT, &options).passed());
    let report = compare(&tensor(&[1, pattern, 4]), &golden, Tolerance::EXACT, &options);
    assert_eq!((report.status, report.mismatches), (Status::Differs, 1));
    // One wrong byte in a thousand that happens to be the pattern is chance.
    let golden: Vec<u8> = vec![0; 1000];
    let mut wrong: Vec<u8> = (0..1000).map(|i| if i == 500 { 0xA5 } else { 1 }).collect();
    let report = compare(&tensor(&wrong), &tensor(&golden), Tolerance::EXACT, &options);
    assert_eq!(report.status, Status::Differs);
    wrong[800..].fill(0xA5);
    let report = compare(&tensor(&wrong), &tensor(&golden), Tolerance::EXACT, &options);
    assert_eq!((report.status, report.unwritten.map(|unwritten| unwritten.count)), (Status::PartlyWritten, Some(201)));
}

#[test]
fn the_report_says_where_and_how_far() {
    let expected = Tensor::from_slice([2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 0.0]).unwrap();
    let actual = Tensor::from_slice([2, 3], &[1.0f32, 2.5, 3.0, 4.0, 4.0, f32::NAN]).unwrap();
    let report = compare(&actual, &expected, Tolerance::default_for(DType::F32), &Options::default());
    assert_eq!(
        report.message,
        "3 of 6 elements differ (50.000 %) (rtol 1.3e-6, atol 1e-5), worst at [1, 1]: 4, expected 5 (off by 1)"
    );
    let worst = report.worst_rel.clone().unwrap();
    let float = Scalar::Float;
    assert_eq!(worst, Difference { index: vec![0, 1], actual: float(2.5), expected: float(2.0), error: Some(0.25) });
    assert_eq!(report.first.iter().map(|d| d.index.clone()).collect::<Vec<_>>(), [[0, 1], [1, 1], [1, 2]]);
    assert!((report.rmse.unwrap() - (1.25f64 / 5.0).sqrt()).abs() < 1e-15);
    assert!((report.r2.unwrap() - (1.0 - 1.25 / 10.0)).abs() < 1e-15);
    assert_eq!(report.actual_non_finite.nan, 1);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["status"], "differs");
    assert_eq!(json["first"][2]["actual"], "NaN");
    assert_eq!(json["tolerance"]["rtol"], 1.3e-6);
    assert!(report.to_string().contains("NaN: 1, expected 0; infinite: 0, expected 0\n  at [0, 1]: 2.5, expected 2 (off by 0.5)\n  at [1, 1]: 4, expected 5 (off by 1)\n  at [1, 2]: NaN, expected 0"), "{report}");
}

#[test]
fn big_tensors_give_the_same_report_as_their_parts_in_order() {
    let len = 1_200_000;
    let expected: Vec<f32> = (0..len).map(|i| (i % 1000) as f32 + 1.0).collect();
    let mut actual = expected.clone();
    for at in [5, 524_287, 524_288, 1_199_999] {
        actual[at] += 10.0;
    }
    actual[600_000] = 1e6;
    let report = plain(&actual, &expected);
    let at: Vec<usize> = report.first.iter().map(|difference| difference.index[0]).collect();
    assert_eq!(at, [5, 524_287, 524_288, 600_000, 1_199_999]);
    assert_eq!(report.worst_abs.unwrap().index, [600_000]);
    assert_eq!(report.elements, len);
    let limited = Options { listed: 2, ..Options::default() };
    let report = compare(&tensor(&actual), &tensor(&expected), Tolerance::EXACT, &limited);
    assert_eq!((report.first.len(), report.mismatches), (2, 5));
    assert!(report.to_string().contains("and 3 more"));
}

/// The definition, element by element, with nothing clever.
fn slow<T: Element>(actual: &[T], expected: &[T], tolerance: Tolerance) -> usize {
    let wrong = |(a, e): (&T, &T)| {
        let (a, e) = (a.to_f64(), e.to_f64());
        let equal = if a.is_finite() && e.is_finite() {
            (a - e).abs() <= tolerance.atol + tolerance.rtol * e.abs()
        } else {
            a == e
        };
        !equal
    };
    actual.iter().zip(expected).filter(|pair| wrong(*pair)).count()
}

fn agree_with_slow<T: Element>(actual: &[T], expected: &[T]) -> Result<(), TestCaseError> {
    let tolerance = Tolerance::default_for(T::DTYPE);
    let report = plain(actual, expected);
    prop_assert_eq!(report.mismatches, slow(actual, expected, tolerance));
    prop_assert_eq!(report.passed(), report.mismatches == 0);
    let errors = actual.iter().zip(expected).map(|(a, e)| (a.to_f64() - e.to_f64()).abs());
    let worst = errors.filter(|error| error.is_finite()).fold(0.0, f64::max);
    prop_assert_eq!(report.worst_abs.and_then(|worst| worst.error).unwrap_or(0.0), worst);
    Ok(())
}

proptest! {
    #[test]
    fn every_f16_pattern(pairs in proptest::collection::vec((any::<u16>(), -3i32..4), 1..1500)) {
        let expected: Vec<f16> = pairs.iter().map(|(bits, _)| f16::from_bits(*bits)).collect();
        let near = |(bits, step): &(u16, i32)| f16::from_bits(bits.wrapping_add_signed(*step as i16));
        let actual: Vec<f16> = pairs.iter().map(near).collect();
        agree_with_slow(&actual, &expected)?;
        let widen = |bits: u16| bf16::from_bits(bits);
        let expected: Vec<bf16> = expected.iter().map(|x| widen(x.to_bits())).collect();
        let actual: Vec<bf16> = actual.iter().map(|x| widen(x.to_bits())).collect();
        agree_with_slow(&actual, &expected)?;
    }

    #[test]
    fn every_f32_pattern(pairs in proptest::collection::vec((any::<u32>(), -30i32..30), 1..1500)) {
        let expected: Vec<f32> = pairs.iter().map(|(bits, _)| f32::from_bits(*bits)).collect();
        let actual: Vec<f32> = pairs.iter().map(|(bits, step)| f32::from_bits(bits.wrapping_add_signed(*step))).collect();
        agree_with_slow(&actual, &expected)?;
    }

    #[test]
    fn agreeing_tensors_take_the_quick_way_and_say_the_same(
        values in proptest::collection::vec(-1e3f32..1e3, 1..2000),
        seed in any::<u32>(),
    ) {
        let wobble = |(i, x): (usize, &f32)| x * (1.0 + ((i as u32 ^ seed) % 16) as f32 * 1e-7);
        let actual: Vec<f32> = values.iter().enumerate().map(wobble).collect();
        agree_with_slow(&actual, &values)?;
    }

    #[test]
    fn integers(pairs in proptest::collection::vec((any::<i32>(), 0i32..2), 1..700)) {
        let expected: Vec<i32> = pairs.iter().map(|(value, _)| *value).collect();
        let actual: Vec<i32> = pairs.iter().map(|(value, step)| value.wrapping_add(*step)).collect();
        agree_with_slow(&actual, &expected)?;
    }
}

#[test]
fn a_golden_that_is_nan_itself_is_said() {
    let said =
        |actual: &[f32], expected: &[f32]| plain(actual, expected).to_string().contains("the golden itself is NaN");
    let nan = f32::NAN;
    assert!(said(&[nan, 1.0], &[nan, 2.0]));
    assert!(!said(&[nan, 1.0], &[1.0, 2.0]) && !said(&[1.0, 1.0], &[nan, 1.0]));
}
