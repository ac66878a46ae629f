//! The comparison against a slow one written another way: element by element, in `f64` and `i128`, for every dtype and every
//! rule, on bytes that are anything at all.

use proptest::prelude::*;
use pto_golden::{DType, Options, Report, Rule, Scalar, Tensor, Tolerance, judge};

/// The verdict on one element: right, wrong but excusable, hopeless.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Verdict {
    Right,
    Wrong,
    Hopeless,
}

fn real(scalar: Scalar) -> f64 {
    match scalar {
        Scalar::Float(value) => value,
        Scalar::Int(value) => value as f64,
        Scalar::Bool(value) => value.into(),
    }
}

/// By rank among all values of the type, which are few, or by steps of the wide types' ordered bits.
fn ulps(dtype: DType, a: f64, e: f64) -> f64 {
    let wide = |value: f64| match dtype {
        DType::F64 => {
            let magnitude = value.abs().to_bits() as i128;
            if value < 0.0 { -magnitude } else { magnitude }
        }
        _ => {
            let magnitude = i128::from((value.abs() as f32).to_bits()) / if dtype == DType::Hf32 { 4096 } else { 1 };
            if value < 0.0 { -magnitude } else { magnitude }
        }
    };
    if matches!(dtype, DType::F64 | DType::F32 | DType::Hf32) {
        return (wide(a) - wide(e)).unsigned_abs() as f64;
    }
    thread_local! { static VALUES: std::cell::RefCell<std::collections::HashMap<DType, Vec<f64>>> = Default::default(); }
    VALUES.with(|all| {
        let mut all = all.borrow_mut();
        let values = all.entry(dtype).or_insert_with(|| {
            let size = dtype.size();
            let codes = 0..1u32 << (8 * size);
            let bytes: Vec<u8> = codes.clone().flat_map(|code| code.to_le_bytes()[..size].to_vec()).collect();
            let tensor = Tensor::new(dtype, [codes.len()], bytes).unwrap();
            let mut values: Vec<f64> =
                tensor.to_f64().into_iter().filter(|value| !value.is_nan()).map(|x| x + 0.0).collect();
            values.sort_by(f64::total_cmp);
            values.dedup();
            values
        });
        let rank = |value: f64| values.partition_point(|other| *other < value) as f64;
        (rank(a) - rank(e)).abs()
    })
}

fn element(rule: &Rule, equal_nan: bool, dtype: DType, at: usize, tensors: [&Tensor; 2]) -> Verdict {
    let bytes = |tensor: &Tensor| -> Vec<u8> { tensor.bytes()[at * dtype.size()..(at + 1) * dtype.size()].to_vec() };
    let (actual, expected) = (bytes(tensors[0]), bytes(tensors[1]));
    let (mut a, mut e) = (tensors[0].get(at).unwrap(), tensors[1].get(at).unwrap());
    if dtype == DType::Bool {
        (a, e) = (Scalar::Int(actual[0].into()), Scalar::Int(expected[0].into()));
    }
    let right = |right: bool| if right { Verdict::Right } else { Verdict::Hopeless };
    if matches!(rule, Rule::BitExact | Rule::Determinism) {
        return match (a, e) {
            (Scalar::Int(a), Scalar::Int(e)) => right(a == e),
            _ => right(actual == expected),
        };
    }
    let (difference, magnitude) = match (a, e) {
        (Scalar::Int(a), Scalar::Int(e)) => (a.abs_diff(e) as f64, (e as f64).abs()),
        _ => ((real(a) - real(e)).abs(), real(e).abs()),
    };
    let (fa, fe) = (real(a), real(e));
    if !(fa.is_finite() && fe.is_finite()) {
        let same_class = (fa == fe) || (fa.is_nan() && fe.is_nan() && equal_nan);
        return right(same_class);
    }
    let equal = match (a, e) {
        (Scalar::Int(a), Scalar::Int(e)) => a == e,
        _ => fa == fe,
    };
    let (limit, cap) = match *rule {
        Rule::Close(t) => (t.atol + t.rtol * magnitude, 1.0),
        Rule::Exact => return right(equal),
        Rule::PassRate { rtol, atol, cap, .. } => (atol + rtol * magnitude, cap),
        Rule::Floored { rel, floor, cap, .. } => (rel * magnitude.max(floor), cap),
        Rule::Quantized { steps, .. } => (steps as f64, 1.0),
        Rule::Ulp { max } => {
            let distance = if dtype.is_float() { ulps(dtype, fa, fe) } else { difference };
            return right(distance <= max as f64);
        }
        Rule::Whole { .. } => return Verdict::Right,
        _ => unreachable!(),
    };
    let limit = limit.min(f64::MAX);
    if equal || difference <= limit {
        Verdict::Right
    } else if difference <= (cap * limit).min(f64::MAX) {
        Verdict::Wrong
    } else {
        Verdict::Hopeless
    }
}

