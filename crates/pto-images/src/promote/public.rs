//! What users see of a published image: those without a login, or those with one where only they read.

use pto_context::Context;
use serde::Serialize;

use crate::error::Error;
use crate::registry::{Client, Digest, Options, Platform, Problem, Repository};

/// What a client of its users gets when it asks for a tag: an anonymous one, unless [`Options::private`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Public {
    /// Where the tag leads; `None` if the client gets nothing.
    pub digest: Option<Digest>,
    /// What the image runs on.
    pub platforms: Vec<Platform>,
    /// What is wrong; `None` if the client gets the expected image.
    pub problem: Option<String>,
}

impl Public {
    /// Asks as users do. What goes wrong is part of the answer.
    ///
    /// # Errors
    /// The client cannot be made, or the user interrupts.
    pub fn ask(
        cx: &Context,
        repository: &Repository,
        options: &Options,
        tag: &str,
        expected: &Digest,
    ) -> Result<Self, Error> {
        let credentials = options.credentials.clone().filter(|_| options.private);
        let options = Options { credentials, ..options.clone() };
        let private = options.private;
        let client = Client::new(cx, repository.clone(), options)?;
        let nothing = |problem: String| Self { digest: None, platforms: Vec::new(), problem: Some(problem) };
        let manifest = match client.manifest(tag) {
            Ok(Some(manifest)) => manifest,
            Ok(None) if private => return Ok(nothing(format!("`{tag}` does not exist"))),
            Ok(None) => return Ok(nothing(format!("`{tag}` does not exist for anonymous clients"))),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(Error::Registry(failed)) if matches!(failed.problem, Problem::Denied { .. }) => {
                return Ok(nothing(match private {
                    true => format!("this login may not read `{repository}`"),
                    false => {
                        format!("`{repository}` is not public: make it readable without a login, or say `--private`")
                    }
                }));
            }
            Err(error) => return Ok(nothing(error.to_string())),
        };
        let digest = manifest.digest().clone();
        let moved = (digest != *expected).then(|| format!("`{tag}` leads to {digest}, expected {expected}"));
        let (platforms, problem) = match client.facts(&manifest).map(|facts| facts.platforms) {
            Ok(platforms) if platforms.is_empty() => (platforms, Some(format!("`{tag}` is for no platform"))),
            Ok(platforms) => (platforms, None),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        Ok(Self { digest: Some(digest), platforms, problem: moved.or(problem) })
    }
}
