//! `.claude/skills/testing/testing.env` of a PyPTO checkout: how many jobs its machine may run.

use serde::Serialize;

use crate::Note;
use crate::entries::{Entries, Entry};

const PROFILE: &str = "PYPTO_MACHINE_PROFILE";
const BUILD_JOBS: &str = "PYPTO_BUILD_JOBS";
const TEST_JOBS: &str = "PYPTO_TEST_JOBS";

/// `testing.env`. It is a shell file of `export K=V`; what a shell would run besides has no say in the limits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TestingEnv {
    /// `PYPTO_MACHINE_PROFILE`: what kind of machine its owner says it is.
    pub profile: Option<String>,
    /// `PYPTO_BUILD_JOBS`, above 0.
    pub build_jobs: Option<u32>,
    /// `PYPTO_TEST_JOBS`, above 0.
    pub test_jobs: Option<u32>,
    /// Limits that are none. Whoever obeys the file refuses it for them: a limit that is guessed is none.
    pub notes: Vec<Note>,
}

/// Reads `testing.env`. As in a shell, the last of two assignments counts.
pub fn parse_testing_env(text: &str) -> TestingEnv {
    let entries = Entries::read(text);
    let mut env = TestingEnv::default();
    for entry in &entries.all {
        match entry.key {
            PROFILE => env.profile = Some(bare(entry).to_owned()).filter(|profile| !profile.is_empty()),
            BUILD_JOBS => env.build_jobs = env.limit(entry),
            TEST_JOBS => env.test_jobs = env.limit(entry),
            // `[ -n "$CI" ] && export PYPTO_BUILD_JOBS=9`: what a shell would make of it is not known here.
            key if names_a_limit(key) => env.refuse(entry.line, &format!("{}={}", entry.key, entry.value)),
            _ => {}
        }
    }
    for note in entries.notes.iter().filter(|note| names_a_limit(&note.text)) {
        env.refuse(note.line, &note.text);
    }
    env.notes.sort_by_key(|note| note.line);
    env
}

impl TestingEnv {
    fn limit(&mut self, entry: &Entry<'_>) -> Option<u32> {
        let value = bare(entry);
        let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
        let limit = value.parse().ok().filter(|limit| digits && *limit > 0);
        if limit.is_none() {
            let line = format!("{}={}", entry.key, entry.value);
            self.notes.push(Note::new(entry.line, &line, "expected a whole number above 0"));
        }
        limit
    }

    fn refuse(&mut self, line: usize, text: &str) {
        self.notes.push(Note::new(line, text, "expected a plain `export PYPTO_BUILD_JOBS=N` or `PYPTO_TEST_JOBS=N`"));
    }
}

/// The value without a comment after it, and without the quotes that then still stand around it.
fn bare<'a>(entry: &Entry<'a>) -> &'a str {
    let value = entry.value.split_once(" #").map_or(entry.value, |(value, _)| value.trim_end());
    value.trim_matches(['"', '\''])
}

/// Whether a line sets a limit; one that only reads it (`"$PYPTO_BUILD_JOBS"`) does not.
fn names_a_limit(text: &str) -> bool {
    [BUILD_JOBS, TEST_JOBS].iter().any(|name| {
        let mut before = text.match_indices(name).map(|(at, _)| text[..at].chars().next_back());
        before.any(|char| !matches!(char, Some('$' | '{' | '_')))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_limits_of_a_machine() {
        let text = "# here\nexport PYPTO_MACHINE_PROFILE=\"server\"\nexport PYPTO_BUILD_JOBS=4\nPYPTO_BUILD_JOBS='16' # more\n\
                    export PYPTO_TEST_JOBS=8\nexport MAKEFLAGS=\"-j$PYPTO_BUILD_JOBS\"\nconda activate pypto\n\
                    echo \"${PYPTO_TEST_JOBS}\"\n";
        let env = parse_testing_env(text);
        assert_eq!((env.profile.as_deref(), env.build_jobs, env.test_jobs), (Some("server"), Some(16), Some(8)));
        assert_eq!(env.notes, []);
    }

    #[test]
    fn nonsense_is_named_with_its_line() {
        for bad in [
            "export PYPTO_BUILD_JOBS=many",
            "export PYPTO_BUILD_JOBS=0",
            "export PYPTO_BUILD_JOBS=",
            "export PYPTO_BUILD_JOBS=+4",
            "export PYPTO_BUILD_JOBS=$(nproc)",
            "export PYPTO_TEST_JOBS=99999999999",
            "[ -n \"$CI\" ] && export PYPTO_BUILD_JOBS=9",
            "export PYPTO_MACHINE_PROFILE=x PYPTO_BUILD_JOBS",
            "unset PYPTO_BUILD_JOBS",
        ] {
            let env = parse_testing_env(&format!("export PYPTO_MACHINE_PROFILE=x\n{bad}\n"));
            let lines: Vec<_> = env.notes.iter().map(|note| note.line).collect();
            let spilled = bad.contains("PROFILE");
            assert!(lines == [2] || spilled, "{bad}: {:?}", env.notes);
        }
    }

    proptest! {
        #[test]
        fn a_limit_is_above_zero_or_there_is_a_note(value in "[0-9a-z\"' #$=]{0,12}") {
            let env = parse_testing_env(&format!("export PYPTO_BUILD_JOBS={value}\n"));
            prop_assert!(env.build_jobs.map_or(!env.notes.is_empty(), |jobs| jobs > 0));
        }
    }
}
