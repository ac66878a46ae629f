//! How far a promotion or rollback got: the tags in the registry, compared with those recorded before it began.

use serde::{Deserialize, Serialize};

use super::record::{Kind, TagDigests};
use crate::registry::Digest;

/// How far it got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Both tags are as they were.
    NotStarted,
    /// `previous` leads where `current` leads; `current` is as it was.
    PreviousMoved,
    /// Both tags lead where they are to lead in the end.
    Done,
    /// A tag leads where no step leaves it: somebody else moved it.
    Foreign,
}

impl State {
    /// Compares where the tags lead now with where they led before. `candidate` is where `current` is to lead.
    pub(crate) fn of(kind: Kind, before: &TagDigests, candidate: &Digest, now: &TagDigests) -> Self {
        let end = before.end(kind, candidate);
        if *now == end {
            Self::Done
        } else if now.current != before.current {
            Self::Foreign
        } else if now.previous == end.previous && before.moves_previous(kind, candidate) {
            Self::PreviousMoved
        } else if now.previous == before.previous {
            Self::NotStarted
        } else {
            Self::Foreign
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A digest by one letter, nothing by a dash.
    fn digest(letter: char) -> Option<Digest> {
        (letter != '-').then(|| Digest::of(&[letter as u8]))
    }

    /// `before current, before previous, current, previous` of a promotion of `n`.
    fn state(kind: Kind, tags: &str) -> State {
        let letters: Vec<Option<Digest>> = tags.chars().map(digest).collect();
        let [was_current, was_previous, current, previous] = letters.try_into().unwrap();
        let before = TagDigests { current: was_current, previous: was_previous };
        State::of(kind, &before, &digest('n').unwrap(), &TagDigests { current, previous })
    }

    #[test]
    fn every_way_that_the_tags_can_stand_is_told() {
        use State::{Done, Foreign, NotStarted, PreviousMoved};
        for (tags, expected) in [
            ("---- first image", NotStarted),
            ("--n- first image", Done),
            ("--x- somebody was first", Foreign),
            ("--nx and there is a previous", Foreign),
            ("-p-p only a previous", NotStarted),
            ("-pnp only a previous", Done),
            ("c-c- second image", NotStarted),
            ("c-cc second image", PreviousMoved),
            ("c-nc second image", Done),
            ("c-n- previous was lost", Foreign),
            ("cpcp usual", NotStarted),
            ("cpcc usual", PreviousMoved),
            ("cpnc usual", Done),
            ("cpnp previous was not moved", Foreign),
            ("cpxp current was moved", Foreign),
            ("cpxc current was moved later", Foreign),
            ("cpcx previous was moved", Foreign),
            ("cp-c current was deleted", Foreign),
            ("cccc after a rollback", PreviousMoved),
            ("ccnc after a rollback", Done),
            ("npnp the same again", Done),
            ("npnx the same again", Foreign),
            ("nnnn the same again after a rollback", Done),
        ] {
            assert_eq!(state(Kind::Promotion, &tags[..4]), expected, "{tags}");
        }
        for (tags, expected) in
            [("cncn", NotStarted), ("cnnn", Done), ("cnnc", Foreign), ("cnxn", Foreign), ("nnnn", Done)]
        {
            assert_eq!(state(Kind::Rollback, tags), expected, "{tags}");
        }
    }
}
