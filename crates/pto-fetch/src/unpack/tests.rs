use std::io::Cursor;
use std::os::unix::fs::PermissionsExt;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

/// Writes an archive, lets `patch` change its bytes, unpacks it.
fn unpack_patched(fill: impl FnOnce(&mut ZipWriter<Cursor<Vec<u8>>>), patch: impl FnOnce(&mut Vec<u8>)) -> Unpacked {
    let dir = tempfile::tempdir().unwrap();
    let archive = dir.path().join("t.whl");
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    fill(&mut writer);
    let mut bytes = writer.finish().unwrap().into_inner();
    patch(&mut bytes);
    fs_err::write(&archive, bytes).unwrap();
    let target = dir.path().join("out/target");
    fs_err::create_dir_all(&target).unwrap();
    let keep = |name: &str| Some(name.to_owned());
    let result = Job { archive: &archive, limit: 8 << 20, keep: &keep }.unpack(&target);
    Unpacked { dir, result }
}

struct Unpacked {
    dir: tempfile::TempDir,
    result: Result<usize, Error>,
}

impl Unpacked {
    /// The refused entry and why; also checks that nothing lies beside the target.
    #[track_caller]
    fn refusal(self) -> (String, Refusal) {
        let around: Vec<_> = fs_err::read_dir(self.dir.path().join("out")).unwrap().collect();
        assert_eq!(around.len(), 1, "{around:?}");
        match self.result.unwrap_err() {
            Error::Refused { entry, refusal, .. } => (entry, refusal),
            other => panic!("{other:?}"),
        }
    }
}

fn unpack(fill: impl FnOnce(&mut ZipWriter<Cursor<Vec<u8>>>)) -> Unpacked {
    unpack_patched(fill, |_| {})
}

fn add(writer: &mut ZipWriter<Cursor<Vec<u8>>>, name: &str, mode: u32, content: &[u8]) {
    writer.start_file(name, SimpleFileOptions::default().unix_permissions(mode)).unwrap();
    writer.write_all(content).unwrap();
}

fn replace_all(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    assert_eq!(from.len(), to.len());
    let at: Vec<_> = (0..bytes.len() - from.len()).filter(|&i| bytes[i..].starts_with(from)).collect();
    assert!(!at.is_empty());
    at.into_iter().for_each(|i| bytes[i..i + to.len()].copy_from_slice(to));
}

#[test]
fn files_and_executable_bits_arrive() {
    let unpacked = unpack(|w| {
        w.add_directory("pkg/", SimpleFileOptions::default()).unwrap();
        add(w, "pkg/zig", 0o755, b"#!");
        add(w, "pkg/lib/a.h", 0o640, b"text");
    });
    assert_eq!(unpacked.result.unwrap(), 2);
    let target = unpacked.dir.path().join("out/target");
    let mode = |name: &str| fs_err::metadata(target.join(name)).unwrap().permissions().mode() & 0o111;
    assert_eq!(fs_err::read(target.join("pkg/lib/a.h")).unwrap(), b"text");
    assert_ne!(mode("pkg/zig"), 0);
    assert_eq!(mode("pkg/lib/a.h"), 0);
}

#[test]
fn names_that_leave_are_refused() {
    for name in ["../../evil", "/tmp/evil00", "ok/../../e"] {
        // The writer would clean such names: write a harmless one of the same length and patch it.
        let harmless = "x".repeat(name.len());
        let unpacked = unpack_patched(
            |w| add(w, &harmless, 0o644, b"1"),
            |bytes| replace_all(bytes, harmless.as_bytes(), name.as_bytes()),
        );
        let (entry, refusal) = unpacked.refusal();
        assert_eq!(entry, name);
        assert!(matches!(refusal, Refusal::Leaves | Refusal::Absolute), "{refusal:?}");
    }
}

#[test]
fn links_are_refused() {
    let unpacked = unpack(|w| w.add_symlink("link", "/etc", SimpleFileOptions::default()).unwrap());
    assert_eq!(unpacked.refusal(), ("link".into(), Refusal::Symlink));
}

#[test]
fn two_entries_of_one_name_are_refused_by_name() {
    let unpacked = unpack_patched(
        |w| {
            add(w, "first", 0o644, b"1");
            add(w, "same-1", 0o644, b"1");
            add(w, "same-2", 0o644, b"2");
        },
        |bytes| replace_all(bytes, b"same-2", b"same-1"),
    );
    assert_eq!(unpacked.refusal(), ("same-1".into(), Refusal::Duplicate));
}

#[test]
fn case_collisions_are_refused() {
    let unpacked = unpack(|w| {
        add(w, "a/x.h", 0o644, b"1");
        add(w, "a/X.h", 0o644, b"2");
    });
    assert_eq!(unpacked.refusal(), ("a/X.h".into(), Refusal::CaseCollision));
}

#[test]
fn bombs_are_refused_before_a_byte_is_written() {
    let zeros = vec![0; 4 << 20];
    let (entry, refusal) = unpack(|w| add(w, "zeros", 0o644, &zeros)).refusal();
    assert!(entry == "zeros" && matches!(refusal, Refusal::Ratio { .. }), "{refusal:?}");

    // Many entries below the ratio limit, together above the total limit.
    let block: Vec<u8> = (0..RATIO_FREE).map(|i| (i / 100) as u8).collect();
    let unpacked = unpack(|w| (0..10).for_each(|i| add(w, &format!("f{i}"), 0o644, &block)));
    assert_eq!(fs_err::read_dir(unpacked.dir.path().join("out/target")).unwrap().count(), 0);
    let (entry, refusal) = unpacked.refusal();
    assert_eq!((entry.as_str(), refusal), ("f8", Refusal::TooLarge { total: 9 << 20, limit: 8 << 20 }));
}

#[test]
fn damaged_data_is_an_error() {
    let content = b"0123456789abcdef";
    let unpacked = unpack_patched(
        |w| {
            let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
            w.start_file("f", stored).unwrap();
            w.write_all(content).unwrap();
        },
        |bytes| replace_all(bytes, content, b"0123456789abcdeX"),
    );
    assert!(matches!(unpacked.result, Err(Error::Archive { .. })), "{:?}", unpacked.result);
    let cut = unpack_patched(|w| add(w, "f", 0o644, content), |bytes| bytes.truncate(20));
    assert!(matches!(cut.result, Err(Error::Archive { .. })));
}
