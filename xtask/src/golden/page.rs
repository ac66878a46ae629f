//! Pages and pictures of comparisons.

use std::path::Path;

use pto_golden::Report;
use pto_golden::html::{Case, Page, error_histogram, heat_map, scatter};

use crate::exit::Failure;
use crate::out;

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
    out::file(path, &page.render())
}

/// This command line, to be pasted into a shell.
fn command() -> String {
    let words = std::env::args_os().skip(1).map(|word| pto_process::shell_word(&word.to_string_lossy()));
    format!("cargo xtask {}", words.collect::<Vec<_>>().join(" "))
}

/// Writes what can be drawn of a report. A name comes out of a file and may be anything; the pictures lie in `dir`.
///
/// # Errors
/// A file cannot be written.
pub fn pictures(dir: &Path, name: &str, report: &Report) -> Result<(), Failure> {
    let drawings = [("map", heat_map(report)), ("errors", error_histogram(report)), ("values", scatter(report))];
    for (what, svg) in drawings {
        if let Some(svg) = svg {
            out::file(&dir.join(format!("{}.{what}.svg", file_name(name))), &svg)?;
        }
    }
    Ok(())
}

/// A name as part of a file's: other characters than the usual ones, and a dot at the start, as `%` and their code.
fn file_name(name: &str) -> String {
    let mut written = String::new();
    for (at, c) in name.char_indices() {
        let usual = c.is_alphanumeric() || matches!(c, '_' | '-') || (c == '.' && at > 0);
        if usual { written.push(c) } else { written.extend(["%".to_owned(), format!("{:02X}", u32::from(c))]) }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_never_leads_out_of_the_directory() {
        assert_eq!(file_name("layer.0/w_q-1"), "layer.0%2Fw_q-1");
        assert_eq!(file_name("../../evil"), "%2E.%2F..%2Fevil");
        assert_eq!(file_name("/etc/x"), "%2Fetc%2Fx");
    }
}
