//! `.claude/skills/testing/testing.env` of a PyPTO checkout: how many jobs its machine may run.
//!
//! PyPTO sources the file. What of it sets a limit is read as a shell reads it, or it is refused: a limit that is guessed may
//! be above the one that the owner of the machine has set.

mod command;
mod word;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Note;
use command::{Command, commands};
use word::{Part, Word, value};

const PROFILE: &str = "PYPTO_MACHINE_PROFILE";
const BUILD_JOBS: &str = "PYPTO_BUILD_JOBS";
const TEST_JOBS: &str = "PYPTO_TEST_JOBS";
/// What a value may refer to.
const KNOWN: [&str; 3] = [PROFILE, BUILD_JOBS, TEST_JOBS];

const NO_NUMBER: &str = "expected a whole number above 0";
const NEEDS_A_SHELL: &str = "only a shell can tell what this comes to: expected a plain `export PYPTO_BUILD_JOBS=N` or \
                             `PYPTO_TEST_JOBS=N`, where N is a number or `\"${PYPTO_BUILD_JOBS:-4}\"`";
const UNENDED: &str = "a quote, a bracket or an `if` has no end, or an end no beginning: no shell would run this";

/// `testing.env`. It is a shell's file; what a shell would run besides has no say in the limits.
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

/// Reads `testing.env` as a shell would that has these variables: assignments, also several in a line, with quotes, comments
/// and `${PYPTO_BUILD_JOBS:-4}`. As there, the last of two counts.
pub fn parse_testing_env(text: &str, variable: impl Fn(&str) -> Option<String>) -> TestingEnv {
    let (commands, unended) = commands(text);
    let values = KNOWN.iter().filter_map(|name| Some((*name, variable(name)?))).collect();
    let mut machine = Machine { env: TestingEnv::default(), values };
    commands.iter().for_each(|command| machine.run(command));
    if let Some(line) = unended.filter(|_| names_a_limit(text) || sets_a_default(text)) {
        machine.env.notes.push(Note::new(line, text.lines().nth(line - 1).unwrap_or_default(), UNENDED));
    }
    machine.env
}

/// What a shell knows of its variables while it reads the file.
struct Machine {
    env: TestingEnv,
    values: BTreeMap<&'static str, String>,
}

impl Machine {
    fn run(&mut self, command: &Command<'_>) {
        let assigned: Option<Vec<_>> = command.words.iter().map(Word::assignment).collect();
        match (assigned, command.words.as_slice()) {
            _ if command.is_doubtful => self.refuse_limits(command),
            (Some(assigned), words) => {
                for ((name, parts), word) in assigned.into_iter().zip(words) {
                    let value = self.value(&parts);
                    self.assign(word, name, value);
                }
            }
            (None, [export, words @ ..]) if export.raw == "export" && !words.iter().any(is_option) => {
                self.export(words);
            }
            // It tells what there is, and makes nothing.
            (None, [echo, words @ ..]) if echo.raw == "echo" && !words.iter().any(|word| sets_a_default(word.raw)) => {}
            _ => self.refuse_limits(command),
        }
    }

