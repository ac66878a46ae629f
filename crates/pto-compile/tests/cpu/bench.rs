//! What the tests build and run with.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use pto_compile::cpu::{Artifact, CpuError, KernelRequest, Toolchain, ToolchainRequest, build};
use pto_context::Context;
use pto_platform::{Core, Soc};
use pto_process::Invocation;
use pto_store::Store;

use crate::child;

/// A compiler with one set of headers.
pub(crate) struct Bench {
    pub(crate) cx: Context,
    pub(crate) store: Store,
    pub(crate) toolchain: Toolchain,
}

/// What a kernel's test function came to.
#[derive(Debug)]
pub(crate) struct Run {
    /// What it wrote into its results; nothing if it did not return.
    pub(crate) results: Vec<f64>,
    /// The runtime's warnings, as JSON.
    pub(crate) report: String,
    pub(crate) stderr: String,
    pub(crate) passed: bool,
}

/// One bench per header set: the headers that tests use, and the second set where one is named.
pub(crate) fn benches() -> &'static [Bench] {
    static BENCHES: OnceLock<Vec<Bench>> = OnceLock::new();
    let bench = |headers| Bench::new(pto_test::machine(), headers);
    BENCHES.get_or_init(|| pto_test::headers().into_iter().chain(pto_test::second_headers()).map(bench).collect())
}

/// The environment of this process and another working directory.
pub(crate) fn in_dir(cx: &Context, dir: &Path) -> Context {
    Context::fake(dir, cx.vars().map(|(name, value)| (name.to_owned(), value.to_owned())))
}

/// Writes files below a fresh directory.
pub(crate) fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }
    dir
}

impl Bench {
    fn new(cx: Context, headers: PathBuf) -> Self {
        let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
        // Shared by all tests, and by the next run.
        let store = Store::open(Path::new(env!("CARGO_TARGET_TMPDIR")).join("cpu-store"));
        let cx = in_dir(&cx, &kernels);
        let request = ToolchainRequest { headers, ..ToolchainRequest::default() };
        let toolchain = Toolchain::configure(&cx, &store, &request).unwrap();
        Self { cx, store, toolchain }
    }

    /// A request for `tests/kernels/<file>`, for an A2 card.
    pub(crate) fn request(&self, file: impl Into<PathBuf>, core: Core) -> KernelRequest {
        KernelRequest::new("kernel", vec![file.into()], core, Soc::by_name("Ascend910B2").unwrap())
    }

    pub(crate) fn a5(&self, file: impl Into<PathBuf>, core: Core) -> KernelRequest {
        KernelRequest { soc: Soc::by_name("Ascend950PR_9599").unwrap(), ..self.request(file, core) }
    }

    pub(crate) fn build(&self, request: &KernelRequest) -> Result<Artifact, CpuError> {
        build(&self.cx, &self.store, &self.store, &self.toolchain, request)
    }

    /// The same for a user whose working directory is `dir`.
    pub(crate) fn build_in(&self, dir: &Path, request: &KernelRequest) -> Result<Artifact, CpuError> {
        build(&in_dir(&self.cx, dir), &self.store, &self.store, &self.toolchain, request)
    }

    /// Builds and runs `test(which, results)` of the kernel.
    pub(crate) fn run(&self, request: &KernelRequest, which: i32) -> Run {
        let artifact = self.build(request).unwrap_or_else(|error| panic!("{error}"));
        self.run_library(&artifact.library, which)
    }

    pub(crate) fn run_library(&self, library: &Path, which: i32) -> Run {
        let output = Invocation::new(std::env::current_exe().unwrap())
            .args(["--exact", "child::run_kernel", "--ignored", "--nocapture"])
            .env(child::LIBRARY, library)
            .env(child::WHICH, which.to_string())
            .deadline(Duration::from_secs(120))
            .run(&self.cx)
            .unwrap();
        let stdout = output.stdout.text().into_owned();
        let line = |key: &str| stdout.lines().find_map(|line| line.split_once(key)).map(|(_, rest)| rest.to_owned());
        Run {
            results: line(child::RESULTS)
                .map_or_else(Vec::new, |text| text.split_whitespace().map(|n| n.parse().unwrap()).collect()),
            report: line(child::REPORT).unwrap_or_default(),
            stderr: output.stderr.text().into_owned(),
            passed: output.success(),
        }
    }
}
