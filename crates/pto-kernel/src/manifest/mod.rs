//! `kernel.toml`: from text to a [`Manifest`] in which everything fits together.
//!
//! Reading does not stop at the first mistake: each section reports what it finds and hands on what it understood.

mod arg_types;
mod args;
mod bench;
mod cases;
mod check;
mod diagnostic;
mod dims;
mod expression;
mod fields;
mod fill;
mod golden;
mod kernel;
mod launch;
mod lint;
mod model;
mod ptoas;
mod syntax;
mod tolerance;

use std::path::{Path, PathBuf};

use toml::de::DeTable;

pub use arg_types::{Arg, ArgKind, Dir, ScalarArg, ScalarFormula, ScalarType, TensorArg};
pub use check::Check;
pub use diagnostic::{Diagnostic, ManifestErrors, render};
pub use model::{Bench, CaseList, Dim, Entry, Golden, Launch, ListedCase, Manifest, OutputRule, Ptoas, SignatureItem};

pub(crate) use check::MARK;
pub(crate) use diagnostic::{nearest_help, quoted};
pub(crate) use model::{BLOCK_DIM, CORE_COUNTS, STREAM};

use crate::KernelError;
use crate::read;
use crate::source::Source;
use diagnostic::Sink;
use fields::{Fields, Node};

/// The name of the file.
pub const FILE_NAME: &str = "kernel.toml";

const SECTIONS: [&str; 10] =
    ["kernel", "dims", "arg", "launch", "golden", "tolerance", "cases", "bench", "lint", "ptoas"];

impl Manifest {
    /// Reads and checks a manifest.
    ///
    /// # Errors
    /// [`KernelError::Read`] when the file cannot be read, [`KernelError::Manifest`] with everything that is wrong in it.
    pub fn load(path: &Path) -> Result<Self, KernelError> {
        let text = read::text(path).map_err(|source| KernelError::Read { path: path.to_path_buf(), source })?;
        Ok(Self::parse(path, &text)?)
    }

    /// Reads the sources for their declarations, in the order of the manifest.
    ///
    /// # Errors
    /// [`KernelError::Read`] when one of them cannot be read.
    pub fn read_sources(&self) -> Result<Vec<Source>, KernelError> {
        let read =
            |path: &PathBuf| Source::read(path).map_err(|source| KernelError::Read { path: path.clone(), source });
        self.sources.iter().map(read).collect()
    }

    /// Checks a manifest's text. `path` says where it lies: its sources are looked for beside it.
    ///
    /// # Errors
    /// Everything that is wrong in it, in the order of the text.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ManifestErrors> {
        let mut sink = Sink::new(text);
        let manifest = read(path, text, &mut sink);
        let (errors, warnings) = sink.finish();
        match manifest {
            Some(manifest) if errors.is_empty() => Ok(Self { warnings, ..manifest }),
            _ => Err(ManifestErrors { path: path.to_path_buf(), diagnostics: errors }),
        }
    }
}

/// Reads all sections. `None` only together with at least one finding.
fn read(path: &Path, text: &str, sink: &mut Sink<'_>) -> Option<Manifest> {
    let (document, syntax) = DeTable::parse_recoverable(text);
    syntax::report(text, &syntax, sink);
    if sink.errors() > 0 {
        return None; // what was recovered would only give findings that follow from these
    }
    let root = Fields::open(FILE_NAME, 0..0, document.get_ref(), &SECTIONS, sink);
    let dir = path.parent().unwrap_or(Path::new(""));

    let kernel = section(&root, "[kernel]", &kernel::KEYS, sink).and_then(|fields| kernel::read(&fields, dir, sink));
    let dims = dims::read(root.get("dims"), sink);
    let args = args::read(root.get("arg"), &dims, sink);
    let known_args = args.as_deref();
    let launch =
        section(&root, "[launch]", &launch::KEYS, sink).and_then(|f| launch::read(&f, &dims, known_args, sink));
    let golden = section(&root, "[golden]", &golden::KEYS, sink)
        .and_then(|fields| golden::read(&fields, dir, &dims, known_args, sink));
    let tolerance = tolerance::read(root.get("tolerance"), &dims, known_args, sink);
    let block_dim = launch.as_ref().map(|launch| launch.block_dim.source());
    let cases = cases::read(root.get("cases"), &dims, block_dim, sink);
    let allow = lint::read(root.get("lint"), sink);
    let ptoas = ptoas::read(root.get("ptoas"), kernel.as_ref().map(|kernel| kernel.sources.as_slice()), sink);

    let bench = bench::read(root.get("bench"), &dims, sink);

    let kernel = kernel?;
    Some(Manifest {
        path: path.to_path_buf(),
        dir: dir.to_path_buf(),
        name: kernel.name,
        summary: kernel.summary,
        core: kernel.core,
        sources: kernel.sources,
        entry: kernel.entry,
        targets: kernel.targets,
        dims: dims.into_iter().map(|(name, dim)| (name, dim.value)).collect(),
        args: args?.into_iter().map(|arg| arg.value).collect(),
        launch: launch?,
        golden: golden?,
        tolerance,
        cases,
        bench,
        allow,
        ptoas,
        warnings: Vec::new(),
        checks: Check::all(text),
    })
}

/// A section that has to be there. `name` is its key in brackets.
fn section<'a>(
    root: &Fields<'a>,
    name: &'static str,
    known: &[&'static str],
    sink: &mut Sink<'_>,
) -> Option<Fields<'a>> {
    let key = name.trim_matches(['[', ']']);
    let Some(node) = root.get(key) else {
        // A section whose name is misspelt is there: that was said.
        if !root.misspells(key, &SECTIONS) {
            sink.error(0..0, format!("{FILE_NAME} has no {name} section"));
        }
        return None;
    };
    open_table(node, name, known, sink)
}

fn open_table<'a>(
    node: &'a Node<'a>,
    name: &'static str,
    known: &[&'static str],
    sink: &mut Sink<'_>,
) -> Option<Fields<'a>> {
    let table = fields::table(node, name, sink)?;
    Some(Fields::open(name, node.span(), table, known, sink))
}

/// Whether a name can be an identifier in C++ and in expressions.
pub(crate) fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
