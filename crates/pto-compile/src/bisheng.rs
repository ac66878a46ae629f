//! Plans for bisheng, CANN's compiler, for `a2a3` and `a5` and each core type.
//!
//! | target | steps |
//! |---|---|
//! | `a2a3` | all sources to the library in one go |
//! | `a5` | each source to an object of host and device code, then one link with `--cce-fatobj-link` |
//! | with a launcher | the kernels as above to a library of their own, then the launcher's object, then a library of both |
//! | host program, ACL | one compile and link against `libascendcl` |
//! | host program, CA model (`a5`) | each source to an object, then one link against `libruntime_camodel` |
//!
//! Order of the options on each command line, so that a later one can overrule an earlier one: what the target needs,
//! the user's definitions, include directories (the user's, the PTO headers, CANN, the driver), the user's flags, the
//! sources, the output, libraries. Include directories that this CANN does not have are kept: the compiler skips them,
//! and the plan is the same on every machine.

mod build;
mod camodel;
mod diagnose;
mod error;
mod flags;
mod headers;
mod host;
mod kernel;
mod options;
mod words;

pub use build::{Built, build};
pub use camodel::Simulator;
pub use diagnose::{Diagnosis, Versions, diagnose, without_crash_report};
pub use error::BishengError;
pub use host::{HostProgramRequest, HostRuntime, host_program_plan};
pub use kernel::{BishengRequest, KernelLibrary, kernel_plan};
pub use options::{CompileOptions, OptLevel};
