//! `testing.env` as it is read here, against what shells make of it.

use proptest::prelude::*;
use pto_platform::files::parse_testing_env;
use pto_process::{Invocation, Output};

const BUILD: &str = "PYPTO_BUILD_JOBS";
const TEST: &str = "PYPTO_TEST_JOBS";
/// Stands before what a shell says in the end; the file may print what it likes.
const MARK: &str = "limits:";
/// PyPTO's own script is run by the first; the other is stricter.
const SHELLS: [&str; 2] = ["bash", "sh"];

/// What such files are made of, and what could be in the way of reading them.
const PIECES: [&str; 62] = [
    "export ",
    "export ",
    "export ",
    "PYPTO_BUILD_JOBS=",
    "PYPTO_BUILD_JOBS=",
    "PYPTO_TEST_JOBS=",
    "PYPTO_TEST_JOBS=",
    "PYPTO_MACHINE_PROFILE=laptop ",
    "PYPTO_BUILD_JOBS",
    "4",
    "1",
    "16",
    "0",
    "\"",
    "\"",
    "'",
    " ",
    " ",
    "\t",
    ";",
    "; ",
    "\n",
    "\n",
    "\n",
    " # ",
    "#",
    "\\",
    "\\\n",
    "\"${PYPTO_BUILD_JOBS:-4}\"",
    "${PYPTO_BUILD_JOBS:-",
    "${PYPTO_TEST_JOBS-",
    "${PYPTO_TEST_JOBS:=",
    "}",
    "$PYPTO_TEST_JOBS",
    "${PYPTO_BUILD_JOBS}",
    "$(",
    "$((",
    ")",
    "`",
    " && ",
    " || ",
    "|",
    " & ",
    "if true; then ",
    "if false; then ",
    "else ",
    "\nfi\n",
    "(",
    "{ ",
    "; }",
    " << E\n",
    "\nE\n",
    "echo ",
    "true",
    "false",
    "return ",
    "\r",
    "A=",
    "$A",
    "case x in x) ",
    ";; esac\n",
    "unset ",
];

/// What a shell has in the end, if it comes to an end. One that does not understand the file gives nobody a limit: PyPTO's
/// script fails then.
fn by_shell(shell: &str, dir: &std::path::Path, environment: &[(&'static str, String)]) -> Option<(String, String)> {
    let script = format!(". ./testing.env\nprintf '\\n{MARK}%s,%s\\n' \"${BUILD}\" \"${TEST}\"");
    let run = Invocation::new(shell).args(["-c", &script]).cwd(dir).env_remove(BUILD).env_remove(TEST);
    let run = environment.iter().fold(run, |run, (name, value)| run.env(*name, value));
    let output: Output = run.deadline(pto_test::host::PATIENCE).run(&pto_test::machine()).unwrap();
    if output.stderr.text().contains("yntax error") {
        return None;
    }
    let text = output.stdout.text();
    let (build, test) = text.lines().rev().find_map(|line| line.strip_prefix(MARK))?.split_once(',')?;
    Some((build.to_owned(), test.to_owned()))
}

/// What is accepted here and comes to something else in a shell.
fn difference(text: &str, environment: &[(&'static str, String)]) -> Option<String> {
    let given = |name: &str| environment.iter().find(|(found, _)| *found == name).map(|(_, value)| value.clone());
    let read = parse_testing_env(text, given);
    if !read.notes.is_empty() {
        return None;
    }
    let dir = tempfile::tempdir().unwrap();
    fs_err::write(dir.path().join("testing.env"), text).unwrap();
    let number = |text: &str| text.parse::<u32>().ok();
    let differs = |name: &str, read: Option<u32>, shell: &str| match read {
        Some(limit) => number(shell) != Some(limit),
        None => shell != given(name).unwrap_or_default(),
    };
    SHELLS.iter().find_map(|shell| {
        let (build, test) = by_shell(shell, dir.path(), environment)?;
        let is_other = differs(BUILD, read.build_jobs, &build) || differs(TEST, read.test_jobs, &test);
        is_other.then(|| format!("{shell} says `{build}` and `{test}` of {text:?}, which was read as {read:?}"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(250) })]

    #[test]
    fn what_is_accepted_is_what_a_shell_says(
        pieces in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 1..14),
        build in proptest::option::of("[0-9]{0,2}"),
    ) {
        let environment: Vec<_> = build.into_iter().map(|build| (BUILD, build)).collect();
        prop_assert_eq!(difference(&pieces.concat(), &environment), None);
    }

    /// Lines as people write them, so that most are accepted.
    #[test]
    fn whole_lines_are_too(
        lines in proptest::collection::vec((0..LINES.len(), 1..20_u8), 1..6),
        build in proptest::option::of("[0-9]{1,2}"),
    ) {
        let text: String = lines.iter().map(|(line, number)| LINES[*line].replace('N', &number.to_string()) + "\n").collect();
        let environment: Vec<_> = build.into_iter().map(|build| (BUILD, build)).collect();
        prop_assert_eq!(difference(&text, &environment), None);
    }
}

const LINES: [&str; 12] = [
    "export PYPTO_BUILD_JOBS=N",
    "export PYPTO_MACHINE_PROFILE=laptop PYPTO_BUILD_JOBS=N",
    "PYPTO_BUILD_JOBS=\"${PYPTO_BUILD_JOBS:-N}\"",
    "export PYPTO_TEST_JOBS=${PYPTO_BUILD_JOBS-N} # comment",
    "PYPTO_BUILD_JOBS=N; export PYPTO_TEST_JOBS=\"$PYPTO_BUILD_JOBS\"",
    "export PYPTO_BUILD_JOBS=N PYPTO_TEST_JOBS=\"${PYPTO_BUILD_JOBS:-N}\"",
    "PYPTO_BUILD_JOBS=N PYPTO_TEST_JOBS=\"${PYPTO_BUILD_JOBS:-N}\"",
    "PYPTO_TEST_JOBS=N;",
    "export MAKEFLAGS=\"-j$PYPTO_BUILD_JOBS\"",
    "if true; then\n  true\nfi",
    "export \\\n  PYPTO_BUILD_JOBS='N'",
    "[ -n \"$PYPTO_TEST_JOBS\" ] && true",
];

#[test]
fn most_lines_that_people_write_are_accepted() {
    let refused: Vec<_> = LINES
        .iter()
        .filter(|line| !parse_testing_env(&line.replace('N', "3"), |_| Some("2".to_owned())).notes.is_empty())
        .collect();
    assert!(refused.is_empty(), "{refused:?}");
}
