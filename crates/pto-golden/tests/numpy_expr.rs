//! Tensor expressions against the real NumPy: every function and operator, on random and on edge values.

mod support;

use std::collections::BTreeMap;

use pto_golden::{DType, Expr, Fill, Number, Tensor, TensorValue, npy};

/// Ours, and NumPy's spelling where it differs.
const CASES: &[(&str, &str)] = &[
    ("a + b", ""),
    ("a - b * 2 + s", ""),
    ("a / (b * b + 1)", ""),
    ("a // b", ""),
    ("a % b", ""),
    ("e // 0.75", ""),
    ("e % 0.75", ""),
    ("e // e.T", "np.floor_divide(e, e.T)"),
    ("expand_dims(v, 0) // expand_dims(v, 1)", "v[None, :] // v[:, None]"),
    ("expand_dims(v, 0) % expand_dims(v, 1)", "v[None, :] % v[:, None]"),
    ("expand_dims(v, 0) + expand_dims(v, 1)", "v[None, :] + v[:, None]"),
    ("expand_dims(v, 0) * expand_dims(v, 1)", "v[None, :] * v[:, None]"),
    ("expand_dims(v, 0) / expand_dims(v, 1)", "v[None, :] / v[:, None]"),
    ("expand_dims(v, 0) ** expand_dims(v, 1)", "v[None, :] ** v[:, None]"),
    ("maximum(expand_dims(v, 0), expand_dims(v, 1))", "np.maximum(v[None, :], v[:, None])"),
    ("minimum(expand_dims(v, 0), expand_dims(v, 1))", "np.minimum(v[None, :], v[:, None])"),
    ("expand_dims(v, 0) < expand_dims(v, 1)", "v[None, :] < v[:, None]"),
    ("expand_dims(v, 0) >= expand_dims(v, 1)", "v[None, :] >= v[:, None]"),
    ("expand_dims(v, 0) == expand_dims(v, 1)", "v[None, :] == v[:, None]"),
    ("expand_dims(v, 0) != expand_dims(v, 1)", "v[None, :] != v[:, None]"),
    ("logical_and(a > 0, b <= 0)", ""),
    ("logical_or(v, isnan(v))", ""),
    ("logical_not(v)", ""),
    ("isfinite(v)", ""),
    ("-a ** 2", ""),
    ("2 ** -a", ""),
    ("abs(a) ** 0.5", ""),
    ("pow(abs(a), b)", "np.power(np.abs(a), b)"),
    ("a @ b.T", ""),
    ("m @ n", ""),
    ("t @ a", ""),
    ("t @ transpose(t, (0, 2, 1))", ""),
    ("t @ expand_dims(transpose(t, (0, 2, 1)), 1)", "t @ np.transpose(t, (0, 2, 1))[:, None]"),
    ("a @ w", ""),
    ("w @ a.T", ""),
    ("w @ w", ""),
    ("z.T @ z", ""),
    ("z @ z.T", ""),
    ("i @ j", ""),
    ("z + 1", ""),
    ("softmax(z.T, 0)", "z.T"),
    ("mean(z, axis=1)", "np.mean(z, axis=1)"),
    ("h @ h", "np.array([[sum(int(p) * int(q) for p, q in zip(r, c)) for c in h.T] for r in h], dtype=object)"),
    ("sum(t)", "np.sum(t)"),
    ("sum(t, axis=-1)", "np.sum(t, axis=-1)"),
    ("sum(t, 1, True)", "np.sum(t, 1, keepdims=True)"),
    ("sum(t, axis=(0, 2), keepdims=true)", "np.sum(t, axis=(0, 2), keepdims=True)"),
    ("max(t, axis=0)", "np.max(t, axis=0)"),
    ("min(t, axis=(0, -1))", "np.min(t, axis=(0, -1))"),
    ("max(v)", "np.max(v)"),
    ("mean(t, axis=(1, 2))", "np.mean(t, axis=(1, 2))"),
    ("mean(i, axis=0)", "np.mean(i, axis=0)"),
    ("prod(a, axis=1)", "np.prod(a, axis=1)"),
    ("sum(z, axis=0)", "np.sum(z, axis=0)"),
    ("prod(z)", "np.prod(z)"),
    ("exp(v)", ""),
    ("log(abs(v))", ""),
    ("sqrt(abs(v))", ""),
    ("sqrt(v)", ""),
    ("rsqrt(abs(v))", "1 / np.sqrt(np.abs(v))"),
    ("abs(v)", ""),
    ("tanh(v)", ""),
    ("sigmoid(a * 30)", "1 / (1 + np.exp(-a * 30))"),
    ("silu(a)", "a / (1 + np.exp(-a))"),
    ("relu(v)", "np.maximum(v, 0)"),
    ("erf(a)", "np.array([[math.erf(x) for x in r] for r in a])"),
    ("gelu(a)", "np.array([[0.5 * x * (1 + math.erf(x / math.sqrt(2))) for x in r] for r in a])"),
    ("where(a > b, a, 0)", ""),
    ("where(i > 0, i, -i)", ""),
    ("where(v, 1, 2)", ""),
    ("floor(v)", ""),
    ("ceil(v)", ""),
    ("round(v)", ""),
    ("trunc(v)", ""),
    ("sign(v)", ""),
    ("round(i / 2)", ""),
    ("clip(v, -1, 1)", ""),
    ("clip(a, b, b + 1)", ""),
    ("transpose(t)", ""),
    ("transpose(t, (1, 2, 0))", ""),
    ("t.T", ""),
    ("reshape(t, (-1, 2))", "np.reshape(t, (-1, 2))"),
    ("reshape(t, n0 * 4)", "np.reshape(t, 24)"),
    (
        "softmax(a, axis=-1)",
        "np.exp(a - a.max(-1, keepdims=True)) / np.exp(a - a.max(-1, keepdims=True)).sum(-1, keepdims=True)",
    ),
    (
        "softmax(t, 0)",
        "np.exp(t - t.max(0, keepdims=True)) / np.exp(t - t.max(0, keepdims=True)).sum(0, keepdims=True)",
    ),
    ("f16(e)", "e.astype(np.float16)"),
    ("f32(a)", "a.astype(np.float32)"),
    ("float16(a * 40000)", "(a * 40000).astype(np.float16)"),
    ("i32(a * 100)", "(a * 100).astype(np.int32)"),
    ("bool(v)", "v.astype(bool)"),
    ("i8(i)", "np.clip(i, -128, 127)"),
    ("f32(i) + 0.5", "i.astype(np.float32).astype(np.float64) + 0.5"),
    ("i + j * 3 - 1", ""),
    ("i // 7", ""),
    ("i % 7", ""),
    ("i // -7 + j % -3", ""),
    ("i / 3", ""),
    ("i ** 2", ""),
    ("i > j", ""),
    ("max(i, axis=1) - min(i, axis=1)", "np.max(i, axis=1) - np.min(i, axis=1)"),
    ("sum(h)", "np.array(sum(int(x) for x in h.flat), dtype=object)"),
    ("h + 1", "h.astype(object) + 1"),
    ("h - u", "h.astype(object) - u.astype(object)"),
    ("u * 1", "u.astype(object)"),
    ("x16 + y16", "x16.astype(np.float64) + y16"),
    (
        "a * rsqrt(mean(a * a, axis=-1, keepdims=True) + 1e-6)",
        "a / np.sqrt(np.mean(a * a, axis=-1, keepdims=True) + 1e-6)",
    ),
    ("layernorm(a)", "(a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-5)"),
    ("layernorm(t, axis=1, eps=0.5)", "(t - t.mean(1, keepdims=True)) / np.sqrt(t.var(1, keepdims=True) + 0.5)"),
    ("rmsnorm(a)", "a / np.sqrt((a * a).mean(-1, keepdims=True) + 1e-6)"),
    ("rmsnorm(t, 0, 1e-3)", "t / np.sqrt((t * t).mean(0, keepdims=True) + 1e-3)"),
    ("rmsnorm(expand_dims(v, 0))", "v[None] / np.sqrt((v * v).mean() + 1e-6)"),
    ("gather(a, clip(i, -4, 3))", "np.take(a, np.clip(i, -4, 3), axis=0)"),
    ("gather(t, clip(j, 0, 1), axis=1)", "np.take(t, np.clip(j, 0, 1), axis=1)"),
    ("gather(h, i * 0)", "np.take(h, i * 0, axis=0).astype(object)"),
    ("topk(a, k=3)", "-np.sort(-a, axis=-1)[..., :3]"),
    ("topk(t, 2, 0)", "-np.sort(-t, axis=0)[:2]"),
    ("topk(i, k=5, axis=0)", "-np.sort(-i, axis=0)"),
    ("topk_indices(a, k=4)", "np.argsort(-a, axis=-1, kind='stable')[..., :4]"),
    ("topk_indices(floor(a / 3), k=6)", "np.argsort(-np.floor(a / 3), axis=-1, kind='stable')"),
    ("topk_indices(v, k=2)", "np.array([0, 1])"),
    ("i8(quantize(a * 30, 0.5, 3))", "np.clip(np.round(a * 30 / 0.5) + 3, -128, 127).astype(np.int64)"),
    ("u8(quantize(v, 0.25, 128))", "np.clip(np.nan_to_num(np.round(v / 0.25)) + 128, 0, 255).astype(np.int64)"),
    ("i4(quantize(a, 0.3, -1))", "np.clip(np.round(a / 0.3) - 1, -8, 7).astype(np.int64)"),
    ("dequantize(i, 0.125, 7)", "(i - 7) * 0.125"),
    ("f16(a * 60000, saturate=true)", "np.clip((a * 60000).astype(np.float16).astype(float), -65504, 65504)"),
    ("f16(v, saturate=true)", "np.clip(v.astype(np.float16).astype(float), -65504, 65504)"),
    ("inf - inf + nan", "np.array(np.nan)"),
    ("1e-6 + .5 + 2", "np.array(1e-6 + .5 + 2)"),
];

