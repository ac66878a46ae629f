//! Kernels as their authors describe them: `kernel.toml` and what follows from it. The manifest itself, the cases it is
//! tested with, the launcher it is called through, and the ways to get one: a template, or a source that exists already.
//!
//! [`run`] takes a kernel through the whole loop: compile, launch in a process of its own, compare with the golden tensors.
//! `examples/verify.rs` is that loop as a program of some forty lines.
//!
//! This crate must not know arguments and rendering: it takes paths and values, and gives back values, texts and errors.
//! A hint alone may name an option of `cargo xtask`, because that is what shows hints.
//!
//! ```
//! use pto_kernel::cases::{Cores, bind, derive};
//! use pto_kernel::signature::{check_signature, declared_launchers};
//! use pto_kernel::{Manifest, scaffold};
//! use pto_platform::{Soc, Target};
//!
//! # let scratch = tempfile::tempdir()?;
//! let dir = scaffold::create(scratch.path(), "vec_add")?;
//! let kernel = Manifest::load(&dir.join("kernel.toml"))?;
//! for source in kernel.read_sources()? {
//!     check_signature(&kernel, &declared_launchers(&source))?;
//! }
//! let cores = Cores::from(Soc::by_name("Ascend910B2")?);
//! let cases = derive(&kernel, Target::A2a3, cores, 1);
//! let bound = bind(&kernel, &cases[0], cores)?;
//! assert_eq!((cases[0].to_string().as_str(), bound.block_dim), ("n=4096", 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod adopt;
pub mod bench;
pub mod bind;
pub mod cases;
pub mod discover;
mod elide;
mod error;
mod hex;
pub mod launcher;
pub mod lint;
pub mod manifest;
mod read;
pub mod record;
pub mod run;
pub mod scaffold;
pub mod signature;
pub mod source;
mod write;

pub use error::KernelError;
pub use manifest::Manifest;
