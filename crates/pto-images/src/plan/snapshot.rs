//! One commit of a remote repository, of which a few files are read.

use std::path::Path;

use pto_checkout::{Git, GitDirs};
use pto_context::Context;
use pto_context::places::PYPTO_PINS;
use tempfile::TempDir;

use super::RUNTIME;
use crate::error::Error;

/// A bare repository that holds this one commit.
pub(super) struct Snapshot {
    git: Git,
    commit: String,
    /// Where it came from, for people.
    repository: String,
    _dir: TempDir,
}

/// The commit that a checkout is at.
pub(super) fn head(cx: &Context, checkout: &Path) -> Result<String, Error> {
    GitDirs::find(checkout)?;
    let git = Git::at(cx, checkout)?;
    Ok(git.ask(cx, "find the commit of a checkout", &["rev-parse", "--verify", "HEAD^{commit}"])?.trim().to_owned())
}

/// What an image is made of besides the sources that it clones: the Dockerfile with its scripts, and this program.
const RECIPE: [&str; 7] = ["docker", ".dockerignore", ".cargo", "crates", "xtask", "Cargo.toml", "Cargo.lock"];

/// Checks that the recipe has no uncommitted changes: the engine gets the files as they are, and the image is labelled with the
/// commit. Git may have been told to overlook some of them, which the engine does not.
pub(super) fn require_clean(cx: &Context, checkout: &Path) -> Result<(), Error> {
    let git = Git::at(cx, checkout)?;
    let ask = |what: &str| git.ask(cx, "find the top of a checkout", &["rev-parse", what]);
    if !ask("--show-prefix")?.trim().is_empty() {
        let top = ask("--show-toplevel")?;
        return Err(Error::NotTop { dir: checkout.to_owned(), top: top.trim_end_matches('\n').into() });
    }
    let status = ["-c", "core.fileMode=true", "status", "--porcelain", "--untracked-files=normal"];
    let listed = git.ask(cx, "look for changes", &[&status[..], &["--"], &RECIPE].concat())?;
    let ignored = git.ask(cx, "look for changes", &[&status[..], &["--ignored", "--", RECIPE[0]]].concat())?;
    // `XY path`.
    let paths = listed.lines().chain(ignored.lines().filter(|line| line.starts_with("!!")));
    let changed: Vec<String> = paths.filter_map(|line| line.get(3..).map(str::to_owned)).collect();
    let flags = git.ask(cx, "look for files that git overlooks", &[&["ls-files", "-v", "--"][..], &RECIPE].concat())?;
    let overlooked =
        flags.lines().filter(|line| line.starts_with(|flag: char| flag == 'S' || flag.is_ascii_lowercase()));
    let overlooked: Vec<String> = overlooked.filter_map(|line| line.get(2..).map(str::to_owned)).collect();
    match changed.is_empty() && overlooked.is_empty() {
        true => Ok(()),
        false => Err(Error::ChangedRecipe { dir: git.root().to_owned(), changed, overlooked }),
    }
}

/// Checks that the commit of a checkout is one of PyPTO: it has the two paths of every revision that an image can be built from.
pub(super) fn require_pypto(cx: &Context, checkout: &Path) -> Result<(), Error> {
    let git = Git::at(cx, checkout)?;
    let listed = git.ask(cx, "list a commit", &["ls-tree", "--full-tree", "HEAD", "--", RUNTIME, PYPTO_PINS])?;
    let has = |kind: &str, path: &str| {
        listed.lines().any(|line| line.contains(&format!(" {kind} ")) && line.ends_with(&format!("\t{path}")))
    };
    let needed = [("commit", RUNTIME), ("blob", PYPTO_PINS)];
    let missing: Vec<_> = needed.into_iter().filter(|(kind, path)| !has(kind, path)).map(|(_, path)| path).collect();
    if missing.is_empty() {
        return Ok(());
    }
    // A repository that was not cloned has no origin.
    let origin =
        git.ask(cx, "find where a checkout was cloned from", &["config", "--default=", "--get", "remote.origin.url"])?;
    let origin = Some(origin.trim()).filter(|origin| !origin.is_empty());
    Err(Error::NotPypto { dir: git.root().to_owned(), missing, origin: origin.map(pto_process::masked) })
}