fn rules(dtype: DType) -> Vec<Rule> {
    let mut rules = vec![
        Rule::default_for(dtype),
        Rule::Close(Tolerance { rtol: 0.05, atol: 0.0 }),
        Rule::Close(Tolerance { rtol: 0.0, atol: 3.0 }),
        Rule::Exact,
        Rule::BitExact,
        Rule::Determinism,
        Rule::Ulp { max: 1 },
        Rule::Ulp { max: 5 },
        Rule::PassRate { rtol: 0.01, atol: 1e-3, rate: 0.5, cap: 4.0 },
        Rule::Floored { rel: 0.02, floor: 0.5, rate: 0.9, cap: 3.0 },
        Rule::Whole { rmse: 1e-3, r2: f64::NEG_INFINITY, cosine: 0.99, snr: 10.0 },
    ];
    if dtype.int_range().is_some() && dtype != DType::Bool {
        rules.push(Rule::Quantized { scale: 0.3, zero_point: 2, steps: 2 });
    }
    rules
}

fn check(actual: &Tensor, expected: &Tensor, rule: &Rule, equal_nan: bool) -> Result<(), TestCaseError> {
    let dtype = expected.dtype();
    let options = Options { equal_nan, listed: 6, ..Options::default() };
    let report = judge(actual, expected, rule, &options);
    let verdicts: Vec<Verdict> =
        (0..expected.len()).map(|at| element(rule, equal_nan, dtype, at, [actual, expected])).collect();
    let wrong: Vec<usize> = (0..verdicts.len()).filter(|at| verdicts[*at] != Verdict::Right).collect();
    let hopeless = verdicts.iter().filter(|verdict| **verdict == Verdict::Hopeless).count();
    let about = format!("{dtype} {rule:?} equal_nan {equal_nan}: {report}");
    prop_assert_eq!(report.mismatches, wrong.len(), "{}", about);
    prop_assert_eq!(report.hopeless, hopeless, "{}", about);
    let first: Vec<usize> = report.first.iter().map(|difference| difference.index[0]).collect();
    prop_assert_eq!(&first, &wrong[..wrong.len().min(6)], "{}", about);
    let rate = 1.0 - wrong.len() as f64 / verdicts.len() as f64;
    let passes = match *rule {
        Rule::PassRate { rate: least, .. } | Rule::Floored { rate: least, .. } => hopeless == 0 && rate >= least,
        Rule::Whole { .. } => report.passed(), // held against figures below
        _ => wrong.is_empty(),
    };
    prop_assert_eq!(report.passed(), passes, "{}", about);
    if !matches!(rule, Rule::Quantized { .. }) && dtype != DType::Bool {
        figures(actual, expected, &report, &about)?;
    }
    Ok(())
}

