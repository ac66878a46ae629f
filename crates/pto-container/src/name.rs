//! Names that go into command lines, checked before Docker is asked.

use crate::error::Error;

/// Volumes, and our locks of containers' names, are files named by it and a little more. A file's name may have 255 bytes.
const LONGEST: usize = 240;
/// The longest repository, tag and digest together.
const LONGEST_IMAGE: usize = 255 + 1 + 128 + 1 + 71;

/// Checks the name of a container or a volume.
pub(crate) fn checked(what: &'static str, name: String) -> Result<String, Error> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let first = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    let short = (2..=LONGEST).contains(&name.len());
    if first && short && name.chars().all(fits) { Ok(name) } else { Err(Error::BadName { what, name }) }
}

/// Checks an image's name, and leaves most to Docker. Here it only must not look like an option, and must not have a user, whose
/// password messages would repeat.
pub(crate) fn image(name: String) -> Result<String, Error> {
    if let Some((_, place)) = name.split("@sha256:").next().and_then(|image| image.rsplit_once('@')) {
        return Err(Error::BadName { what: "an image", name: format!("***@{place}") });
    }
    if name.is_empty() || name.len() > LONGEST_IMAGE || name.starts_with('-') || name.contains(char::is_whitespace) {
        return Err(Error::BadName { what: "an image", name });
    }
    Ok(name)
}

/// Checks a digest.
pub(crate) fn digest(digest: String) -> Result<String, Error> {
    let hex = digest.strip_prefix("sha256:").unwrap_or_default();
    let fits = hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    if fits { Ok(digest) } else { Err(Error::BadDigest { digest }) }
}

/// Whether a name leads to a registry, by Docker's own rule: its first part has a dot or a port, or is `localhost`.
pub(crate) fn is_in_registry(image: &str) -> bool {
    image.split_once('/').is_some_and(|(host, _)| host.contains(['.', ':']) || host == "localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_dockers() {
        for good in ["pypto-a3-dev", "a1", "A_b.c-d"] {
            assert_eq!(checked("a container", good.to_owned()).unwrap(), good);
        }
        for bad in ["", "a", "-rm", "a b", "a/b", "ä1", ".a"] {
            assert!(checked("a container", bad.to_owned()).is_err(), "{bad}");
        }
        assert!(checked("a volume", "a".repeat(LONGEST)).is_ok() && checked("a volume", "a".repeat(241)).is_err());
        assert!(image("a".repeat(LONGEST_IMAGE + 1)).is_err());
        let with_user = image("u:pw@h.x/a@sha256:1".to_owned()).unwrap_err().to_string();
        assert!(with_user.contains("`***@h.x/a`"), "{with_user}");
        assert!(image("--privileged".to_owned()).is_err() && image("host:5/a@sha256:1".to_owned()).is_ok());
    }

    #[test]
    fn a_digest_is_whole() {
        assert!(digest(format!("sha256:{}", "0a".repeat(32))).is_ok());
        for bad in ["banana", "sha256:", "sha256:0", &format!("sha256:{}", "0A".repeat(32)), &"0a".repeat(32)] {
            assert!(digest(bad.to_owned()).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_registry_has_a_host() {
        for (image, expected) in
            [("pypto-dev:a3", false), ("me/pypto:1", false), ("r.example/a", true), ("localhost:5/a", true)]
        {
            assert_eq!(is_in_registry(image), expected, "{image}");
        }
    }
}
