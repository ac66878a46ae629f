//! Runs what `console` blocks show: lines that start with `$ ` are commands, the lines below them output.
//!
//! An HTML comment right before a block changes how it is run; several are separated by commas:
//!
//! | comment | meaning |
//! |---|---|
//! | `exit N` | the last command ends with N and not with 0 |
//! | `scratch` | in an empty directory, which the blocks of a page share; `cp`, `mv` and `sed -i` are commands there too |
//! | `no-run: reason` | not run |
//!
//! Each documented line has to occur in what the command writes, in that order. `...` stands for anything, within a line
//! or as a line of its own; times and line numbers are not compared.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use assert_cmd::Command;
use tempfile::TempDir;

use crate::pages::{Block, Page, root};

/// Above what the slowest command takes on a cold store, far below what a hang takes.
const LIMIT: Duration = Duration::from_secs(600);
const CARGO_XTASK: [&str; 2] = ["cargo", "xtask"];

/// What a block's comment says.
#[derive(Default)]
struct How {
    exit: i32,
    scratch: bool,
    no_run: bool,
}

/// One command of a block and the output shown below it.
struct Shown<'a> {
    line: usize,
    command: &'a str,
    output: Vec<&'a str>,
}

/// What a command did.
#[derive(Clone)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    stderr: String,
}

/// Runs commands, those outside of scratch directories once each.
#[derive(Default)]
pub(crate) struct Console {
    done: HashMap<String, Ran>,
    pub(crate) count: usize,
}

impl Console {
    /// Runs the blocks of a page; what is wrong is added to `wrong`. Gives what each command with `--json` printed.
    pub(crate) fn page(&mut self, page: &Page, wrong: &mut Vec<String>) -> Vec<Ran> {
        let mut scratch = None;
        let mut json = Vec::new();
        for block in page.blocks.iter().filter(|block| block.info == "console") {
            match how(block) {
                Ok(how) if how.no_run => {}
                Ok(how) => self.block(page, block, &how, &mut scratch, &mut json, wrong),
                Err(problem) => wrong.push(format!("{}: {problem}", page.at(block.line))),
            }
        }
        json
    }

    fn block(
        &mut self,
        page: &Page,
        block: &Block,
        how: &How,
        scratch: &mut Option<TempDir>,
        json: &mut Vec<Ran>,
        wrong: &mut Vec<String>,
    ) {
        let shown = commands(block);
        let last = shown.last().map(|shown| shown.line);
        for shown in shown {
            let dir = how.scratch.then(|| scratch.get_or_insert_with(|| tempfile::tempdir().unwrap()).path());
            let ran = match self.run(shown.command, dir) {
                Ok(ran) => ran,
                Err(problem) => {
                    wrong.push(format!("{}: `{}`: {problem}", page.at(shown.line), shown.command));
                    return;
                }
            };
            let expected = if Some(shown.line) == last { how.exit } else { 0 };
            if ran.code != Some(expected) {
                let whole = format!("{}{}", ran.stdout, ran.stderr);
                wrong.push(format!(
                    "{}: `{}` ended with {:?}, expected {expected}:\n{whole}",
                    page.at(shown.line),
                    shown.command,
                    ran.code
                ));
            }
            // Progress is on stderr and comes first; what is left of it does not stand in the way of a line of stdout.
            let missing = first_missing(&shown.output, &format!("{}\n{}", ran.stderr, ran.stdout));
            if let Some(line) = missing {
                wrong.push(format!(
                    "{}: `{}` does not write `{line}`; it writes\n{}{}",
                    page.at(shown.line),
                    shown.command,
                    ran.stderr,
                    ran.stdout
                ));
            }
            if shown.command.contains("--json") {
                json.push(ran);
            }
        }
    }

