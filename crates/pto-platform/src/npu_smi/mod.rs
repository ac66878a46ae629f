//! What `npu-smi` prints, for every generation and driver: columns are found by their titles and rows by what is in them,
//! never by their width. What is not understood becomes a [`crate::Note`], and the rest is still read.
//!
//! ```
//! let text = "
//! | npu-smi 25.5.1                   Version: 25.5.1                               |
//! | 5     910B3       | OK            | 100.8   44               0    / 0          |
//! | 0                 | 0000:02:00.0  | 12      0    / 0         60156/ 65536      |";
//! let info = pto_platform::npu_smi::parse_info(text);
//! assert_eq!(info.devices[0].node().as_deref(), Some("/dev/davinci5"));
//! assert_eq!(info.devices[0].hbm.map(|hbm| hbm.used), Some(60156));
//! ```

mod board;
mod cell;
mod codes;
mod columns;
mod device;
mod failure;
mod fields;
mod frame;
mod halves;
mod health;
mod list;
mod map;
mod processes;
mod report;
mod status;
mod table;

pub use board::{Board, parse_board};
pub use cell::Usage;
pub use codes::{ErrorCode, error_code, error_codes, error_of_exit_status};
pub use device::Device;
pub use failure::{Failure, FailureKind, parse_failures};
pub use health::Health;
pub use list::{Card, CardList, parse_list};
pub use map::{MappedChip, NpuMap, parse_map};
pub use processes::Process;
pub use report::Report;
pub use status::{HealthStatus, MemoryStatus, UsageStatus, parse_health, parse_memory, parse_usages};
pub use table::{Activity, IDLE_MEMORY_SHARE, NpuSmiInfo, parse_info};
