//! Does the manifest pass what the launcher takes? Checked before anything is compiled, because a launcher called with a
//! wrong argument list does not fail, it computes nonsense.

use std::fmt;
use std::path::PathBuf;

use crate::manifest::{ArgKind, Entry, Manifest, SignatureItem};
use crate::source::{Function, Param, Source, TypeClass};

/// A launcher as its source declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LauncherDecl {
    /// Its symbol.
    pub name: String,
    /// The source, as it was named.
    pub path: PathBuf,
    /// The line of its name, from 1.
    pub line: usize,
    /// Its parameters in order.
    pub params: Vec<Param>,
}

/// The host functions with C linkage that a source declares or defines.
pub fn declared_launchers(source: &Source) -> Vec<LauncherDecl> {
    source.functions().iter().filter(|f| f.extern_c && !f.is_global).map(|f| decl(source, f)).collect()
}

pub(crate) fn decl(source: &Source, function: &Function) -> LauncherDecl {
    LauncherDecl {
        name: function.name.clone(),
        path: source.path().to_path_buf(),
        line: function.line,
        params: function.params.clone(),
    }
}

/// The manifest and a declaration disagree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}: {problem}", path.display())]
pub struct Mismatch {
    /// The source that declares the function.
    pub path: PathBuf,
    /// The line of the declaration.
    pub line: usize,
    /// What both sides say.
    pub problem: Problem,
    /// What the manifest passes, in its order.
    pub passed: Vec<String>,
}

impl Mismatch {
    /// What to change.
    pub fn hint(&self) -> String {
        format!("the manifest passes {}; `signature` of [launch] changes the order", self.passed.join(", "))
    }
}

/// What a manifest and a declaration say of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// They disagree in how many arguments there are.
    Count {
        /// The function.
        function: String,
        /// How many it takes.
        declared: usize,
        /// How many the manifest passes.
        passed: usize,
    },
    /// They disagree in what one argument is.
    Type {
        /// The function.
        function: String,
        /// Which parameter, from 1.
        position: usize,
        /// The parameter as declared, `uint32_t n`.
        declared: String,
        /// What that is.
        declared_class: TypeClass,
        /// What the manifest passes there.
        name: String,
        /// What that is.
        passed_class: TypeClass,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { function, declared, passed } => {
                write!(f, "`{function}` takes {declared} arguments, the manifest passes {passed}")
            }
            Self::Type { function, position, declared, declared_class, name, passed_class } => write!(
                f,
                "parameter {position} of `{function}` is `{declared}`, {declared_class}; \
                 the manifest passes `{name}`, {passed_class}"
            ),
        }
    }
}

/// Compares the manifest's `entry` with its declaration among `decls`.
///
/// A launcher that is declared nowhere is not refused: a macro may declare it, and the loader lists the symbols that exist.
/// Integers have to agree in width, not in sign; types that the source text alone does not explain are not judged.
///
/// # Errors
/// The number of arguments differs, or one of them is a pointer on one side and a number on the other, or a number of
/// another kind or width.
pub fn check_signature(manifest: &Manifest, decls: &[LauncherDecl]) -> Result<(), Box<Mismatch>> {
    let Entry::Launcher(symbol) = &manifest.entry else { return Ok(()) };
    match decls.iter().find(|decl| decl.name == *symbol) {
        Some(decl) => compare(manifest, &manifest.launch.signature, decl),
        None => Ok(()),
    }
}

/// Compares a list of arguments with a declaration.
pub(crate) fn compare(manifest: &Manifest, items: &[SignatureItem], decl: &LauncherDecl) -> Result<(), Box<Mismatch>> {
    let mismatch = |problem| {
        Box::new(Mismatch {
            path: decl.path.clone(),
            line: decl.line,
            problem,
            passed: items.iter().map(|item| format!("`{}`", manifest.item_name(item))).collect(),
        })
    };
    if decl.params.len() != items.len() {
        let (function, declared, passed) = (decl.name.clone(), decl.params.len(), items.len());
        return Err(mismatch(Problem::Count { function, declared, passed }));
    }
    for (index, (param, item)) in decl.params.iter().zip(items).enumerate() {
        let passed_class = class_of(manifest, item);
        if !fits(&param.class, &passed_class) {
            return Err(mismatch(Problem::Type {
                function: decl.name.clone(),
                position: index + 1,
                declared: declared(param),
                declared_class: param.class.clone(),
                name: manifest.item_name(item).to_owned(),
                passed_class,
            }));
        }
    }
    Ok(())
}

fn declared(param: &Param) -> String {
    match &param.name {
        Some(name) => format!("{} {name}", param.ty),
        None => param.ty.clone(),
    }
}

fn class_of(manifest: &Manifest, item: &SignatureItem) -> TypeClass {
    match item {
        SignatureItem::BlockDim => TypeClass::Integer { bits: 32, signed: false },
        SignatureItem::Stream => TypeClass::Pointer { pointee: "void".into(), is_const: false },
        SignatureItem::Arg(index) => match &manifest.args[*index].kind {
            ArgKind::Tensor(tensor) => TypeClass::Pointer { pointee: tensor.dtype.name().into(), is_const: false },
            ArgKind::Scalar(scalar) if scalar.dtype.is_float() => TypeClass::Float { bits: scalar.dtype.bits() },
            ArgKind::Scalar(scalar) => TypeClass::Integer { bits: scalar.dtype.bits(), signed: false },
        },
    }
}

fn fits(declared: &TypeClass, passed: &TypeClass) -> bool {
    match (declared, passed) {
        (TypeClass::Other, _) | (TypeClass::Pointer { .. }, TypeClass::Pointer { .. }) => true,
        (TypeClass::Integer { bits: a, .. }, TypeClass::Integer { bits: b, .. })
        | (TypeClass::Float { bits: a }, TypeClass::Float { bits: b }) => a == b,
        _ => false,
    }
}
