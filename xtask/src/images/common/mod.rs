//! What the verbs of images share: the configuration, the registry, the records.

mod advice;
mod image;
mod records;
mod registry;

use std::path::PathBuf;

use pto_context::{Context, with_causes};
use pto_images::PROXY_VARIABLE;
use pto_images::config::{Config, Image, RecipeSource};
use pto_images::promote::Upstream;
use pto_store::Store;

pub use advice::{going_on, named, typed};
pub use image::{FileArgs, ImageArgs, find_image};
pub use records::{Kept, RecordArgs};
pub use registry::{ReaderArgs, RegistryArgs};

use crate::exit::Failure;
use crate::setup::generated_dir;

/// Where the validation of an image writes unless a directory is named.
pub fn validation_dir(cx: &Context, image: &Image) -> PathBuf {
    generated_dir(cx).join("images").join(format!("{}-validation", image.name))
}

/// Locks that all processes of this machine share.
pub fn locks(cx: &Context) -> Result<PathBuf, Failure> {
    let root = Store::default_root(cx).map_err(|error| Failure::blocked(with_causes(&error), error.hint()))?;
    Ok(root.join("images"))
}

/// Where the newest recipe is, and the proxy for asking.
pub fn upstream(cx: &Context, config: &Config) -> Upstream {
    let RecipeSource { repository, branch } = config.recipe.clone();
    Upstream { repository, branch, proxy: proxy(cx) }
}

/// The proxy for git, and for the registries of bases.
pub fn proxy(cx: &Context) -> Option<String> {
    cx.var(PROXY_VARIABLE)
}

/// The number of a run. Anything but a number could make a tag that belongs to something else.
pub fn number(text: &str) -> Result<String, String> {
    let is_number = !text.is_empty() && text.len() <= 20 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { Ok(text.to_owned()) } else { Err("expected a number of up to 20 digits".to_owned()) }
}
