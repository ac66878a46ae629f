//! The directory of records.

use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pto_context::Context;
use rustix::fs::{CWD, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::error::Error;
use crate::record::Record;

/// How long a device is set aside if nobody knows better. A device that recovers by itself does so within minutes; a card
/// that a host's administrator has to reset is noticed within the hour, and released by hand after that.
pub const DEFAULT_TERM: Duration = Duration::from_secs(60 * 60);

/// Where the state is unless `PTOKIT_QUARANTINE` says otherwise. Not `TMPDIR`, which differs between users, and not
/// `/dev/shm`, from which systemd removes the files of users who log out.
const DEFAULT_DIR: &str = "/tmp/ptokit-quarantine";
/// Differs after each start of the machine.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// Everyone may add a record, and remove their own.
const MODE: u32 = 0o1777;
/// A record has some hundred bytes.
const LARGEST: u64 = 64 << 10;

/// The state of this machine. Opening it touches nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantine {
    dir: PathBuf,
    boot: Option<String>,
}

/// What the state says at a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// Records that count, by device, the oldest first.
    pub records: Vec<Record>,
    /// Files that cannot be read. The device that such a file is named after counts as set aside.
    pub unread: Vec<Unread>,
    /// Why the directory itself cannot be listed, if so: any device may be set aside, and none counts so.
    pub unlisted: Option<String>,
}

/// A file of the state that cannot be read, or is of another form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// The file.
    pub path: PathBuf,
    /// The device in its name.
    pub device: u32,
    /// Why not.
    pub why: String,
}

impl Standing {
    /// The records of a device.
    pub fn of(&self, device: u32) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(move |record| record.device == device)
    }

    /// Whether a device should not be used.
    pub fn is_set_aside(&self, device: u32) -> bool {
        self.of(device).next().is_some() || self.unread.iter().any(|file| file.device == device)
    }
}