fn inputs() -> BTreeMap<&'static str, Tensor> {
    let normal = Fill::Normal { mean: 0.0, std: 2.0 };
    let make = |dtype, shape: &[usize], name| normal.generate(dtype, shape, 11, name).unwrap();
    let integers = |name| Fill::Integers { low: -300, high: 300 }.generate(DType::I32, [5, 5], 11, name).unwrap();
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let edges = [nan, inf, -inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 1e300, -1e-300, 700.0, -700.0];
    let huge = Fill::Integers { low: i64::MIN, high: i64::MAX };
    BTreeMap::from([
        ("a", make(DType::F64, &[4, 6], "a")),
        ("b", make(DType::F64, &[4, 6], "b")),
        ("e", make(DType::F64, &[6, 6], "e")),
        ("w", make(DType::F64, &[6], "w")),
        ("m", make(DType::F64, &[70, 130], "m")),
        ("n", make(DType::F64, &[130, 40], "n")),
        ("t", make(DType::F64, &[3, 2, 4], "t")),
        ("z", Tensor::zeros(DType::F64, [0, 3]).unwrap()),
        ("v", Tensor::from_slice([edges.len()], &edges).unwrap()),
        ("i", integers("i")),
        ("j", integers("j")),
        ("h", huge.generate(DType::I64, [3, 3], 11, "h").unwrap()),
        ("u", Fill::Constant(Number::Int(i64::MAX)).generate(DType::U64, [3, 3], 0, "u").unwrap()),
        ("x16", make(DType::F16, &[9], "x")),
        ("y16", make(DType::F16, &[9], "y")),
    ])
}

