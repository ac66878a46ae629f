//! Whether there is room for what an update brings: git overwrites files that are ignored, or that it was told not to look
//! at, without a word.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pto_checkout::Checkout;

use super::incoming::Incoming;
use super::plan::Planner;
use super::state::State;
use crate::error::Error;

/// How many paths one command line gets.
const AT_ONCE: usize = 500;
/// Mode of a submodule.
const LINK: &str = "160000";
/// Mode of what is not there.
const NOTHING: &str = "000000";

impl Planner<'_> {
    /// Files of the user's where the update has files, and edits that git hides.
    pub(super) fn check_room(
        &mut self,
        checkout: &Checkout,
        incoming: &Incoming<'_>,
        from: &str,
        to: &str,
    ) -> Result<(), Error> {
        let args = ["diff", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=none", from, to];
        let raw = incoming.ask("compare commits", &args)?;
        let changes: Vec<Change<'_>> = changes(&raw).collect();
        let room = Room { checkout, incoming };
        let paths = room.in_the_way(&changes)?;
        if !paths.is_empty() {
            self.block(checkout, State::InTheWay { paths });
        }
        let paths = room.hidden_edits(&changes)?;
        if !paths.is_empty() {
            self.block(checkout, State::Hidden { paths });
        }
        Ok(())
    }
}

/// A path that differs between the two commits.
struct Change<'a> {
    old_mode: &'a str,
    new_mode: &'a str,
    old_blob: &'a str,
    path: &'a str,
}

struct Room<'a> {
    checkout: &'a Checkout,
    incoming: &'a Incoming<'a>,
}

impl Room<'_> {
    /// What no commit knows where the update adds a file, or needs a directory for one.
    fn in_the_way(&self, changes: &[Change<'_>]) -> Result<Vec<String>, Error> {
        let mut found = BTreeSet::new();
        let (mut directories, mut parents) = (BTreeSet::new(), BTreeSet::new());
        for added in changes.iter().filter(|change| change.old_mode == NOTHING) {
            match self.meta(added.path) {
                Some(meta) if !meta.is_dir() => drop(found.insert(added.path.to_owned())),
                // What is in the place of a new submodule is looked at where that is planned.
                Some(_) if added.new_mode == LINK => {}
                Some(_) => drop(directories.insert(added.path)),
                None => parents.extend(self.file_above(added.path)),
            }
        }
        let tracked = self.list(&["ls-files", "-z", "--"], &parents.iter().copied().collect::<Vec<_>>())?;
        found.extend(parents.into_iter().filter(|parent| !tracked.contains(*parent)).map(str::to_owned));
        let others =
            self.list(&["ls-files", "--others", "-z", "--"], &directories.iter().copied().collect::<Vec<_>>())?;
        let holds_some = |dir: &&str| others.iter().any(|file| Path::new(file).starts_with(dir));
        found.extend(directories.into_iter().filter(holds_some).map(str::to_owned));
        Ok(found.into_iter().collect())
    }

    /// The file that is where a directory above a path has to be.
    fn file_above<'p>(&self, path: &'p str) -> Option<&'p str> {
        let parents = Path::new(path).ancestors().skip(1).filter_map(Path::to_str).filter(|parent| !parent.is_empty());
        parents.into_iter().find(|parent| self.meta(parent).is_some_and(|meta| !meta.is_dir()))
    }

    /// Edits of files that the update changes and that git was told not to look at.
    fn hidden_edits(&self, changes: &[Change<'_>]) -> Result<Vec<String>, Error> {
        let old: BTreeMap<&str, &Change<'_>> =
            changes.iter().filter(|change| change.old_mode != NOTHING).map(|change| (change.path, change)).collect();
        let listed = self.incoming.ask("list what it does not look at", &["ls-files", "-v", "-z"])?;
        let mut found = Vec::new();
        for (tag, path) in listed.split('\0').filter_map(|entry| entry.split_once(' ')) {
            let is_hidden = tag == "S" || tag.starts_with(|c: char| c.is_ascii_lowercase());
            if let (true, Some(change)) = (is_hidden, old.get(path))
                && self.is_edited(change)?
            {
                found.push(path.to_owned());
            }
        }
        Ok(found)
    }

    fn is_edited(&self, change: &Change<'_>) -> Result<bool, Error> {
        match self.meta(change.path) {
            // One that is gone is no work of anybody's, and a sparse checkout has none of them.
            None => Ok(false),
            Some(meta) if !meta.is_file() => Ok(meta.is_symlink() != (change.old_mode == "120000")),
            Some(_) => {
                let blob = self.incoming.ask("compare a file", &["hash-object", "--", change.path])?;
                Ok(blob.trim() != change.old_blob)
            }
        }
    }

    fn meta(&self, path: &str) -> Option<std::fs::Metadata> {
        self.checkout.root().join(path).symlink_metadata().ok()
    }

    /// What git lists of these paths; nothing of none.
    fn list(&self, command: &[&str], paths: &[&str]) -> Result<BTreeSet<String>, Error> {
        let mut found = BTreeSet::new();
        for some in paths.chunks(AT_ONCE) {
            let args = [&["--literal-pathspecs"], command, some].concat();
            let text = self.incoming.ask("list files", &args)?;
            found.extend(text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned));
        }
        Ok(found)
    }
}

/// What `git diff --raw -z` prints.
fn changes(raw: &str) -> impl Iterator<Item = Change<'_>> {
    let mut fields = raw.split('\0');
    std::iter::from_fn(move || Some((fields.next()?, fields.next()?))).filter_map(|(head, path)| {
        let mut words = head.strip_prefix(':')?.split(' ');
        let (old_mode, new_mode, old_blob) = (words.next()?, words.next()?, words.next()?);
        Some(Change { old_mode, new_mode, old_blob, path })
    })
}