/// The statistics, in one plain pass over doubles.
fn figures(actual: &Tensor, expected: &Tensor, report: &Report, about: &str) -> Result<(), TestCaseError> {
    let value = |tensor: &Tensor, at: usize| tensor.get(at).unwrap();
    let all = (0..expected.len()).map(|at| (value(actual, at), value(expected, at)));
    let (mut nan, mut inf) = ([0, 0], [0, 0]);
    let mut finite = Vec::new();
    for (a, e) in all {
        let (fa, fe) = (real(a), real(e));
        if fa.is_finite() && fe.is_finite() {
            let error = match (a, e) {
                (Scalar::Int(a), Scalar::Int(e)) => {
                    if a < e {
                        -(a.abs_diff(e) as f64)
                    } else {
                        a.abs_diff(e) as f64
                    }
                }
                _ => fa - fe,
            };
            finite.push((fe, error));
        } else {
            [fa, fe].iter().enumerate().for_each(|(side, value)| {
                nan[side] += usize::from(value.is_nan());
                inf[side] += usize::from(value.is_infinite());
            });
        }
    }
    prop_assert_eq!([report.actual_non_finite.nan, report.expected_non_finite.nan], nan, "{}", about);
    prop_assert_eq!([report.actual_non_finite.inf, report.expected_non_finite.inf], inf, "{}", about);
    let worst = finite.iter().map(|(_, error)| error.abs()).reduce(f64::max);
    let near = |found: Option<f64>, wanted: Option<f64>, slack: f64| match (found, wanted) {
        (Some(found), Some(wanted)) => (found - wanted).abs() <= slack * wanted.abs().max(1e-300) || found == wanted,
        (None, None) => true,
        _ => false,
    };
    let found = report.worst_abs.as_ref().and_then(|worst| worst.error);
    prop_assert!(near(found, worst, 1e-6), "worst {:?} {:?} {}", found, worst, about);
    let counted: u64 = report.histogram.iter().map(|bucket| bucket.count).sum();
    prop_assert_eq!(counted as usize, finite.len(), "{}", about);
    let squares: f64 = finite.iter().map(|(_, error)| error * error).sum();
    let rmse = (squares / finite.len() as f64).sqrt();
    prop_assert!(near(report.rmse, Some(rmse).filter(|rmse| rmse.is_finite()), 1e-5), "RMSE {} {}", rmse, about);
    if let Some(quantiles) = report.quantiles.filter(|_| worst.is_some_and(|worst| worst < 1e38)) {
        let mut errors: Vec<f64> = finite.iter().map(|(_, error)| error.abs()).collect();
        errors.sort_by(f64::total_cmp);
        for (share, found) in
            [(0.5, quantiles.p50), (0.9, quantiles.p90), (0.99, quantiles.p99), (0.999, quantiles.p999)]
        {
            let exact = errors[((share * errors.len() as f64).ceil() as usize).max(1) - 1];
            let fits =
                found >= exact * (1.0 - 1e-6) - 1e-38 && found <= exact * (1.0 + 1.0 / 16.0) * (1.0 + 1e-6) + 1e-38;
            prop_assert!(fits, "quantile {} is {}, exactly {}: {}", share, found, exact, about);
        }
    }
    Ok(())
}

/// Bytes of elements: near values, equal ones, edges, and anything.
fn tensors(dtype: DType, seed: u64, len: usize, style: u8) -> (Tensor, Tensor) {
    let size = dtype.size();
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let edges: [u64; 8] =
        [0, 1 << (8 * size - 1), 1, u64::MAX >> 1, 0x7C00, 0x7BFF, 0x7F80_0000, 0x7FEF_FFFF_FFFF_FFFF];
    let fill = pto_golden::Fill::default_for(dtype).generate(dtype, [len], seed, "e").unwrap();
    let mut expected = fill.into_bytes();
    if style >= 2 {
        for element in expected.chunks_exact_mut(size) {
            let bits = match next() % 8 {
                0 => edges[next() as usize % 8],
                1..=3 if style == 2 => continue,
                _ => next(),
            };
            element.copy_from_slice(&bits.to_le_bytes()[..size]);
        }
    }
    if dtype == DType::Bool {
        expected.iter_mut().for_each(|byte| *byte &= 3);
    }
    let mut actual = expected.clone();
    for element in actual.chunks_exact_mut(size) {
        match next() % 16 {
            0..=5 => element[0] ^= 1,
            6 if style >= 1 => element[0] = element[0].wrapping_add(next() as u8 % 8),
            7 if style >= 1 => element[size - 1] ^= 1 << (next() % 8),
            8 if style == 3 => element.copy_from_slice(&next().to_le_bytes()[..size]),
            _ => {}
        }
    }
    (Tensor::new(dtype, [len], actual).unwrap(), Tensor::new(dtype, [len], expected).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3, max_shrink_iters: 0, ..ProptestConfig::default() })]
    #[test]
    fn every_dtype_and_rule_is_exact(seed: u64, len in 1usize..2600, style in 0u8..4, equal_nan: bool) {
        every_dtype_and_rule(seed, len, style, equal_nan)?;
    }
}

