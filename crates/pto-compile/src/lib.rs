//! Kernel source to shared object.
//!
//! What is to be run is a value, a [`plan::Plan`], before anything runs: it can be printed, compared, serialized and
//! tested on a machine without the compiler.
//!
//! ```
//! use pto_compile::bisheng::{BishengRequest, CompileOptions, kernel_plan};
//! use pto_compile::cann::{Toolchain, ToolchainOptions};
//! use pto_context::Context;
//! use pto_platform::{Core, Target};
//!
//! let cx = Context::fake("/home/user", [("ASCEND_HOME_PATH", "/opt/cann")]);
//! let toolchain = Toolchain::assume(&cx, &ToolchainOptions::default());
//! let request = BishengRequest {
//!     target: Target::A5,
//!     core: Core::Vec,
//!     name: "vec_add".to_owned(),
//!     sources: vec!["vec_add.cpp".into()],
//!     generated: Vec::new(),
//!     launcher: None,
//!     out_dir: "out".into(),
//!     options: CompileOptions::default(),
//! };
//! let plan = kernel_plan(&cx, &request, &toolchain)?;
//! assert_eq!(plan.steps.len(), 2);
//! assert_eq!(plan.artifact(), Some("out/libvec_add.so".as_ref()));
//! # Ok::<(), pto_compile::bisheng::BishengError>(())
//! ```
//!
//! This crate must not know how an artifact is launched, what a manifest looks like, nor how its values were given: a hint
//! alone may name an option of `cargo xtask`.

pub mod artifact;
pub mod bisheng;
pub mod cann;
pub mod cpu;
mod deadline;
mod deps;
mod key;
pub mod plan;

pub use deadline::{DEADLINE, DEADLINE_VARIABLE};
pub use deps::{Input, inputs_of};
