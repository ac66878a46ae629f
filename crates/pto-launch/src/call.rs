//! The call itself: a C function whose signature is known only now.

use std::ffi::c_void;

use libffi::middle::{Arg, Cif, CodePtr, Type};

use crate::args::Scalar;

/// A value as the launcher takes it.
pub(crate) enum Value {
    U32(u32),
    Pointer(*mut c_void),
    Scalar(Scalar),
}

impl Value {
    fn kind(&self) -> Type {
        match self {
            Self::U32(_) => Type::u32(),
            Self::Pointer(_) => Type::pointer(),
            Self::Scalar(scalar) => match scalar {
                Scalar::I8(_) => Type::i8(),
                Scalar::I16(_) => Type::i16(),
                Scalar::I32(_) => Type::i32(),
                Scalar::I64(_) => Type::i64(),
                Scalar::U8(_) => Type::u8(),
                Scalar::U16(_) => Type::u16(),
                Scalar::U32(_) => Type::u32(),
                Scalar::U64(_) => Type::u64(),
                Scalar::F32(_) => Type::f32(),
                Scalar::F64(_) => Type::f64(),
            },
        }
    }

    fn arg(&self) -> Arg<'_> {
        match self {
            Self::U32(value) => Arg::new(value),
            Self::Pointer(value) => Arg::new(value),
            Self::Scalar(scalar) => match scalar {
                Scalar::I8(value) => Arg::new(value),
                Scalar::I16(value) => Arg::new(value),
                Scalar::I32(value) => Arg::new(value),
                Scalar::I64(value) => Arg::new(value),
                Scalar::U8(value) => Arg::new(value),
                Scalar::U16(value) => Arg::new(value),
                Scalar::U32(value) => Arg::new(value),
                Scalar::U64(value) => Arg::new(value),
                Scalar::F32(value) => Arg::new(value),
                Scalar::F64(value) => Arg::new(value),
            },
        }
    }
}

/// Calls `void function(values...)`.
///
/// # Safety
/// `function` is a C function that returns nothing and takes exactly these values, and every pointer is what it expects.
pub(crate) unsafe fn call(function: *const c_void, values: &[Value]) {
    let cif = Cif::new(values.iter().map(Value::kind), Type::void());
    let args: Vec<Arg<'_>> = values.iter().map(Value::arg).collect();
    // SAFETY: the caller vouches for the function and its parameters; the call interface was made from the same values.
    unsafe { cif.call::<()>(CodePtr::from_ptr(function), &args) }
}
