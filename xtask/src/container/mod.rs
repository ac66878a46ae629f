//! `container`: the development container.

mod build;
mod locked;
mod run;
mod shell;

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::Path;

use pto_container::{CheckId, Error, Finding, Series};
use pto_context::{Context, with_causes};
use pto_process::{Invocation, Stream};
use serde::Serialize;

use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::{out, style};

/// `container`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask container run a3 0")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    common: Common,
}

/// The verbs below `container`.
#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Build the development image on this machine
    Build(build::Args),
    /// Make the development container, or enter the one that is there
    Run(run::Args),
    /// Enter a container that is there, whatever it is made of
    Shell(shell::Args),
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.verb {
        Verb::Build(verb) => build::run(verb, &args.common),
        Verb::Run(verb) => run::run(verb, &args.common),
        Verb::Shell(verb) => shell::run(verb, &args.common),
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::of(error.fault(), with_causes(&error), error.hint())
    }
}

/// A series as it is typed.
fn series(given: &str) -> Result<Series, String> {
    given.parse()
}

fn has_terminal() -> bool {
    std::io::stdin().is_terminal()
}

/// Tells users something before the session begins, on stderr, since stdout is the session's.
fn announce(common: &Common, text: &str) {
    if !common.quiet {
        out::say(text);
    }
}

/// A check that fails, in a document.
#[derive(Debug, Serialize)]
struct Found<'a> {
    #[serde(flatten)]
    finding: &'a Finding,
    /// Whether it may fail, by `--skip-check`.
    skipped: bool,
}

impl<'a> Found<'a> {
    fn all(findings: &'a [Finding], skip: &[CheckId]) -> Vec<Self> {
        let found = |finding: &'a Finding| Self { finding, skipped: skip.contains(&finding.check) };
        findings.iter().map(found).collect()
    }
}

/// What a dry run says about a check of the host that fails.
fn announce_refusal(common: &Common, finding: &Finding) {
    announce(common, &format!("{} {}: {}", style::warning("would be refused:"), finding.check, finding.found));
}

/// Commands that would be run, one per line, to be pasted into a shell.
fn lines(commands: &[String]) -> String {
    commands.iter().map(|command| format!("{command}\n")).collect()
}

/// Passes on the lines of the client as they come.
fn client_line(common: &Common) -> impl FnMut(Stream, &str) {
    let quiet = common.quiet;
    move |_, line| {
        if !quiet {
            out::say(&style::dim(line));
        }
    }
}

/// A session prints whatever runs in it, and no JSON document.
fn refuse_json(common: &Common, hint: &str) -> Result<(), Failure> {
    if !common.json {
        return Ok(());
    }
    Err(Failure::usage("a session prints what is run in it, not one JSON document", hint.to_owned()))
}

/// An error as it is shown. If the remedy is to remove the container, the hint ends with the command line that was typed.
fn failure(cx: &Context, error: Error) -> Failure {
    let Some((keep, remove)) = error.removal() else { return error.into() };
    let Typed { line, needs } = typed(cx);
    Failure::negative(with_causes(&error), format!("{keep}. Then:\n  {needs}{remove} && {line}"))
}

/// Variables that say what a container is made of. One may have been set for this command alone.
const VARIABLES: [&str; 9] = [
    "PYPTO_CACHE_VOLUME",
    "PYPTO_CANN_TAG",
    "PYPTO_CONTAINER_NAME",
    "PYPTO_DEVICE_ACCESS",
    "PYPTO_HOST_WORKSPACE",
    "PYPTO_IMAGE",
    "PYPTO_LIB_SRC",
    "PYPTO_SHM_SIZE",
    "PYPTO_SRC",
];

/// A command line to be typed again.
struct Typed {
    line: String,
    /// What a shell has to check before, so that nothing is removed which cannot be made again.
    needs: &'static str,
}

/// The command line of this process.
fn typed(cx: &Context) -> Typed {
    let mut words = std::env::args_os();
    let called = words.next().unwrap_or_default();
    let through_cargo = cx.var_os("CARGO").is_some() && Path::new(&called).file_name() == Some("xtask".as_ref());
    let again = if through_cargo { Invocation::new("cargo").arg("xtask") } else { Invocation::new(called) };
    let (words, has_proxy) = words_again(words.collect());
    let again = VARIABLES.iter().fold(again, |again, name| match cx.var(name) {
        Some(value) => again.env(*name, value),
        None => again,
    });
    let line = again.args(words).to_shell_line();
    match has_proxy {
        false => Typed { line, needs: "" },
        true => Typed {
            line: format!("PYPTO_DOCKER_PROXY=\"$PYPTO_DOCKER_PROXY\" {line}"),
            needs: ": \"${PYPTO_DOCKER_PROXY:?set it to the proxy that was typed}\" && ",
        },
    }
}

/// The words without `--dry-run`, and without a proxy that has a user; whether there was one. Such a proxy goes into the variable: masked, the command
/// line would name another proxy.
fn words_again(words: Vec<OsString>) -> (Vec<OsString>, bool) {
    let (mut kept, mut found, mut words) = (Vec::new(), false, words.into_iter().peekable());
    let has_user = |word: &OsString| word.to_string_lossy().contains('@');
    while let Some(word) = words.next() {
        if word == "--" {
            kept.push(word);
            kept.extend(words);
            break;
        }
        if word == "--proxy" && words.peek().is_some_and(has_user) {
            words.next();
            found = true;
        } else if word.to_string_lossy().starts_with("--proxy=") && has_user(&word) {
            found = true;
        } else if word != "--dry-run" {
            kept.push(word);
        }
    }
    (kept, found)
}

/// Prints commands, or a document with them.
fn show(common: &Common, commands: &[String], document: &impl serde::Serialize) -> Result<Outcome, Failure> {
    if common.json {
        out::json(document)?
    } else {
        out::text(&lines(commands))?
    }
    Ok(Outcome::Passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_again_has_no_password_and_does_something() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let without = |text: &str| words_again(words(text));
        assert_eq!(without("run a3 0 --proxy http://u:p@h:1 --tty"), (words("run a3 0 --tty"), true));
        assert_eq!(without("run a3 --proxy=u:p@h:1 0"), (words("run a3 0"), true));
        assert_eq!(without("run a3 0 --dry-run"), (words("run a3 0"), false));
        for kept in ["run a3 0 --proxy http://h:1", "run a3 0 -- x --proxy u@h"] {
            assert_eq!(without(kept), (words(kept), false));
        }
    }
}
