//! Which names an archive may hold, each alone and all together.

use std::collections::HashMap;

use crate::error::Refusal;

/// The names seen so far.
#[derive(Default)]
pub(crate) struct Names {
    /// Lower-case path to the path as first written, and whether it is a file.
    seen: HashMap<String, (String, bool)>,
}

impl Names {
    /// Takes one entry's name; a trailing `/` makes it a directory.
    pub(crate) fn add(&mut self, name: &str) -> Result<(), Refusal> {
        let (path, is_file) = match name.strip_suffix('/') {
            Some(path) => (path, false),
            None => (name, true),
        };
        plain(path)?;
        // Every directory above it is a name too: `A/x` and `a/y` collide.
        for (end, _) in path.match_indices('/') {
            self.enter(&path[..end], false)?;
        }
        self.enter(path, is_file)
    }

    fn enter(&mut self, path: &str, is_file: bool) -> Result<(), Refusal> {
        match self.seen.get(&path.to_lowercase()) {
            None => {
                self.seen.insert(path.to_lowercase(), (path.to_owned(), is_file));
                Ok(())
            }
            Some((first, _)) if first != path => Err(Refusal::CaseCollision),
            Some((_, false)) if !is_file => Ok(()),
            Some((_, true)) if is_file => Err(Refusal::Duplicate),
            Some(_) => Err(Refusal::FileAndDirectory),
        }
    }
}

fn plain(path: &str) -> Result<(), Refusal> {
    let drive = path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic();
    if path.starts_with(['/', '\\']) || drive {
        return Err(Refusal::Absolute);
    }
    if path.split(['/', '\\']).any(|part| part == "..") {
        return Err(Refusal::Leaves);
    }
    let odd = path.chars().any(|c| c == '\\' || c.is_control()) || path.split('/').any(|part| matches!(part, "" | "."));
    if odd { Err(Refusal::OddName) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn add_all(names: &[&str]) -> Result<(), Refusal> {
        let mut seen = Names::default();
        names.iter().try_for_each(|name| seen.add(name))
    }

    #[test]
    fn each_rule_has_its_refusal() {
        for (names, expected) in [
            (&["a/b.h", "a/c.h", "a/", "d"][..], Ok(())),
            (&["/etc/passwd"], Err(Refusal::Absolute)),
            (&["\\x"], Err(Refusal::Absolute)),
            (&["C:/x"], Err(Refusal::Absolute)),
            (&["a/../../b"], Err(Refusal::Leaves)),
            (&["a\\..\\b"], Err(Refusal::Leaves)),
            (&[".."], Err(Refusal::Leaves)),
            (&["a\\b"], Err(Refusal::OddName)),
            (&["a//b"], Err(Refusal::OddName)),
            (&["./a"], Err(Refusal::OddName)),
            (&["a\nb"], Err(Refusal::OddName)),
            (&["/"], Err(Refusal::OddName)),
            (&[""], Err(Refusal::OddName)),
            (&["a", "a"], Err(Refusal::Duplicate)),
            (&["a/x.h", "a/X.h"], Err(Refusal::CaseCollision)),
            (&["a/x", "A/y"], Err(Refusal::CaseCollision)),
            (&["a", "a/b"], Err(Refusal::FileAndDirectory)),
            (&["a/b", "a"], Err(Refusal::FileAndDirectory)),
        ] {
            assert_eq!(add_all(names), expected, "{names:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_accepted_stays_inside(name in "[a./\\\\: \u{e4}\0]{0,12}") {
            if plain(name.strip_suffix('/').unwrap_or(&name)).is_ok() {
                let path = std::path::Path::new(&name);
                prop_assert!(path.components().all(|part| matches!(part, std::path::Component::Normal(_))));
                prop_assert!(path.components().count() > 0);
            }
        }
    }
}
