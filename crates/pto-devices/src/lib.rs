//! The NPUs of a machine, one by one: which node, which SoC, which target, how it feels, who uses it, and whether anybody
//! set it aside.
//!
//! Three sources, the most trustworthy first: ACL, asked in a process of its own ([`acl_probe`]), since a library that
//! hangs, crashes or prints then costs the question alone; `npu-smi`, whose table names families where it should name
//! SoCs, and which fails on some 950 hosts where ACL works; the nodes in `/dev`. Nothing here changes a machine, and
//! nothing needs root.
//!
//! This crate must not know what a device is wanted for: it neither launches nor judges.
//!
//! ```
//! use pto_context::Context;
//! use pto_devices::{Devices, Look, ProbeOptions};
//!
//! let cx = Context::fake("/nowhere", [("PATH", "/nowhere/bin")]);
//! let devices = Devices::ask(&cx, &Look { probes: ProbeOptions::new(&cx), acl: false });
//! assert!(devices.devices.is_empty() && devices.unavailable.is_some());
//! ```

pub mod acl_probe;
mod ask;
mod devices;
mod nodes;
mod npu;
mod npu_answers;
mod options;
mod probe;
mod seen;

pub use ask::{Answer, Said, ask};
pub use devices::{Devices, Look};
pub use nodes::{Node, Nodes, device_nodes, driver_library_path};
pub use npu::{Holder, Npu, SetAside, SocSource};
pub use npu_answers::NpuAnswers;
pub use options::ProbeOptions;
pub use probe::{PlatformFile, Probed};
pub use seen::Seen;
