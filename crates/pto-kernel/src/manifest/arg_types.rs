//! The arguments of a kernel: what each is, who reads it and who writes it.

use std::fmt;

use pto_golden::{DType, Expr, Fill};

/// An argument of the kernel.
#[derive(Debug, Clone)]
pub struct Arg {
    /// Its name, an identifier that no dim and no other argument has.
    pub name: String,
    /// Its line in the manifest.
    pub line: usize,
    /// What it is.
    pub kind: ArgKind,
}

/// What an argument is.
#[derive(Debug, Clone)]
pub enum ArgKind {
    /// A buffer in device memory.
    Tensor(TensorArg),
    /// A number passed by value.
    Scalar(ScalarArg),
}

/// A buffer in device memory.
#[derive(Debug, Clone)]
pub struct TensorArg {
    /// Who reads and who writes it.
    pub dir: Dir,
    /// The type of its elements.
    pub dtype: DType,
    /// Its extents, outermost first; empty for a single element.
    pub shape: Vec<Expr>,
    /// How it is filled before the launch. Has no effect on `out` and `workspace`.
    pub fill: Fill,
}

/// Who reads and who writes a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dir {
    /// Read by the kernel.
    In,
    /// Written by the kernel and compared.
    Out,
    /// Read, overwritten and compared.
    InOut,
    /// Scratch memory: neither filled with data nor compared.
    Workspace,
}

impl Dir {
    /// All of them, in the order messages list them.
    pub const ALL: [Self; 4] = [Self::In, Self::Out, Self::InOut, Self::Workspace];

    /// The name in the manifest.
    pub const fn name(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
            Self::InOut => "inout",
            Self::Workspace => "workspace",
        }
    }

    /// Whether the kernel's result is compared with a golden.
    pub const fn is_output(self) -> bool {
        matches!(self, Self::Out | Self::InOut)
    }

    /// Whether the buffer holds data before the launch.
    pub const fn is_input(self) -> bool {
        matches!(self, Self::In | Self::InOut)
    }
}

impl fmt::Display for Dir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A number passed by value.
#[derive(Debug, Clone)]
pub struct ScalarArg {
    /// Its type.
    pub dtype: ScalarType,
    /// Its value.
    pub value: ScalarFormula,
}

/// The value of a scalar argument.
#[derive(Debug, Clone)]
pub enum ScalarFormula {
    /// A whole number computed from dims.
    Expr(Expr),
    /// A decimal number; `f32` and `f64` only.
    Number(f64),
}

/// The type of a scalar argument: what a launcher's parameter can be besides a pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum ScalarType {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
}

impl ScalarType {
    /// All of them.
    pub const ALL: [Self; 10] =
        [Self::I8, Self::I16, Self::I32, Self::I64, Self::U8, Self::U16, Self::U32, Self::U64, Self::F32, Self::F64];

    /// The name in the manifest.
    pub const fn name(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// The type of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scalar| scalar.name() == name)
    }

    /// Its width.
    pub const fn bits(self) -> u8 {
        match self {
            Self::I8 | Self::U8 => 8,
            Self::I16 | Self::U16 => 16,
            Self::I32 | Self::U32 | Self::F32 => 32,
            Self::I64 | Self::U64 | Self::F64 => 64,
        }
    }

    /// Whether it is a floating point number.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// The whole numbers it can hold; `None` for floating point numbers.
    pub fn range(self) -> Option<std::ops::RangeInclusive<i128>> {
        let signed = matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64);
        let bits = u32::from(self.bits());
        match (self.is_float(), signed) {
            (true, _) => None,
            (false, true) => Some(-(1 << (bits - 1))..=(1 << (bits - 1)) - 1),
            (false, false) => Some(0..=(1 << bits) - 1),
        }
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
