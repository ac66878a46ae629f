//! What a valid `kernel.toml` says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_golden::suite::Spec;
use pto_golden::{DType, Expr, Rule};
use pto_platform::{Core, Target};
use pto_ptoas::Level;

use super::arg_types::{Arg, ArgKind, TensorArg};
use super::check::Check;
use super::diagnostic::Diagnostic;
use crate::lint;

/// A kernel as its `kernel.toml` describes it. Every value has been checked against the others.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Manifest {
    /// The manifest's path as the user gave it.
    pub path: PathBuf,
    /// The directory that relative paths in it refer to.
    pub dir: PathBuf,
    /// The kernel's name: letters, digits, `_` and `-`.
    pub name: String,
    /// What it computes, in one line.
    pub summary: Option<String>,
    /// Where it runs.
    pub core: Core,
    /// Its sources, each existing, relative ones joined to `dir`. At least one.
    pub sources: Vec<PathBuf>,
    /// What the host calls.
    pub entry: Entry,
    /// What it is built for, without repetition. At least one.
    pub targets: Vec<Target>,
    /// Its dims by name.
    pub dims: BTreeMap<String, Dim>,
    /// Its arguments, in the order of the manifest.
    pub args: Vec<Arg>,
    /// How it is launched.
    pub launch: Launch,
    /// Where the expected values come from.
    pub golden: Golden,
    /// Tolerances that differ from those of the dtype, by argument.
    pub tolerance: BTreeMap<String, OutputRule>,
    /// The cases it is tested with.
    pub cases: CaseList,
    /// What a launch costs at least, for a bench.
    pub bench: Bench,
    /// Rules of [`crate::lint`] that are off for this kernel.
    pub allow: Vec<lint::Rule>,
    /// How its `.pto` sources are assembled.
    pub ptoas: Ptoas,
    /// What is allowed and yet doubtful.
    pub warnings: Vec<Diagnostic>,
    /// Guesses that its author has not gone through.
    pub checks: Vec<Check>,
}

/// How `.pto` sources are assembled. The generation is the target's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ptoas {
    /// `None` leaves it to the assembler.
    pub level: Option<Level>,
    /// Whether the assembler inserts the flags between the pipes.
    pub insert_sync: bool,
}

/// What the host calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// `entry`: the user's own launcher, `extern "C"`.
    Launcher(String),
    /// `global`: a `__global__` function, template arguments included; its launcher is generated.
    Global(String),
}

/// How long a dim is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dim {
    /// Given by each case.
    Dynamic,
    /// Compiled in: sources see it as a macro of the dim's name in upper case.
    Static(i64),
}

/// How a kernel is launched.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The number of blocks, from dims, `vector_cores` and `cube_cores`.
    pub block_dim: Expr,
    /// What the launcher takes, in its order. Holds every argument once; `BlockDim` may be missing.
    pub signature: Vec<SignatureItem>,
    /// Why repeats may give other bits, each of them right within its tolerance; `None` if they may not.
    pub may_vary: Option<String>,
}

/// One parameter of the launcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignatureItem {
    /// The number of blocks, a `uint32_t`.
    BlockDim,
    /// The stream, a `void *`.
    Stream,
    /// The argument with this index in [`Manifest::args`].
    Arg(usize),
}

/// Where expected values come from.
#[derive(Debug, Clone)]
pub enum Golden {
    /// An expression for each output, over inputs, scalars and dims.
    Expr(BTreeMap<String, Expr>),
    /// A program, started in the manifest's directory.
    Command {
        /// Program and arguments; at least the program.
        argv: Vec<String>,
        /// Its deadline; `None` leaves it to the caller.
        timeout: Option<Duration>,
    },
    /// A directory with one tensor file for each argument, joined to the manifest's directory.
    Files(PathBuf),
}

/// What an output is judged by, where that is not the tolerance of its dtype.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputRule {
    /// Rule, limits and reason. What is `None` is the default of the dtype.
    pub spec: Spec,
    /// Extents of the part that means something; `None` is all of it.
    pub valid: Option<Vec<Expr>>,
    /// For `top-k`, the tensor that the indices count in.
    pub scores: Option<String>,
}

