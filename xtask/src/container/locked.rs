//! The build of an image of a plan.

use std::collections::BTreeMap;
use std::path::Path;

use pto_container::{BuildRequest, Series, Stage};
use pto_context::Context;
use pto_images::plan::{Lock, LockedImage};

use crate::exit::Failure;

/// The request with the revisions, the base and the labels of an image of the plan; the rest stays as it is.
pub fn locked(cx: &Context, file: &Path, name: Option<&str>, request: BuildRequest) -> Result<BuildRequest, Failure> {
    let lock = Lock::load(file)?;
    lock.require_recipe(cx, &request.context)?;
    let image = chosen(&lock, name)?;
    let labels = lock.labels(&image.name).unwrap_or_default();
    let pairs = |map: &BTreeMap<String, String>| map.iter().map(|(name, value)| format!("{name}={value}")).collect();
    Ok(BuildRequest {
        series: series(image)?,
        stage: Stage::Dist,
        tag: request.tag.clone().or_else(|| Some(format!("pypto-dev:{}", image.name))),
        cann_repository: Some(image.base.repository.clone()),
        cann_tag: Some(image.base.tag.clone()),
        cann_digest: Some(image.base.digest.to_string()),
        args: pairs(&image.build_args),
        labels: pairs(&labels),
        architecture: Some(image.platform.architecture.clone()),
        ..request
    })
}

fn chosen<'a>(lock: &'a Lock, name: Option<&str>) -> Result<&'a LockedImage, Failure> {
    let names = || lock.images.iter().map(|image| format!("`{}`", image.name)).collect::<Vec<_>>().join(", ");
    match (name, lock.images.as_slice()) {
        (None, [image]) => Ok(image),
        (None, []) => Err(Failure::usage(
            "the plan has no image",
            "`cargo xtask images plan IMAGE` writes one with it".to_owned(),
        )),
        (None, _) => {
            Err(Failure::usage(format!("the plan has {}", names()), "name one of them with `--image`".to_owned()))
        }
        (Some(name), _) => lock.image(name).ok_or_else(|| {
            Failure::usage(format!("the plan does not have `{name}`"), format!("its images are {}", names()))
        }),
    }
}

fn series(image: &LockedImage) -> Result<Series, Failure> {
    let found = Series::ALL.into_iter().find(|series| series.platform() == image.validation_platform);
    found.ok_or_else(|| {
        Failure::usage(format!("the plan has the platform `{}`, expected a2a3 or a5", image.validation_platform), None)
    })
}
