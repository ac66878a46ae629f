//! A client for OCI registries, with what moving tags needs: manifests by their raw bytes, lists of tags, and deleting a tag by
//! name.
//!
//! Every request goes through [`Client`], which ignores the proxies of the environment. Digests are always computed from the
//! bytes that came, never taken from a header.

mod address;
mod auth;
mod client;
mod digest;
mod exchange;
mod manifest;
mod options;
mod problem;
mod realm;
mod reply;
mod said;

pub(crate) use address::without_user;
pub use address::{BadRepository, Repository};
pub(crate) use client::wait;
pub use client::{Client, Deletion, ImageFacts};
pub use digest::{BadDigest, Digest};
pub use manifest::{Manifest, Platform};
pub use options::{Limits, Options, PlainHttp};
pub use problem::{Problem, RequestFailed};
pub use pto_docker::Credentials;
