//! From a dtype that is known when the program runs to a type that is known when it is compiled.

/// Runs `$body` with `$T` bound to the Rust type of `$dtype`.
macro_rules! with_element {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            $crate::DType::F16 => {
                type $T = half::f16;
                $body
            }
            $crate::DType::Bf16 => {
                type $T = half::bf16;
                $body
            }
            $crate::DType::F32 => {
                type $T = f32;
                $body
            }
            $crate::DType::F64 => {
                type $T = f64;
                $body
            }
            $crate::DType::I8 => {
                type $T = i8;
                $body
            }
            $crate::DType::I16 => {
                type $T = i16;
                $body
            }
            $crate::DType::I32 => {
                type $T = i32;
                $body
            }
            $crate::DType::I64 => {
                type $T = i64;
                $body
            }
            $crate::DType::U8 => {
                type $T = u8;
                $body
            }
            $crate::DType::U16 => {
                type $T = u16;
                $body
            }
            $crate::DType::U32 => {
                type $T = u32;
                $body
            }
            $crate::DType::U64 => {
                type $T = u64;
                $body
            }
            $crate::DType::Hf32 => {
                type $T = $crate::element::HF32;
                $body
            }
            $crate::DType::F8E4M3 => {
                type $T = $crate::element::F8E4M3;
                $body
            }
            $crate::DType::F8E5M2 => {
                type $T = $crate::element::F8E5M2;
                $body
            }
            $crate::DType::F8E8M0 => {
                type $T = $crate::element::F8E8M0;
                $body
            }
            $crate::DType::HiF8 => {
                type $T = $crate::element::HiF8;
                $body
            }
            $crate::DType::F4E2M1 => {
                type $T = $crate::element::F4E2M1;
                $body
            }
            $crate::DType::F4E1M2 => {
                type $T = $crate::element::F4E1M2;
                $body
            }
            $crate::DType::I4 => {
                type $T = $crate::element::I4;
                $body
            }
            $crate::DType::Bool => {
                type $T = bool;
                $body
            }
        }
    };
}
pub(crate) use with_element;