fn scalar(name: &str) -> Option<TensorValue> {
    match name {
        "s" => Some(TensorValue::real(0.25)),
        "n0" => Some(TensorValue::int(6)),
        _ => None,
    }
}

/// Floats are saved as doubles; integers as text, which is exact.
const SCRIPT: &str = r#"
import glob, json, math, numpy as np
names = "exp log sqrt abs tanh where floor ceil round trunc sign clip transpose maximum minimum"
names += " isnan isfinite logical_and logical_or logical_not"
env = {name: getattr(np, name) for name in names.split()}
env.update(np=np, math=math, s=0.25, inf=np.inf, nan=np.nan)
env.update({path[3:-4]: np.load(path) for path in glob.glob("in_*.npy")})
results = []
for index, text in enumerate(json.load(open("cases.json"))):
    try:
        value = np.asarray(eval(text, dict(env)))
    except Exception as error:
        raise SystemExit(f"{text}: {error}")
    exact = value.dtype.kind in "iubO"
    if not exact:
        np.save(f"out_{index}.npy", value.astype(np.float64))
    results.append({"shape": list(value.shape), "exact": [str(int(x)) for x in value.flat] if exact else None})
json.dump(results, open("results.json", "w"))
"#;

#[derive(serde::Deserialize)]
struct Expected {
    shape: Vec<usize>,
    exact: Option<Vec<String>>,
}

