//! What can be typed.

use std::ffi::OsString;
use std::path::Path;

use clap::{CommandFactory, Parser, Subcommand};
pub use pto_context::NAMES;

use crate::{
    build, bundle, container, devices, doctor, env, golden, images, kernel, ptoas, quickstart, setup_home, store, test,
    triage, update,
};

/// Build, run and verify PTO kernels for Ascend NPUs, on any machine.
#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    version,
    after_help = "Exit codes: 0 passed, 1 the verdict is negative, 2 wrong usage or a malformed file,\n\
                  3 this machine lacks something, 130 interrupted.\n\n\
                  Example:\n  cargo xtask quickstart"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Set this machine up, then compile, launch and verify every example
    Quickstart(quickstart::Args),
    /// Run this workspace's own tests, with all they need set up
    Test(test::Args),
    /// Kernels: new, adopt, list, build, test, bench, bind, log, done, lint, inspect, clean
    Kernel(kernel::Args),
    /// Tensors: compare files or directories
    Golden(golden::Args),
    /// Examine this machine: what is wrong, and what to do
    Doctor(doctor::Args),
    /// List the NPUs: index, target, health, who uses them, which are set aside
    Devices(devices::Args),
    /// Say what error codes and logs mean: the first cause, its fallout, the next check
    Triage(triage::Args),
    /// The pinned assembler: install, status
    Ptoas(ptoas::Args),
    /// Set a PyPTO home up: uv, the Python environment of a checkout, our own program
    Setup(setup_home::Args),
    /// Build a PyPTO checkout and its runtime, with what is there where that is sound
    Build(build::Args),
    /// Bring a PyPTO checkout up to date, and everything that is made from it
    Update(update::Args),
    /// Print what a shell has to export for PyPTO and PTOAS
    Env(env::Args),
    /// The development container: build, run, shell
    Container(container::Args),
    /// What has been fetched and built: list, verify, gc
    Store(store::Args),
    /// Pack what a problem report should carry into one file, secrets and names masked
    Bundle(bundle::Args),
    /// The published images: validate, plan, test, publish, promote, rollback, status
    Images(images::Args),
}

/// The command line as it is meant: a program that is linked or copied under one of [`NAMES`] is that verb.
pub fn words(given: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = given.into_iter().collect();
    let called = words.first().and_then(|program| Path::new(program).file_name()?.to_str().map(str::to_owned));
    // The names that these helpers had as scripts.
    let called = called.map(|name| name.strip_suffix(".sh").map(str::to_owned).unwrap_or(name));
    // A verb has no version of its own.
    let asks_version = words.get(1).is_some_and(|word| word == "--version" || word == "-V");
    let named = NAMES.iter().find(|(name, _)| called.as_deref() == Some(*name));
    if let Some((_, verb)) = named.filter(|_| !asks_version) {
        words.splice(1..1, verb.iter().map(OsString::from));
    }
    words
}

/// Whether these words ask for JSON, even if they ask for nothing else that makes sense.
pub fn wants_json(words: &[OsString]) -> bool {
    words.iter().skip(1).take_while(|word| *word != "--").any(|word| word == "--json")
}

/// The schema of the document of the verb that these words name: `ptokit.kernel-test/1`.
pub fn schema(words: &[OsString]) -> String {
    let (mut command, mut names) = (Cli::command(), Vec::new());
    for word in words.iter().skip(1).filter_map(|word| word.to_str()) {
        let Some(next) = command.find_subcommand(word).cloned() else {
            if word.starts_with('-') { continue } else { break }
        };
        names.push(word.to_owned());
        command = next;
    }
    let verb = if names.is_empty() { "command-line".to_owned() } else { names.join("-") };
    format!("ptokit.{verb}/1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_schema_is_known_before_the_command_line_is_understood() {
        assert_eq!(schema(&words("xtask kernel test list --json")), "ptokit.kernel-test/1");
        assert_eq!(schema(&words("xtask kernel --json build --nonsense")), "ptokit.kernel-build/1");
        assert_eq!(schema(&words("xtask --json quickstart")), "ptokit.quickstart/1");
        assert_eq!(schema(&words("xtask nonsense --json")), "ptokit.command-line/1");
    }

    #[test]
    fn what_follows_two_dashes_is_the_test_runners() {
        assert!(wants_json(&words("xtask test --json -- -q")));
        assert!(!wants_json(&words("xtask test -- --json")));
    }

    #[test]
    fn a_name_of_its_own_is_a_verb() {
        let called = |line: &str| super::words(words(line));
        assert_eq!(
            called("/opt/pypto/bin/pypto-doctor --strict"),
            words("/opt/pypto/bin/pypto-doctor doctor --strict")
        );
        assert_eq!(called("scripts/pypto-dev.sh run a3 1"), words("scripts/pypto-dev.sh container run a3 1"));
        assert_eq!(called("pypto-install-ptoas --force"), words("pypto-install-ptoas ptoas install --force"));
        assert_eq!(called("target/debug/xtask doctor"), words("target/debug/xtask doctor"));
        for (name, _) in NAMES {
            let version = Cli::try_parse_from(called(&format!("{name} --version"))).unwrap_err();
            assert_eq!(version.kind(), clap::error::ErrorKind::DisplayVersion, "{name}");
        }
    }

    #[test]
    fn names_stand_for_verbs_that_exist() {
        for (name, verb) in NAMES {
            let found = verb.iter().try_fold(Cli::command(), |command, word| command.find_subcommand(word).cloned());
            assert!(found.is_some(), "`{name}` stands for `{}`", verb.join(" "));
        }
    }

    #[test]
    fn every_verb_shows_an_example() {
        fn walk(command: &clap::Command) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Example"), "`{}` shows no example", command.get_name());
            command.get_subcommands().filter(|verb| verb.get_name() != "help").for_each(walk);
        }
        walk(&Cli::command());
    }
}
