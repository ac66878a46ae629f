//! The bytes of a tensor: owned, or mapped from a file.

use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;

use crate::Error;

/// Bytes that are read in place. A mapped file is read as it is needed, so a tensor may be larger than memory.
#[derive(Clone)]
pub(crate) enum Storage {
    Owned(Vec<u8>),
    Mapped { map: Arc<Mmap>, range: Range<usize> },
}

impl Storage {
    /// The whole file. An empty one cannot be mapped, and needs not.
    pub(crate) fn map(path: &Path) -> Result<Self, Error> {
        // Before it is opened: a pipe would wait for good. What is not there is said in plainer words by opening it.
        let metadata = std::fs::metadata(path).or_else(|_| fs_err::File::open(path)?.metadata())?;
        if !metadata.is_file() {
            let about = format!("`{}` is not a regular file", path.display());
            return Err(Error::Io(std::io::Error::new(std::io::ErrorKind::InvalidInput, about)));
        }
        let file = fs_err::File::open(path)?;
        if metadata.len() == 0 {
            return Ok(Self::Owned(Vec::new()));
        }
        Self::of_file(file.file()).map_err(|source| {
            let about = format!("failed to map file `{}`: {source}", path.display());
            Error::Io(std::io::Error::new(source.kind(), about))
        })
    }

    /// The whole of an open file that is not empty.
    pub(crate) fn of_file(file: &std::fs::File) -> std::io::Result<Self> {
        // SAFETY: the map is only read, as bytes, every value of which is valid. Whoever shortens the file while it is
        // compared gets a bus error, as with any program that maps files; this crate does not write to what it maps.
        let map = unsafe { Mmap::map(file) }?;
        let range = 0..map.len();
        Ok(Self::Mapped { map: Arc::new(map), range })
    }

    /// `len` bytes that `fill` writes: in memory, or, if they are many, in a file without a name that is mapped.
    pub(crate) fn build(len: usize, fill: impl FnOnce(&mut [u8]) -> Result<(), Error>) -> Result<Self, Error> {
        /// More than this is not held in memory: inputs may be larger than it.
        const MANY: usize = 1 << 30;
        if len <= MANY {
            let mut bytes = vec![0; len];
            fill(&mut bytes)?;
            return Ok(Self::Owned(bytes));
        }
        let file = tempfile::tempfile()?;
        file.set_len(len as u64)?;
        // SAFETY: the file has no name, so nobody else can change or shorten it.
        let mut map = unsafe { memmap2::MmapMut::map_mut(&file) }?;
        fill(&mut map)?;
        let map = map.make_read_only()?;
        Ok(Self::Mapped { map: Arc::new(map), range: 0..len })
    }

    /// A part; `range` lies within.
    pub(crate) fn slice(self, range: Range<usize>) -> Self {
        match self {
            Self::Owned(bytes) if range == (0..bytes.len()) => Self::Owned(bytes),
            Self::Owned(mut bytes) => {
                bytes.truncate(range.end);
                bytes.drain(..range.start);
                Self::Owned(bytes)
            }
            Self::Mapped { map, range: whole } => {
                Self::Mapped { map, range: whole.start + range.start..whole.start + range.end }
            }
        }
    }

    /// To be written to; a mapped file is copied first and stays as it is.
    pub(crate) fn to_mut(&mut self) -> &mut Vec<u8> {
        if let Self::Mapped { .. } = self {
            *self = Self::Owned(self.to_vec());
        }
        match self {
            Self::Owned(bytes) => bytes,
            Self::Mapped { .. } => unreachable!("it was just made owned"),
        }
    }

    pub(crate) fn into_vec(self) -> Vec<u8> {
        match self {
            Self::Owned(bytes) => bytes,
            Self::Mapped { .. } => self.to_vec(),
        }
    }
}

impl Deref for Storage {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes,
            Self::Mapped { map, range } => &map[range.clone()],
        }
    }
}

impl PartialEq for Storage {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Storage {}

impl std::fmt::Debug for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if matches!(self, Self::Owned(_)) { "owned" } else { "mapped" };
        write!(f, "{} bytes, {kind}", self.len())
    }
}
