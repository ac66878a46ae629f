//! The call itself: a C function whose signature is known only now.
//!
//! Launchers take integers, pointers and floating-point numbers, nothing larger than a register. On the hosts that NPUs
//! come with, where such a parameter goes depends on its kind and its place alone (System V AMD64 ABI 3.2.3, AAPCS64 6.8):
//! the first integers into integer registers, the first floating-point numbers into vector registers, the others, in
//! order, into slots of eight bytes on the stack. So one function type, with every register and some slots, calls them
//! all: a callee does not look at those that it has no parameter for. Libraries that call any signature need `make` to
//! build, which a machine needs for nothing else here.

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
compile_error!("pto-launch knows how Linux on x86-64 and AArch64 passes parameters, and no other");

use std::ffi::c_void;

use crate::args::Scalar;

/// Integers that go into registers.
const INTEGER_REGISTERS: usize = if cfg!(target_arch = "x86_64") { 6 } else { 8 };
/// Floating-point numbers that do.
const FLOAT_REGISTERS: usize = 8;
/// Integer registers and slots together, of any launcher.
const WORDS: usize = 72;
/// The same of a launcher as most are. Copying slots that nobody looks at takes longer than the rest of a call.
const FEW: usize = 8;

/// A value as the launcher takes it.
pub(crate) enum Value {
    U32(u32),
    Pointer(*mut c_void),
    Scalar(Scalar),
}

/// A launcher with more parameters than there is room for.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the launcher has {parameters} parameters; at most {} fit beside those in registers", WORDS - INTEGER_REGISTERS)]
pub(crate) struct TooMany {
    parameters: usize,
}

/// Calls `void function(values...)`.
///
/// # Safety
/// `function` is a C function that returns nothing and takes exactly these values, and every pointer is what it expects.
pub(crate) unsafe fn call(function: *const c_void, values: &[Value]) -> Result<(), TooMany> {
    macro_rules! call {
        ($frame:expr; $($float:literal)*; $($word:literal)*) => {{
            let Frame { floats, words } = $frame;
            macro_rules! float { ($index:literal) => { f64 }; }
            macro_rules! word { ($index:literal) => { u64 }; }
            type Any = unsafe extern "C" fn($(float!($float),)* $(word!($word),)*);
            // SAFETY: the caller vouches for the function and its parameters, which find their values where this type
            // puts them; the caller of a C function removes what it has put on the stack.
            unsafe { std::mem::transmute::<*const c_void, Any>(function)($(floats[$float],)* $(words[$word],)*) }
        }};
    }
    if let Some(frame) = Frame::<FEW>::new(values) {
        call! { frame; 0 1 2 3 4 5 6 7; 0 1 2 3 4 5 6 7 }
        return Ok(());
    }
    let frame = Frame::<WORDS>::new(values).ok_or(TooMany { parameters: values.len() })?;
    call! {
        frame;
        0 1 2 3 4 5 6 7;
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35
        36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71
    }
    Ok(())
}

/// Where each value goes: floating-point numbers by register, then integers by register and everything else by slot.
struct Frame<const WORDS: usize> {
    floats: [f64; FLOAT_REGISTERS],
    words: [u64; WORDS],
}

impl<const WORDS: usize> Frame<WORDS> {
    /// `None` when there are more values than places.
    fn new(values: &[Value]) -> Option<Self> {
        let mut frame = Self { floats: [0.0; FLOAT_REGISTERS], words: [0; WORDS] };
        let mut floats = frame.floats.iter_mut();
        let (integers, slots) = frame.words.split_at_mut(INTEGER_REGISTERS);
        let (mut integers, mut slots) = (integers.iter_mut(), slots.iter_mut());
        for value in values {
            match value.bits() {
                Bits::Float(bits) => match floats.next() {
                    Some(register) => *register = f64::from_bits(bits),
                    None => *slots.next()? = bits,
                },
                Bits::Integer(bits) => *integers.next().or_else(|| slots.next())? = bits,
            }
        }
        Some(frame)
    }
}

/// A value as it lies in a register or slot; one that is narrower lies in the low bits.
enum Bits {
    Integer(u64),
    Float(u64),
}

impl Value {
    fn bits(&self) -> Bits {
        // Narrow integers are extended, which some compilers rely on in the functions that they compile.
        let signed = |value: i64| Bits::Integer(value.cast_unsigned());
        match *self {
            Self::U32(value) => Bits::Integer(value.into()),
            Self::Pointer(value) => Bits::Integer(value.expose_provenance() as u64),
            Self::Scalar(scalar) => match scalar {
                Scalar::I8(value) => signed(value.into()),
                Scalar::I16(value) => signed(value.into()),
                Scalar::I32(value) => signed(value.into()),
                Scalar::I64(value) => signed(value),
                Scalar::U8(value) => Bits::Integer(value.into()),
                Scalar::U16(value) => Bits::Integer(value.into()),
                Scalar::U32(value) => Bits::Integer(value.into()),
                Scalar::U64(value) => Bits::Integer(value),
                Scalar::F32(value) => Bits::Float(value.to_bits().into()),
                Scalar::F64(value) => Bits::Float(value.to_bits()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_values_than_places_are_refused() {
        let integers = |count: usize| (0..count).map(|_| Value::U32(1)).collect::<Vec<_>>();
        assert!(Frame::<WORDS>::new(&integers(WORDS)).is_some());
        assert!(Frame::<WORDS>::new(&integers(WORDS + 1)).is_none());
        let floats = |count: usize| (0..count).map(|_| Value::Scalar(Scalar::F64(1.0))).collect::<Vec<_>>();
        assert!(Frame::<WORDS>::new(&floats(FLOAT_REGISTERS + WORDS - INTEGER_REGISTERS)).is_some());
        assert!(Frame::<WORDS>::new(&floats(FLOAT_REGISTERS + WORDS - INTEGER_REGISTERS + 1)).is_none());
        assert!(Frame::<FEW>::new(&integers(FEW)).is_some());
        assert!(Frame::<FEW>::new(&integers(FEW + 1)).is_none());
        assert_eq!(
            // SAFETY: nothing is called.
            unsafe { call(std::ptr::null(), &integers(WORDS + 1)) },
            Err(TooMany { parameters: WORDS + 1 })
        );
    }
}
