//! The archive: there whole or not at all, with nothing in it that says who wrote it.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use flate2::Compression;
use flate2::write::GzEncoder;
use pto_context::{Readable, write_whole};
use tar::{Builder, EntryType, Header};

use super::File;
use crate::error::DoctorError;

const MODE: u32 = 0o644;

/// Writes the files below a directory of this name.
pub(super) fn write(path: &Path, top: &str, files: &[File], now: SystemTime) -> Result<(), DoctorError> {
    let mtime = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let fill = |file: &mut std::fs::File| {
        let mut archive = Builder::new(GzEncoder::new(io::BufWriter::new(file), Compression::default()));
        for one in files {
            if pto_context::interrupt::requested() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            append(&mut archive, &Path::new(top).join(&one.listed.path), &one.bytes, mtime)?;
        }
        archive.into_inner()?.finish()?.flush()
    };
    write_whole(path, Readable::ByOwner, fill).map_err(|error| match error.kind() {
        io::ErrorKind::Interrupted => DoctorError::Interrupted,
        _ => DoctorError::Write(error),
    })
}

fn append(archive: &mut Builder<impl io::Write>, path: &PathBuf, bytes: &[u8], mtime: u64) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_size(bytes.len() as u64);
    header.set_mode(MODE);
    header.set_mtime(mtime);
    header.set_uid(0);
    header.set_gid(0);
    archive.append_data(&mut header, path, bytes)
}
