//! What can go wrong with a kernel before anything is compiled.

use std::path::PathBuf;

use pto_golden::ExprError;

use crate::cases::Quantity;
use crate::elide::elided;
use crate::manifest::ManifestErrors;
use crate::signature::Mismatch;

/// What can go wrong with a kernel before anything is compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// A file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file, as given.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file or directory cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file that would be overwritten.
    #[error("`{}` exists already", path.display())]
    Exists {
        /// The file or directory.
        path: PathBuf,
    },
    /// A manifest is malformed.
    #[error(transparent)]
    Manifest(#[from] ManifestErrors),
    /// An expression of the manifest has no value for a case.
    #[error("{what} is `{}`, which has no value in case {case}", elided(text))]
    Evaluate {
        /// Which number of the manifest.
        what: Quantity,
        /// The expression.
        text: String,
        /// The case.
        case: String,
        /// Why: a division by zero, an overflow.
        #[source]
        source: Box<ExprError>,
    },
    /// An extent is not a length.
    #[error(
        "`shape` of `{arg}` has the extent `{}`, which is {value} in case {case}; expected at least 1",
        elided(text)
    )]
    Extent {
        /// The argument.
        arg: String,
        /// The extent's expression.
        text: String,
        /// Its value.
        value: i64,
        /// The case.
        case: String,
    },
    /// A tensor has more bytes than can be addressed.
    #[error("`{arg}` of shape {shape:?} is too large to be addressed in case {case}")]
    TooLarge {
        /// The argument.
        arg: String,
        /// Its shape.
        shape: Vec<i64>,
        /// The case.
        case: String,
    },
    /// The valid part of an output does not lie in it.
    #[error("`valid` of `{arg}` is {valid:?} in case {case}, and `{arg}` has shape {shape:?}")]
    Valid {
        /// The output.
        arg: String,
        /// The extents of the part.
        valid: Vec<i64>,
        /// The output's shape.
        shape: Vec<usize>,
        /// The case.
        case: String,
    },
    /// A scalar's value does not fit its type.
    #[error("`{arg}` is {value} in case {case}, and {dtype} holds {range}")]
    ScalarRange {
        /// The argument.
        arg: String,
        /// Its type.
        dtype: &'static str,
        /// The value.
        value: String,
        /// What the type holds, `0 to 255`.
        range: String,
        /// The case.
        case: String,
    },
    /// The number of blocks is not one.
    #[error("`block_dim` is `{}`, which is {value} in case {case}; expected 1 to {}", elided(text), u32::MAX)]
    BlockDim {
        /// The expression.
        text: String,
        /// Its value.
        value: i64,
        /// The case.
        case: String,
    },
    /// A case selection is malformed or selects nothing.
    #[error("`{given}` {problem}")]
    CaseFilter {
        /// The selection as given.
        given: String,
        /// What is wrong with it.
        problem: String,
        /// What to write instead.
        help: Option<String>,
    },
    /// The manifest's argument list does not fit a declaration.
    #[error(transparent)]
    Signature(#[from] Box<Mismatch>),
    /// A source declares no function of this name.
    #[error("no {what} `{name}` in {}", sources.display())]
    NoFunction {
        /// "launcher" or "kernel".
        what: &'static str,
        /// The name looked for.
        name: String,
        /// Where it was looked for.
        sources: PathBuf,
        /// The names that exist.
        known: Vec<String>,
    },
    /// A kernel for which no launcher can be generated.
    #[error("{}:{line}: no launcher can be generated for `{kernel}`: {problem}", path.display())]
    Launcher {
        /// The source.
        path: PathBuf,
        /// The line of the kernel.
        line: usize,
        /// The kernel.
        kernel: String,
        /// Why not.
        problem: String,
        /// What to do.
        help: String,
    },
    /// A source with several launchers or kernels, and none was chosen.
    #[error("{} has {} functions to adopt: {}", path.display(), names.len(), names.join(", "))]
    SeveralEntries {
        /// The source.
        path: PathBuf,
        /// Their names.
        names: Vec<String>,
    },
    /// A source with nothing to launch.
    #[error("{} has neither an `extern \"C\"` launcher nor a `__global__` function", path.display())]
    NothingToAdopt {
        /// The source.
        path: PathBuf,
    },
    /// A name that a new kernel cannot have.
    #[error("a kernel cannot be called `{name}`: {problem}")]
    Name {
        /// The name.
        name: String,
        /// Why not.
        problem: &'static str,
    },
}

impl KernelError {
    /// What to do about it, where the message does not say so already.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Evaluate { source, .. } => source.help.clone(),
            Self::CaseFilter { help, .. } => help.clone(),
            Self::Signature(mismatch) => Some(mismatch.hint()),
            Self::NoFunction { name, known, .. } if known.is_empty() => {
                Some(format!("`{name}` has to be defined in one of `sources`"))
            }
            Self::NoFunction { name, known, .. } => {
                crate::manifest::nearest_help(name, known.iter().map(String::as_str))
            }
            Self::Launcher { help, .. } => Some(help.clone()),
            Self::SeveralEntries { names, .. } => {
                Some(format!("choose one, for example `--entry {}`", names.first().map_or("", String::as_str)))
            }
            Self::Exists { path } if path.ends_with(crate::manifest::FILE_NAME) => Some(
                "`--print` shows what would be written and `--force` overwrites it; a directory holds one kernel, so move \
                 the source of another into its own"
                    .to_owned(),
            ),
            Self::Exists { .. } => Some("choose another name, or remove it first".to_owned()),
            Self::Name { name, .. } => {
                let meant = name.replace('-', "_");
                crate::scaffold::is_name(&meant).then(|| format!("did you mean `{meant}`?"))
            }
            Self::Extent { .. } | Self::BlockDim { .. } => {
                Some("use `ceil(n / tile)` where a part of a tile counts as one".to_owned())
            }
            Self::Valid { .. } => Some("give one extent for each axis, none larger than the axis".to_owned()),
            Self::ScalarRange { .. } => Some("choose a wider `scalar`, or smaller cases".to_owned()),
            _ => None,
        }
    }
}
