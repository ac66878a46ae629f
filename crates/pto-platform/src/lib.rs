//! Facts about Ascend NPUs as data, and the pure parsers that go with them: targets, core types, the vocabularies for
//! one architecture, the SoC table, on-chip memory sizes, what device code says of itself ([`device_elf`]), the pairs of
//! driver and CANN that work, where sources are cloned from; and what `npu-smi` prints ([`npu_smi`]), the files of drivers,
//! CANN and checkouts ([`files`]), what git prints ([`git`]), and Docker's JSON ([`docker`]).
//!
//! No parser fails or panics: what it does not understand it returns as a [`Note`], beside everything else.
//!
//! This crate must not know processes, networks, files or the environment: text comes in, values come out.
//!
//! ```
//! use pto_platform::{Core, Soc, Target};
//!
//! let target: Target = "dav-3510".parse()?;
//! assert_eq!(target, Target::A5);
//! assert_eq!(target.compiler_arch(Core::Vec).as_deref(), Some("dav-c310-vec"));
//! assert_eq!(Soc::by_name("Ascend910B2")?.vector_cores, 48);
//! # Ok::<(), pto_platform::PlatformError>(())
//! ```

mod arch;
mod cann_release;
mod core_type;
pub mod device_elf;
pub mod docker;
mod entries;
mod error;
pub mod files;
mod generation;
pub mod git;
mod machine;
mod names;
mod note;
pub mod npu_smi;
mod on_chip;
mod run_mode;
mod soc;
mod sources;
mod supported;
mod symbol_versions;
mod target;
mod version;

pub use arch::Arch;
pub use cann_release::cann_release;
pub use core_type::Core;
pub use error::{PlatformError, Vocabulary};
pub use generation::{ChipIdentity, Generation, NoTarget, identify};
pub use machine::Machine;
pub use note::Note;
pub use on_chip::OnChip;
pub use run_mode::{RanOn, RunMode};
pub use soc::Soc;
pub use sources::{Sources, pto_isa_sources};
pub use supported::{
    MINIMUM_CANN, MINIMUM_DRIVER, PairVerdict, SupportedPair, is_cann_below_minimum, is_driver_below_minimum,
    supported_pair, supported_pairs,
};
pub use symbol_versions::{dotted, highest_symbol_version};
pub use target::Target;
pub use version::Version;