impl Quarantine {
    /// The state in `PTOKIT_QUARANTINE`, else in `/tmp/ptokit-quarantine`.
    pub fn of(cx: &Context) -> Self {
        let boot = fs_err::read_to_string(cx.under_root(BOOT_ID)).ok();
        let dir = cx.var_os("PTOKIT_QUARANTINE").map_or_else(|| cx.under_root(DEFAULT_DIR), |dir| cx.cwd().join(dir));
        Self { dir, boot: boot.map(|text| text.trim().to_owned()) }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What counts at a moment. Writes nothing.
    pub fn standing(&self, now: SystemTime) -> Standing {
        let mut standing = Standing::default();
        let files = self.files().unwrap_or_else(|error| {
            standing.unlisted = Some(format!("`{}` cannot be listed: {}", self.dir.display(), error.kind()));
            Vec::new()
        });
        for (device, path) in files {
            match read(device, &path) {
                Ok(None) => {}
                Ok(Some(record)) if record.counts(now, self.boot.as_deref()) => standing.records.push(record),
                Ok(Some(_)) => {}
                Err(why) => standing.unread.push(Unread { path, device, why }),
            }
        }
        standing.records.sort_by_key(|record| (record.device, record.since));
        standing
    }

    /// Sets a device aside for a while, and removes records that count no more.
    ///
    /// # Errors
    /// The directory cannot be made or written.
    pub fn put(&self, device: u32, why: &str, term: Duration, now: SystemTime) -> Result<Record, Error> {
        self.make_ready().map_err(|source| Error::Write { device, source })?;
        if !self.is_directory() {
            return Err(Error::NotADirectory { dir: self.dir.clone() });
        }
        self.sweep(now);
        let record = Record::new(device, why, term, now, self.boot.clone());
        self.write(&record).map_err(|source| Error::Write { device, source })?;
        Ok(record)
    }

    /// Frees a device: removes every record of it, whoever made it; what the records said.
    ///
    /// # Errors
    /// The directory cannot be listed, or a record is another user's. Those that could be removed are gone.
    pub fn release(&self, device: u32) -> Result<Vec<Record>, Error> {
        let mut released = Vec::new();
        let mut failed = None;
        let files = self.files().map_err(|source| Error::Release { device, source })?;
        for (_, path) in files.into_iter().filter(|(of, _)| *of == device) {
            let record = read(device, &path);
            match fs_err::remove_file(&path) {
                Ok(()) => released.extend(record.ok().flatten()),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(released), |source| Err(Error::Release { device, source }))
    }

    /// Makes the directory if it is not there. It appears with its mode, which the umask would cut at creation: whoever is
    /// ended in between leaves none that others cannot use.
    pub(crate) fn make_ready(&self) -> std::io::Result<()> {
        if std::fs::symlink_metadata(&self.dir).is_ok() {
            return Ok(());
        }
        let mode = std::fs::Permissions::from_mode(MODE);
        let parent = self.dir.parent().unwrap_or(Path::new("/"));
        let draft = tempfile::Builder::new().prefix(".ptokit-").tempdir_in(parent)?;
        fs_err::set_permissions(draft.path(), mode.clone())?;
        match rustix::fs::renameat_with(CWD, draft.path(), CWD, &self.dir, RenameFlags::NOREPLACE) {
            Ok(()) => {
                let _renamed = draft.keep();
                Ok(())
            }
            Err(Errno::EXIST) => Ok(()),
            // A file system that cannot.
            Err(Errno::INVAL | Errno::NOSYS) => {
                fs_err::create_dir(&self.dir).and_then(|()| fs_err::set_permissions(&self.dir, mode))
            }
            Err(errno) => Err(errno.into()),
        }
    }

    /// A link in its place is not followed: another user may have put it there.
    pub(crate) fn is_directory(&self) -> bool {
        std::fs::symlink_metadata(&self.dir).is_ok_and(|metadata| metadata.is_dir())
    }

    /// Beside its place, then renamed: nobody reads half a record.
    fn write(&self, record: &Record) -> std::io::Result<()> {
        let mut file = tempfile::Builder::new()
            .prefix(&format!("davinci{}-", record.device))
            .suffix(".part")
            .permissions(std::fs::Permissions::from_mode(0o644))
            .tempfile_in(&self.dir)?;
        serde_json::to_writer(&mut file, record)?;
        file.write_all(b"\n")?;
        let path = file.path().with_extension("json");
        file.persist_noclobber(path).map_err(|error| error.error)?;
        Ok(())
    }

    fn sweep(&self, now: SystemTime) {
        for (device, path) in self.files().unwrap_or_default() {
            if let Ok(Some(record)) = read(device, &path)
                && !record.counts(now, self.boot.as_deref())
            {
                // Another user's stays, and counts no more all the same.
                let _ = std::fs::remove_file(path);
            }
        }
    }

    /// The records' files with the device that each is named after: `davinci3-x7Tq.json`. Names that would write across a
    /// terminal are nobody's records.
    fn files(&self) -> std::io::Result<Vec<(u32, PathBuf)>> {
        if !self.is_directory() {
            return Ok(Vec::new());
        }
        let listing = fs_err::read_dir(&self.dir)?.flatten();
        let device = |path: &PathBuf| {
            let name = path.file_name()?.to_str()?.strip_suffix(".json")?;
            let visible = !name.contains(char::is_control);
            name.strip_prefix("davinci").filter(|_| visible)?.split('-').next()?.parse().ok()
        };
        let mut files: Vec<_> =
            listing.map(|entry| entry.path()).filter_map(|path| Some((device(&path)?, path))).collect();
        files.sort();
        Ok(files)
    }
}

/// A record; `None` if it is gone. Everyone may put files here, so no link is followed, no pipe waited for, and no
/// gigabytes are read. One of another device than its name says would be found by nobody who releases that device.
fn read(device: u32, path: &Path) -> Result<Option<Record>, String> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits();
    let file = match std::fs::File::options().read(true).custom_flags(flags.cast_signed()).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot be read: {}", error.kind())),
    };
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err("is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {}", error.kind()))?;
    let record = Record::parse(&bytes)?;
    if record.device != device {
        return Err(format!("is a record of device {}, expected {device}", record.device));
    }
    Ok(Some(record))
}
