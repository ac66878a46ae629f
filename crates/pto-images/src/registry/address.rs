//! The address of a repository.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use ureq::http::uri::Authority;

/// `HOST[:PORT]/PATH`, without a tag.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Repository {
    host: String,
    name: String,
}

/// A text that is not a repository.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a repository; expected `HOST[:PORT]/PATH` in lower case, without a tag", without_user(.0))]
pub struct BadRepository(pub String);

impl Repository {
    /// The registry, with its port.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The path in the registry.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of one of its tags, as Docker takes it: `HOST/PATH:TAG`.
    pub fn with_tag(&self, tag: &str) -> String {
        format!("{self}:{tag}")
    }

    /// Whether the registry is on this machine: nobody on the way can listen in.
    pub fn is_loopback(&self) -> bool {
        self.host.parse::<Authority>().is_ok_and(|authority| is_loopback(authority.host()))
    }
}

/// A repository's name with the user masked that it may have been given with. What follows an `@` may also be a digest.
pub(crate) fn without_user(text: &str) -> String {
    match text.rsplit_once('@') {
        Some((_, place)) if !place.starts_with("sha256:") => format!("***@{place}"),
        _ => text.to_owned(),
    }
}

/// Whether a host is this machine.
pub(super) fn is_loopback(host: &str) -> bool {
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl TryFrom<String> for Repository {
    type Error = BadRepository;

    fn try_from(text: String) -> Result<Self, BadRepository> {
        match text.split_once('/').filter(|(host, name)| is_host(host) && name.split('/').all(is_part)) {
            Some((host, name)) => Ok(Self { host: host.to_owned(), name: name.to_owned() }),
            None => Err(BadRepository(text)),
        }
    }
}

/// The first part is a host only if it looks like one, by Docker's rule: `library/x` has none.
fn is_host(host: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
    let looks_like_one = host == "localhost" || host.contains(['.', ':']);
    let has_port = host.rsplit(']').next().is_some_and(|rest| rest.contains(':'));
    let parses = || host.parse::<Authority>().is_ok_and(|found| found.port_u16().is_some() == has_port);
    looks_like_one && host.chars().all(is_allowed) && !host.starts_with(['.', '-', ':']) && parses()
}

/// A component of a repository's name, by the distribution specification.
fn is_part(part: &str) -> bool {
    let is_alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_allowed = |c: char| is_alphanumeric(c) || matches!(c, '.' | '_' | '-');
    part.starts_with(is_alphanumeric) && part.ends_with(is_alphanumeric) && part.chars().all(is_allowed)
}

impl std::str::FromStr for Repository {
    type Err = BadRepository;

    fn from_str(text: &str) -> Result<Self, BadRepository> {
        text.to_owned().try_into()
    }
}

impl From<Repository> for String {
    fn from(repository: Repository) -> Self {
        repository.to_string()
    }
}

impl std::fmt::Display for Repository {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.host, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_has_a_host_and_no_tag() {
        let sound: Repository = "swr.example.com/cloud/dev".parse().unwrap();
        assert_eq!((sound.host(), sound.name(), sound.is_loopback()), ("swr.example.com", "cloud/dev", false));
        assert_eq!(sound.with_tag("a-1"), "swr.example.com/cloud/dev:a-1");
        for bad in [
            "",
            "library/x",
            "h.x/",
            "h.x/A",
            "h.x/a:tag",
            "h.x/a@sha256:0",
            "h.x//a",
            "http://h.x/a",
            "h.x/a b",
            ".x/a",
            "h.x:/a",
            "h.x:99999/a",
            "127.0.0.1:80:80/a",
            "127.0.0.1:80@h.x/a",
        ] {
            assert!(bad.parse::<Repository>().is_err(), "{bad}");
        }
        for here in ["127.0.0.1:5000/a", "localhost:1/a", "[::1]:5000/a", "127.9.9.9/a"] {
            assert!(here.parse::<Repository>().unwrap().is_loopback(), "{here}");
        }
        assert!(!"127.0.0.1.example.com/a".parse::<Repository>().unwrap().is_loopback());
    }
}
