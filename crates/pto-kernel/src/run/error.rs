//! What keeps a kernel from being tried.

use std::io;
use std::path::PathBuf;

use pto_compile::bisheng::BishengError;
use pto_compile::cann::CannError;
use pto_compile::cpu::CpuError;
use pto_compile::plan::RunError as PlanError;
use pto_context::{BadSeconds, Fault, is_disk_full};
use pto_golden::{DType, ExprError};
use pto_launch::{BadDevice, LaunchError, LaunchPath, NoDevice, NoPath};
use pto_platform::{PlatformError, Target};
use pto_ptoas::AssembleError;

use super::deadlines::MOST_REPEATS;
use crate::KernelError;
use crate::elide::elided;

/// Why a kernel was not tried.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The manifest, its cases or its sources.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The target is not among the manifest's.
    #[error("kernel `{kernel}` is not written for `{target}`; its targets are {}", list(.targets))]
    NotATarget {
        /// The kernel.
        kernel: String,
        /// What was asked for.
        target: Target,
        /// What it is written for.
        targets: Vec<Target>,
    },
    /// The SoC does not fit.
    #[error("`{soc}` is not a SoC that `{target}` of kernel `{kernel}` runs on")]
    WrongSoc {
        /// The SoC.
        soc: &'static str,
        /// The target.
        target: Target,
        /// The kernel.
        kernel: String,
    },
    /// A target without a usual SoC.
    #[error("no SoC is known for `{target}`")]
    NoSoc {
        /// The target.
        target: Target,
    },
    /// There is nothing to run.
    #[error("kernel `{kernel}` has no cases")]
    NoCases {
        /// The kernel.
        kernel: String,
    },
    /// The library has no such symbol.
    #[error("`{symbol}` is not in the built library; it exports {}", names(.exported))]
    NoSymbol {
        /// The launcher's symbol.
        symbol: String,
        /// What there is.
        exported: Vec<String>,
    },
    /// The built library cannot be read.
    #[error("cannot read the symbols of `{}`: {reason}", .library.display())]
    Unreadable {
        /// The library.
        library: PathBuf,
        /// Why.
        reason: String,
    },
    /// The CPU back end.
    #[error(transparent)]
    Cpu(#[from] CpuError),
    /// A `.pto` source was not assembled.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// CANN or its compiler is not here.
    #[error(transparent)]
    Cann(#[from] CannError),
    /// A bisheng plan cannot be made.
    #[error(transparent)]
    Bisheng(#[from] BishengError),
    /// bisheng could not build it.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The launch could not be tried.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The kernel has no way to run here.
    #[error(transparent)]
    NoPath(#[from] NoPath),
    /// A variable names no device.
    #[error(transparent)]
    BadDevice(#[from] BadDevice),
    /// No device can be used.
    #[error(transparent)]
    NoDevice(#[from] NoDevice),
    /// A variable names a SoC that does not exist.
    #[error("`{variable}` names no SoC")]
    BadSoc {
        /// The variable.
        variable: &'static str,
        /// What is wrong with its value.
        source: PlatformError,
    },
    /// The library's device code is for another architecture.
    #[error(
        "the device code in `{}` is for {found}, and `{target}` is `{}`", .library.display(),
        .target.arch().map(|arch| arch.compiler_name().to_owned()).unwrap_or_default()
    )]
    OtherArch {
        /// The library.
        library: PathBuf,
        /// What its code is for.
        found: String,
        /// What it was built for.
        target: Target,
    },
    /// The library would compute on a model, wherever it is launched.
    #[error("`{}` is linked with `libruntime_camodel`, so it cannot be launched through `{path}`", .library.display())]
    LinkedWithModel {
        /// The library.
        library: PathBuf,
        /// The launch path.
        path: LaunchPath,
    },
    /// A pinned package could not be had.
    #[error(transparent)]
    Fetch(#[from] pto_fetch::Error),
    /// The store.
    #[error(transparent)]
    Store(#[from] pto_store::Error),
    /// Something that the manifest says does not hold for a case; the source says what.
    #[error("{}:{line}", .path.display())]
    InManifest {
        /// The manifest.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What.
        source: Box<RunError>,
    },
    /// Something is missing and may not be fetched.
    #[error("no {what}: the {package} is not in the store `{}`, and nothing may be fetched", .store.display())]
    Offline {
        /// What is missing.
        what: &'static str,
        /// The package that holds it.
        package: String,
        /// Where it was looked for.
        store: PathBuf,
    },
    /// The program that makes the golden tensors is not on this machine.
    #[error("the golden command cannot be run")]
    GoldenProgram(#[source] pto_process::Error),
    /// A golden expression has no value for a case.
    #[error("golden of `{output}` is `{}`, which has no value", elided(.text))]
    GoldenExpr {
        /// The output.
        output: String,
        /// The expression.
        text: String,
        /// Why.
        source: Box<ExprError>,
    },
    /// A golden expression has another shape than its output.
    #[error(
        "golden of `{output}` is `{}`, which has shape {found:?} in case {case}; the output has {expected:?}",
        elided(.text)
    )]
    GoldenShape {
        /// The output.
        output: String,
        /// The expression.
        text: String,
        /// Its shape.
        found: Box<[usize]>,
        /// The output's shape.
        expected: Box<[usize]>,
        /// The case.
        case: String,
    },
    /// A golden expression has a value that its output's type cannot hold.
    #[error(
        "golden of `{output}` is `{}`, which is NaN or infinite somewhere in case {case}; the output is {dtype}",
        elided(.text)
    )]
    GoldenNotFinite {
        /// The output.
        output: String,
        /// The expression.
        text: String,
        /// The output's type.
        dtype: DType,
        /// The case.
        case: String,
    },
    /// An input file has another shape than its argument.
    #[error("`{}` has shape {found:?}; the argument has {expected:?}", .path.display())]
    InputShape {
        /// The file.
        path: PathBuf,
        /// Its shape.
        found: Vec<usize>,
        /// The argument's shape in this case.
        expected: Vec<usize>,
    },
    /// A tensor cannot be made or read.
    #[error(transparent)]
    Tensor(#[from] pto_golden::Error),
    /// A file cannot be written.
    #[error("cannot write files of a run")]
    Io(#[source] io::Error),
    /// A deadline of the environment is not one.
    #[error(transparent)]
    BadDeadline(#[from] BadSeconds),
    /// The number of repeats in the environment is not one.
    #[error("`{variable}` is `{value}`; expected a whole number from 1 to {MOST_REPEATS}")]
    BadRepeats {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
    },
    /// The user asked for the end.
    #[error("interrupted")]
    Interrupted,
}

impl RunError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::InManifest { source, .. } => source.fault(),
            Self::Cpu(error) if error.is_interrupted() => Fault::Interrupt,
            Self::Fetch(error) if error.is_interrupted() => Fault::Interrupt,
            Self::Store(error) if error.is_interrupted() => Fault::Interrupt,
            Self::Launch(LaunchError::Interrupted) | Self::Interrupted => Fault::Interrupt,
            Self::Cpu(error) if error.is_the_kernels() => Fault::Verdict,
            Self::Assemble(error) if error.is_interrupted() => Fault::Interrupt,
            Self::Assemble(error) if error.is_the_sources() => Fault::Verdict,
            Self::Assemble(error) if error.is_the_inputs() => Fault::Input,
            Self::Plan(error) if error.is_interrupted() => Fault::Interrupt,
            Self::Plan(error) if error.is_the_kernels() => Fault::Verdict,
            Self::Launch(error) if error.is_the_kernels() => Fault::Verdict,
            Self::Launch(error) if error.is_usage() => Fault::Input,
            Self::NoPath(error) if error.is_usage() => Fault::Input,
            Self::OtherArch { .. } | Self::LinkedWithModel { .. } => Fault::Verdict,
            Self::Kernel(_)
            | Self::NotATarget { .. }
            | Self::WrongSoc { .. }
            | Self::NoSoc { .. }
            | Self::NoCases { .. }
            | Self::NoSymbol { .. }
            | Self::Bisheng(_)
            | Self::GoldenExpr { .. }
            | Self::GoldenShape { .. }
            | Self::GoldenNotFinite { .. }
            | Self::InputShape { .. }
            | Self::BadDeadline(_)
            | Self::BadDevice(_)
            | Self::BadSoc { .. }
            | Self::BadRepeats { .. }
            | Self::Cpu(CpuError::BadDeadline(_))
            | Self::Plan(PlanError::BadDeadline(_) | PlanError::Request(_))
            | Self::Tensor(_) => Fault::Input,
            Self::Unreadable { .. }
            | Self::Cpu(_)
            | Self::Cann(_)
            | Self::Assemble(_)
            | Self::Plan(_)
            | Self::Launch(_)
            | Self::NoPath(_)
            | Self::NoDevice(_)
            | Self::GoldenProgram(_)
            | Self::Offline { .. }
            | Self::Fetch(_)
            | Self::Store(_)
            | Self::Io(_) => Fault::Machine,
        }
    }

    /// Whether what was asked for is wrong, and no file: then nothing was learned about the kernel, and what is known of it
    /// from runs before stays as it is.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::InManifest { source, .. } => source.is_usage(),
            Self::NoPath(error) => error.is_usage(),
            Self::Kernel(KernelError::CaseFilter { .. })
            | Self::NotATarget { .. }
            | Self::WrongSoc { .. }
            | Self::BadDeadline(_)
            | Self::BadDevice(_)
            | Self::BadSoc { .. }
            | Self::BadRepeats { .. }
            | Self::Cpu(CpuError::BadDeadline(_))
            | Self::Plan(PlanError::BadDeadline(_)) => true,
            _ => false,
        }
    }

    /// Whether nothing is wrong but the target or SoC, which are not this kernel's.
    pub fn is_about_the_target(&self) -> bool {
        matches!(self, Self::NotATarget { .. } | Self::WrongSoc { .. })
    }

    /// What to do about it, for people; `None` if the error says all.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Kernel(error) => error.hint(),
            Self::InManifest { source, .. } => source.hint(),
            Self::GoldenProgram(error) => error.hint(),
            Self::Offline { .. } => Some(
                "run once without `--offline`, or give a PTO-ISA checkout with `--pto-isa DIR` or `PTO_LIB_PATH`"
                    .to_owned(),
            ),
            // What the compiler says of a kernel says where; the command is long, and `--verbose` shows it.
            Self::Cpu(error) if error.is_the_kernels() => None,
            Self::Cpu(error) => error.hint(),
            Self::Assemble(error) => error.hint(),
            Self::Cann(error) => Some(error.hint()),
            Self::Plan(error) => error.hint(),
            Self::Launch(error) => error.hint(),
            Self::NoPath(error) => Some(error.hint()),
            Self::NoDevice(error) => Some(error.hint().to_owned()),
            Self::BadDevice(BadDevice::Disagree { .. }) => Some("unset the one that is not meant".to_owned()),
            Self::BadSoc { source, .. } => source.hint(),
            Self::OtherArch { .. } => Some(
                "nothing of it is launched: a flag, an environment or a cache that is not this target's got into the build"
                    .to_owned(),
            ),
            Self::LinkedWithModel { .. } => Some("leave `-lruntime_camodel` out of the kernel's library".to_owned()),
            Self::Fetch(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Tensor(error) => error.hint(),
            Self::GoldenExpr { source, .. } => source.help.clone(),
            Self::NotATarget { targets, .. } => targets
                .first()
                .map(|target| format!("use `--target {target}`, or add the target to `targets` in kernel.toml")),
            Self::WrongSoc { target, .. } => {
                let fits = |of: &Target| *target == Target::Cpu || of == target;
                let examples = [Target::A2a3, Target::A5].into_iter().filter(fits);
                let examples = examples.filter_map(|of| Some(format!("{of} `{}`", of.default_soc()?.name)));
                Some(format!(
                    "use a SoC of the kernel's targets, for example for {}",
                    examples.collect::<Vec<_>>().join(", for ")
                ))
            }
            Self::NoSymbol { .. } => Some(
                "set `entry` to the `extern \"C\"` launcher, or `global` to the kernel to have one generated"
                    .to_owned(),
            ),
            Self::NoCases { .. } => Some("give `list` or `edges` in [cases], or a size with `--case`".to_owned()),
            Self::Io(error) if is_disk_full(error) => Some("free some space, or set `TMPDIR`".to_owned()),
            _ => None,
        }
    }
}

fn list(targets: &[Target]) -> String {
    targets.iter().map(|target| format!("`{target}`")).collect::<Vec<_>>().join(", ")
}

fn names(names: &[String]) -> String {
    if names.is_empty() {
        return "nothing".to_owned();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
