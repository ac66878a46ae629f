//! The development container: its image built, the container created, compared with what is asked for, and re-entered.
//!
//! A [`Request`] is what somebody asks for. A [`Plan`] is what that means on this host: which checkouts are mounted and where, how
//! the container gets at the NPUs, and the command that would create it, with its configuration recorded in labels.
//! [`Plan::enter`] creates the container, or compares the one that is there and enters it; it never changes one. The last step,
//! [`Session::begin`], replaces this process by the session.
//!
//! This crate must not know kernels, registries, nor the command line.
//!
//! ```
//! use pto_container::{Access, Request, Series};
//!
//! let request = Request { access: Some(Access::Privileged), ..Request::new(Series::A3, vec![1]) };
//! assert_eq!(request.series.platform(), "a2a3");
//! ```

mod access;
mod arguments;
mod build;
mod checks;
mod claim;
mod configuration;
mod create;
mod disk;
mod enter;
mod error;
mod mount;
mod name;
mod plan;
mod program;
mod request;
mod series;
mod session;
mod settings;
mod shell;
mod size;
mod sources;
mod start;

pub use access::{Access, DeviceAccess, Mode, PRIVILEGED};
pub use build::{BuildPlan, BuildRequest};
pub use checks::{CheckId, Finding};
pub use configuration::{Configuration, Difference};
pub use enter::enter_existing;
pub use error::Error;
pub use mount::{Mount, MountKind};
pub use plan::Plan;
pub use pto_context::Fault;
pub use request::Request;
pub use series::{Series, Stage};
pub use session::{Entry, Session};
pub use settings::container_name;
pub use shell::shell_line;