/// `[cases]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaseList {
    /// Dynamic dims whose edges are tested, without repetition.
    pub edges: Vec<String>,
    /// Cases the author wrote down. Each has a value of at least 1 for every dynamic dim.
    pub list: Vec<ListedCase>,
    /// The seed of the first run; `None` leaves it to the caller.
    pub seed: Option<u64>,
}

/// A case the author wrote down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedCase {
    /// A value for every dynamic dim.
    pub dims: BTreeMap<String, i64>,
    /// The targets it is for; `None` for all.
    pub targets: Option<Vec<Target>>,
    /// Its line in the manifest.
    pub line: usize,
}

/// `[bench]`: what a launch costs, from dims.
#[derive(Debug, Clone, Default)]
pub struct Bench {
    /// Bytes moved to and from device memory; `None` for every input and output once.
    pub bytes: Option<Expr>,
    /// Floating-point operations.
    pub flops: Option<Expr>,
}

impl Manifest {
    /// Whether a source is one for the assembler.
    pub fn is_assembly(source: &Path) -> bool {
        source.extension().is_some_and(|extension| extension == ASSEMBLY)
    }

    /// Whether some source has to be assembled first.
    pub fn has_assembly(&self) -> bool {
        self.sources.iter().any(|source| Self::is_assembly(source))
    }

    /// The argument of this name.
    pub fn arg(&self, name: &str) -> Option<&Arg> {
        self.args.iter().find(|arg| arg.name == name)
    }

    /// The tensor arguments, in order.
    pub fn tensors(&self) -> impl Iterator<Item = (&Arg, &TensorArg)> {
        self.args.iter().filter_map(|arg| match &arg.kind {
            ArgKind::Tensor(tensor) => Some((arg, tensor)),
            ArgKind::Scalar(_) => None,
        })
    }

    /// The tensor arguments whose result is compared, in order.
    pub fn outputs(&self) -> impl Iterator<Item = (&Arg, &TensorArg)> {
        self.tensors().filter(|(_, tensor)| tensor.dir.is_output())
    }

    /// What an output is judged by: the tolerance of its dtype, unless the manifest says otherwise.
    pub fn rule_of(&self, output: &str, dtype: DType) -> Rule {
        let given = self.tolerance.get(output).and_then(|given| given.spec.rule(dtype).ok()); // it was usable when read
        given.unwrap_or(Rule::default_for(dtype))
    }

    /// The names of the dims that each case gives.
    pub fn dynamic_dims(&self) -> impl Iterator<Item = &str> {
        self.dims.iter().filter(|(_, dim)| **dim == Dim::Dynamic).map(|(name, _)| name.as_str())
    }

    /// The static dims as the macros the sources are compiled with: `("TILE", 16384)` is `-DTILE=16384`.
    pub fn defines(&self) -> Vec<(String, i64)> {
        let define = |(name, dim): (&String, &Dim)| match dim {
            Dim::Static(value) => Some((macro_name(name), *value)),
            Dim::Dynamic => None,
        };
        self.dims.iter().filter_map(define).collect()
    }

    /// How a parameter of the launcher is called in messages and in generated code.
    pub fn item_name(&self, item: &SignatureItem) -> &str {
        match item {
            SignatureItem::BlockDim => BLOCK_DIM,
            SignatureItem::Stream => STREAM,
            SignatureItem::Arg(index) => &self.args[*index].name,
        }
    }
}

/// What the names of the assembler's sources end in.
const ASSEMBLY: &str = "pto";

/// The macro that stands for a static dim.
pub(crate) fn macro_name(dim: &str) -> String {
    dim.to_ascii_uppercase()
}

/// The name of the number of blocks in a signature.
pub(crate) const BLOCK_DIM: &str = "block_dim";
/// The name of the stream in a signature.
pub(crate) const STREAM: &str = "stream";
/// What `block_dim` may refer to besides dims.
pub(crate) const CORE_COUNTS: [&str; 2] = ["vector_cores", "cube_cores"];
