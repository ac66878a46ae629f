//! `git ls-remote`: the refs of a remote.

use serde::Serialize;

use super::is_full_commit;

/// What git puts after the name of a tag for the commit that the tag leads to.
const PEELED: &str = "^{}";

/// One ref of a remote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RemoteRef {
    /// `HEAD`, `refs/heads/main`, `refs/tags/v1^{}`.
    pub name: String,
    /// What it leads to, in full.
    pub commit: String,
}

/// The refs that `git ls-remote` lists; lines that are none are passed over.
pub fn parse_remote_refs(text: &str) -> Vec<RemoteRef> {
    let line = |line: &str| {
        let (commit, name) = line.split_once('\t')?;
        is_full_commit(commit)
            .then(|| RemoteRef { name: name.trim_end().to_owned(), commit: commit.to_ascii_lowercase() })
    };
    text.lines().filter_map(line).collect()
}

/// The commit that a name stands for: the ref of exactly this name, a branch, then a tag. An annotated tag is followed to
/// its commit. A name that only ends like another one (`x/main` for `main`) is none of these.
pub fn resolve_ref<'a>(refs: &'a [RemoteRef], name: &str) -> Option<&'a str> {
    let exact = |name: String| {
        let find = |name: &str| refs.iter().find(|one| one.name == name).map(|one| one.commit.as_str());
        find(&format!("{name}{PEELED}")).or_else(|| find(&name))
    };
    [name.to_owned(), format!("refs/heads/{name}"), format!("refs/tags/{name}")].into_iter().find_map(exact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_branch_before_it_is_a_tag_and_never_the_end_of_another() {
        let [head, branch, tag, commit, other] = ["a", "b", "c", "d", "e"].map(|digit| digit.repeat(40));
        let text = format!(
            "{head}\tHEAD\n{other}\trefs/heads/x/main\n{branch}\trefs/heads/v1\n{tag}\trefs/tags/v1\n\
             {tag}\trefs/tags/v2\n{commit}\trefs/tags/v2^{{}}\nFrom somewhere\n"
        );
        let refs = parse_remote_refs(&text);
        assert_eq!(refs.len(), 6);
        let names = ["HEAD", "v1", "refs/tags/v1", "v2", "refs/tags/v2", "main"];
        let found = names.map(|name| resolve_ref(&refs, name));
        assert_eq!(found, [Some(&*head), Some(&*branch), Some(&*tag), Some(&*commit), Some(&*commit), None]);
    }
}
