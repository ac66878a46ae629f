//! The types of 8 bits and fewer against `ml_dtypes`, and HiFloat8 and fp4 e1m2 against Huawei's `en_dtypes`.

mod support;

use pto_golden::element::{HF32, HF32Format};
use pto_golden::{DType, Element as _, Tensor, npy};

const SCRIPT: &str = r#"
import json, numpy as np, MODULE as m
rng = np.random.default_rng(3)
near = np.concatenate([rng.standard_normal(3000) * 2.0 ** rng.integers(-30, 18, 3000), [0.0, -0.0, np.inf, -np.inf, np.nan, 448.0, 464.0, 464.1, 57344.0, 61440.0, 61439.0, 6.0, 7.0, 1e9, -1e9]])
for ours, theirs in json.load(open("types.json")):
    t = np.dtype(getattr(m, theirs))
    codes = np.arange(256 if t.itemsize == 1 and "4_" not in theirs and theirs != "int4" else 16, dtype=np.uint8)
    np.save(f"{ours}_values.npy", codes.view(t).astype(np.float64))
    values = near.astype(np.float32)
    if theirs == "int4":
        values = np.trunc(np.clip(np.nan_to_num(values, nan=0, posinf=7, neginf=-8), -8, 7))
    np.save(f"{ours}_in.npy", values.astype(np.float64))
    with np.errstate(all="ignore"):
        np.save(f"{ours}_out.npy", values.astype(t).astype(np.float64))
print("done")
"#;

/// Every code decodes alike, and every value is rounded alike.
fn compare(module: &str, types: &[(DType, &str)]) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    let names: Vec<(&str, &str)> = types.iter().map(|(ours, theirs)| (ours.name(), *theirs)).collect();
    std::fs::write(dir.path().join("types.json"), serde_json::to_string(&names).unwrap()).unwrap();
    support::python(dir.path(), &SCRIPT.replace("MODULE", module), module)?;
    for (dtype, _) in types {
        let load =
            |what: &str| npy::read(dir.path().join(format!("{dtype}_{what}.npy"))).unwrap().to_vec::<f64>().unwrap();
        let same = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
        let values = load("values");
        let codes: Vec<u8> = (0..values.len()).map(|code| code as u8).collect();
        let ours = Tensor::new(*dtype, [codes.len()], codes).unwrap().to_f64();
        for (code, (ours, theirs)) in ours.iter().zip(&values).enumerate() {
            assert!(same(*ours, *theirs), "{dtype} {code:#04x} is {ours}, {module} has {theirs}");
        }
        let (given, theirs) = (load("in"), load("out"));
        let ours =
            Tensor::from_f64(*dtype, &ndarray::ArrayD::from_shape_vec(&[given.len()][..], given.clone()).unwrap());
        for ((given, ours), theirs) in given.iter().zip(ours.to_f64()).zip(theirs) {
            // Neither type of four bits has a NaN, and e8m0 no zero: what becomes of those is nobody's business.
            let undefined =
                (given.is_nan() && dtype.bits() == 4) || (*dtype == DType::F8E8M0 && *given <= 2f64.powi(-127));
            assert!(same(ours, theirs) || undefined, "{dtype} of {given} is {ours}, {module} has {theirs}");
        }
    }
    Ok(())
}

#[test]
fn ml_dtypes_agrees() {
    let types = [
        (DType::F8E4M3, "float8_e4m3fn"),
        (DType::F8E5M2, "float8_e5m2"),
        (DType::F8E8M0, "float8_e8m0fnu"),
        (DType::F4E2M1, "float4_e2m1fn"),
        (DType::I4, "int4"),
    ];
    if let Err(why) = compare("ml_dtypes", &types) {
        eprintln!("skipped: {why}");
    }
}

#[test]
fn en_dtypes_agrees() {
    if let Err(why) = compare("en_dtypes", &[(DType::HiF8, "hifloat8"), (DType::F4E1M2, "float4_e1m2")]) {
        eprintln!("skipped: {why}");
    }
}

/// 11 mantissa bits: neighbours of 1 are 2^-11 apart.
#[test]
fn hf32_keeps_eleven_bits() {
    let step = 2f64.powi(-11);
    assert_eq!(HF32::from_f64(1.0 + step).0, 1.0 + step as f32);
    assert_eq!(HF32::from_f64(1.0 + 0.5 * step).0, 1.0, "a tie goes to the even one");
    assert_eq!(HF32::from_f64(1.0 + 1.5 * step).0, 1.0 + 2.0 * step as f32);
    assert_eq!(HF32::from_f64(1.0 + 0.5000001 * step).0, 1.0 + step as f32);
    assert_eq!(HF32::from_f64(f64::from(f32::MAX)).0, f32::INFINITY);
    assert!(HF32::from_f64(f64::NAN).0.is_nan());
    let away = HF32Format { mantissa_bits: 11, ties_away: true };
    assert_eq!(away.round(1.0 + 0.5 * step as f32), 1.0 + step as f32);
    let coarse = HF32Format { mantissa_bits: 10, ties_away: false };
    assert_eq!(coarse.round(1.0 + step as f32), 1.0);
    assert_eq!(HF32::from_f64(1.0).ordinal().unwrap() + 1, HF32::from_f64(1.0 + step).ordinal().unwrap());
}

/// From the figures of "Ascend HiFloat8 Format for Deep Learning".
#[test]
fn hifloat8_has_the_values_of_its_paper() {
    let value = |code: u8| Tensor::new(DType::HiF8, [1], vec![code]).unwrap().to_f64()[[0]];
    assert_eq!(value(0x00), 0.0);
    assert!(value(0x80).is_nan());
    assert_eq!((value(0x6F), value(0xEF)), (f64::INFINITY, f64::NEG_INFINITY));
    assert_eq!(value(0x6E), 32768.0, "the largest");
    assert_eq!(value(0x01), 2f64.powi(-22), "the smallest");
    assert_eq!(value(0x07), 2f64.powi(-16), "the largest subnormal");
    assert_eq!(value(0x7E), 2f64.powi(-15), "the smallest normal");
    assert_eq!(value(0x08), 1.0);
}
