//! Pages and pictures of comparisons.

use std::path::Path;

use pto_golden::Report;
use pto_golden::html::{Case, Page, error_histogram, heat_map, scatter};

use crate::exit::Failure;

/// Writes a page with the command line of this process and the machine it ran on.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, title: String, cases: Vec<Case<'_>>) -> Result<(), Failure> {
    let processors = std::thread::available_parallelism().map_or("unknown".to_owned(), |count| count.to_string());
    let environment = [
        ("ptokit", env!("CARGO_PKG_VERSION").to_owned()),
        ("machine", format!("{} {}, processors: {processors}", std::env::consts::OS, std::env::consts::ARCH)),
        ("directory", std::env::current_dir().map_or("unknown".to_owned(), |dir| dir.display().to_string())),
    ];
    let environment = environment.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let page = Page { title, command: command(), environment, cases };
    fs_err::write(path, page.render()).map_err(|error| Failure::io(&error))
}

/// This command line, to be pasted into a shell.
fn command() -> String {
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let quoted = shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "));
    format!("cargo xtask {quoted}")
}

/// Writes what can be drawn of a report.
///
/// # Errors
/// A file cannot be written.
pub fn pictures(dir: &Path, name: &str, report: &Report) -> Result<(), Failure> {
    let drawings = [("map", heat_map(report)), ("errors", error_histogram(report)), ("values", scatter(report))];
    for (what, svg) in drawings {
        if let Some(svg) = svg {
            fs_err::write(dir.join(format!("{name}.{what}.svg")), svg).map_err(|error| Failure::io(&error))?;
        }
    }
    Ok(())
}
