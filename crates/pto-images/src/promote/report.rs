//! What a promotion did, and what is left to do.

use serde::Serialize;

use super::public::Public;
use crate::registry::Digest;

/// A tag that was moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// The tag.
    pub tag: String,
    /// Where it led.
    pub from: Option<Digest>,
    /// Where it leads; `None` if it was deleted.
    pub to: Option<Digest>,
}

/// What became of the tag of an upload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum Temporary {
    /// It is gone.
    Removed,
    /// It is left, as the registry does not delete tags by name.
    Unsupported {
        /// The tag that is left.
        tag: String,
    },
    /// It is left, as deleting it failed.
    Remains {
        /// The tag that is left.
        tag: String,
        /// Why.
        problem: String,
    },
}

/// What a promotion did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PromotionReport {
    /// The image's name.
    pub image: String,
    /// The tag that users pull, with its repository.
    pub reference: String,
    /// Whether the new image is current; otherwise the tags are as they were before.
    pub promoted: bool,
    /// Where `current` leads.
    pub current: Option<Digest>,
    /// Where `previous` leads.
    pub previous: Option<Digest>,
    /// What this run moved, in order.
    pub moved: Vec<Moved>,
    /// The tag of the upload.
    pub temporary: Temporary,
    /// The tags of earlier uploads that were not finished.
    pub earlier: Vec<Temporary>,
    /// Tags that the registry deleted along with one of an upload, as it deletes an image with all its tags: they are there
    /// again.
    pub put_back: Vec<String>,
    /// Whether it had come to its end before: what is left was said then.
    pub was_over: bool,
    /// What an anonymous client sees; `None` if it was taken back.
    pub public: Option<Public>,
}

impl PromotionReport {
    /// What went wrong although the tags are right, and what to do about it.
    pub fn problems(&self) -> Vec<String> {
        let (repository, _) = self.places();
        let remains = |temporary: &Temporary| match temporary {
            Temporary::Remains { tag, problem } => Some(format!(
                "`{tag}` is left: {problem}. `--resume` tries again, or delete that tag of `{repository}` by name"
            )),
            Temporary::Removed | Temporary::Unsupported { .. } => None,
        };
        let public = self.public.as_ref().and_then(|public| public.problem.clone());
        self.temporaries().filter_map(remains).chain(public).collect()
    }

    /// What no run can remove, and how to do it by hand: a registry that does not delete tags by name will not do so at the next
    /// try, so this is not a problem of the promotion.
    pub fn notes(&self) -> Vec<String> {
        let (repository, name) = self.places();
        let left = |temporary: &Temporary| match temporary {
            Temporary::Unsupported { tag } if !self.was_over => Some(format!(
                "`{tag}` is left: this registry does not delete tags by name. Delete that tag of `{repository}` in the \
                 registry's own interface, or on the machine of a plain `docker-registry`, in the `rootdirectory` of its \
                 configuration: `rm -r docker/registry/v2/repositories/{name}/_manifests/tags/{tag}`; never delete by \
                 digest, which would take `current` along"
            )),
            _ => None,
        };
        let put_back = self.put_back.iter().map(|tag| {
            format!(
                "this registry deleted `{tag}` along with the tag of an upload, as it deletes an image with all its tags. It \
                 was put back, and could not be pulled for a moment"
            )
        });
        self.temporaries().filter_map(left).chain(put_back).collect()
    }

    fn temporaries(&self) -> impl Iterator<Item = &Temporary> {
        [&self.temporary].into_iter().chain(&self.earlier)
    }

    /// The repository, and its path in the registry.
    fn places(&self) -> (&str, &str) {
        let repository = self.reference.rsplit_once(':').map_or(self.reference.as_str(), |(repository, _)| repository);
        (repository, repository.split_once('/').map_or(repository, |(_, name)| name))
    }
}
