//! Verdicts against those of `numpy.testing.assert_allclose` and `torch.testing.assert_close`, where the rule is the same.
//!
//! The one intended difference: both compute the limit in the type of the elements, we in `f64`. For f16 and bf16 a verdict
//! may therefore differ where an error is within a rounding of its limit, and only there.

mod support;

use pto_golden::{DType, Fill, Options, Rule, Tensor, Tolerance, judge, npy};

const CASES: usize = 400;
const LEN: usize = 24;
/// Tolerances that the cases take turns with.
const TOLERANCES: [(f64, f64); 5] = [(1e-3, 1e-5), (1.3e-6, 1e-5), (1.6e-2, 1e-5), (0.0, 0.0), (1e-2, 1e-2)];

/// Stacks of cases: some equal, some near the limit, some with what is not finite.
fn stacks(dtype: DType) -> (Tensor, Tensor) {
    let shape = [CASES, LEN];
    let expected = Fill::default_for(dtype).generate(dtype, shape, 3, "expected").unwrap();
    let noise = Fill::Uniform { low: -1.3, high: 1.3 }.generate(DType::F64, shape, 4, "noise").unwrap().to_f64();
    let specials = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0];
    let mut golden: Vec<f64> = expected.to_f64().into_iter().collect();
    let mut actual = golden.clone();
    for (at, (value, noise)) in actual.iter_mut().zip(noise).enumerate() {
        let case = at / LEN;
        let (rtol, atol) = TOLERANCES[case % TOLERANCES.len()];
        let limit = atol + rtol * value.abs();
        // One element of a case is near its limit, on either side.
        if !case.is_multiple_of(4) && at % LEN == case % LEN {
            *value += if dtype.is_float() { limit * noise } else { noise.round() };
        }
        if dtype.is_float() && case % 7 == 3 && at % LEN == 5 {
            golden[at] = specials[case / 7 % 5];
            *value = specials[case / 35 % 5];
        }
    }
    let tensor =
        |values: Vec<f64>| Tensor::from_f64(dtype, &ndarray::ArrayD::from_shape_vec(&shape[..], values).unwrap());
    (tensor(actual), tensor(golden))
}

fn row(tensor: &Tensor, case: usize) -> Tensor {
    let bytes = LEN * tensor.dtype().size();
    Tensor::new(tensor.dtype(), [LEN], tensor.bytes()[case * bytes..(case + 1) * bytes].to_vec()).unwrap()
}

const NUMPY: &str = r#"
import json, numpy as np
tolerances, names = json.load(open("tolerances.json")), json.load(open("names.json"))
def passes(a, e, rtol, atol, nan):
    try:
        np.testing.assert_allclose(a, e, rtol=rtol, atol=atol, equal_nan=nan)
        return True
    except AssertionError:
        return False
verdicts = {}
for name in names:
    a, e = np.load(f"{name}_a.npy"), np.load(f"{name}_e.npy")
    verdicts[name] = [[passes(a[i], e[i], *tolerances[i % len(tolerances)], nan) for nan in (False, True)] for i in range(len(a))]
print(json.dumps(verdicts))
"#;

const TORCH: &str = r#"
import json, numpy as np, torch
tolerances, names = json.load(open("tolerances.json")), json.load(open("names.json"))
def passes(a, e, rtol, atol, nan):
    try:
        torch.testing.assert_close(a, e, rtol=rtol, atol=atol, equal_nan=nan)
        return True
    except AssertionError:
        return False
def load(path, name):
    t = torch.from_numpy(np.load(path))
    return t.to(torch.bfloat16) if name.startswith("bf16") else t
verdicts = {}
for name in names:
    a, e = load(f"{name}_a.npy", name), load(f"{name}_e.npy", name)
    verdicts[name] = [[passes(a[i], e[i], *tolerances[i % len(tolerances)], nan) for nan in (False, True)] for i in range(len(a))]
print(json.dumps(verdicts))
"#;

