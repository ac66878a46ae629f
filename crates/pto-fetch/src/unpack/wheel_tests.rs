use std::io::{Cursor, Write};
use std::path::Path;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

const INFO: &str = "t-1.dist-info";

/// A file of a wheel under test.
struct Member {
    name: &'static str,
    content: Vec<u8>,
    /// What `RECORD` says of it instead of the truth.
    line: Option<&'static str>,
}

fn member(name: &'static str, content: &[u8]) -> Member {
    Member { name, content: content.to_vec(), line: None }
}

fn lying(name: &'static str, line: &'static str) -> Member {
    Member { line: Some(line), ..member(name, b"content") }
}

fn wheel(members: &[Member], more_lines: &str, mode: u32) -> (tempfile::TempDir, std::path::PathBuf) {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let mut record = String::new();
    for member in members {
        writer.start_file(member.name, SimpleFileOptions::default().unix_permissions(mode)).unwrap();
        writer.write_all(&member.content).unwrap();
        let sum = URL_SAFE_NO_PAD.encode(Sha256::digest(&member.content));
        let truth = format!("{},sha256={sum},{}\n", member.name, member.content.len());
        record += member.line.unwrap_or(&truth);
    }
    record += &format!("{more_lines}{INFO}/RECORD,,\n");
    writer.start_file(format!("{INFO}/RECORD"), SimpleFileOptions::default()).unwrap();
    writer.write_all(record.as_bytes()).unwrap();
    written(&writer.finish().unwrap().into_inner())
}

fn written(bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-1-py3-none-any.whl");
    fs_err::write(&path, bytes).unwrap();
    (dir, path)
}

fn look(path: &Path) -> Result<WheelFacts, Error> {
    let facts = check_wheel(path)?;
    facts.verify(path, &[])?;
    Ok(facts)
}

#[track_caller]
fn refusal(members: &[Member], more_lines: &str) -> (String, Refusal) {
    let (dir, path) = wheel(members, more_lines, 0o644);
    let error = look(&path).unwrap_err();
    // Looking at it has written nothing.
    assert_eq!(fs_err::read_dir(dir.path()).unwrap().count(), 1);
    match error {
        Error::Refused { entry, refusal, .. } => (entry, refusal),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_wheel_that_is_as_recorded_is_taken() {
    let large: Vec<u8> = (0..3_000_000u64).map(|i| (i * i / 7) as u8).collect();
    let members = [member("t/a.py", b"x = 1\n"), member("t/large.bin", &large), member("t/empty", b"")];
    let (_dir, path) = wheel(&members, "", 0o644);
    let facts = look(&path).unwrap();
    assert_eq!((facts.files, facts.unpacked_size > 3_000_000), (4, true));
}

#[test]
fn what_is_not_as_recorded_is_refused_by_name() {
    let wrong_sum = "t/a.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,7\n";
    let (entry, why) = refusal(&[lying("t/a.py", wrong_sum)], "");
    assert!(entry == "t/a.py" && matches!(why, Refusal::RecordedSum { .. }), "{why:?}");
    let (entry, why) = refusal(&[lying("t/a.py", "t/a.py,sha256=x,8\n")], "");
    assert_eq!((entry.as_str(), why), ("t/a.py", Refusal::RecordedSize { recorded: 8, size: 7 }));
    assert_eq!(refusal(&[lying("t/a.py", "")], ""), ("t/a.py".into(), Refusal::NotRecorded));
    assert_eq!(refusal(&[lying("t/a.py", "t/a.py,md5=1,7\n")], ""), ("t/a.py".into(), Refusal::NoSum));
    assert_eq!(refusal(&[], "t/gone.py,sha256=x,1\n"), ("t/gone.py".into(), Refusal::OnlyRecorded));
    let twice = "t/a.py,sha256=x,7\nt/a.py,sha256=x,7\n";
    assert_eq!(refusal(&[lying("t/a.py", twice)], ""), ("t/a.py".into(), Refusal::Duplicate));
}

#[test]
fn what_was_installed_is_compared_where_it_is() {
    let (dir, path) = wheel(&[member("t/a.py", b"x = 1\n"), member("t-1.data/scripts/t", b"#!python")], "", 0o644);
    let facts = check_wheel(&path).unwrap();
    let site = dir.path().join("site");
    fs_err::create_dir_all(site.join("t")).unwrap();
    let installed = [dir.path().join("none"), site.clone()];
    // Not there: the entry itself counts.
    facts.verify(&path, &installed).unwrap();
    fs_err::write(site.join("t/a.py"), "x = 1\n").unwrap();
    facts.verify(&path, &installed).unwrap();
    fs_err::write(site.join("t/a.py"), "x = 2\n").unwrap();
    let error = facts.verify(&path, &installed).unwrap_err();
    assert!(error.to_string().contains("`t/a.py`"), "{error}");
}

#[test]
fn a_wheel_has_one_record() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("t.py", SimpleFileOptions::default()).unwrap();
    let (_dir, path) = written(&writer.finish().unwrap().into_inner());
    assert!(matches!(look(&path), Err(Error::Refused { refusal: Refusal::NoRecord, .. })));
    let (entry, why) = refusal(&[member("u-1.dist-info/RECORD", b"")], "");
    assert_eq!((entry.as_str(), why), ("*.dist-info/RECORD", Refusal::NoRecord));
}

#[test]
fn signatures_need_no_line() {
    let signature = Member { line: Some(""), ..member("t-1.dist-info/RECORD.jws", b"{}") };
    let (_dir, path) = wheel(&[signature], "t-1.dist-info/RECORD.p7s,,\n", 0o644);
    look(&path).unwrap();
}

#[test]
fn devices_are_refused() {
    let (_dir, path) = wheel(&[member("t/zero", b"")], "", 0o644);
    // The writer makes files alone: the kind is patched in the directory's record, where the mode is.
    let mut bytes = fs_err::read(&path).unwrap();
    let at = bytes.windows(4).position(|four| four == b"PK\x01\x02").unwrap() + 38;
    let mode = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let device = (mode & 0x0fff_ffff) | 0o020_000 << 16;
    bytes[at..at + 4].copy_from_slice(&device.to_le_bytes());
    let (_dir, path) = written(&bytes);
    let error = look(&path).unwrap_err();
    assert!(
        matches!(&error, Error::Refused { entry, refusal: Refusal::Special, .. } if entry == "t/zero"),
        "{error:?}"
    );
}
