//! The build: the project's own extension with native CMake, then the runtime's wheel.

mod artifacts;
mod chosen;
mod hands;
mod inputs;
mod interrupted;
mod native;
mod ours;
mod plan;
mod progress;
mod pto_isa;
mod record;
mod run;
mod tools;
mod tree;
mod turn;
mod wheel;

pub use artifacts::{ArtifactChange, Became};
pub use inputs::{Change, Input, Inputs};
pub use plan::{BuildOptions, BuildPlan, Jobs, Step, plan_build};
pub use pto_isa::{PtoIsa, PtoIsaSources};
pub use record::{Decision, Reason};
pub use run::{Built, build};

pub(crate) use artifacts::digest as artifact_digest;
pub(crate) use hands::Hands;
pub(crate) use plan::RUNTIME;
pub(crate) use tools::hex;
pub(crate) use turn::Turn;
