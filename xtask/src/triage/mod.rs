//! `triage`: what error codes and logs mean.

mod text;

use std::io::{BufReader, IsTerminal as _, stdin};
use std::path::{Path, PathBuf};

use pto_context::with_causes;
use pto_doctor::triage::{Surroundings, Triage, TriageError, Triager};
use serde::Serialize;

use crate::exit::{Failure, Outcome};
use crate::out;
use crate::setup::Common;

/// What a log read from standard input is called.
const STDIN: &str = "stdin";
/// Bytes read at a time: logs of gigabytes are read from end to end.
const CHUNK: usize = 256 << 10;

/// `triage`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Explaining a fault is success: the exit code is 0 whatever was found, and 2 if a code or file cannot be read.\n\n\
                  Example:\n  cargo xtask triage 507018\n  cargo xtask triage --log run.log slog.txt\n  \
                  some-command 2>&1 | cargo xtask triage"
)]
pub struct Args {
    /// Error codes: `507018`, `-8020`, `EL0005`, `0x2a`, `ACL_ERROR_RT_NO_DEVICE`, an exit status such as `172`; a
    /// word that is none and names a file is read as a log
    #[arg(value_name = "CODE", allow_negative_numbers = true)]
    codes: Vec<String>,
    /// Logs of any kind and size; `-` is standard input, which is read too if it is a pipe and nothing else is given
    #[arg(long, value_name = "FILE", num_args = 1..)]
    log: Vec<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// What `triage --json` prints.
#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    #[serde(flatten)]
    triage: &'a Triage,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let mut surroundings = Surroundings::of(&cx);
    surroundings.processor = pto_platform::Machine::current();
    surroundings.cpus = std::thread::available_parallelism().ok().map(Into::into);
    let mut triager = Triager::new(surroundings);
    for code in &args.codes {
        code_or_log(&mut triager, code)?;
    }
    for log in logs(args)? {
        read(&mut triager, &log)?;
    }
    let triage = triager.finish();
    if args.common.json {
        out::json(&Document { schema: "ptokit.triage/1", triage: &triage })?;
    } else {
        out::text(&text::text(&triage))?;
    }
    Ok(Outcome::Passed)
}

/// A code; what is none and is a file is the log that was meant.
fn code_or_log(triager: &mut Triager, word: &str) -> Result<(), Failure> {
    let Err(error) = triager.code(word) else { return Ok(()) };
    let path = Path::new(word);
    if word == "-" || path.is_file() {
        return read(triager, path);
    }
    if word.contains(['/', '.']) {
        let hint = "codes look like `507018` or `EL0005`; a log is given by its path".to_owned();
        return Err(Failure::usage(format!("`{word}` is not an error code, and there is no such file"), hint));
    }
    Err(refused(error))
}

fn logs(args: &Args) -> Result<Vec<PathBuf>, Failure> {
    if !args.log.is_empty() || !args.codes.is_empty() {
        return Ok(args.log.clone());
    }
    if stdin().is_terminal() {
        return Err(Failure::usage(
            "there is nothing to triage",
            "give codes, logs with `--log`, or pipe a command's output: `some-command 2>&1 | cargo xtask triage`"
                .to_owned(),
        ));
    }
    Ok(vec![PathBuf::from("-")])
}

fn read(triager: &mut Triager, log: &Path) -> Result<(), Failure> {
    if log == Path::new("-") {
        return triager.log(STDIN, BufReader::with_capacity(CHUNK, stdin().lock())).map_err(refused);
    }
    let file = fs_err::File::open(log).map_err(|error| Failure::usage(with_causes(&error), None))?;
    triager.log(&log.display().to_string(), BufReader::with_capacity(CHUNK, file)).map_err(refused)
}

fn refused(error: TriageError) -> Failure {
    Failure::usage(with_causes(&error), error.hint())
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use pto_doctor::triage::rules;

    /// What the rules tell people to type is something that can be typed.
    #[test]
    fn commands_of_the_rules_are_understood() {
        let pages: String = rules::all().map(|rule| rule.page()).collect();
        let commands: Vec<&str> = pages.split("cargo xtask ").skip(1).collect();
        assert!(!commands.is_empty());
        for command in commands {
            let command = command.split(['\n', ';', '#', '|', '`']).next().unwrap();
            let words = shlex::split(command.trim()).unwrap();
            let parsed = crate::cli::Cli::try_parse_from(["xtask".to_owned()].into_iter().chain(words));
            assert!(parsed.is_ok(), "cargo xtask {command}: {}", parsed.unwrap_err());
        }
    }
}
