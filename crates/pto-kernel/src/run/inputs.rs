//! The tensors a case starts from.

use std::collections::BTreeMap;
use std::path::Path;

use pto_golden::{Tensor, npy};

use super::error::RunError;
use crate::cases::{BoundCase, BoundTensor};
use crate::manifest::{Golden, Manifest};

/// The contents of every `in` and `inout` argument: from the golden directory where it holds them, else filled from the
/// case's seed and the argument's name, so that adding an argument does not change the others.
pub(super) fn make(manifest: &Manifest, bound: &BoundCase) -> Result<BTreeMap<String, Tensor>, RunError> {
    let files = match &manifest.golden {
        Golden::Files(dir) => Some(super::golden::dir_of_case(dir, &bound.case)),
        _ => None,
    };
    let mut inputs = BTreeMap::new();
    for (arg, spec) in manifest.tensors().filter(|(_, spec)| spec.dir.is_input()) {
        let Some((_, tensor)) = bound.tensors().find(|(name, _)| *name == arg.name) else { continue };
        let file = files.as_ref().map(|dir| dir.join(format!("{}.npy", arg.name))).filter(|path| path.is_file());
        let value = match file {
            Some(path) => read(&path, tensor)?,
            None => spec.fill.generate(tensor.dtype, tensor.shape.clone(), bound.case.seed, &arg.name)?,
        };
        inputs.insert(arg.name.clone(), value);
    }
    Ok(inputs)
}

/// A tensor file that has to be of the declared type and shape.
fn read(path: &Path, declared: &BoundTensor) -> Result<Tensor, RunError> {
    let tensor = npy::read_as(path, declared.dtype)?;
    if tensor.shape() == declared.shape {
        return Ok(tensor);
    }
    Err(RunError::InputShape {
        path: path.to_path_buf(),
        found: tensor.shape().to_vec(),
        expected: declared.shape.clone(),
    })
}
