//! C++ parameter types as far as a launch needs to know them: pointer, integer of a width, float of a width.

use std::fmt;

/// What a parameter's type is to the calling convention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeClass {
    /// A pointer; the pointee without qualifiers, for example `half` or `void`.
    Pointer {
        /// The pointee's name.
        pointee: String,
        /// Whether the pointee is `const`.
        is_const: bool,
    },
    /// An integer; `bool` counts as one of 8 bits.
    Integer {
        /// Its width.
        bits: u8,
        /// Whether it is signed.
        signed: bool,
    },
    /// A floating point number.
    Float {
        /// Its width: 16, 32 or 64.
        bits: u8,
    },
    /// Something a launch argument list cannot hold, or that cannot be known from this text alone.
    Other,
}

impl fmt::Display for TypeClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pointer { .. } => f.write_str("a pointer"),
            Self::Integer { bits, .. } => write!(f, "an integer of {bits} bits"),
            Self::Float { bits } => write!(f, "a floating point number of {bits} bits"),
            Self::Other => f.write_str("neither a pointer nor a number"),
        }
    }
}

/// Words that say nothing about how a value is passed.
const QUALIFIERS: &[&str] =
    &["const", "volatile", "__gm__", "__restrict__", "__restrict", "restrict", "struct", "register"];

/// Classifies a type as written, without the parameter's name: `__gm__ half *`, `const uint32_t`, `GM_ADDR`.
pub(crate) fn classify(text: &str) -> TypeClass {
    let is_const = text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "const");
    let stars = text.matches('*').count();
    let plain = text.replace('*', " ");
    let words: Vec<&str> = plain.split_whitespace().filter(|word| !QUALIFIERS.contains(word)).collect();
    let name = words.join(" ");
    match (stars, name.as_str()) {
        _ if text.contains(['&', '[', '(']) => TypeClass::Other,
        (0, "GM_ADDR") => TypeClass::Pointer { pointee: "uint8_t".into(), is_const },
        (0, "aclrtStream" | "rtStream_t") => TypeClass::Pointer { pointee: "void".into(), is_const },
        (0, name) => number(name),
        (1, name) => TypeClass::Pointer { pointee: name.to_owned(), is_const },
        _ => TypeClass::Pointer { pointee: format!("{name} {}", "*".repeat(stars - 1)), is_const },
    }
}

/// Widths are those of LP64, which all hosts of the toolchain use.
fn number(name: &str) -> TypeClass {
    let (bits, signed) = match name.strip_prefix("std::").unwrap_or(name) {
        "int8_t" | "char" | "signed char" => (8, true),
        "uint8_t" | "unsigned char" | "bool" => (8, false),
        "int16_t" | "short" | "short int" => (16, true),
        "uint16_t" | "unsigned short" | "unsigned short int" => (16, false),
        "int32_t" | "int" | "signed" | "signed int" => (32, true),
        "uint32_t" | "unsigned" | "unsigned int" => (32, false),
        "int64_t" | "long" | "long int" | "long long" | "long long int" | "ssize_t" | "ptrdiff_t" | "intptr_t" => {
            (64, true)
        }
        "uint64_t"
        | "unsigned long"
        | "unsigned long int"
        | "unsigned long long"
        | "unsigned long long int"
        | "size_t"
        | "uintptr_t" => (64, false),
        "half" | "float16_t" | "bfloat16_t" | "_Float16" => return TypeClass::Float { bits: 16 },
        "float" | "float32_t" => return TypeClass::Float { bits: 32 },
        "double" | "float64_t" => return TypeClass::Float { bits: 64 },
        _ => return TypeClass::Other,
    };
    TypeClass::Integer { bits, signed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_as_kernels_write_them() {
        let pointer = |pointee: &str, is_const| TypeClass::Pointer { pointee: pointee.into(), is_const };
        for (text, class) in [
            ("__gm__ half *", pointer("half", false)),
            ("const __gm__ float*", pointer("float", true)),
            ("GM_ADDR", pointer("uint8_t", false)),
            ("void **", pointer("void *", false)),
            ("const uint32_t", TypeClass::Integer { bits: 32, signed: false }),
            ("unsigned  long long", TypeClass::Integer { bits: 64, signed: false }),
            ("std::int64_t", TypeClass::Integer { bits: 64, signed: true }),
            ("bool", TypeClass::Integer { bits: 8, signed: false }),
            ("half", TypeClass::Float { bits: 16 }),
            ("double", TypeClass::Float { bits: 64 }),
            ("T", TypeClass::Other),
            ("float &", TypeClass::Other),
        ] {
            assert_eq!(classify(text), class, "{text}");
        }
    }
}