    /// All words are read before the first of them is carried out.
    fn export(&mut self, words: &[Word<'_>]) {
        let texts: Vec<Option<String>> = words.iter().map(|word| self.value(&word.parts)).collect();
        for (word, text) in words.iter().zip(texts) {
            match (text.as_deref().map(|text| text.split_once('=')), word.assignment()) {
                (Some(Some((name, value))), _) => self.assign(word, name, Some(value.to_owned())),
                // A name alone makes no value.
                (Some(None), _) => {}
                (None, Some((name, _))) => self.assign(word, name, None),
                (None, None) if concerns_a_limit(word) => self.refuse(word),
                (None, None) => {}
            }
        }
    }

    fn value(&self, parts: &[Part]) -> Option<String> {
        value(parts, &|name| KNOWN.contains(&name).then(|| self.values.get(name).cloned()))
    }

    /// A value of `None` is one that only a shell could tell.
    fn assign(&mut self, word: &Word<'_>, name: &str, value: Option<String>) {
        let Some(known) = KNOWN.into_iter().find(|known| *known == name) else {
            // What is assigned is its own affair, unless it sets a default on the way.
            if sets_a_default(word.raw) {
                self.refuse(word);
            }
            return;
        };
        match known {
            PROFILE => self.env.profile = value.clone().filter(|profile| !profile.is_empty()),
            BUILD_JOBS => self.env.build_jobs = self.limit(word, name, value.as_deref()),
            _ => self.env.test_jobs = self.limit(word, name, value.as_deref()),
        }
        self.values.insert(known, value.unwrap_or_default());
    }

    fn limit(&mut self, word: &Word<'_>, name: &str, value: Option<&str>) -> Option<u32> {
        let Some(value) = value else {
            self.refuse(word);
            return None;
        };
        let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
        let limit = value.parse().ok().filter(|limit| digits && *limit > 0);
        if limit.is_none() {
            self.env.notes.push(Note::new(word.line, &format!("{name}={}", value.escape_debug()), NO_NUMBER));
        }
        limit
    }

    /// `[ -n "$CI" ] && export PYPTO_BUILD_JOBS=9`: what a shell would make of it is not known here.
    fn refuse_limits(&mut self, command: &Command<'_>) {
        if let Some(word) = command.words.iter().find(|word| concerns_a_limit(word)) {
            self.refuse(word);
        }
    }

    fn refuse(&mut self, word: &Word<'_>) {
        let text = word.raw.lines().next().unwrap_or_default();
        self.env.notes.push(Note::new(word.line, text, NEEDS_A_SHELL));
    }
}

fn is_option(word: &Word<'_>) -> bool {
    word.text().starts_with('-')
}

fn concerns_a_limit(word: &Word<'_>) -> bool {
    names_a_limit(word.raw) || names_a_limit(&word.text()) || sets_a_default(word.raw)
}

/// Whether a text names a limit other than to read it, as `"$PYPTO_BUILD_JOBS"` does.
fn names_a_limit(text: &str) -> bool {
    [BUILD_JOBS, TEST_JOBS].iter().any(|name| {
        let mut before = text.match_indices(name).map(|(at, _)| text[..at].chars().next_back());
        before.any(|char| !matches!(char, Some('$' | '{' | '_')))
    })
}

/// Whether a text gives a variable that has no value one: `${PYPTO_BUILD_JOBS:=4}`.
fn sets_a_default(text: &str) -> bool {
    KNOWN.iter().any(|name| {
        let found = text.match_indices(name).filter(|(at, _)| text[..*at].ends_with('{'));
        let mut after = found.map(|(at, _)| &text[at + name.len()..]);
        after.any(|rest| rest.starts_with('=') || rest.starts_with(":="))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> TestingEnv {
        parse_testing_env(text, |_| None)
    }

    #[test]
    fn the_limits_of_a_machine() {
        let text = "# here\nexport PYPTO_MACHINE_PROFILE=\"server\"\nexport PYPTO_BUILD_JOBS=4\nPYPTO_BUILD_JOBS='16' # more\n\
                    export PYPTO_TEST_JOBS=8\nexport MAKEFLAGS=\"-j$PYPTO_BUILD_JOBS\"\nconda activate pypto\n\
                    echo \"${PYPTO_TEST_JOBS}\"\n";
        let env = parse(text);
        assert_eq!((env.profile.as_deref(), env.build_jobs, env.test_jobs), (Some("server"), Some(16), Some(8)));
        assert_eq!(env.notes, []);
    }

    #[test]
    fn what_a_shell_takes() {
        for (text, environment, limits) in [
            ("export PYPTO_MACHINE_PROFILE=laptop PYPTO_BUILD_JOBS=1", "", (Some(1), None)),
            ("PYPTO_BUILD_JOBS=\"${PYPTO_BUILD_JOBS:-4}\"", "", (Some(4), None)),
            ("PYPTO_BUILD_JOBS=\"${PYPTO_BUILD_JOBS:-4}\"", "3", (Some(3), None)),
            ("PYPTO_BUILD_JOBS=${PYPTO_BUILD_JOBS-'4'}", "3", (Some(3), None)),
            ("PYPTO_BUILD_JOBS=4; export PYPTO_TEST_JOBS=2", "", (Some(4), Some(2))),
            ("PYPTO_BUILD_JOBS=3;", "", (Some(3), None)),
            ("PYPTO_BUILD_JOBS=3\t# it is small", "", (Some(3), None)),
            ("export PYPTO_BUILD_JOBS='1'\"2\"\nexport PYPTO_BUILD_JOBS", "", (Some(12), None)),
            ("PYPTO_BUILD_JOBS=5 PYPTO_TEST_JOBS=$PYPTO_BUILD_JOBS", "9", (Some(5), Some(5))),
            // All words are read before any is carried out.
            ("export PYPTO_BUILD_JOBS=5 PYPTO_TEST_JOBS=$PYPTO_BUILD_JOBS", "9", (Some(5), Some(9))),
            ("export \\\n  PYPTO_BUILD_JOBS=5", "", (Some(5), None)),
            ("if true; then\n  eval \"$(conda shell)\"\nfi\nexport PYPTO_BUILD_JOBS=3", "", (Some(3), None)),
            ("case $x in a) . b ;; esac\n{ c; }\nPYPTO_BUILD_JOBS=3", "", (Some(3), None)),
            ("echo PYPTO_BUILD_JOBS is \"$PYPTO_BUILD_JOBS\"; make && ls", "8", (None, None)),
            ("# don't set PYPTO_BUILD_JOBS=9", "8", (None, None)),
        ] {
            let variable = |name: &str| (name == BUILD_JOBS && !environment.is_empty()).then(|| environment.to_owned());
            let env = parse_testing_env(text, variable);
            assert_eq!(env.notes, [], "{text}");
            assert_eq!((env.build_jobs, env.test_jobs), limits, "{text}");
        }
        assert_eq!(parse("export PYPTO_MACHINE_PROFILE=laptop PYPTO_BUILD_JOBS=1").profile.as_deref(), Some("laptop"));
    }

    #[test]
    fn nonsense_is_named_with_its_line() {
        for bad in [
            "export PYPTO_BUILD_JOBS=many",
            "export PYPTO_BUILD_JOBS=0",
            "export PYPTO_BUILD_JOBS=",
            "export PYPTO_BUILD_JOBS=+4",
            "export PYPTO_BUILD_JOBS=4\r",
            "export PYPTO_BUILD_JOBS=\"${PYPTO_BUILD_JOBS:-4 }\"",
            "export PYPTO_BUILD_JOBS=$(nproc)",
            "export PYPTO_BUILD_JOBS=$((2 * 2))",
            "export PYPTO_BUILD_JOBS=`nproc`",
            "export PYPTO_BUILD_JOBS=$JOBS",
            "export PYPTO_BUILD_JOBS=$PYPTO_BUILD_JOBS",
            "export PYPTO_TEST_JOBS=99999999999",
            "[ -n \"$CI\" ] && export PYPTO_BUILD_JOBS=9",
            "export PYPTO_BUILD_JOBS=9 &",
            "export PYPTO_BUILD_JOBS=9 > /dev/null",
            "(PYPTO_BUILD_JOBS=9)",
            "PYPTO_BUILD_JOBS=9 make",
            "if [ -n \"$CI\" ]; then export PYPTO_BUILD_JOBS=9; fi",
            "return; PYPTO_BUILD_JOBS=9",
            "X=1 \"return\"; PYPTO_BUILD_JOBS=9",
            "cat << end; PYPTO_BUILD_JOBS=9",
            "unset PYPTO_BUILD_JOBS",
            "declare -x PYPTO_BUILD_JOBS=9",
            "eval \"PYPTO_BUILD_JOBS=9\"",
            "read PYPTO_BUILD_JOBS",
            "PYPTO_BUILD\\\n_JOBS=9",
            "export PYPTO_BUILD_JOBS='9",
            "export PYPTO_BUILD_JOBS=9; fi",
            ": \"${PYPTO_BUILD_JOBS:=9}\"",
            "X=\"${PYPTO_BUILD_JOBS=9}\"",
        ] {
            let env = parse(&format!("export PYPTO_MACHINE_PROFILE=x\n{bad}\n"));
            let line = env.notes.first().map(|note| note.line);
            assert!(matches!(line, Some(2 | 3)), "{bad}: {:?}", env.notes);
        }
        let refused = parse("\nif true; then export PYPTO_BUILD_JOBS=9; fi\n");
        assert!(refused.notes[0].why.contains("expected a plain `export PYPTO_BUILD_JOBS=N`"), "{refused:?}");
    }

    proptest! {
        #[test]
        fn a_limit_is_above_zero_or_there_is_a_note(value in "[0-9a-z\"' #$={}();&|\\\\\n]{0,12}") {
            let env = parse(&format!("export PYPTO_BUILD_JOBS={value}\n"));
            prop_assert!(env.build_jobs.map_or(!env.notes.is_empty(), |jobs| jobs > 0));
        }

        #[test]
        fn any_text_is_read_to_its_end(text in "\\PC{0,40}", more in "[ a-z\"'`$(){}\\\\;\n]{0,40}") {
            parse(&format!("{text}{more}"));
        }
    }
}
