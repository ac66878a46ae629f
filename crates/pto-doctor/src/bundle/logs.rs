//! Logs: those that were given, and those that CANN leaves where it always does. Bounded, for a report is sent by mail.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pto_context::Context;

use super::{Contents, Missing, Part};
use crate::error::DoctorError;
use crate::files;

const MB: usize = 1 << 20;
/// How much of one log is kept: its beginning, where the first cause is, and its end.
struct Keep {
    head: usize,
    tail: usize,
}
/// What a person names is wanted as a whole, within reason.
const GIVEN: Keep = Keep { head: 16 * MB, tail: 16 * MB };
const FOUND: Keep = Keep { head: 2 * MB, tail: 2 * MB };
/// Logs that were found, the newest first: one run of a program on one device leaves about five.
const MOST_FOUND: usize = 20;
/// A log directory is neither deeper nor larger; more is some other directory.
const DEPTH: usize = 6;
const MOST_ENTRIES: usize = 20_000;
/// A NUL in the first bytes: no text, and what is no text cannot be masked.
const LOOKED_AT: usize = 8 << 10;

/// A log with the name it gets in the bundle.
pub(super) struct Log {
    path: PathBuf,
    given: bool,
}

/// Reads every log; what is left out is said.
pub(super) fn parts(logs: &[Log], missing: &mut Vec<Missing>) -> Result<Vec<Part>, DoctorError> {
    let mut parts = Vec::new();
    for log in logs {
        if pto_context::interrupt::requested() {
            return Err(DoctorError::Interrupted);
        }
        match read(&log.path, if log.given { &GIVEN } else { &FOUND }) {
            Ok(Text { text, cut }) => parts.push(Part {
                path: format!("logs/{:02}-{}", parts.len() + 1, plain_name(&log.path)),
                what: if log.given { "a log that was given".to_owned() } else { "a log that was found".to_owned() },
                cut_bytes: cut,
                contents: Contents::Text(text),
            }),
            Err(why) if log.given && !why.binary => return Err(DoctorError::Read(why.error)),
            Err(why) => missing.push(Missing { what: log.path.display().to_string(), why: why.error.to_string() }),
        }
    }
    Ok(parts)
}

/// Given logs (a directory stands for the logs in it), then the newest of those in the usual places.
pub(super) fn choose(cx: &Context, given: &[PathBuf]) -> Vec<Log> {
    let mut logs: Vec<Log> = Vec::new();
    for path in given.iter().map(|path| cx.cwd().join(path)) {
        let paths = if path.is_dir() { newest_below(&path) } else { vec![path] };
        logs.extend(paths.into_iter().map(|path| Log { path, given: true }));
    }
    let is_file = |place: &Path| std::fs::symlink_metadata(place).is_ok_and(|metadata| metadata.is_file());
    // A directory of logs may be a link to a larger disk; what is in it is not followed.
    let usual = usual_places(cx).into_iter().flat_map(|place| match place.is_dir() {
        true => newest_below(&place),
        false if is_file(&place) => vec![place],
        false => Vec::new(),
    });
    for path in usual {
        if !logs.iter().any(|known| known.path == path) {
            logs.push(Log { path, given: false });
        }
    }
    logs
}

/// `slog.txt` is what the procedure for 507018 calls the device's log.
fn usual_places(cx: &Context) -> Vec<PathBuf> {
    let named = cx.var_os("ASCEND_PROCESS_LOG_PATH").map(|dir| cx.cwd().join(dir));
    let home = cx.var_os("HOME").map(|home| Path::new(home).join("ascend/log"));
    let local = cx.cwd().join("slog.txt");
    named.into_iter().chain(home.map(|home| cx.under_root(home))).chain([local]).collect()
}

/// Regular files below a directory. No link is followed: one may lead to a file that is no log.
fn newest_below(dir: &Path) -> Vec<PathBuf> {
    let (mut files, mut open, mut seen) = (Vec::new(), vec![(dir.to_owned(), 0)], 0);
    while let Some((dir, depth)) = open.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            seen += 1;
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() && depth < DEPTH {
                open.push((entry.path(), depth + 1));
            } else if metadata.is_file() && metadata.len() > 0 {
                files.push((metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH), entry.path()));
            }
            if seen > MOST_ENTRIES {
                open.clear();
                break;
            }
        }
    }
    files.sort_by(|a, b| b.cmp(a));
    files.into_iter().take(MOST_FOUND).map(|(_, path)| path).collect()
}

