//! Fills: read from TOML, the same everywhere, independent of each other, refused when they make no sense.

use pto_golden::{DType, Fill, Number, Tensor, f16};

#[derive(serde::Deserialize)]
struct Arg {
    fill: Fill,
}

fn toml(text: &str) -> Result<Fill, String> {
    toml::from_str::<Arg>(&format!("fill = {text}")).map(|arg| arg.fill).map_err(|error| error.to_string())
}

#[test]
fn toml_spellings() {
    for (text, fill) in [
        ("{ normal = { mean = 0.0, std = 1.0 } }", Fill::Normal { mean: 0.0, std: 1.0 }),
        ("{ uniform = { low = -1, high = 1 } }", Fill::Uniform { low: -1.0, high: 1.0 }),
        ("{ constant = 3 }", Fill::Constant(Number::Int(3))),
        ("{ constant = 0.5 }", Fill::Constant(Number::Float(0.5))),
        ("{ arange = { start = 0, step = 1 } }", Fill::Arange { start: Number::Int(0), step: Number::Int(1) }),
        ("{ arange = {} }", Fill::Arange { start: Number::Int(0), step: Number::Int(1) }),
        ("{ integers = { low = 0, high = 10 } }", Fill::Integers { low: 0, high: 10 }),
    ] {
        assert_eq!(toml(text), Ok(fill), "{text}");
    }
    for (text, word) in [
        ("{ normal = { mean = 0.0, sdt = 1.0 } }", "sdt"),
        ("{ gauss = { mean = 0.0 } }", "gauss"),
        ("{ normal = { mean = 0.0 } }", "std"),
        ("{ normal = { mean = 0.0, std = 1.0 }, constant = 1 }", ""),
    ] {
        let error = toml(text).expect_err(text);
        assert!(error.contains(word), "{error}");
    }
}

fn floats(fill: &Fill, seed: u64, name: &str) -> Vec<f64> {
    fill.generate(DType::F64, [10_000], seed, name).unwrap().to_vec().unwrap()
}

#[test]
fn the_same_seed_gives_the_same_values_and_another_name_others() {
    let fill = Fill::default_for(DType::F64);
    assert_eq!(floats(&fill, 1, "x"), floats(&fill, 1, "x"));
    assert_ne!(floats(&fill, 1, "x"), floats(&fill, 2, "x"));
    assert_ne!(floats(&fill, 1, "x"), floats(&fill, 1, "z"));
    let (x, z) = (floats(&fill, 1, "x"), floats(&fill, 1, "z"));
    let correlation = x.iter().zip(&z).map(|(x, z)| x * z).sum::<f64>() / 10_000.0;
    assert!(correlation.abs() < 0.05, "{correlation}");
    // A recorded seed must give these values for ever.
    let first = fill.generate(DType::F32, [3], 42, "x").unwrap().to_vec::<f32>().unwrap();
    assert_eq!(first.map_bits(), RECORDED_NORMAL);
    let integers = Fill::Integers { low: -5, high: 1_000_000 }.generate(DType::I32, [3], 42, "x").unwrap();
    assert_eq!(integers.to_vec::<i32>().unwrap(), RECORDED_INTEGERS);
}

const RECORDED_NORMAL: [u32; 3] = [0x3C85_E69F, 0x3F6C_FD73, 0xC038_FEC5];
const RECORDED_INTEGERS: [i32; 3] = [727_900, 14_607, 940_823];

trait Bits {
    fn map_bits(&self) -> Vec<u32>;
}

impl Bits for Vec<f32> {
    fn map_bits(&self) -> Vec<u32> {
        self.iter().map(|x| x.to_bits()).collect()
    }
}

#[test]
fn distributions_have_their_moments() {
    let normal = floats(&Fill::Normal { mean: 3.0, std: 2.0 }, 9, "x");
    let mean = normal.iter().sum::<f64>() / 1e4;
    let variance = normal.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e4;
    assert!((mean - 3.0).abs() < 0.1 && (variance - 4.0).abs() < 0.2, "{mean} {variance}");
    let within = normal.iter().filter(|x| (*x - 3.0).abs() < 2.0).count();
    assert!((6_600..7_050).contains(&within), "{within} within one standard deviation");
    let uniform = floats(&Fill::Uniform { low: -1.0, high: 3.0 }, 9, "x");
    assert!(uniform.iter().all(|x| (-1.0..3.0).contains(x)));
    assert!((uniform.iter().sum::<f64>() / 1e4 - 1.0).abs() < 0.05);
    let dice = Fill::Integers { low: 1, high: 7 }.generate(DType::U8, [60_000], 3, "d").unwrap();
    let dice = dice.to_vec::<u8>().unwrap();
    for side in 1..7 {
        let count = dice.iter().filter(|eyes| **eyes == side).count();
        assert!((9_600..10_400).contains(&count), "{side}: {count}");
    }
}

#[test]
fn counting_is_exact() {
    let big = Fill::Arange { start: Number::Int(i64::MAX - 3), step: Number::Int(1) };
    let values = big.generate(DType::I64, [4], 0, "x").unwrap().to_vec::<i64>().unwrap();
    assert_eq!(values, [i64::MAX - 3, i64::MAX - 2, i64::MAX - 1, i64::MAX]);
    assert!(big.generate(DType::I64, [5], 0, "x").is_err());
    let halves = Fill::Arange { start: Number::Float(1.0), step: Number::Float(-0.5) };
    let values = halves.generate(DType::F16, [2, 2], 0, "x").unwrap().to_vec::<f16>().unwrap();
    assert_eq!(values, [1.0, 0.5, 0.0, -0.5].map(f16::from_f32));
    let same = Fill::Constant(Number::Int(1)).generate(DType::Bool, [2], 0, "x").unwrap();
    assert_eq!(same, Tensor::from_slice([2], &[true, true]).unwrap());
    assert_eq!(Fill::default_for(DType::F16).generate(DType::F16, [0, 3], 0, "x").unwrap().len(), 0);
}

#[test]
fn fills_that_make_no_sense_are_refused() {
    let int = Number::Int;
    for (fill, dtype, message) in [
        (
            Fill::Normal { mean: 0.0, std: -1.0 },
            DType::F32,
            "fill: normal with mean 0 and std -1, expected finite and std >= 0",
        ),
        (
            Fill::Uniform { low: 1.0, high: 1.0 },
            DType::F32,
            "fill: uniform from 1 to 1, expected finite and low < high",
        ),
        (Fill::Integers { low: 3, high: 3 }, DType::F32, "fill: integers from 3 to 3, expected low < high"),
        (Fill::Constant(int(300)), DType::U8, "fill: element 0 is 300, expected a whole number from 0 to 255 (u8)"),
        (
            Fill::Constant(Number::Float(0.5)),
            DType::I32,
            "fill: element 0 is 0.5, expected a whole number from -2147483648 to 2147483647 (i32)",
        ),
        (
            Fill::Arange { start: int(0), step: int(1) },
            DType::I8,
            "fill: arange reaches 999 at element 999, expected at most -128 to 127 (i8)",
        ),
    ] {
        let error = fill.generate(dtype, [1000], 0, "x").unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}
