//! Processes of this machine, as the kernel shows them.

use std::path::{Path, PathBuf};

/// A process that there was when it was looked for.
#[derive(Debug, Clone)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    /// Its directory below `/proc`.
    proc: PathBuf,
}

impl Process {
    /// All that this process may see.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).map(Self::of)
    }

    pub(crate) fn of(pid: u32) -> Self {
        Self { pid, proc: PathBuf::from("/proc").join(pid.to_string()) }
    }

    /// The name of its program, cut by the kernel.
    pub(crate) fn name(&self) -> Option<String> {
        Some(std::fs::read_to_string(self.proc.join("comm")).ok()?.trim_end().to_owned())
    }

    /// Its command line, secrets masked.
    pub(crate) fn command(&self) -> Option<String> {
        let command = std::fs::read(self.proc.join("cmdline")).ok()?;
        let words: Vec<_> = command.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
        Some(pto_process::masked(words.join(" ").trim()))
    }

    /// Whether it works in a directory or below it. Of processes of other users only root is told.
    pub(crate) fn is_in(&self, dir: &Path) -> bool {
        std::fs::read_link(self.proc.join("cwd")).is_ok_and(|cwd| cwd.starts_with(dir))
    }

    /// When it began, in the kernel's ticks since the system did.
    pub(crate) fn start(&self) -> Option<u64> {
        const START_TIME: usize = 19;
        let stat = std::fs::read_to_string(self.proc.join("stat")).ok()?;
        // The name before the last bracket may hold anything, blanks too.
        stat.rsplit_once(')')?.1.split_whitespace().nth(START_TIME)?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_seen() {
        let me = Process::of(std::process::id());
        assert!(Process::all().any(|process| process.pid == me.pid));
        assert!(me.is_in(&std::env::current_dir().unwrap()) && !me.is_in(Path::new("/nowhere")));
        assert!(me.start() > Process::of(1).start());
        assert!(me.command().is_some_and(|command| command.contains(&me.name().unwrap()[..5])), "{:?}", me.command());
    }
}
