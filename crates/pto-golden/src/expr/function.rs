//! The functions of the language and what each may be given.

use crate::DType;

/// A function, found by name when the expression is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Map(Map),
    Zip(Zip),
    Reduce(Reduction),
    /// Round to the dtype and come back: `f16(x)`.
    Cast(DType),
    Where,
    Clip,
    Softmax,
    /// `(x - mean) / sqrt(variance + eps)` or `x / sqrt(mean of squares + eps)`, over one axis.
    Normalize(Norm),
    /// Elements of the first operand at the indices of the second.
    Gather,
    /// The largest along an axis, or where they are.
    TopK(Top),
    /// `round(x / scale) + zero_point`, an integer.
    Quantize,
    /// `(q - zero_point) * scale`.
    Dequantize,
    Transpose,
    Reshape,
    ExpandDims,
}

/// What a normalization takes away before it divides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Norm {
    /// The mean.
    Layer,
    /// Nothing.
    Rms,
}

/// What is given of the largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Top {
    Values,
    Indices,
}

/// Element by element, one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Map {
    Abs,
    Ceil,
    Erf,
    Exp,
    Floor,
    Gelu,
    IsFinite,
    IsNan,
    Log,
    LogicalNot,
    Relu,
    Round,
    Rsqrt,
    Sigmoid,
    Sign,
    Silu,
    Sqrt,
    Tanh,
    Trunc,
}

/// Element by element, two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Zip {
    LogicalAnd,
    LogicalOr,
    Maximum,
    Minimum,
    Pow,
}

/// Over one axis, several, or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reduction {
    Max,
    Mean,
    Min,
    Prod,
    Sum,
}

/// How a function is called.
pub(super) struct Signature {
    pub(super) name: &'static str,
    pub(super) function: Function,
    /// Fewest and most operands.
    pub(super) operands: (usize, usize),
    /// Options, which may also stand behind the operands, in this order.
    pub(super) options: &'static [&'static str],
}

const AXIS_KEEPDIMS: &[&str] = &["axis", "keepdims"];

const fn map(name: &'static str, map: Map) -> Signature {
    Signature { name, function: Function::Map(map), operands: (1, 1), options: &[] }
}

const fn zip(name: &'static str, zip: Zip) -> Signature {
    Signature { name, function: Function::Zip(zip), operands: (2, 2), options: &[] }
}

/// `min` and `max` take any number of operands because in a dim they choose among scalars; then they leave no room for
/// a positional axis, which also keeps `max(x, 0)` from silently meaning "over axis 0".
const fn reduce(name: &'static str, reduction: Reduction) -> Signature {
    let most = if matches!(reduction, Reduction::Max | Reduction::Min) { usize::MAX } else { 1 };
    Signature { name, function: Function::Reduce(reduction), operands: (1, most), options: AXIS_KEEPDIMS }
}

const fn other(name: &'static str, function: Function, operands: usize, options: &'static [&'static str]) -> Signature {
    Signature { name, function, operands: (operands, operands), options }
}

static SIGNATURES: [Signature; 42] = [
    map("abs", Map::Abs),
    map("ceil", Map::Ceil),
    other("clip", Function::Clip, 3, &[]),
    other("dequantize", Function::Dequantize, 3, &[]),
    map("erf", Map::Erf),
    map("exp", Map::Exp),
    other("expand_dims", Function::ExpandDims, 1, &["axis"]),
    map("floor", Map::Floor),
    other("gather", Function::Gather, 2, &["axis"]),
    map("gelu", Map::Gelu),
    map("isfinite", Map::IsFinite),
    map("isnan", Map::IsNan),
    other("layernorm", Function::Normalize(Norm::Layer), 1, &["axis", "eps"]),
    map("log", Map::Log),
    zip("logical_and", Zip::LogicalAnd),
    map("logical_not", Map::LogicalNot),
    zip("logical_or", Zip::LogicalOr),
    reduce("max", Reduction::Max),
    zip("maximum", Zip::Maximum),
    reduce("mean", Reduction::Mean),
    reduce("min", Reduction::Min),
    zip("minimum", Zip::Minimum),
    zip("pow", Zip::Pow),
    reduce("prod", Reduction::Prod),
    other("quantize", Function::Quantize, 3, &[]),
    map("relu", Map::Relu),
    other("reshape", Function::Reshape, 1, &["shape"]),
    other("rmsnorm", Function::Normalize(Norm::Rms), 1, &["axis", "eps"]),
    map("round", Map::Round),
    map("rsqrt", Map::Rsqrt),
    map("sigmoid", Map::Sigmoid),
    map("sign", Map::Sign),
    map("silu", Map::Silu),
    other("softmax", Function::Softmax, 1, &["axis"]),
    map("sqrt", Map::Sqrt),
    reduce("sum", Reduction::Sum),
    map("tanh", Map::Tanh),
    other("topk", Function::TopK(Top::Values), 1, &["k", "axis"]),
    other("topk_indices", Function::TopK(Top::Indices), 1, &["k", "axis"]),
    map("trunc", Map::Trunc),
    other("transpose", Function::Transpose, 1, &["axes"]),
    other("where", Function::Where, 3, &[]),
];

/// The signature of the function of that name; a dtype's name is a cast.
pub(super) fn signature(name: &str) -> Option<Signature> {
    if let Some(known) = SIGNATURES.iter().find(|signature| signature.name == name) {
        return Some(Signature { ..*known });
    }
    let dtype: DType = name.parse().ok()?;
    Some(other(dtype.name(), Function::Cast(dtype), 1, &["saturate"]))
}

/// Every function's name, casts included.
pub(super) fn names() -> impl Iterator<Item = &'static str> + Clone {
    SIGNATURES.iter().map(|signature| signature.name).chain(DType::ALL.into_iter().map(DType::name))
}
