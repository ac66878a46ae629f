//! What the tags of a published image are called.

/// The tags of one published image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    current: String,
    previous: String,
}

impl Names {
    /// What the tag of the version before ends with.
    pub const PREVIOUS: &'static str = "-previous";

    /// The tags of the image that users pull by `tag`.
    pub fn new(tag: &str) -> Self {
        Self { current: tag.to_owned(), previous: format!("{tag}{}", Self::PREVIOUS) }
    }

    /// The tag that users pull.
    pub fn current(&self) -> &str {
        &self.current
    }

    /// The tag of the version before.
    pub fn previous(&self) -> &str {
        &self.previous
    }

    /// The tag that one attempt of one run uploads to.
    pub fn temporary(&self, run: &str, attempt: u32) -> String {
        format!("{}-{run}-{attempt}", self.current)
    }

    /// Whether a tag has the form of one that a run uploads to.
    pub fn is_temporary(&self, tag: &str) -> bool {
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let rest = tag.strip_prefix(self.current.as_str()).and_then(|rest| rest.strip_prefix('-'));
        rest.and_then(|rest| rest.split_once('-')).is_some_and(|(run, attempt)| is_number(run) && is_number(attempt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_tags_are_told_from_others() {
        let names = Names::new("arm-cann9.2-dist");
        assert_eq!(names.temporary("123", 2), "arm-cann9.2-dist-123-2");
        assert!(names.is_temporary("arm-cann9.2-dist-123-2"));
        for other in ["arm-cann9.2-dist", "arm-cann9.2-dist-previous", "arm-cann9.2-dist-2026", "arm-cann9.2-dist-1-x"]
        {
            assert!(!names.is_temporary(other), "{other}");
        }
    }
}
