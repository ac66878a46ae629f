//! The labels that tie an image to the plan it was built from.

use std::collections::BTreeMap;

use super::lock::Lock;
use crate::error::Error;

/// The image's name in the configuration.
const NAME: &str = "ptokit.images.name";
/// The recipe's commit.
const RECIPE: &str = "ptokit.images.recipe";

impl Lock {
    /// The labels that the build of an image puts on it; `None` if the plan does not have it.
    pub fn labels(&self, name: &str) -> Option<BTreeMap<String, String>> {
        let image = self.image(name)?;
        let base = format!("{}@{}", image.base.repository, image.base.digest);
        let labels = [
            (NAME, image.name.as_str()),
            (RECIPE, &self.recipe.commit),
            ("ptokit.images.base", &base),
            ("ptokit.images.pypto", &self.pypto.commit),
            ("ptokit.images.pypto-lib", &self.pypto_lib.commit),
            ("ptokit.images.runtime", &self.runtime.commit),
            ("ptokit.images.pto-isa", &self.pto_isa),
            ("ptokit.images.ptoas", &self.ptoas.version),
        ];
        Some(labels.map(|(label, value)| (label.to_owned(), value.to_owned())).into())
    }
}

/// The labels with the image's name and the recipe's commit, for a caller that has no plan.
pub(crate) fn without_plan(name: &str, commit: &str) -> BTreeMap<String, String> {
    [(NAME, name), (RECIPE, commit)].map(|(label, value)| (label.to_owned(), value.to_owned())).into()
}

/// Checks that an image has these labels with these values, whatever other labels it has.
///
/// # Errors
/// [`Error::OtherPlan`] with the first that differs.
pub(crate) fn require(
    image: &str,
    expected: &BTreeMap<String, String>,
    found: &BTreeMap<String, String>,
) -> Result<(), Error> {
    let differs = expected.iter().find(|(label, value)| found.get(*label) != Some(value));
    let Some((label, expected)) = differs else { return Ok(()) };
    Err(Error::OtherPlan {
        image: image.to_owned(),
        label: label.clone(),
        found: found.get(label).cloned(),
        expected: expected.clone(),
    })
}
