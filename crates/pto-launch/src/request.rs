//! What is to be launched.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::args::Argument;

/// One launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LaunchRequest {
    /// The library that holds the launcher.
    pub library: PathBuf,
    /// The launcher: `extern "C" void symbol(...)`.
    pub symbol: String,
    /// Its parameters, in order.
    pub arguments: Vec<Argument>,
    /// `libascendcl.so`, in the order to try.
    pub acl: Vec<PathBuf>,
    /// The device's index.
    pub device: u32,
    /// The most address space, in bytes, that the worker may take. Only for the CPU: a card's library maps far more.
    pub memory_limit: Option<u64>,
    /// How long a synchronization may take.
    pub sync_timeout: Duration,
    /// How long the whole process may take.
    pub process_timeout: Duration,
}
