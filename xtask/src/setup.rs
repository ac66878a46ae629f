//! From the options that all verbs share to what the libraries take.

use std::path::{Path, PathBuf};

use clap::Args;
use pto_context::{Called, Context, with_causes};
use pto_kernel::run::{Fetching, Setup, Workshop};
use pto_launch::Worker;
use pto_platform::Target;
use pto_store::Store;

use crate::exit::Failure;
use crate::progress::{Verbosity, sink};

/// Options of every verb.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Print one JSON document on stdout and nothing else there
    #[arg(long, global = true)]
    pub json: bool,
    /// Show every command that is run
    #[arg(long, short, global = true)]
    pub verbose: bool,
    /// Show warnings and results only
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
}

/// Options of every verb that builds for the CPU.
#[derive(Debug, Clone, Args)]
pub struct Build {
    /// PTO-ISA checkout or include directory [default: PTO_LIB_PATH, CANN, the pinned package]
    #[arg(long, value_name = "DIR")]
    pub pto_isa: Option<PathBuf>,
    /// C++ compiler for the CPU target [default: CXX, clang++ or g++ on PATH, the pinned package]
    #[arg(long, value_name = "COMMAND")]
    pub cxx: Option<String>,
    /// Fetch nothing: what is missing is an error
    #[arg(long)]
    pub offline: bool,
    /// Optimization on the CPU: -O0 to -O3
    #[arg(long, value_name = "LEVEL", default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=3))]
    pub opt_level: u8,
}

impl Common {
    /// The machine, with events shown as the options say.
    ///
    /// # Errors
    /// The working directory is gone.
    pub fn context(&self) -> Result<Context, Failure> {
        let verbosity = match (self.verbose, self.quiet) {
            (true, _) => Verbosity::Verbose,
            (_, true) => Verbosity::Quiet,
            _ => Verbosity::Normal,
        };
        let cx = Context::from_process(sink(verbosity)).map_err(|error| {
            Failure::blocked(
                format!("the working directory cannot be found: {error}"),
                "`cd` to one that is there".to_owned(),
            )
        })?;
        Ok(cx.with_called(Called::of(std::env::args_os().next().as_deref())))
    }
}

impl Build {
    /// What the options ask of the machine.
    ///
    /// # Errors
    /// There is no place for the store.
    pub fn setup(&self, cx: &Context) -> Result<Setup, Failure> {
        let root = Store::default_root(cx).map_err(|error| Failure::blocked(with_causes(&error), error.hint()))?;
        Ok(Setup {
            pto_isa: self.pto_isa.clone(),
            cxx: self.cxx.clone(),
            fetching: if self.offline { Fetching::Offline } else { Fetching::Allowed },
            opt_level: self.opt_level,
            shared: Store::open(root),
            artifacts: Store::open(generated_dir(cx).join("store")),
            worker: Worker::this_program().map_err(|error| Failure::blocked(with_causes(&error), error.hint()))?,
        })
    }

    /// What this machine offers.
    ///
    /// # Errors
    /// Headers or a compiler are missing.
    pub fn workshop(&self, cx: &Context, target: Target) -> Result<Workshop, Failure> {
        Ok(Workshop::open(cx, self.setup(cx)?, target)?)
    }
}

/// The workspace this command was built from, or the working directory when it is gone (an installed copy).
pub fn workspace_root(cx: &Context) -> PathBuf {
    let built_from = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    built_from.canonicalize().unwrap_or_else(|_| cx.cwd().to_path_buf())
}

/// Where generated files of this workspace go.
pub fn generated_dir(cx: &Context) -> PathBuf {
    let target = cx.var_os("CARGO_TARGET_DIR").map(|dir| cx.cwd().join(dir));
    target.unwrap_or_else(|| workspace_root(cx).join("target")).join("pto")
}

/// A path as the user would type it: relative to the working directory where it lies below it.
pub fn shown(cx: &Context, path: &Path) -> PathBuf {
    match path.strip_prefix(cx.cwd()) {
        // Below `/` everything is, and would be taken for what it is not.
        Ok(inside) if !inside.as_os_str().is_empty() && cx.cwd().parent().is_some() => inside.to_path_buf(),
        _ => path.to_path_buf(),
    }
}
