//! A PyPTO checkout as git and the file system show it: primary checkout and linked worktrees, submodules, pins, who owns
//! it, and how many jobs its machine may run.
//!
//! A [`Checkout`] is facts alone: making one writes nothing, takes no lock of git's and refreshes no index. A [`Git`] runs
//! git in one repository as the user who owns it, also where that user has no name on this machine, and trusts the trees
//! of other owners for one command at a time. [`remote`] asks remotes, [`RunAs`] runs everything else that writes sources.
//!
//! This crate must not know what is built from a checkout, nor containers.
//!
//! ```no_run
//! use pto_checkout::{Checkout, JobLimits};
//! use pto_context::Context;
//!
//! # fn main() -> Result<(), pto_checkout::Error> {
//! # let cx = Context::fake("/", [("PATH", "/usr/bin")]);
//! let checkout = Checkout::open(&cx, "/workspace/pypto")?;
//! for submodule in &checkout.submodules {
//!     println!("{}: {}", submodule.path, submodule.recorded);
//! }
//! println!("at most {} build jobs", JobLimits::of(&cx, &checkout)?.build);
//! # Ok(())
//! # }
//! ```

mod checkout;
mod discover;
mod error;
mod git;
mod jobs;
mod operation;
mod owner;
mod pins;
mod reach;
pub mod remote;
mod run_as;
mod submodule;
mod trust;

pub use checkout::{Checkout, Tracking, Upstream};
pub use discover::GitDirs;
pub use error::Error;
pub use git::Git;
pub use jobs::{JobLimits, LimitSource};
pub use operation::Operation;
pub use owner::Owner;
pub use pins::{Pins, PythonPin};
pub use run_as::RunAs;
pub use submodule::Submodule;
pub use trust::quoted as config_value;
