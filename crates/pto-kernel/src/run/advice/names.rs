//! Arguments that the launcher takes in another order than the manifest passes them.

use super::Called;
use crate::manifest::Manifest;

/// The first parameter that has the name of another argument. Names that merely differ say nothing: a launcher may call its
/// parameters what it likes. So the argument that is passed there has to be a parameter as well.
pub(super) fn swapped(manifest: &Manifest, called: &Called<'_>) -> Option<String> {
    let passed: Vec<&str> = called.items.iter().map(|item| manifest.item_name(item)).collect();
    let named: Vec<Option<&str>> = called.function.params.iter().map(|param| param.name.as_deref()).collect();
    if passed.len() != named.len() {
        return None;
    }
    let mut pairs = passed.iter().zip(&named).enumerate();
    let (index, passed, named) = pairs.find_map(|(index, (argument, parameter))| {
        let parameter = (*parameter)?;
        let is_another = parameter != *argument && passed.contains(&parameter) && named.contains(&Some(*argument));
        is_another.then_some((index, *argument, parameter))
    })?;
    let (number, function) = (index + 1, &called.function.name);
    Some(format!(
        "{}:{}: parameter {number} of `{function}` is named `{named}`, the manifest passes `{passed}`: give [[arg]] in the launcher's \
         order, or `signature` in [launch]",
        called.source.path().display(),
        called.function.line
    ))
}
