//! The answer to a request, not yet interpreted.

use std::time::Duration;

use serde::Deserialize;

use super::digest::Digest;
use super::manifest::Manifest;
use super::problem::Problem;

/// A whole answer.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) content_type: String,
    /// The digest that the answer says the content has.
    pub(super) announced: Option<Digest>,
    /// How the registry wants to be told who asks.
    pub(super) challenge: Option<String>,
    /// Where the next page of a list is.
    pub(super) link: Option<String>,
    location: Option<String>,
    retry_after: Option<Duration>,
    pub(super) body: Vec<u8>,
}

#[derive(Deserialize)]
struct Errors {
    errors: Vec<OneError>,
}

#[derive(Deserialize)]
struct OneError {
    code: String,
    message: Option<String>,
}

impl Reply {
    pub(super) fn read(response: ureq::http::Response<ureq::Body>, patience: Duration) -> Result<Self, Problem> {
        let header = |name: &str| {
            let value = response.headers().get(name)?;
            value.to_str().ok().map(str::to_owned)
        };
        let mut reply = Self {
            status: response.status().as_u16(),
            content_type: header("content-type").unwrap_or_default(),
            announced: header("docker-content-digest").and_then(|digest| digest.parse().ok()),
            challenge: header("www-authenticate"),
            link: header("link"),
            location: header("location"),
            // The other form, a date, is not used by registries.
            retry_after: header("retry-after").and_then(|value| value.trim().parse().ok()).map(Duration::from_secs),
            body: Vec::new(),
        };
        let body = response.into_body().into_with_config().limit(Manifest::LARGEST).read_to_vec();
        reply.body = body.map_err(|error| Problem::of(&error, patience))?;
        Ok(reply)
    }

    /// Whether the registry says that there is no such thing. A 404 without one of a registry's error codes may come from anything
    /// in between.
    pub(super) fn says_absent(&self) -> bool {
        let absent = ["MANIFEST_UNKNOWN", "NAME_UNKNOWN", "NOT_FOUND", "TAG_UNKNOWN"];
        self.status == 404 && self.errors().iter().any(|error| absent.contains(&error.code.as_str()))
    }

    /// Whether the registry says that it does not delete tags by name: 405, which by HTTP says that there is no such method here
    /// (RFC 9110, 15.5.6), or what older registries answer.
    pub(super) fn says_unsupported(&self) -> bool {
        let refusals = ["UNSUPPORTED", "DIGEST_INVALID"];
        let is_refused = || self.errors().iter().any(|error| refusals.contains(&error.code.as_str()));
        self.status == 405 || (self.status == 400 && is_refused())
    }

    /// The answer as something that went wrong.
    pub(super) fn problem(&self) -> Problem {
        let errors = self.errors();
        let words = errors.iter().map(|error| match &error.message {
            Some(message) => format!("{} ({message})", error.code),
            None => error.code.clone(),
        });
        let said = Some(words.collect::<Vec<_>>().join(", ")).filter(|said| !said.is_empty());
        match self.status {
            status @ (401 | 403) => Problem::Denied { status, said },
            301..=303 | 307 | 308 => Problem::Elsewhere { place: self.location.clone().unwrap_or_default() },
            status => Problem::Status { status, said, retry_after: self.retry_after },
        }
    }

    fn errors(&self) -> Vec<OneError> {
        serde_json::from_slice::<Errors>(&self.body).map(|errors| errors.errors).unwrap_or_default()
    }
}
