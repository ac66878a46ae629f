//! Finding the digest of a base.

use pto_context::Context;

use super::lock::Base;
use crate::config::Image;
use crate::error::Error;
use crate::registry::{BadRepository, Client, Options, Repository};

/// The base's manifest for the image's platform: by the pinned digest, which has to exist, or by where the tag leads now.
pub(super) fn resolve(cx: &Context, image: &Image, options: &Options) -> Result<Base, Error> {
    let unusable = |problem: String| Error::Base { base: image.base(), problem };
    let repository: Repository =
        image.cann_repository.parse().map_err(|error: BadRepository| unusable(error.to_string()))?;
    let client = Client::new(cx, repository, options.clone())?;
    let (reference, pinned) = match &image.cann_digest {
        Some(digest) => (digest.as_str(), true),
        None => (image.cann_tag.as_str(), false),
    };
    let manifest = client.manifest(reference)?.ok_or_else(|| unusable(format!("there is no `{reference}`")))?;
    let platform = image.platform();
    let platforms = client.facts(&manifest)?.platforms;
    if !platforms.contains(&platform) {
        let found: Vec<_> = platforms.iter().map(ToString::to_string).collect();
        return Err(unusable(format!("it is for {}, expected {platform}", found.join(", "))));
    }
    let digest = manifest.for_platform(&platform).unwrap_or(manifest.digest()).clone();
    Ok(Base { repository: image.cann_repository.clone(), tag: image.cann_tag.clone(), digest, pinned })
}
