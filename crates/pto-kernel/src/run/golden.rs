//! The tensors a case should give: by expression, by a program, or from files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pto_context::{Context, with_causes};
use pto_golden::{Expr, Tensor, TensorValue, npy};
use pto_process::Invocation;

use super::error::RunError;
use crate::cases::{BoundCase, BoundValue, Case, ScalarValue};
use crate::manifest::{Dim, Golden, Manifest};

/// A golden program that takes longer is taken for hung, unless the manifest says otherwise. In seconds.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(120);
/// As many of its last lines are shown when it fails: a Python traceback ends with what matters.
const LAST_LINES: usize = 6;

/// Golden tensors by output, or why there are none: the latter is the case's verdict, for the golden is part of it.
pub(super) type Made = Result<BTreeMap<String, Tensor>, NoGolden>;

/// Why there are no golden tensors.
#[derive(Debug)]
pub(super) struct NoGolden {
    pub(super) why: String,
    /// What to do about it, where that is known.
    pub(super) hint: Option<String>,
}

impl From<String> for NoGolden {
    fn from(why: String) -> Self {
        Self { why, hint: None }
    }
}

/// Makes the golden tensors of a case.
pub(super) fn make(
    cx: &Context,
    manifest: &Manifest,
    bound: &BoundCase,
    inputs: &BTreeMap<String, Tensor>,
) -> Result<Made, RunError> {
    match &manifest.golden {
        Golden::Expr(exprs) => by_expressions(manifest, bound, inputs, exprs).map(Ok),
        Golden::Command { argv, timeout } => {
            by_command(cx, manifest, bound, inputs, argv, timeout.unwrap_or(COMMAND_TIMEOUT))
        }
        Golden::Files(dir) => Ok(from_dir(manifest, bound, &dir_of_case(dir, &bound.case), Path::new(""))),
    }
}

/// `dir/n=4096` if there is one, else `dir` itself.
pub(super) fn dir_of_case(dir: &Path, case: &Case) -> PathBuf {
    let own = dir.join(case.to_string());
    if own.is_dir() { own } else { dir.to_path_buf() }
}

/// Evaluated in f64, or exactly while all operands are integers, and rounded once to the output's type.
fn by_expressions(
    manifest: &Manifest,
    bound: &BoundCase,
    inputs: &BTreeMap<String, Tensor>,
    exprs: &BTreeMap<String, Expr>,
) -> Result<BTreeMap<String, Tensor>, RunError> {
    let lookup = |name: &str| value_of(manifest, bound, inputs, name);
    let mut golden = BTreeMap::new();
    for (output, expr) in exprs {
        let text = || expr.source().to_owned();
        let value = expr.eval_tensor(&lookup).map_err(|source| RunError::GoldenExpr {
            output: output.clone(),
            text: text(),
            source: Box::new(source),
        })?;
        let Some((_, declared)) = bound.tensors().find(|(name, _)| name == output) else { continue };
        if value.shape() != declared.shape {
            return Err(RunError::GoldenShape {
                output: output.clone(),
                text: text(),
                found: value.shape().into(),
                expected: declared.shape.clone().into(),
                case: bound.case.to_string(),
            });
        }
        if !declared.dtype.is_float() && has_no_integer(&value) {
            return Err(RunError::GoldenNotFinite {
                output: output.clone(),
                text: text(),
                dtype: declared.dtype,
                case: bound.case.to_string(),
            });
        }
        golden.insert(output.clone(), Tensor::from_value(declared.dtype, &value));
    }
    Ok(golden)
}

/// Whether a value is NaN or infinite somewhere: no integer stands for that, and a cast would make one up.
fn has_no_integer(value: &TensorValue) -> bool {
    matches!(value, TensorValue::Real(array) if array.iter().any(|element| !element.is_finite()))
}

/// What a name means in a golden expression: an input, a scalar argument, a dim.
fn value_of(
    manifest: &Manifest,
    bound: &BoundCase,
    inputs: &BTreeMap<String, Tensor>,
    name: &str,
) -> Option<TensorValue> {
    if let Some(tensor) = inputs.get(name) {
        return Some(tensor.to_value());
    }
    let scalar = bound.args.iter().find(|arg| arg.name == name).and_then(|arg| match &arg.value {
        BoundValue::Scalar(ScalarValue::Integer { value, .. }) => Some(TensorValue::int(*value)),
        BoundValue::Scalar(ScalarValue::Float { value, .. }) => Some(TensorValue::real(*value)),
        BoundValue::Tensor(_) => None,
    });
    scalar.or_else(|| match manifest.dims.get(name)? {
        Dim::Static(length) => Some(TensorValue::int(*length)),
        Dim::Dynamic => bound.case.dims.get(name).map(|length| TensorValue::int(*length)),
    })
}

