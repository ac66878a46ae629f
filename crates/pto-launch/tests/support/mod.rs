//! A place to launch from: kernels compiled by the machine's C compiler, a worker, and a look at what is left behind.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use pto_context::Context;
use pto_launch::{Argument, Buffer, Init, LaunchError, LaunchRequest, Launched, Limits, Scalar, Verdict, Worker};

/// Elements of the `int32_t` buffer that every launcher of `kernels.c` gets: 4004 bytes, so that the last of the 32-byte
/// units that a device allocates is not full.
pub(crate) const N: usize = 1001;

/// What the buffer holds before the launch.
pub(crate) const PATTERN: u8 = 0xa5;

/// Far more than a step of a launch takes, also on a machine that builds something else meanwhile.
const MINUTE: Duration = Duration::from_secs(60);

/// Marks, in its environment, a process that a test has started.
const MARK: &str = "PTO_LAUNCH_TEST_MARK";

/// How long ended processes may take to vanish: the last step of a kill is the system's.
const PATIENCE: Duration = Duration::from_secs(10);

/// Compiles C or C++ to a library. `None`, said on stderr, where there is no compiler: such a test does nothing.
pub(crate) fn compile(name: &str, sources: &[&Path]) -> Option<PathBuf> {
    let include = |dir: &str| format!("-I{}/../{dir}", env!("CARGO_MANIFEST_DIR"));
    let compiler = if sources.iter().any(|path| path.extension() == Some("cpp".as_ref())) { "c++" } else { "cc" };
    // Renamed when it is whole: several test binaries may compile at once.
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.so"));
    let partial = library.with_extension(std::process::id().to_string());
    let mut command = assert_cmd::Command::new(compiler);
    command
        .args(["-shared", "-fPIC", "-O1", "-w"])
        .args(["pto-aclsim/include", "pto-compile/cpu/runtime"].map(include));
    command.arg("-o").arg(&partial).args(sources);
    match command.arg("-ldl").arg("-lpthread").output() {
        Ok(output) if output.status.success() => {
            fs_err::rename(partial, &library).unwrap();
            Some(library)
        }
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            pto_test::skip(&format!("there is no `{compiler}` on this machine ({error})"));
            None
        }
    }
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels").join(name)
}

/// The library of `tests/kernels/FILE`, compiled once per test binary.
pub(crate) fn library(file: &'static str) -> Option<PathBuf> {
    static LIBRARIES: [(&str, OnceLock<Option<PathBuf>>); 4] = [
        ("kernels.c", OnceLock::new()),
        ("faults.c", OnceLock::new()),
        ("teardown.cpp", OnceLock::new()),
        ("constructor.c", OnceLock::new()),
    ];
    let (_, compiled) = LIBRARIES.iter().find(|(name, _)| *name == file).unwrap();
    compiled.get_or_init(|| compile(file, &[&source(file)])).clone()
}

/// The example, as a caller in a process of its own.
pub(crate) fn caller_program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.parent().unwrap().with_file_name("examples").join("run_kernel");
    assert!(program.exists(), "`{}` is missing: run `cargo build -p pto-launch --examples`", program.display());
    program
}

/// One test's surroundings.
pub(crate) struct Rig {
    pub(crate) scratch: tempfile::TempDir,
    pub(crate) cx: Context,
    pub(crate) worker: Worker,
    /// How a caller in a process of its own is told to take a device to itself.
    pub(crate) device: Option<&'static str>,
    mark: String,
}

impl Rig {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let scratch = tempfile::tempdir().unwrap();
        let mark = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let cx = Context::fake(scratch.path(), [("PATH", "/usr/bin:/bin")])
            .with_var("TMPDIR", scratch.path())
            .with_var(MARK, &mark);
        Self { scratch, cx, worker: Worker::at(env!("CARGO_BIN_EXE_pto-launch-worker")), device: None, mark }
    }

    /// Sets a variable for the worker.
    pub(crate) fn with_var(mut self, name: &str, value: &str) -> Self {
        self.cx = self.cx.with_var(name, value);
        self
    }

    pub(crate) fn acl(&self) -> PathBuf {
        pto_launch::host_acl(&self.cx, self.worker.program()).unwrap()
    }

    /// `void symbol(uint32_t blocks, void *stream, int32_t *y, uint32_t n)`
    pub(crate) fn request(&self, library: &Path, symbol: &str) -> LaunchRequest {
        let init = Init::Pattern(vec![PATTERN]);
        let y = Buffer { name: "y".into(), bytes: 4 * N, init, output: true };
        LaunchRequest {
            library: library.to_owned(),
            symbol: symbol.into(),
            arguments: vec![
                Argument::BlockDim(8),
                Argument::Stream,
                Argument::Buffer(y),
                Argument::Scalar(Scalar::U32(N as u32)),
            ],
            acl: vec![self.acl()],
            device: 0,
            memory_limit: None,
            repeats: 1,
            timing: None,
            limits: Limits { process: Duration::from_secs(120), launch: MINUTE, sync: MINUTE, teardown: MINUTE },
        }
    }

    /// Launches, and sees that nothing is left behind and that a good kernel still runs.
    pub(crate) fn launch(&self, request: &LaunchRequest) -> Result<Launched, LaunchError> {
        let result = pto_launch::launch(&self.cx, &self.worker, request);
        self.assert_clean();
        if let Some(kernels) = library("kernels.c") {
            let cx = self.cx.clone().with_var("PTO_ACLSIM_FAULT", "");
            let good = pto_launch::launch(&cx, &self.worker, &self.request(&kernels, "fill")).unwrap();
            assert_eq!(good.verdict, Verdict::Completed, "the next launch: {}", good.said);
            assert_eq!(good.outputs["y"], filled(N), "the next launch");
            self.assert_clean();
        }
        result
    }

    /// No process of this rig lives, and no directory of a launch is there.
    pub(crate) fn assert_clean(&self) {
        self.assert_no_process();
        let left: Vec<_> = fs_err::read_dir(self.scratch.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }

    pub(crate) fn assert_no_process(&self) {
        let until = Instant::now() + PATIENCE;
        while !self.processes().is_empty() {
            assert!(Instant::now() < until, "still there: {:?}", self.processes());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The processes of this rig that live, wherever they went.
    pub(crate) fn processes(&self) -> Vec<i32> {
        let wanted = format!("{MARK}={}", self.mark);
        let is_ours = |pid: &i32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let name = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            // One that has given up its environment took the mark for its name.
            environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
                || name.split(|byte| *byte == 0).next() == Some(self.mark.as_bytes())
        };
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
    }

    /// The variables that a program outside of this process needs to belong to this rig.
    pub(crate) fn vars(&self) -> BTreeMap<String, String> {
        let text = |value: &std::ffi::OsStr| value.to_str().unwrap().to_owned();
        self.cx.vars().map(|(name, value)| (text(name), text(value))).collect()
    }
}

/// What `fill` writes with 8 blocks.
pub(crate) fn filled(n: usize) -> Vec<u8> {
    (0..n as i32).flat_map(|i| (i + 8).to_ne_bytes()).collect()
}
