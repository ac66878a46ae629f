//! This program, as it is built to go into the image: an outdated one would not do what the sources beside it say.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use pto_context::files;

use crate::error::Error;

/// How to get one.
const BUILD: &str = "build it: `cargo build --release -p xtask`, or name another with `--binary FILE`";

/// The program's path below the directory, however it was named: in full, or with `./` before it.
pub(crate) fn below(context: &Path, program: &Path) -> PathBuf {
    let within = program.strip_prefix(context).unwrap_or(program);
    within.components().filter(|part| !matches!(part, Component::CurDir)).collect()
}

/// Checks that the program exists and is not older than its sources, which Cargo lists in a file beside it. A program that was
/// built elsewhere has no such file and is taken as it is.
pub(crate) fn require(program: &Path) -> Result<(), Error> {
    let no_program = || Error::NoBuildFile { file: program.to_owned(), what: BUILD };
    let built = modified(program).filter(|_| program.is_file()).ok_or_else(no_program)?;
    if let Some(why) = fault_of(program) {
        return Err(Error::NotAProgram { program: program.to_owned(), why });
    }
    let sources = std::fs::read_to_string(program.with_extension("d")).map(|text| sources(&text)).unwrap_or_default();
    let changed = sources.into_iter().find(|source| modified(source).is_none_or(|at| at > built));
    match changed {
        Some(source) => Err(Error::OldProgram { program: program.to_owned(), source_file: source }),
        None => Ok(()),
    }
}

/// Why the kernel would not run it. A shell runs an empty file, and everything that it is to do seems done.
fn fault_of(program: &Path) -> Option<&'static str> {
    let (mut file, mut magic) = (files::open_regular(program).ok()?, [0; 4]);
    match file.read_exact(&mut magic) {
        Ok(()) if magic == *b"\x7fELF" || magic.starts_with(b"#!") => None,
        Ok(()) => Some("is neither an ELF file nor a script"),
        Err(_) => Some("is empty or cut off"),
    }
}

/// That the engine is sent it: `.dockerignore` may leave it out, which would show only when the build has run for minutes. Its patterns
/// are read as far as ours go, names and `*` alone; with others nothing is said.
pub(crate) fn require_sent(context: &Path, program: &Path) -> Result<(), Error> {
    let not_sent = || Error::NotSent { program: program.to_owned(), context: context.to_owned() };
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    if !program.components().all(is_plain) {
        return Err(not_sent());
    }
    // The engine is sent a link as it is, and what it leads to only if that lies there too, by its own name.
    let real = |path: &Path| path.canonicalize().ok();
    if real(&context.join(program)).is_some_and(|found| Some(found) != real(context).map(|dir| dir.join(program))) {
        return Err(not_sent());
    }
    let text = std::fs::read_to_string(context.join(".dockerignore")).unwrap_or_default();
    let mut is_sent = true;
    for pattern in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (sends, pattern) = pattern.strip_prefix('!').map_or((false, pattern), |pattern| (true, pattern));
        if pattern != "*" && pattern.contains(['*', '?', '[', '\\']) {
            return Ok(());
        }
        // A directory stands for all below it.
        if pattern == "*" || program.starts_with(pattern.trim_matches('/')) {
            is_sent = sends;
        }
    }
    if is_sent { Ok(()) } else { Err(not_sent()) }
}

fn modified(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).and_then(|metadata| metadata.modified()).ok()
}

/// The files of a rule in the syntax of `make`: `PROGRAM: FILE FILE`, with a backslash before each blank in a name.
fn sources(rule: &str) -> Vec<PathBuf> {
    let files = rule.lines().next().and_then(|line| line.split_once(": ")).map_or("", |(_, files)| files);
    let mut names = vec![String::new()];
    let mut letters = files.chars().peekable();
    while let Some(letter) = letters.next() {
        let name = names.last_mut().expect("one is there from the start");
        match letter {
            '\\' if letters.peek() == Some(&' ') => name.extend(letters.next()),
            ' ' => names.push(String::new()),
            letter => name.push(letter),
        }
    }
    names.into_iter().filter(|name| !name.is_empty()).map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_files_of_a_rule_are_read() {
        let read = |rule: &str| sources(rule).iter().map(|file| file.display().to_string()).collect::<Vec<_>>();
        assert_eq!(read("/t/x: /s/a.rs /s/with\\ blank/b.rs\n\n/s/a.rs:\n"), ["/s/a.rs", "/s/with blank/b.rs"]);
        assert_eq!(read("/t/x:\n"), [""; 0]);
        assert_eq!(read(""), [""; 0]);
    }

    #[test]
    fn a_program_that_is_not_sent_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let sent = |program: &str| require_sent(dir.path(), Path::new(program)).is_ok();
        assert!(sent("x") && sent("a/b") && !sent("../x") && !sent("/tmp/x"), "without a list all below is sent");
        fs_err::os::unix::fs::symlink("/bin", dir.path().join("linked")).unwrap();
        assert!(!sent("linked/sh"), "a link is sent, and not what it leads to");
        for given in ["./x", "x", &dir.path().join("x").display().to_string()] {
            assert_eq!(below(dir.path(), Path::new(given)), Path::new("x"), "{given}");
        }
        fs_err::write(dir.path().join(".dockerignore"), "# a remark\n*\n!docker\n!target/release/xtask\n").unwrap();
        assert!(sent("target/release/xtask") && sent("docker/mine/xtask"));
        assert!(!sent("target/debug/xtask") && !sent("xtask") && !sent("dockers"));
        fs_err::write(dir.path().join(".dockerignore"), "*\n!bin\nbin/old\n").unwrap();
        assert!(sent("bin/new") && !sent("bin/old/x"));
        fs_err::write(dir.path().join(".dockerignore"), "*\n!**/x*\n").unwrap();
        assert!(sent("y"), "what is not understood says nothing");
    }

    #[test]
    fn a_program_that_is_older_than_its_sources_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| dir.path().join(name);
        let (program, source) = (file("x"), file("a.rs"));
        assert!(matches!(require(&program), Err(Error::NoBuildFile { .. })));
        fs_err::write(&source, "").unwrap();
        for (content, expected) in [("", "empty"), ("12", "empty"), ("text\n", "neither")] {
            fs_err::write(&program, content).unwrap();
            assert!(require(&program).unwrap_err().to_string().contains(expected), "{content}");
        }
        fs_err::write(&program, "#!/bin/sh\n").unwrap();
        require(&program).unwrap();
        fs_err::write(file("x.d"), format!("{}: {}\n", program.display(), source.display())).unwrap();
        let later = modified(&program).unwrap() + Duration::from_secs(1);
        fs_err::File::options().write(true).open(&program).unwrap().into_file().set_modified(later).unwrap();
        require(&program).unwrap();
        let later = later + Duration::from_secs(1);
        fs_err::File::options().write(true).open(&source).unwrap().into_file().set_modified(later).unwrap();
        assert!(matches!(require(&program), Err(Error::OldProgram { source_file: found, .. }) if found == source));
        fs_err::remove_file(&source).unwrap();
        assert!(matches!(require(&program), Err(Error::OldProgram { .. })), "a source that is gone was changed");
        fs_err::create_dir(file("d")).unwrap();
        assert!(matches!(require(&file("d")), Err(Error::NoBuildFile { .. })));
    }
}
