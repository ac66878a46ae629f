//! How a Rust type of this layer is spelled in C. The test against the real headers is generated from it, so that it
//! checks the types the calls are really made with.

use std::ffi::{c_char, c_int, c_void};

/// A type that C has too.
pub trait CType {
    /// The type as C++ spells it.
    fn spell() -> String;
}

macro_rules! spelled {
    ($($rust:ty => $c:literal,)+) => {
        $(impl CType for $rust {
            fn spell() -> String {
                $c.into()
            }
        })+
    };
}

spelled! {
    () => "void",
    c_void => "void",
    c_char => "char",
    c_int => "int32_t",
    u32 => "uint32_t",
    i64 => "int64_t",
    usize => "size_t",
    f32 => "float",
}

impl<T: CType> CType for *mut T {
    fn spell() -> String {
        format!("{} *", T::spell())
    }
}

impl<T: CType> CType for *const T {
    fn spell() -> String {
        format!("{} const *", T::spell())
    }
}

macro_rules! functions {
    ($($argument:ident)*) => {
        impl<R: CType, $($argument: CType),*> CType for unsafe extern "C" fn($($argument),*) -> R {
            fn spell() -> String {
                let arguments: &[String] = &[$($argument::spell()),*];
                format!("{} (*)({})", R::spell(), arguments.join(", "))
            }
        }
    };
}

functions!();
functions!(A);
functions!(A B);
functions!(A B C);
functions!(A B C D);
functions!(A B C D E);
functions!(A B C D E F);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_spelled_as_a_pointer() {
        type Malloc = unsafe extern "C" fn(*mut *mut c_void, usize, *const c_char) -> c_int;
        assert_eq!(Malloc::spell(), "int32_t (*)(void * *, size_t, char const *)");
        assert_eq!(<unsafe extern "C" fn()>::spell(), "void (*)()");
    }
}