#[test]
fn every_operator_and_function_agrees_with_numpy() {
    let dir = tempfile::tempdir().unwrap();
    let inputs = inputs();
    for (name, tensor) in &inputs {
        npy::write(dir.path().join(format!("in_{name}.npy")), tensor).unwrap();
    }
    let theirs = |(ours, theirs): &(&'static str, &'static str)| if theirs.is_empty() { *ours } else { *theirs };
    let cases: Vec<&str> = CASES.iter().map(theirs).collect();
    std::fs::write(dir.path().join("cases.json"), serde_json::to_string(&cases).unwrap()).unwrap();
    if let Err(why) = support::numpy(dir.path(), SCRIPT) {
        eprintln!("skipped: {why}");
        return;
    }
    let results = std::fs::read_to_string(dir.path().join("results.json")).unwrap();
    let results: Vec<Expected> = serde_json::from_str(&results).unwrap();
    assert_eq!(results.len(), CASES.len());
    let lookup = |name: &str| inputs.get(name).map(TensorValue::from).or_else(|| scalar(name));
    let mut wrong = Vec::new();
    for (index, ((source, _), expected)) in CASES.iter().zip(results).enumerate() {
        let value = match Expr::parse(source).and_then(|expr| expr.eval_tensor(&lookup)) {
            Ok(value) => value,
            Err(error) => {
                wrong.push(error.render(source));
                continue;
            }
        };
        if value.shape() != expected.shape {
            wrong.push(format!("{source}: shape {:?}, NumPy has {:?}", value.shape(), expected.shape));
            continue;
        }
        let verdict = match (&value, expected.exact) {
            (TensorValue::Int(values), Some(text)) => exact(values.iter().map(ToString::to_string), text),
            (TensorValue::Real(values), None) => {
                let file = npy::read(dir.path().join(format!("out_{index}.npy"))).unwrap();
                close(values.iter().copied(), file.to_vec::<f64>().unwrap())
            }
            (value, exact) => Err(format!("ours is {value:?}, NumPy's is an integer: {}", exact.is_some())),
        };
        wrong.extend(verdict.err().map(|what| format!("{source}: {what}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn exact(ours: impl Iterator<Item = String>, theirs: Vec<String>) -> Result<(), String> {
    match ours.zip(theirs).enumerate().find(|(_, (ours, theirs))| ours != theirs) {
        Some((at, (ours, theirs))) => Err(format!("element {at} is {ours}, NumPy has {theirs}")),
        None => Ok(()),
    }
}

/// Both are doubles computed in some order; zeros must have the same sign.
fn close(ours: impl Iterator<Item = f64>, theirs: Vec<f64>) -> Result<(), String> {
    let same = |a: f64, b: f64| {
        let zero_signs = a != 0.0 || b != 0.0 || a.is_sign_negative() == b.is_sign_negative();
        (a == b && zero_signs) || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-14 + 1e-12 * b.abs() && a != b
    };
    match ours.zip(theirs).enumerate().find(|(_, (ours, theirs))| !same(*ours, *theirs)) {
        Some((at, (ours, theirs))) => Err(format!("element {at} is {ours}, NumPy has {theirs}")),
        None => Ok(()),
    }
}

/// Every name the language has must be in the table above, so that none is added without being checked.
#[test]
fn no_function_is_left_out() {
    let listed = Expr::parse("no_such_function_at_all(1)").unwrap_err().help.unwrap_or_default();
    let names: Vec<&str> = listed.split('`').skip(1).step_by(2).collect();
    assert!(names.len() > 30, "{listed}");
    let casts = DType::ALL.map(DType::name);
    let missing =
        |name: &&str| !casts.contains(name) && !CASES.iter().any(|(ours, _)| ours.contains(&format!("{name}(")));
    assert_eq!(names.into_iter().filter(missing).collect::<Vec<_>>(), Vec::<&str>::new());
}

fn error(source: &str) -> (String, std::ops::Range<usize>, Option<String>) {
    let inputs = inputs();
    let lookup = |name: &str| inputs.get(name).map(TensorValue::from).or_else(|| scalar(name));
    let error = Expr::parse(source).and_then(|expr| expr.eval_tensor(&lookup)).expect_err(source);
    (error.message, error.span, error.help)
}

#[test]
fn refusals_name_shapes_axes_and_operands() {
    for (source, message, span) in [
        ("1 + (a + w.T * v)", "shapes [6] and [17] do not broadcast in `w.T * v`", 9..16),
        ("m @ m", "shapes [70, 130] and [70, 130] do not fit in `m @ m`", 0..5),
        ("m @ 2", "`@` multiplies matrices, found shapes [70, 130] and []", 0..5),
        ("sum(a, axis=2)", "axis 2 of a tensor with 2 axes", 12..13),
        ("sum(a, axis=(0, -2))", "axis 0 is named twice", 12..19),
        ("sum(a, axis=0.5)", "`0.5` is not an integer", 12..15),
        ("max(a, 0)", "`max` of tensors takes one operand", 0..9),
        ("max(z, axis=0)", "`max(z, axis=0)` has nothing to choose from: shape [0, 3]", 0..14),
        ("a + (b, b)", "found several values, expected one", 4..10),
        ("reshape(a, (5, -1))", "shape [4, 6] cannot become `(5, -1)`", 11..18),
        ("reshape(a, (-1, -1))", "shape [4, 6] cannot become `(-1, -1)`", 11..19),
        ("transpose(a, (0,))", "`(0,)` does not name all 2 axes", 13..17),
        ("i // (i - i)", "integer division by zero in `i // (i - i)`", 0..12),
        ("h * h * h", "`h * h * h` leaves the exact integers (128 bits)", 0..9),
        ("softmax(s)", "axis -1 of a tensor with 0 axes", 8..9),
        ("aa + 1", "unknown name `aa`", 0..2),
    ] {
        let (found, at, _) = error(source);
        assert_eq!((found.as_str(), at), (message, span), "{source}");
    }
    let help = error("max(a, 0)").2.unwrap();
    assert_eq!(help, "write `maximum(a, b)` element by element, or `max(x, axis=0)` over an axis");
}

#[test]
fn a_golden_is_rounded_once_to_its_dtype() {
    let inputs = inputs();
    let lookup = |name: &str| inputs.get(name).map(TensorValue::from);
    let sum = Expr::parse("x16 + y16").unwrap().eval_tensor(&lookup).unwrap();
    let golden = Tensor::from_value(DType::F16, &sum).to_vec::<pto_golden::f16>().unwrap();
    let (x, y) =
        (inputs["x16"].to_vec::<pto_golden::f16>().unwrap(), inputs["y16"].to_vec::<pto_golden::f16>().unwrap());
    assert_eq!(golden, x.iter().zip(&y).map(|(x, y)| *x + *y).collect::<Vec<pto_golden::f16>>());
    let exact = Expr::parse("u").unwrap().eval_tensor(&lookup).unwrap();
    assert_eq!(Tensor::from_value(DType::U64, &exact), inputs["u"]);
}
