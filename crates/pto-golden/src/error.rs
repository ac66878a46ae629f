//! What can go wrong outside expressions.

use std::path::PathBuf;

use crate::{DType, Shape};

/// An error of this crate; expressions have their own, [`ExprError`](crate::ExprError), because theirs carry a span.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused; the message names the operation and the path.
    #[error(transparent)]
    Io(#[from] std::io::Error),

    /// Something is wrong with what a file holds.
    #[error("cannot use `{}` as a tensor", path.display())]
    File {
        /// The path as the caller gave it.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: Box<Error>,
    },

    /// The bytes do not follow the format.
    #[error("at byte {offset}: {reason}")]
    Malformed {
        /// Where, from the start of the file.
        offset: usize,
        /// What was found and expected.
        reason: String,
    },

    /// The file's elements are of another type than declared.
    #[error("the elements are `{found}`, expected {expected}")]
    FileDType {
        /// The type as the file spells it.
        found: String,
        /// The declared dtype.
        expected: DType,
    },

    /// The file says how large its elements are, and not what they are.
    #[error("`{found}` names no element type this crate knows")]
    OpaqueDType {
        /// The type as the file spells it.
        found: String,
    },

    /// A file of no kind that is read.
    #[error("`{}` is no tensor file: its name ends in none of .{}", path.display(), crate::files::ENDINGS.join(", ."))]
    UnknownKind {
        /// The path as the caller gave it.
        path: PathBuf,
    },

    /// A raw file whose element type nobody said.
    #[error("`{}` holds elements and does not say of which type", path.display())]
    Undeclared {
        /// The path as the caller gave it.
        path: PathBuf,
    },

    /// Two files that hold the tensor of one name.
    #[error("`{}` and `{}` have the same name", path.display(), other.display())]
    SameName {
        /// One path.
        path: PathBuf,
        /// The other.
        other: PathBuf,
    },

    /// Bytes and shape do not fit each other.
    #[error("shape {shape} of {dtype} needs {expected} bytes, found {found}")]
    Length {
        /// The shape.
        shape: Shape,
        /// The element type.
        dtype: DType,
        /// Bytes the shape needs.
        expected: usize,
        /// Bytes there are.
        found: usize,
    },

    /// No machine can hold a tensor of this shape.
    #[error("shape {shape} of {dtype} has more bytes than an address can count")]
    TooLarge {
        /// The shape.
        shape: Shape,
        /// The element type.
        dtype: DType,
    },

    /// Typed access with the wrong type.
    #[error("the tensor holds {found}, asked for as {expected}")]
    WrongElement {
        /// What it holds.
        found: DType,
        /// What was asked for.
        expected: DType,
    },

    /// A fill that makes no sense for the dtype or the shape.
    #[error("fill: {reason}")]
    Fill {
        /// What was found and expected.
        reason: String,
    },

    /// A number of a rule that makes no sense.
    #[error("{what} is {found}, which no rule can use")]
    Rule {
        /// Which number.
        what: &'static str,
        /// The value.
        found: f64,
    },

    /// A tolerance that is negative or not finite.
    #[error("{what} is {found}, expected a finite number of at least 0")]
    Tolerance {
        /// `rtol` or `atol`.
        what: &'static str,
        /// The value.
        found: f64,
    },
}

impl Error {
    pub(crate) fn malformed(offset: usize, reason: impl Into<String>) -> Self {
        Self::Malformed { offset, reason: reason.into() }
    }

    pub(crate) fn fill(reason: impl Into<String>) -> Self {
        Self::Fill { reason: reason.into() }
    }

    pub(crate) fn in_file(self, path: &std::path::Path) -> Self {
        Self::File { path: path.to_owned(), source: Box::new(self) }
    }

    /// What to do about it, where that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::File { source, .. } => source.hint(),
            Self::OpaqueDType { found } if found.ends_with("V2") => {
                Some("bf16 is saved like this; declare the dtype and it is read as that".to_owned())
            }
            Self::UnknownKind { path } if path.extension().is_some_and(|ending| ending == "pt" || ending == "pth") => {
                Some("save it with `safetensors.torch.save_file`, or a single tensor with `numpy.save`".to_owned())
            }
            Self::Undeclared { .. } => Some("declare the dtype, and the shape if it has more than one axis".to_owned()),
            Self::FileDType { expected, .. } => {
                let how =
                    numpy_name(*expected).map_or_else(String::new, |name| format!(" with `.astype(numpy.{name})`"));
                Some(format!("save it as {expected}{how}, or declare the dtype it has"))
            }
            _ => None,
        }
    }
}

/// What NumPy calls a type that it has.
fn numpy_name(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::F16 => "float16",
        DType::F32 => "float32",
        DType::F64 => "float64",
        DType::I8 => "int8",
        DType::I16 => "int16",
        DType::I32 => "int32",
        DType::I64 => "int64",
        DType::U8 => "uint8",
        DType::U16 => "uint16",
        DType::U32 => "uint32",
        DType::U64 => "uint64",
        DType::Bool => "bool_",
        _ => return None,
    })
}
