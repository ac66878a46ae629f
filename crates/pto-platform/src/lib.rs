//! Facts about Ascend NPUs as data, and the pure parsers that go with them: targets, core types, the vocabularies for
//! one architecture, the SoC table, on-chip memory sizes.
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
mod core_type;
mod error;
mod machine;
mod names;
mod on_chip;
mod soc;
mod target;

pub use arch::Arch;
pub use core_type::Core;
pub use error::{PlatformError, Vocabulary};
pub use machine::Machine;
pub use on_chip::OnChip;
pub use soc::Soc;
pub use target::Target;
