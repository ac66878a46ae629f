//! Compiler messages, as the user should see them.

use std::path::{Path, PathBuf};

use pto_process::Output;

/// More than this many lines help nobody.
const MAX_LINES: usize = 60;

/// What a compiler or linker said.
pub(super) struct Messages<'a> {
    output: &'a Output,
    /// Directories of ours, of which the user knows nothing.
    hidden: Vec<PathBuf>,
    /// Where the user is.
    cwd: Option<PathBuf>,
}

impl<'a> Messages<'a> {
    pub(super) fn of(output: &'a Output) -> Self {
        Self { output, hidden: Vec::new(), cwd: None }
    }

    /// Drops steps of include stacks that lie below `dir`.
    pub(super) fn hiding(mut self, dir: &Path) -> Self {
        self.hidden.push(dir.to_path_buf());
        self
    }

    /// Shows paths below `cwd` as a user who is there types them.
    pub(super) fn seen_from(mut self, cwd: &Path) -> Self {
        self.cwd = Some(cwd.to_path_buf()).filter(|cwd| cwd.parent().is_some());
        self
    }

    /// The messages of a failed tool in its own words; a long template trace is cut in the end.
    pub(super) fn text(&self) -> String {
        let lines = self.lines();
        if lines.is_empty() {
            return format!("(no message; the compiler {})", self.output.status);
        }
        let more = lines.len().saturating_sub(MAX_LINES);
        let mut shown = lines[..lines.len().min(MAX_LINES)].join("\n");
        if more > 0 {
            shown.push_str(&format!("\n... {more} more lines"));
        }
        shown
    }

    /// The messages of a tool that succeeded: all of them, each line ended.
    pub(super) fn warnings(&self) -> String {
        self.lines().iter().map(|line| format!("{line}\n")).collect()
    }

    fn lines(&self) -> Vec<String> {
        let text = self.output.stderr.text();
        let prefix = |dir: &PathBuf| format!("{}/", dir.display());
        let hidden: Vec<String> = self.hidden.iter().map(prefix).collect();
        // Ours first: the store may lie below the user's directory.
        let cut: Vec<String> = hidden.iter().cloned().chain(self.cwd.as_ref().map(prefix)).collect();
        text.lines().filter(|line| !is_our_include(line, &hidden)).map(|line| without_dirs(line, &cut)).collect()
    }
}

/// A step of an include stack that leads through our own files: `In file included from F:1:`, and in GCC's stacks
/// `                 from F:1:` as well.
fn is_our_include(line: &str, hidden: &[String]) -> bool {
    let step = line.strip_prefix("In file included from ").or_else(|| line.trim_start().strip_prefix("from "));
    step.is_some_and(|file| {
        file.starts_with("<built-in>")
            || file.starts_with("<command-line>")
            || hidden.iter().any(|dir| file.starts_with(dir))
    })
}

/// The line with paths below these directories cut short.
fn without_dirs(line: &str, dirs: &[String]) -> String {
    dirs.iter().fold(line.to_owned(), |line, dir| line.replace(dir, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_through_our_own_files_are_dropped() {
        let hidden = ["/s/scratch/".to_owned()];
        assert!(is_our_include("In file included from /s/scratch/source-0.0.cpp:1:", &hidden));
        assert!(is_our_include("                 from /s/scratch/source-0.0.cpp:1:", &hidden));
        assert!(is_our_include("In file included from <built-in>:1:", &hidden));
        assert!(!is_our_include("In file included from k.cpp:3:", &hidden));
        assert_eq!(without_dirs("ld: /s/scratch/source-0.0.o: in function", &hidden), "ld: source-0.0.o: in function");
    }
}
