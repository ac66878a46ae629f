//! Manifests: raw bytes first, what they say second.

use serde::{Deserialize, Serialize};

use super::digest::Digest;
use super::problem::Problem;
use super::said::shown;

/// Types of manifests that may stand behind a tag, as `Accept` has them: one image, or one per platform.
pub(super) const ACCEPTED: [&str; 4] = [
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
];

/// A manifest as a registry keeps it. Moving a tag sends back the very bytes that came, so nothing can change on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    bytes: Vec<u8>,
    media_type: String,
    digest: Digest,
    fields: Fields,
}

/// What an image runs on: `linux/arm64`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Platform {
    /// `linux`.
    pub os: String,
    /// In Docker's words: `arm64`, `amd64`.
    pub architecture: String,
}

/// The few fields that are needed here. All others stay in the bytes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields {
    media_type: Option<String>,
    config: Option<Descriptor>,
    #[serde(default)]
    manifests: Vec<Descriptor>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Descriptor {
    digest: Digest,
    platform: Option<Platform>,
}

impl Manifest {
    /// The most bytes that are read of one, and of any other answer. Registries have to take manifests of 4 MiB; configurations
    /// and lists of tags are smaller.
    pub(crate) const LARGEST: u64 = 8 << 20;

    /// Reads bytes that came from a registry or were saved.
    ///
    /// # Errors
    /// They are not a manifest in JSON, name neither a configuration nor manifests, or say that they are of another type.
    pub fn new(bytes: Vec<u8>, media_type: &str) -> Result<Self, Problem> {
        let malformed = |why: String| Problem::Malformed(format!("no manifest: {why}"));
        let fields: Fields = serde_json::from_slice(&bytes).map_err(|error| malformed(error.to_string()))?;
        // Parameters of the header do not change the type. Without a header, the manifest itself has to name it.
        let header = media_type.split(';').next().unwrap_or_default().trim();
        let media_type = match (&fields.media_type, header) {
            (Some(own), "" | "application/json") => own.clone(),
            (Some(own), header) if own != header => {
                return Err(malformed(format!("it is a `{own}` and was delivered as `{header}`")));
            }
            (_, header) => header.to_owned(),
        };
        if !ACCEPTED.contains(&media_type.as_str()) {
            return Err(malformed(format!("its type is `{media_type}`")));
        }
        if fields.config.is_none() && fields.manifests.is_empty() {
            return Err(malformed("it names neither a configuration nor manifests".to_owned()));
        }
        Ok(Self { digest: Digest::of(&bytes), bytes, media_type, fields })
    }

    /// As the registry keeps it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its type.
    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    /// The digest of its bytes.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// The digest of the image's configuration; `None` for a list of images.
    pub fn config(&self) -> Option<&Digest> {
        self.fields.config.as_ref().map(|config| &config.digest)
    }

    /// The manifest that a list of images has for a platform.
    pub fn for_platform(&self, platform: &Platform) -> Option<&Digest> {
        let fits = |manifest: &&Descriptor| manifest.platform.as_ref() == Some(platform);
        self.fields.manifests.iter().find(fits).map(|manifest| &manifest.digest)
    }

    /// The platforms that a list of images names. Empty for a single image: its configuration names its platform.
    pub fn listed_platforms(&self) -> Vec<Platform> {
        let platforms = self.fields.manifests.iter().filter_map(|manifest| manifest.platform.clone());
        // Build attestations are listed as images for `unknown/unknown`.
        platforms.filter(|platform| platform.os != "unknown").collect()
    }
}

impl Platform {
    /// What an image of the engine runs on. A part that the engine does not tell is empty.
    pub(crate) fn of(image: &pto_platform::docker::Image) -> Self {
        let (os, architecture) = (image.os.clone(), image.architecture.clone());
        Self { os: os.unwrap_or_default(), architecture: architecture.unwrap_or_default() }
    }
}

impl std::fmt::Display for Platform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&shown(&format!("{}/{}", self.os, self.architecture)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IMAGE: &str = "application/vnd.docker.distribution.manifest.v2+json";

    fn digest(of: &str) -> Digest {
        Digest::of(of.as_bytes())
    }

    #[test]
    fn bytes_are_kept_and_summed() {
        let text = format!(r#"{{ "config" : {{"digest":"{}"}}, "layers":[], "unknown": 1 }}"#, digest("c"));
        let manifest = Manifest::new(text.clone().into_bytes(), IMAGE).unwrap();
        assert_eq!(manifest.bytes(), text.as_bytes());
        assert_eq!((manifest.digest(), manifest.config()), (&Digest::of(text.as_bytes()), Some(&digest("c"))));
    }

    #[test]
    fn a_list_has_platforms_and_attestations_are_none() {
        let entry = |os: &str, arch: &str| {
            format!(r#"{{"digest":"{}","platform":{{"os":"{os}","architecture":"{arch}"}}}}"#, digest(arch))
        };
        let text = format!(r#"{{"manifests":[{},{}]}}"#, entry("linux", "arm64"), entry("unknown", "unknown"));
        let manifest = Manifest::new(text.into_bytes(), "application/vnd.oci.image.index.v1+json").unwrap();
        let shown: Vec<_> = manifest.listed_platforms().iter().map(ToString::to_string).collect();
        assert_eq!((shown, manifest.config()), (vec!["linux/arm64".to_owned()], None));
    }

    #[test]
    fn what_is_no_manifest_is_refused() {
        let own = format!(r#"{{"mediaType":"{IMAGE}","config":{{"digest":"{}"}}}}"#, digest("c"));
        assert!(Manifest::new(own.clone().into_bytes(), "").is_ok());
        for (text, media_type) in [
            ("<html>", IMAGE),
            ("{}", IMAGE),
            (own.as_str(), "application/vnd.oci.image.manifest.v1+json"),
            (own.trim_end_matches('}'), IMAGE),
            (r#"{"config":{"digest":"latest"}}"#, IMAGE),
            (r#"{"mediaType":"text/html","manifests":[]}"#, ""),
        ] {
            assert!(Manifest::new(text.into(), media_type).is_err(), "{text}");
        }
    }
}