/// Runs the program in a directory of its own with `inputs/*.npy` and `case.json`; it writes `golden/*.npy`.
fn by_command(
    cx: &Context,
    manifest: &Manifest,
    bound: &BoundCase,
    inputs: &BTreeMap<String, Tensor>,
    argv: &[String],
    timeout: Duration,
) -> Result<Made, RunError> {
    let scratch = tempfile::Builder::new().prefix("pto-golden-").tempdir_in(cx.temp_dir()).map_err(RunError::Io)?;
    let (given, wanted) = (scratch.path().join("inputs"), scratch.path().join("golden"));
    fs_err::create_dir(&given).and_then(|()| fs_err::create_dir(&wanted)).map_err(RunError::Io)?;
    for (name, tensor) in inputs {
        npy::write(given.join(format!("{name}.npy")), tensor)?;
    }
    fs_err::write(scratch.path().join("case.json"), case_json(manifest, bound)).map_err(RunError::Io)?;
    let Some((program, rest)) = argv.split_first() else {
        return Ok(Err("the golden command is empty".to_owned().into()));
    };
    let kernel_dir = cx.cwd().join(&manifest.dir);
    // A file of the kernel's directory is meant by its name there; everything else is passed as it is.
    let word = |word: &String| {
        let there = kernel_dir.join(word);
        if there.is_file() { there.into_os_string() } else { word.into() }
    };
    if let Some(script) = argv.iter().find(|word| is_script(word) && !kernel_dir.join(word).is_file()) {
        let why = format!("the golden command names `{script}`, which is not in `{}`", manifest.dir.display());
        return Ok(Err(why.into()));
    }
    let output = Invocation::new(word(program))
        .args(rest.iter().map(word))
        .cwd(scratch.path())
        .env("PTO_KERNEL_DIR", &kernel_dir)
        .deadline(timeout)
        .run(cx);
    match output {
        Ok(output) if output.status == pto_process::Status::Interrupted => Err(RunError::Interrupted),
        Ok(output) if output.success() => Ok(from_dir(manifest, bound, &wanted, scratch.path())),
        Ok(output) => {
            let why = format!("the golden command `{}` {}{}", argv.join(" "), output.status, last_words(&output));
            Ok(Err(why.into()))
        }
        Err(error) if error.is_interrupted() => Err(RunError::Interrupted),
        Err(error) => Err(RunError::GoldenProgram(error)),
    }
}

/// Whether a word of a command can only be meant as a file.
fn is_script(word: &str) -> bool {
    let extension = Path::new(word).extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("py" | "sh" | "jl" | "pl" | "rb")) && !word.starts_with('-')
}

/// What a golden program may want to know besides its inputs: every dim and scalar, and the seed.
fn case_json(manifest: &Manifest, bound: &BoundCase) -> String {
    let statics = manifest.dims.iter().filter_map(|(name, dim)| match dim {
        Dim::Static(length) => Some((name.clone(), *length)),
        Dim::Dynamic => None,
    });
    let dims: BTreeMap<String, i64> = bound.case.dims.clone().into_iter().chain(statics).collect();
    serde_json::json!({ "kernel": manifest.name, "dims": dims, "seed": bound.case.seed, "block_dim": bound.block_dim })
        .to_string()
}

fn last_words(output: &pto_process::Output) -> String {
    let words = output.last_words(LAST_LINES);
    if words.is_empty() { String::new() } else { format!("\n{words}") }
}

/// Reads the golden of every output. `hidden` is the part of the paths that says nothing to the user.
fn from_dir(manifest: &Manifest, bound: &BoundCase, dir: &Path, hidden: &Path) -> Made {
    let shown = |path: &Path| format!("`{}`", path.strip_prefix(hidden).unwrap_or(path).display());
    let mut golden = BTreeMap::new();
    for (arg, spec) in manifest.outputs() {
        // An inout argument's file of a golden directory is its input; what comes out lies beside it.
        let names = [format!("{}.golden.npy", arg.name), format!("{}.npy", arg.name)];
        let Some(path) = names.iter().map(|name| dir.join(name)).find(|path| path.is_file()) else {
            let directory = shown(dir);
            let why = if hidden.as_os_str().is_empty() {
                format!("there is no `{}` in {directory}", names[1])
            } else {
                format!(
                    "the golden command wrote no `{}`",
                    dir.strip_prefix(hidden).unwrap_or(dir).join(&names[1]).display()
                )
            };
            return Err(why.into());
        };
        let tensor = npy::read_as(&path, spec.dtype).map_err(|error| {
            let known_as = path.strip_prefix(hidden).unwrap_or(&path).display().to_string();
            NoGolden { why: with_causes(&error).replace(&path.display().to_string(), &known_as), hint: error.hint() }
        })?;
        if let Some((_, declared)) = bound.tensors().find(|(name, _)| *name == arg.name)
            && declared.shape != tensor.shape()
            && declared.valid.as_deref() != Some(tensor.shape())
        {
            let why = format!(
                "{} has shape {:?}; `{}` has {:?} in case {}",
                shown(&path),
                tensor.shape(),
                arg.name,
                declared.shape,
                bound.case
            );
            return Err(why.into());
        }
        golden.insert(arg.name.clone(), tensor);
    }
    let known = |name: &str| bound.args.iter().any(|arg| arg.name == name);
    for entry in fs_err::read_dir(dir).map_err(|error| error.to_string())?.flatten() {
        let path = entry.path();
        let stem =
            path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().trim_end_matches(".golden").to_owned();
        if path.extension().is_some_and(|extension| extension == "npy") && !known(&stem) {
            return Err(format!("{} is the golden of no argument", shown(&path)).into());
        }
    }
    Ok(golden)
}