fn every_dtype_and_rule(seed: u64, len: usize, style: u8, equal_nan: bool) -> Result<(), TestCaseError> {
    for dtype in DType::ALL {
        let (actual, expected) = tensors(dtype, seed, len, style);
        for rule in rules(dtype) {
            check(&actual, &expected, &rule, equal_nan)?;
        }
    }
    Ok(())
}

/// Two finite numbers whose difference no double holds are of one class all the same.
#[test]
fn a_difference_that_overflows_is_no_other_class() {
    let all = [f64::MAX, -f64::MAX, f64::MAX / 2.0, 0.0, 5e-324, -f64::MIN_POSITIVE];
    let bytes = |values: &mut dyn Iterator<Item = f64>| values.flat_map(f64::to_le_bytes).collect::<Vec<u8>>();
    let (len, times) = (all.len() * all.len(), all.len());
    let actual = Tensor::new(DType::F64, [len], bytes(&mut all.iter().copied().cycle().take(len))).unwrap();
    let pairs = all.iter().flat_map(|value| std::iter::repeat_n(*value, times));
    let expected = Tensor::new(DType::F64, [len], bytes(&mut pairs.into_iter())).unwrap();
    for rule in rules(DType::F64) {
        check(&actual, &expected, &rule, false).unwrap();
    }
    every_dtype_and_rule(12_501_427_728_086_450_280, 1526, 3, true).unwrap();
}

/// Every pair of bytes, for every type of one byte.
#[test]
fn every_bit_pattern_of_the_small_types() {
    for dtype in DType::ALL.into_iter().filter(|dtype| dtype.size() == 1) {
        let actual: Vec<u8> = (0..1 << 16).map(|pair: u32| pair as u8).collect();
        let expected: Vec<u8> = (0..1 << 16).map(|pair: u32| (pair >> 8) as u8).collect();
        let tensor = |bytes: Vec<u8>| Tensor::new(dtype, [1 << 16], bytes).unwrap();
        let (actual, expected) = (tensor(actual), tensor(expected));
        let once = |rule: &Rule| !matches!(rule, Rule::Determinism | Rule::Ulp { max: 5 });
        for rule in rules(dtype).into_iter().filter(once) {
            check(&actual, &expected, &rule, false).unwrap();
        }
    }
}

/// The whole-tensor rule holds exactly where the figures of the same report say so.
#[test]
fn whole_tensor_limits_are_held_against_the_figures() {
    let (actual, expected) = tensors(DType::F32, 5, 3000, 0);
    let report = judge(&actual, &expected, &Rule::default_for(DType::F32), &Options::default());
    let whole = |rmse: f64, r2: f64, cosine: f64, snr: f64| {
        judge(&actual, &expected, &Rule::Whole { rmse, r2, cosine, snr }, &Options::default()).passed()
    };
    let no = f64::NEG_INFINITY;
    let (rmse, r2) = (report.relative_rmse.unwrap(), report.r2.unwrap());
    let (cosine, snr) = (report.cosine.unwrap(), report.snr.unwrap());
    assert!(whole(rmse * 1.001, no, no, no) && !whole(rmse * 0.999, no, no, no));
    assert!(whole(f64::INFINITY, r2 - 1e-6, no, no) && !whole(f64::INFINITY, r2 + 1e-6, no, no));
    assert!(whole(f64::INFINITY, no, cosine - 1e-6, no) && !whole(f64::INFINITY, no, cosine + 1e-6, no));
    assert!(whole(f64::INFINITY, no, no, snr - 0.01) && !whole(f64::INFINITY, no, no, snr + 0.01));
}
