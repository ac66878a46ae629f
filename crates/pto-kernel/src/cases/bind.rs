//! A case with everything computed: shapes, sizes, scalar values, the number of blocks.

use pto_golden::{DType, Expr};

use super::{Case, Cores};
use crate::KernelError;
use crate::manifest::{ArgKind, Dim, Dir, Manifest, ScalarArg, ScalarFormula, ScalarType, TensorArg};

/// A case that can be launched.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundCase {
    /// The case.
    pub case: Case,
    /// The number of blocks, at least 1.
    pub block_dim: u32,
    /// The arguments, in the order of the manifest.
    pub args: Vec<BoundArg>,
}

impl BoundCase {
    /// The tensors with their names, in the order of the manifest.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &BoundTensor)> {
        self.args.iter().filter_map(|arg| match &arg.value {
            BoundValue::Tensor(tensor) => Some((arg.name.as_str(), tensor)),
            BoundValue::Scalar(_) => None,
        })
    }
}

/// An argument of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundArg {
    /// Its name.
    pub name: String,
    /// What is passed.
    pub value: BoundValue,
}

/// What is passed for an argument.
#[derive(Debug, Clone, PartialEq)]
pub enum BoundValue {
    /// The address of a buffer.
    Tensor(BoundTensor),
    /// A number.
    Scalar(ScalarValue),
}

/// A buffer of known size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundTensor {
    /// Who reads and who writes it.
    pub dir: Dir,
    /// The type of its elements.
    pub dtype: DType,
    /// Its extents, outermost first, each at least 1.
    pub shape: Vec<usize>,
    /// The product of the extents.
    pub elements: usize,
    /// Its size.
    pub bytes: usize,
    /// Of an output, the extents of the part that means something; `None` is all of it.
    pub valid: Option<Vec<usize>>,
}

/// A number that fits its type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScalarValue {
    /// A whole number.
    Integer {
        /// Its type, one of the integers.
        dtype: ScalarType,
        /// Its value, in the type's range.
        value: i128,
    },
    /// A floating point number.
    Float {
        /// `F32` or `F64`.
        dtype: ScalarType,
        /// Its value; for `F32` already rounded to it.
        value: f64,
    },
}

impl ScalarValue {
    /// Its type.
    pub const fn dtype(self) -> ScalarType {
        match self {
            Self::Integer { dtype, .. } | Self::Float { dtype, .. } => dtype,
        }
    }

    /// Its value in memory, little-endian, as many bytes as the type has.
    #[expect(clippy::cast_possible_truncation, reason = "an f32's value was rounded to f32 when it was bound")]
    pub fn to_le_bytes(self) -> Vec<u8> {
        match self {
            Self::Integer { dtype, value } => value.to_le_bytes()[..usize::from(dtype.bits()) / 8].to_vec(),
            Self::Float { dtype: ScalarType::F32, value } => (value as f32).to_le_bytes().to_vec(),
            Self::Float { value, .. } => value.to_le_bytes().to_vec(),
        }
    }
}

/// A number that an expression of the manifest gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Quantity {
    /// A length in the shape of this argument.
    Extent(String),
    /// A length in the valid part of this output.
    Valid(String),
    /// The value of this scalar.
    Value(String),
    /// The number of blocks.
    BlockDim,
    /// This key of `[bench]`.
    Cost(&'static str),
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Extent(arg) => write!(f, "an extent in `shape` of `{arg}`"),
            Self::Valid(arg) => write!(f, "an extent in `valid` of `{arg}`"),
            Self::Value(arg) => write!(f, "`value` of `{arg}`"),
            Self::BlockDim => f.write_str("`block_dim`"),
            Self::Cost(key) => write!(f, "`{key}` of [bench]"),
        }
    }
}

/// Computes what a case is launched with.
///
/// # Errors
/// An expression has no value ([`KernelError::Evaluate`]), an extent is below 1, a tensor is too large to be addressed, a
/// scalar does not fit its type, the number of blocks is below 1. Each names the argument and the case.
pub fn bind(manifest: &Manifest, case: &Case, cores: Cores) -> Result<BoundCase, KernelError> {
    let binder = Binder { manifest, case };
    let args = manifest.args.iter().map(|arg| {
        let value = match &arg.kind {
            ArgKind::Tensor(tensor) => BoundValue::Tensor(binder.tensor(&arg.name, tensor)?),
            ArgKind::Scalar(scalar) => BoundValue::Scalar(binder.scalar(&arg.name, scalar)?),
        };
        Ok(BoundArg { name: arg.name.clone(), value })
    });
    let args = args.collect::<Result<_, KernelError>>()?;
    Ok(BoundCase { case: case.clone(), block_dim: binder.block_dim(cores)?, args })
}

/// What a launch of a case costs by an expression of `[bench]`.
///
/// # Errors
/// The expression has no value.
pub(crate) fn cost(manifest: &Manifest, case: &Case, expr: &Expr, key: &'static str) -> Result<i64, KernelError> {
    let binder = Binder { manifest, case };
    binder.eval(expr, Quantity::Cost(key), &|name| binder.dim(name))
}

struct Binder<'a> {
    manifest: &'a Manifest,
    case: &'a Case,
}

