//! `git ls-files --stage -z`: the submodules that an index records.

use serde::Serialize;

/// Mode of an entry that is another repository's commit.
const GITLINK: &str = "160000";

/// A submodule as its parent records it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gitlink {
    /// Below the parent's top level.
    pub path: String,
    /// The commit that is recorded, in full.
    pub commit: String,
}

/// The gitlinks of `git ls-files --stage -z`. Of a conflicted one the first stage counts.
pub fn parse_gitlinks(text: &str) -> Vec<Gitlink> {
    let mut links: Vec<Gitlink> = Vec::new();
    for entry in text.split('\0') {
        let Some((facts, path)) = entry.split_once('\t') else { continue };
        let mut facts = facts.split(' ');
        if let (Some(GITLINK), Some(commit)) = (facts.next(), facts.next())
            && links.last().is_none_or(|last| last.path != path)
        {
            links.push(Gitlink { path: path.to_owned(), commit: commit.to_owned() });
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_submodules_are_taken() {
        let commit = "a".repeat(40);
        let text = format!(
            "100644 {commit} 0\ta b.txt\x00160000 {commit} 1\t3rdparty/x y\x00160000 {commit} 2\t3rdparty/x y\x00"
        );
        assert_eq!(parse_gitlinks(&text), [Gitlink { path: "3rdparty/x y".into(), commit }]);
        assert_eq!(parse_gitlinks("160000\tx\0garbage\0"), []);
    }
}
