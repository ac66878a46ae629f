//! What a built library is, read from the file alone: whom it serves, what it exports, which device code it carries, and
//! what it wants of the machine that loads it. Nothing is run or loaded.
//!
//! ```no_run
//! use pto_compile::artifact::{Artifact, DeviceArch};
//! use pto_platform::Arch;
//!
//! let artifact = Artifact::read("libvec_add.so".as_ref())?;
//! if artifact.device_arch() == DeviceArch::One(Arch::DAV_2201) {
//!     assert_eq!(artifact.images[0].kernels[0].name, "vec_add");
//! }
//! # Ok::<(), pto_compile::artifact::ArtifactError>(())
//! ```

mod dynamic;
mod error;
mod exports;
mod fit;
mod image;

use std::io::Read as _;
use std::path::Path;

use object::read::elf::{ElfFile64, FileHeader as _};
use object::{LittleEndian, elf};
use pto_platform::{Arch, Core, Machine, device_elf};
use serde::Serialize;

pub use dynamic::{Dynamic, NeededVersion};
pub use error::ArtifactError;
pub use exports::Export;
pub use fit::{Fit, Host, Library, Problem, Where};
pub use image::{Image, Kernel};

/// What our own libraries for the CPU are linked with; the rest of the name is a key.
const CPU_RUNTIME: &str = "libptocpu-";
/// The runtime that computes what an NPU would.
const CA_MODEL: &str = "libruntime_camodel.so";

type Elf<'data> = ElfFile64<'data, LittleEndian>;

/// A built library, program or object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Artifact {
    /// What sort of file it is.
    pub kind: Kind,
    /// Whose instructions the host part has.
    pub machine: Processor,
    /// What the loader is told.
    #[serde(flatten)]
    pub dynamic: Dynamic,
    /// The functions to call, in the order of their names; those of the C++ library, which every C++ file also exports,
    /// are left out.
    pub exports: Vec<Export>,
    /// The device code inside, in the order of the file. A library often carries each image twice: linked, and once more
    /// relocatable.
    pub images: Vec<Image>,
}

/// The sort of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Kind {
    /// A shared library (or a program that can be placed anywhere).
    Library,
    /// A program.
    Program,
    /// An object that is not linked.
    Object,
    /// Device code with no host part.
    Device,
    /// A core file, or what no linker makes.
    Other,
}

/// Whose instructions a file has. Serialized as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processor {
    /// A host that CANN is built for.
    Host(Machine),
    /// AI cores.
    AiCore,
    /// Another one: its ELF number.
    Other(u16),
}

/// The architecture of all the device code together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceArch {
    /// There is no device code: a library for the CPU, or none of kernels.
    None,
    /// All of it is for this one.
    One(Arch),
    /// It is for several, in the order in which they were met.
    Several(Vec<Arch>),
    /// Some of it says something that nobody here knows: the `e_flags`.
    Unknown(u32),
}

/// No library of kernels is larger; more would not fit into the memory of some machines.
const LARGEST: u64 = 2 << 30;

impl Artifact {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, or is not a whole 64-bit little-endian ELF file. What is odd further inside makes the answer
    /// shorter, not an error.
    pub fn read(path: &Path) -> Result<Self, ArtifactError> {
        // Before it is opened: a pipe would wait for good. What is not there is said in plainer words by opening it.
        let metadata = std::fs::metadata(path).or_else(|_| fs_err::File::open(path)?.metadata());
        let metadata = metadata.map_err(ArtifactError::Read)?;
        if !metadata.is_file() {
            return Err(ArtifactError::NotAFile { path: path.to_path_buf() });
        }
        // The first bytes first: a large file that is something else need not be read.
        let mut bytes = Vec::new();
        let mut file = fs_err::File::open(path).map_err(ArtifactError::Read)?;
        (&mut file).take(8).read_to_end(&mut bytes).map_err(ArtifactError::Read)?;
        error::Malformed::check(&bytes).map_err(|found| found.in_file(path))?;
        if metadata.len() > LARGEST {
            return Err(ArtifactError::TooLarge { path: path.to_path_buf(), bytes: metadata.len() });
        }
        file.read_to_end(&mut bytes).map_err(ArtifactError::Read)?;
        Self::parse(&bytes).map_err(|found| found.in_file(path))
    }

    fn parse(bytes: &[u8]) -> Result<Self, error::Malformed> {
        error::Malformed::check(bytes)?;
        let file = Elf::parse(bytes).map_err(error::Malformed::Elf)?;
        let header = file.elf_header();
        let machine = Processor::from_number(header.e_machine(LittleEndian).0);
        let device = machine == Processor::AiCore;
        Ok(Self {
            kind: if device { Kind::Device } else { Kind::of(header.e_type(LittleEndian)) },
            machine,
            dynamic: Dynamic::of(&file),
            exports: if device { Vec::new() } else { exports::exports(&file) },
            images: if device { image::whole(bytes) } else { image::embedded(&file, bytes) },
        })
    }

    /// The architectures that the device code is for, as far as they are known, in the order in which they were met.
    pub fn archs(&self) -> Vec<Arch> {
        let mut archs: Vec<Arch> = Vec::new();
        for arch in self.images.iter().filter_map(|image| image.arch) {
            if !archs.contains(&arch) {
                archs.push(arch);
            }
        }
        archs
    }

    /// Which architecture the device code is for.
    pub fn device_arch(&self) -> DeviceArch {
        if let Some(image) = self.images.iter().find(|image| image.arch.is_none()) {
            return DeviceArch::Unknown(image.flags);
        }
        let archs = self.archs();
        match archs[..] {
            [] => DeviceArch::None,
            [one] => DeviceArch::One(one),
            _ => DeviceArch::Several(archs),
        }
    }

    /// The cores that its kernels run on, as far as they say so; mix where both sorts are used. `None` where nothing says.
    pub fn core(&self) -> Option<Core> {
        let cores = self.images.iter().flat_map(|image| &image.kernels).filter_map(|kernel| kernel.core);
        cores.reduce(|one, other| if one == other { one } else { Core::Mix })
    }

    /// Whether it was built for the `cpu` target.
    pub fn is_for_cpu(&self) -> bool {
        self.dynamic.needed.iter().any(|library| library.starts_with(CPU_RUNTIME))
    }

    /// Whether it brings its own simulator along, so that it computes on a model whatever hardware is there.
    pub fn links_ca_model(&self) -> bool {
        self.dynamic.needed.iter().any(|library| library.starts_with(CA_MODEL))
    }
}

impl Kind {
    const fn of(kind: elf::FileType) -> Self {
        match kind {
            elf::ET_DYN => Self::Library,
            elf::ET_EXEC => Self::Program,
            elf::ET_REL => Self::Object,
            _ => Self::Other,
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Library => "shared library",
            Self::Program => "program",
            Self::Object => "object",
            Self::Device => "device code",
            Self::Other => "file of no kind that is loaded",
        })
    }
}

impl Processor {
    const fn from_number(number: u16) -> Self {
        match elf::Machine(number) {
            elf::EM_X86_64 => Self::Host(Machine::X86_64),
            elf::EM_AARCH64 => Self::Host(Machine::Aarch64),
            elf::Machine(device_elf::MACHINE) => Self::AiCore,
            _ => Self::Other(number),
        }
    }
}

impl std::fmt::Display for Processor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Host(machine) => machine.fmt(f),
            Self::AiCore => f.pad("AI cores"),
            Self::Other(number) => f.pad(&format!("machine {number}")),
        }
    }
}

impl Serialize for Processor {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