impl Binder<'_> {
    fn dim(&self, name: &str) -> Option<i64> {
        match self.manifest.dims.get(name)? {
            Dim::Static(length) => Some(*length),
            Dim::Dynamic => self.case.dims.get(name).copied(),
        }
    }

    fn eval(&self, expr: &Expr, what: Quantity, lookup: &dyn Fn(&str) -> Option<i64>) -> Result<i64, KernelError> {
        expr.eval_dim(lookup).map_err(|source| KernelError::Evaluate {
            what,
            text: expr.source().to_owned(),
            case: self.case.to_string(),
            source: Box::new(source),
        })
    }

    fn tensor(&self, name: &str, tensor: &TensorArg) -> Result<BoundTensor, KernelError> {
        let extents = tensor
            .shape
            .iter()
            .map(|expr| self.extent(name, expr, Quantity::Extent(name.to_owned())))
            .collect::<Result<Vec<i64>, _>>()?;
        let too_large =
            || KernelError::TooLarge { arg: name.to_owned(), shape: extents.clone(), case: self.case.to_string() };
        let shape: Option<Vec<usize>> = extents.iter().map(|extent| usize::try_from(*extent).ok()).collect();
        let shape = shape.ok_or_else(too_large)?;
        let elements = shape.iter().try_fold(1_usize, |all, extent| all.checked_mul(*extent)).ok_or_else(too_large)?;
        let bytes = elements.checked_mul(tensor.dtype.size()).filter(|bytes| isize::try_from(*bytes).is_ok());
        let bytes = bytes.ok_or_else(too_large)?;
        let valid = self.valid(name, &shape)?;
        Ok(BoundTensor { dir: tensor.dir, dtype: tensor.dtype, shape, elements, bytes, valid })
    }

    fn valid(&self, arg: &str, shape: &[usize]) -> Result<Option<Vec<usize>>, KernelError> {
        let Some(exprs) = self.manifest.tolerance.get(arg).and_then(|rule| rule.valid.as_ref()) else {
            return Ok(None);
        };
        let extent = |expr| self.extent(arg, expr, Quantity::Valid(arg.to_owned()));
        let extents = exprs.iter().map(extent).collect::<Result<Vec<i64>, _>>()?;
        let valid: Vec<usize> = extents.iter().filter_map(|extent| usize::try_from(*extent).ok()).collect();
        if valid.len() != shape.len() || valid.iter().zip(shape).any(|(valid, axis)| valid > axis) {
            let (arg, case) = (arg.to_owned(), self.case.to_string());
            return Err(KernelError::Valid { arg, valid: extents, shape: shape.to_vec(), case });
        }
        Ok(Some(valid))
    }

    fn extent(&self, arg: &str, expr: &Expr, what: Quantity) -> Result<i64, KernelError> {
        let value = self.eval(expr, what, &|name| self.dim(name))?;
        if value < 1 {
            let (text, case) = (expr.source().to_owned(), self.case.to_string());
            return Err(KernelError::Extent { arg: arg.to_owned(), text, value, case });
        }
        Ok(value)
    }

    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "rounding to the type is meant")]
    fn scalar(&self, arg: &str, scalar: &ScalarArg) -> Result<ScalarValue, KernelError> {
        let dtype = scalar.dtype;
        let number = match &scalar.value {
            ScalarFormula::Number(number) => *number,
            ScalarFormula::Expr(expr) => {
                let value = self.eval(expr, Quantity::Value(arg.to_owned()), &|name| self.dim(name))?;
                match dtype.range() {
                    Some(range) if range.contains(&i128::from(value)) => {
                        return Ok(ScalarValue::Integer { dtype, value: value.into() });
                    }
                    Some(range) => {
                        return Err(self.out_of_range(
                            arg,
                            dtype,
                            value.to_string(),
                            format!("{} to {}", range.start(), range.end()),
                        ));
                    }
                    None => value as f64,
                }
            }
        };
        if dtype == ScalarType::F64 {
            return Ok(ScalarValue::Float { dtype, value: number });
        }
        let rounded = number as f32;
        if rounded.is_infinite() && number.is_finite() {
            return Err(self.out_of_range(
                arg,
                dtype,
                format!("{number:e}"),
                format!("{:e} to {:e}", f32::MIN, f32::MAX),
            ));
        }
        Ok(ScalarValue::Float { dtype, value: rounded.into() })
    }

    fn out_of_range(&self, arg: &str, dtype: ScalarType, value: String, range: String) -> KernelError {
        let (arg, case) = (arg.to_owned(), self.case.to_string());
        KernelError::ScalarRange { arg, dtype: dtype.name(), value, range, case }
    }

    fn block_dim(&self, cores: Cores) -> Result<u32, KernelError> {
        let expr = &self.manifest.launch.block_dim;
        let value = self.eval(expr, Quantity::BlockDim, &|name| match name {
            "vector_cores" => Some(cores.vector.into()),
            "cube_cores" => Some(cores.cube.into()),
            name => self.dim(name),
        })?;
        u32::try_from(value).ok().filter(|blocks| *blocks > 0).ok_or_else(|| KernelError::BlockDim {
            text: expr.source().to_owned(),
            value,
            case: self.case.to_string(),
        })
    }
}