struct Text {
    text: String,
    /// Bytes left out.
    cut: u64,
}

struct NotRead {
    error: std::io::Error,
    /// It can be read, and is no text.
    binary: bool,
}

impl From<std::io::Error> for NotRead {
    fn from(error: std::io::Error) -> Self {
        Self { error, binary: false }
    }
}

fn read(path: &Path, keep: &Keep) -> Result<Text, NotRead> {
    let named =
        |error: std::io::Error| std::io::Error::new(error.kind(), format!("cannot read `{}`: {error}", path.display()));
    let mut file = files::open_regular(path).map_err(named)?;
    let metadata = file.metadata().map_err(named)?;
    let mut head = bytes(&mut file, keep.head).map_err(named)?;
    if head[..head.len().min(LOOKED_AT)].contains(&0) {
        let error = std::io::Error::other(format!("`{}` is no text, so it cannot be masked", path.display()));
        return Err(NotRead { error, binary: true });
    }
    let rest = metadata.len().saturating_sub(head.len() as u64);
    if rest == 0 {
        return Ok(Text { text: String::from_utf8_lossy(&head).into_owned(), cut: 0 });
    }
    // Only whole lines: half a secret would not be known for one.
    head.truncate(memchr::memrchr(b'\n', &head).map_or(0, |at| at + 1));
    let tail_from = metadata.len() - rest.min(keep.tail as u64);
    file.seek(SeekFrom::Start(tail_from)).map_err(named)?;
    let tail = bytes(&mut file, keep.tail).map_err(named)?;
    let tail = &tail[memchr::memchr(b'\n', &tail).map_or(tail.len(), |at| at + 1)..];
    let cut = metadata.len().saturating_sub((head.len() + tail.len()) as u64);
    let text = format!("{}[{cut} bytes left out]\n{}", String::from_utf8_lossy(&head), String::from_utf8_lossy(tail));
    Ok(Text { text, cut })
}

fn bytes(file: &mut File, most: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The file's name, as every system takes it.
fn plain_name(path: &Path) -> String {
    const LONGEST: usize = 80;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '_' };
    name.chars().map(plain).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_log_whole_lines_of_head_and_tail_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("long");
        let lines: String = (0..1000).map(|number| format!("line {number}\n")).collect();
        fs_err::write(&path, &lines).unwrap();
        let Ok(kept) = read(&path, &Keep { head: 100, tail: 50 }) else { panic!() };
        let kept_bytes = lines.len() as u64 - kept.cut;
        assert!(kept_bytes <= 150 && kept_bytes > 100, "{kept_bytes}");
        assert!(kept.text.starts_with("line 0\n") && kept.text.ends_with("line 999\n"), "{}", kept.text);
        let shown: Vec<&str> = kept.text.lines().filter(|line| !line.contains("left out")).collect();
        assert!(shown.iter().all(|line| lines.contains(&format!("{line}\n"))), "half a line in {}", kept.text);
        // A single line that is longer than everything: nothing of it is kept, for it cannot be masked as a whole.
        fs_err::write(&path, "x".repeat(1000)).unwrap();
        let Ok(kept) = read(&path, &Keep { head: 100, tail: 50 }) else { panic!() };
        assert_eq!((kept.cut, kept.text.as_str()), (1000, "[1000 bytes left out]\n"));
    }

    #[test]
    fn links_below_a_directory_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        fs_err::create_dir(dir.path().join("sub")).unwrap();
        fs_err::write(dir.path().join("sub/a.log"), "x").unwrap();
        fs_err::os::unix::fs::symlink("/etc/passwd", dir.path().join("passwd.log")).unwrap();
        fs_err::os::unix::fs::symlink(".", dir.path().join("loop")).unwrap();
        assert_eq!(newest_below(dir.path()), [dir.path().join("sub/a.log")]);
    }
}
