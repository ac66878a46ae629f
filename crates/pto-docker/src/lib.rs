//! The Docker engine through its own client: command lines as values, passwords only on stdin, a private configuration directory
//! that is removed however the process ends, images and containers as facts.
//!
//! [`Docker::command`] makes an [`Invocation`](pto_process::Invocation), which can be printed, compared and tested without
//! an engine. [`Docker::run`] runs one and tells apart what can go wrong: no client, no engine, no permission, no such
//! image or container, a name that is taken. Commands for a registry come from a [`RegistryClient`], which has a
//! configuration of its own and does not use the proxies of the shell.
//!
//! This crate must not know what an image holds, nor PyPTO.
//!
//! ```
//! use pto_context::Context;
//! use pto_docker::{Docker, Error};
//!
//! let cx = Context::fake("/", [("PATH", "/nowhere"), ("DOCKER_HOST", "unix:///run/docker.sock")]);
//! let error = Docker::new(&cx).unwrap_err();
//! assert!(matches!(error, Error::NoClient { .. }));
//! ```

mod credentials;
mod docker;
mod error;
mod private;
mod proxies;
mod refusal;
mod registry;

pub use credentials::Credentials;
pub use docker::Docker;
pub use error::Error;
pub use private::{PrivateDirectory, private_home};
pub use proxies::{PROXY_VARIABLES, Proxies};
pub use pto_context::Fault;
pub use registry::RegistryClient;