impl Snapshot {
    /// Fetches a commit and nothing that came before it.
    pub(super) fn of(cx: &Context, repository: &str, commit: &str) -> Result<Self, Error> {
        let dir = tempfile::tempdir_in(cx.temp_dir()).map_err(Error::io("make a temporary directory"))?;
        let git = Git::at(cx, dir.path())?;
        git.run(cx, "make a repository", git.writing().args(["init", "--quiet", "--bare", "."]))?;
        let fetch = git.exchanging(cx)?.args(["fetch", "--quiet", "--no-tags", "--depth=1", "--", repository, commit]);
        let failed = |source| Error::NotFetched {
            commit: commit.to_owned(),
            repository: pto_process::masked(repository),
            source: Box::new(source),
        };
        git.run(cx, "fetch a commit", fetch).map_err(failed)?;
        Ok(Self { git, commit: commit.to_owned(), repository: pto_process::masked(repository), _dir: dir })
    }

    /// The text of a file of the commit.
    pub(super) fn file(&self, cx: &Context, path: &'static str) -> Result<String, Error> {
        let asked = self.git.ask(cx, "read a file of a commit", &["show", &format!("{}:{path}", self.commit)]);
        asked.map_err(|error| match error.is_interrupted() {
            true => error.into(),
            // The repository is ours and whole: what is missing is the file.
            false => Error::NoFile { path, commit: self.commit.clone(), repository: self.repository.clone() },
        })
    }

    /// A submodule's address as the commit has it, and its commit; `None` if there is no such submodule.
    pub(super) fn submodule(&self, cx: &Context, path: &str) -> Result<Option<(String, String)>, Error> {
        let entry = self.git.ask(cx, "list a commit", &["ls-tree", &self.commit, "--", path])?;
        let mut words = entry.split_whitespace();
        let (Some("160000"), Some("commit"), Some(commit)) = (words.next(), words.next(), words.next()) else {
            return Ok(None);
        };
        let blob = format!("--blob={}:.gitmodules", self.commit);
        let action = "read the submodules of a commit";
        let read = |args: &[&str]| {
            let asked = self.git.ask(cx, action, &[&["config", &blob][..], args].concat());
            asked.map_err(|error| match error.is_interrupted() {
                true => Error::from(error),
                // The repository is ours and whole: what is wrong is the file.
                false => Error::NoPin {
                    what: "the address of the submodule `runtime`",
                    place: format!("`.gitmodules` in {} of `{}`", self.commit, self.repository),
                    note: Some(error.last_words()).filter(|words| !words.is_empty()),
                },
            })
        };
        let paths = read(&["--get-regexp", r"^submodule\..*\.path$"])?;
        let is_it = |line: &&str| line.split_once(' ').is_some_and(|(_, found)| found == path);
        let key = paths.lines().find(is_it).and_then(|line| line.split_once(".path ")).map(|(name, _)| name.to_owned());
        let Some(key) = key else { return Ok(None) };
        let url = read(&["--get", &format!("{key}.url")])?;
        Ok(Some((url.trim().to_owned(), commit.to_owned())))
    }
}

/// The address of a submodule, which may be relative to that of its parent.
pub(super) fn joined(parent: &str, url: &str) -> String {
    if !url.starts_with("./") && !url.starts_with("../") {
        return url.to_owned();
    }
    let (mut base, mut rest) = (parent.trim_end_matches('/'), url);
    loop {
        if let Some(after) = rest.strip_prefix("../") {
            base = base.rsplit_once('/').map_or("", |(above, _)| above);
            rest = after;
        } else if let Some(after) = rest.strip_prefix("./") {
            rest = after;
        } else {
            return format!("{base}/{rest}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_submodules_are_relative_to_the_parents() {
        for (url, whole) in [
            ("https://h/x", "https://h/x"),
            ("../simpler.git", "https://h/a/simpler.git"),
            ("./sub", "https://h/a/b.git/sub"),
            ("../../c/d", "https://h/c/d"),
        ] {
            assert_eq!(joined("https://h/a/b.git", url), whole, "{url}");
        }
    }
}