    fn run(&mut self, command: &str, scratch: Option<&Path>) -> Result<Ran, String> {
        if let Some(ran) = self.done.get(command).filter(|_| scratch.is_none()) {
            return Ok(ran.clone());
        }
        let words = shlex::split(command).ok_or("cannot be split into words")?;
        let program = words.iter().position(|word| !is_assignment(word)).unwrap_or(words.len());
        let (assignments, words) = words.split_at(program);
        let mut process = match words {
            [cargo, xtask, args @ ..] if [cargo, xtask] == CARGO_XTASK => {
                let mut process = Command::new(env!("CARGO_BIN_EXE_xtask"));
                process.args(args);
                if scratch.is_some() && args.starts_with(&["kernel".into(), "new".into()]) {
                    // Without it the kernel would go into `kernels/` of the workspace that is being tested.
                    process.args(["--dir", "kernels"]);
                }
                process
            }
            [program, args @ ..] if scratch.is_some() && ["cp", "mv", "sed"].contains(&program.as_str()) => {
                let mut process = Command::new(program);
                process.args(args);
                process
            }
            _ => return Err("only `cargo xtask` is run, and in a scratch block `cp`, `mv` and `sed`".to_owned()),
        };
        process.envs(assignments.iter().filter_map(|word| word.split_once('=')));
        let dir = scratch.map_or_else(root, Path::to_path_buf);
        let output = process.current_dir(dir).timeout(LIMIT).output().map_err(|error| error.to_string())?;
        self.count += 1;
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let ran = Ran { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) };
        if scratch.is_none() {
            self.done.insert(command.to_owned(), ran.clone());
        }
        Ok(ran)
    }
}

/// `NAME=value` before a command.
fn is_assignment(word: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit()))
}

fn how(block: &Block) -> Result<How, String> {
    let mut how = How::default();
    let Some(note) = &block.note else { return Ok(how) };
    if let Some(reason) = note.strip_prefix("no-run:") {
        how.no_run = true;
        return if reason.trim().is_empty() { Err("`no-run` without a reason".to_owned()) } else { Ok(how) };
    }
    for word in note.split(',').map(str::trim) {
        match word.split_once(' ') {
            None if word == "scratch" => how.scratch = true,
            Some(("exit", code)) => how.exit = code.parse().map_err(|_| format!("no exit code: `{word}`"))?,
            _ => return Err(format!("the comment `{word}` before a console block is not known")),
        }
    }
    Ok(how)
}

fn commands(block: &Block) -> Vec<Shown<'_>> {
    let mut shown: Vec<Shown<'_>> = Vec::new();
    for (index, line) in block.text.lines().enumerate() {
        if let Some(command) = line.strip_prefix("$ ") {
            shown.push(Shown { line: block.line + 1 + index, command, output: Vec::new() });
        } else if let Some(last) = shown.last_mut() {
            last.output.push(line);
        }
    }
    shown
}

/// The first documented line that does not occur, each being looked for after the one before.
fn first_missing<'a>(documented: &[&'a str], output: &str) -> Option<&'a str> {
    let mut lines = output.lines().map(normal);
    let meant = documented.iter().filter(|line| !matches!(line.trim(), "" | "..."));
    meant.copied().find(|line| !lines.any(|found| fits(&normal(line), &found)))
}

/// A line without what differs from run to run: widths of columns, times, line numbers.
fn normal(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_number = |word: &str| word.trim_start_matches('(').parse::<f64>().is_ok();
    let kept = words.iter().enumerate().map(|(at, word)| {
        let is_time = words.get(at + 1).is_some_and(|next| matches!(*next, "s" | "s)"));
        let is_line = at > 0 && words[at - 1] == "line";
        if is_number(word) && (is_time || is_line) { "#" } else { word }
    });
    kept.collect::<Vec<_>>().join(" ")
}

/// Whether a line is the documented one, in which `...` stands for anything.
fn fits(documented: &str, found: &str) -> bool {
    let mut parts = documented.split("...").map(str::trim);
    let Some(mut rest) = found.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut elided = false;
    for part in parts {
        elided = true;
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.is_empty() || (elided && documented.ends_with("..."))
}

#[test]
fn lines_are_compared_as_a_reader_would() {
    let output = "Compiled vec_add (3.6 s)\nkernel   verdict\nvec_add  passed   0.16 s\nlisted in line 46\n";
    for documented in [
        &["Compiled vec_add (9.1 s)"][..],
        &["...", "vec_add passed 1.00 s"],
        &["kernel ...", "", "vec_add ...", "listed in line 4"],
        &["Compiled ... s)"],
    ] {
        assert_eq!(first_missing(documented, output), None, "{documented:?}");
    }
    for documented in [&["vec_add"][..], &["vec_add passed 0.16 s", "kernel verdict"], &["Compiled ... passed"]] {
        assert!(first_missing(documented, output).is_some(), "{documented:?}");
    }
}
