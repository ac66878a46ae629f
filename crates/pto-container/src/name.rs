//! Names that go into command lines, checked before Docker is asked.

use crate::error::Error;

/// Volumes, and our locks of containers' names, are files named by it and a little more. A file's name may have 255 bytes.
const LONGEST: usize = 240;
/// What an image's name is called in an error.
pub(crate) const IMAGE_NAME: &str = "an image";
/// The longest repository, tag and digest together.
const LONGEST_IMAGE: usize = 255 + 1 + 128 + 1 + 71;

/// Checks the name of a container or a volume.
pub(crate) fn checked(what: &'static str, name: String) -> Result<String, Error> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let first = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    let short = (2..=LONGEST).contains(&name.len());
    if first && short && name.chars().all(fits) { Ok(name) } else { Err(Error::BadName { what, name }) }
}

/// Checks an image's name by Docker's own grammar, `[HOST[:PORT]/]PATH[:TAG][@DIGEST]`: its refusal would come after a pull. One with a
/// user is refused without its password.
pub(crate) fn image(name: String) -> Result<String, Error> {
    if let Some((_, place)) = name.split("@sha256:").next().and_then(|image| image.rsplit_once('@')) {
        return Err(Error::BadName { what: IMAGE_NAME, name: format!("***@{place}") });
    }
    let (tagged, digest) = name.split_once('@').map_or((&*name, None), |(tagged, digest)| (tagged, Some(digest)));
    let (path, tag) = match tagged.rsplit_once(':') {
        Some((path, tag)) if !tag.contains('/') => (path, Some(tag)),
        _ => (tagged, None),
    };
    let sound = is_path(path) && tag.is_none_or(is_tag) && digest.is_none_or(is_digest);
    if sound && name.len() <= LONGEST_IMAGE { Ok(name) } else { Err(Error::BadName { what: IMAGE_NAME, name }) }
}

/// The name of an image by its repository, which has neither a tag nor a digest, and its tag.
pub(crate) fn tagged(repository: &str, tag: &str) -> Result<String, Error> {
    let last = repository.rsplit('/').next().unwrap_or_default();
    if last.contains([':', '@']) {
        return Err(Error::BadName { what: "a repository", name: repository.to_owned() });
    }
    image(format!("{repository}:{tag}"))
}

fn is_path(path: &str) -> bool {
    let (host, rest) = match path.split_once('/') {
        Some((host, rest)) if is_host(host) => (Some(host), rest),
        _ => (None, path),
    };
    let is_word = |c: char| c.is_ascii_alphanumeric() || ".-:[]".contains(c);
    let is_part = |part: &str| {
        let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let fits = part.chars().all(|c| is_end(c) || "._-".contains(c));
        fits && part.starts_with(is_end) && part.ends_with(is_end)
    };
    host.is_none_or(|host| {
        host.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[') && host.chars().all(is_word)
    }) && rest.split('/').all(is_part)
}

fn is_tag(tag: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    tag.len() <= 128 && tag.starts_with(is_word) && tag.chars().all(|c| is_word(c) || ".-".contains(c))
}

fn is_digest(digest: &str) -> bool {
    let hex = digest.strip_prefix("sha256:").unwrap_or_default();
    hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Checks a digest.
pub(crate) fn digest(digest: String) -> Result<String, Error> {
    if is_digest(&digest) { Ok(digest) } else { Err(Error::BadDigest { digest }) }
}

/// Whether a name leads to a registry, by Docker's own rule: its first part has a dot or a port, or is `localhost`.
pub(crate) fn is_in_registry(image: &str) -> bool {
    image.split_once('/').is_some_and(|(host, _)| is_host(host))
}

fn is_host(first: &str) -> bool {
    first.contains(['.', ':']) || first == "localhost"
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
        assert!(image("--privileged".to_owned()).is_err() && image("host:5/a@sha256:1".to_owned()).is_err());
        let digest = format!("sha256:{}", "0a".repeat(32));
        let with_digest = format!("host:5/a@{digest}");
        for good in [
            "a",
            "a:1",
            "pypto-dev:a3-sim",
            "h.x:5/a/b_c--d:T.1",
            "localhost/a",
            "[::1]:5000/a:x",
            &digest,
            &with_digest,
        ] {
            assert!(image(good.to_owned()).is_ok(), "{good}");
        }
        for bad in
            ["", "UPPER", "a:", "a:b:c", "a:.x", "https://h.x/a", "h.x/A", "a//b", "a b", "-a", "a@sha256:0", "a:\n"]
        {
            assert!(image(bad.to_owned()).is_err(), "{bad}");
        }
        assert!(tagged("h.x:5/a", "1").is_ok());
        for (repository, tag) in [("", "1"), ("h.x/a:1", "1"), ("h.x/a", ""), ("h.x/a", "a:b"), ("h.x/a@sha256:0", "1")]
        {
            assert!(tagged(repository, tag).is_err(), "{repository} {tag}");
        }
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