/// How far the nearest error is from its limit, relative to the limit.
fn margin(actual: &Tensor, expected: &Tensor, rtol: f64, atol: f64) -> f64 {
    let pairs = actual.to_f64().into_iter().zip(expected.to_f64());
    let one = |(a, e): (f64, f64)| {
        let limit = atol + rtol * e.abs();
        if a == e || limit == 0.0 { f64::INFINITY } else { ((a - e).abs() / limit - 1.0).abs() }
    };
    pairs.map(one).filter(|margin| !margin.is_nan()).fold(f64::INFINITY, f64::min)
}

/// Runs a script of theirs over all cases and counts: alike, and unlike within a rounding of the limit.
fn agreement(script: &str, module: &str, dtypes: &[DType]) -> Result<(usize, usize), String> {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(dir.path().join(name), text).unwrap();
    write("tolerances.json", serde_json::to_string(&TOLERANCES).unwrap());
    write("names.json", serde_json::to_string(&dtypes.iter().map(|dtype| dtype.name()).collect::<Vec<_>>()).unwrap());
    for dtype in dtypes {
        let (actual, expected) = stacks(*dtype);
        for (side, tensor) in [("a", actual), ("e", expected)] {
            // Neither has a file of bf16; f32 holds it.
            let tensor = if *dtype == DType::Bf16 { Tensor::from_f64(DType::F32, &tensor.to_f64()) } else { tensor };
            npy::write(dir.path().join(format!("{dtype}_{side}.npy")), &tensor).unwrap();
        }
    }
    let output = support::python(dir.path(), script, module)?;
    let theirs: std::collections::BTreeMap<String, Vec<[bool; 2]>> = serde_json::from_str(&output).unwrap();
    let (mut alike, mut near) = (0, 0);
    let mut passes = 0;
    for dtype in dtypes {
        let (actual, expected) = stacks(*dtype);
        for (case, verdicts) in theirs[dtype.name()].iter().enumerate() {
            let (rtol, atol) = TOLERANCES[case % TOLERANCES.len()];
            let (a, e) = (row(&actual, case), row(&expected, case));
            for (nan, theirs) in [false, true].into_iter().zip(verdicts) {
                let options = Options { equal_nan: nan, ..Options::default() };
                let ours = judge(&a, &e, &Rule::Close(Tolerance { rtol, atol }), &options).passed();
                passes += usize::from(ours);
                if ours == *theirs {
                    alike += 1;
                } else {
                    let rounding = match dtype {
                        DType::F16 => 2f64.powi(-8),
                        DType::Bf16 => 2f64.powi(-5),
                        DType::F32 => 2f64.powi(-20),
                        _ => 2f64.powi(-48),
                    };
                    // Tolerances that f16 itself cannot hold are rounded before they are used.
                    let tiny = *dtype == DType::F16 && atol + rtol < 1e-4;
                    let margin = margin(&a, &e, rtol, atol);
                    assert!(
                        margin < rounding || tiny,
                        "{dtype} case {case}, NaN {nan}: ours {ours}, theirs {theirs}, margin {margin}"
                    );
                    near += 1;
                }
            }
        }
    }
    let all = alike + near;
    assert!(passes > all / 5 && passes < 4 * all / 5, "{passes} of {all} pass: such a set proves little");
    Ok((alike, near))
}

const DTYPES: [DType; 8] =
    [DType::F16, DType::F32, DType::F64, DType::I8, DType::I16, DType::I32, DType::I64, DType::U8];

#[test]
fn numpy_agrees() {
    match agreement(NUMPY, "numpy", &DTYPES) {
        Err(why) => eprintln!("skipped: {why}"),
        Ok((alike, near)) => {
            println!("{alike} verdicts alike, {near} unlike within a rounding of the limit");
            assert!(near * 20 < alike, "{near} of {alike} are unlike");
        }
    }
}

#[test]
fn torch_agrees() {
    let dtypes: Vec<DType> = DTYPES.into_iter().chain([DType::Bf16]).collect();
    match agreement(TORCH, "torch", &dtypes) {
        Err(why) => eprintln!("skipped: {why}"),
        Ok((alike, near)) => {
            println!("{alike} verdicts alike, {near} unlike within a rounding of the limit");
            assert!(near * 20 < alike, "{near} of {alike} are unlike");
        }
    }
}
