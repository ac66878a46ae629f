//! Builds an entry of multiplication tables, one file each, unless it is there, and prints where it is:
//!
//! `tables ROOT KEY COUNT`
//!
//! Says `building` on stderr if it was not there. Exit codes: 0 there, 2 wrong usage, 3 not to be had.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program, not a library")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use pto_context::{Context, Silent};
use pto_store::{Error, Store, stop_if_interrupted};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [root, key, count] = &args[..] else { return usage() };
    let Ok(count) = count.parse() else { return usage() };
    match run(root, key, count) {
        Ok(dir) => {
            println!("{}", dir.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            let mut cause: Option<&dyn std::error::Error> = Some(&error);
            while let Some(shown) = cause {
                eprintln!("error: {shown}");
                cause = shown.source();
            }
            error.hint().into_iter().for_each(|hint| eprintln!("hint: {hint}"));
            ExitCode::from(3)
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: tables ROOT KEY COUNT");
    ExitCode::from(2)
}

fn run(root: &str, key: &str, count: u32) -> Result<PathBuf, Error> {
    let cx = Context::from_process(Arc::new(Silent)).map_err(|e| Error::io("cannot tell the current directory", e))?;
    let store = Store::open(cx.cwd().join(root));
    store.entry("tables", key)?.get_or_build(&cx, |dir| {
        eprintln!("building");
        (1..=count).try_for_each(|number| write_table(dir, number))
    })
}

fn write_table(dir: &Path, number: u32) -> Result<(), Error> {
    stop_if_interrupted()?;
    let table: String = (1..=1000).map(|factor| format!("{}\n", u64::from(number) * factor)).collect();
    fs_err::write(dir.join(number.to_string()), table).map_err(|e| Error::write("cannot write a table", dir, e))
}
