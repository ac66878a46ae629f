//! Any expression over tensors of any shape gives a value or an error, and an error's span lies in the text.

use proptest::prelude::*;
use pto_golden::{DType, Expr, Fill, Tensor, TensorValue};

fn lookup(name: &str) -> Option<TensorValue> {
    let make = |dtype, shape: &[usize]| Fill::default_for(dtype).generate(dtype, shape, 5, name).ok();
    let tensor = match name {
        "s" => make(DType::F32, &[])?,
        "n" => make(DType::I64, &[])?,
        "v" => make(DType::F16, &[3])?,
        "m" => make(DType::Bf16, &[2, 3])?,
        "i" => make(DType::I32, &[3, 2])?,
        "z" => make(DType::F32, &[0, 3])?,
        "t" => make(DType::F64, &[2, 1, 3])?,
        "b" => make(DType::Bool, &[3])?,
        _ => return None,
    };
    Some(TensorValue::from(&tensor))
}

const FUNCTIONS: &[&str] = &[
    "abs",
    "exp",
    "log",
    "round",
    "sign",
    "isnan",
    "logical_not",
    "sum",
    "max",
    "min",
    "mean",
    "prod",
    "softmax",
    "transpose",
    "f16",
    "i8",
    "bool",
    "u64",
    "gelu",
    "clip",
    "where",
    "maximum",
    "minimum",
    "pow",
    "reshape",
    "expand_dims",
    "logical_and",
];

const OPERATORS: &[&str] = &["+", "-", "*", "/", "//", "%", "**", "@", "<", "=="];

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["s", "n", "v", "m", "i", "z", "t", "b", "inf", "nan", "true"])
            .prop_map(str::to_owned),
        (-3i64..400).prop_map(|value| format!("({value})")),
        (-2.0f64..2.0).prop_map(|value| format!("({value:.3})")),
    ];
    leaf.prop_recursive(5, 24, 3, |inner| {
        let call = (prop::sample::select(FUNCTIONS), prop::collection::vec(inner.clone(), 1..4));
        let axis = prop::sample::select(vec!["0", "-1", "2", "(0, 1)", "(0, 0)", "(-1,)", "(2, -1)", "n", "v"]);
        let option = prop::sample::select(vec!["axis", "keepdims", "shape", "axes"]);
        prop_oneof![
            (inner.clone(), prop::sample::select(OPERATORS), inner.clone())
                .prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            inner.clone().prop_map(|a| format!("-{a}.T")),
            call.prop_map(|(function, operands)| format!("{function}({})", operands.join(", "))),
            (prop::sample::select(FUNCTIONS), inner, option, axis)
                .prop_map(|(function, a, option, axis)| format!("{function}({a}, {option}={axis})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn evaluation(source in expression()) {
        match Expr::parse(&source).and_then(|expr| expr.eval_tensor(&lookup)) {
            Ok(value) => {
                for dtype in [DType::F16, DType::I8, DType::U64] {
                    let tensor = Tensor::from_value(dtype, &value);
                    prop_assert_eq!(tensor.shape(), value.shape());
                }
            }
            Err(error) => {
                prop_assert!(error.span.start < error.span.end && error.span.end <= source.len(), "{}", error);
                let _ = error.render(&source);
            }
        }
    }
}

#[test]
fn the_highest_tree_allowed_is_evaluated() {
    let long = vec!["v"; 200].join(" + ");
    let value = Expr::parse(&long).unwrap().eval_tensor(&lookup).unwrap();
    assert_eq!(value.shape(), [3]);
    let dim = vec!["2"; 200].join(" - ");
    assert_eq!(Expr::parse(&dim).unwrap().eval_dim(&|_| None), Ok(2 - 2 * 199));
}
