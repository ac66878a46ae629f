//! `kernel new`: a directory with a kernel that is right, to be changed into the one that is wanted.

use std::path::{Path, PathBuf};

use crate::KernelError;
use crate::manifest::{FILE_NAME, is_identifier};

/// Text of the files; `@NAME@` stands for the kernel's name.
const MANIFEST: &str = include_str!("../templates/manifest.toml");
const SOURCE: &str = include_str!("../templates/kernel.cpp");
const README: &str = include_str!("../templates/README.md");
const NAME: &str = "@NAME@";

/// Words of C++ and of the templates that a kernel's source could not use as a name.
const TAKEN: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "asm",
    "auto",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "constexpr",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "nullptr",
    "operator",
    "or",
    "private",
    "protected",
    "public",
    "register",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "template",
    "this",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
    "xor",
    "half",
    "pto",
    "main",
];

/// Makes the directory `NAME` in `parent` with `kernel.toml`, `NAME.cpp` and `README.md`, and returns its path.
///
/// # Errors
/// The name is no identifier or is taken by the language; the directory exists; it cannot be written.
pub fn create(parent: &Path, name: &str) -> Result<PathBuf, KernelError> {
    check_name(name)?;
    let dir = parent.join(name);
    fs_err::create_dir(&dir).map_err(|source| match source.kind() {
        std::io::ErrorKind::AlreadyExists => KernelError::Exists { path: dir.clone() },
        _ => KernelError::Write { path: dir.clone(), source },
    })?;
    for (file, template) in [(FILE_NAME, MANIFEST), (&format!("{name}.cpp"), SOURCE), ("README.md", README)] {
        crate::write::file(&dir.join(file), &template.replace(NAME, name), false)?;
    }
    Ok(dir)
}

/// Whether a new kernel can have this name.
pub(crate) fn is_name(name: &str) -> bool {
    check_name(name).is_ok()
}

fn check_name(name: &str) -> Result<(), KernelError> {
    let problem = if !is_identifier(name) || name.starts_with('_') {
        "expected letters, digits and `_`, a letter first"
    } else if TAKEN.contains(&name) {
        "the word has a meaning in C++ or in PTO"
    } else if name == "target" {
        "build output has that name"
    } else {
        return Ok(());
    };
    Err(KernelError::Name { name: name.to_owned(), problem })
}
