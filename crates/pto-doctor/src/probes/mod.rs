//! What programs, devices and the kernel say of a machine. Each program has a deadline and a thread of its own, so one
//! that hangs costs its own checks alone.

mod machine;
mod pypto;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, SystemTime};

use pto_build::{Blocked, Plan};
use pto_checkout::Checkout;
use pto_compile::cpu::{Survey, survey};
use pto_context::Context;
use pto_devices::acl_probe::{self, AclProbe, Choice};
use pto_devices::{Answer, NpuAnswers, ProbeOptions, ask, device_nodes};
use pto_platform::docker::{Inspection, parse_docker_inspect};
use pto_platform::npu_smi::{Board, NpuSmiInfo, parse_info};
use pto_process::Invocation;
use pto_quarantine::{Quarantine, Standing};

use crate::check::Source;
use crate::elf_strings::SymbolVersion;
use crate::facts;
use crate::{files, python};

pub use machine::{Room, User};
pub use pypto::NextBuild;

/// The checkout of PyPTO's runtime.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuntimeGit {
    /// `git rev-parse HEAD`.
    pub head: Answer,
    /// `git status --porcelain`: empty when nothing was changed, and no file is there that git does not know.
    pub status: Answer,
    /// SHA-256 of `git diff --binary HEAD`, byte for byte.
    pub diff_sha256: Option<String>,
}

/// Packages of the shared store that builds fall back on, where they lie in it already. Which they are is known to whoever
/// builds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pinned {
    /// PTO-ISA's headers.
    pub headers: Option<PathBuf>,
    /// A C++ compiler for the CPU.
    pub compiler: Option<PathBuf>,
}

/// What was said. Every field can be set by a test.
#[derive(Debug)]
pub struct Probes {
    /// `npu-smi info`.
    pub npu_smi: Answer,
    /// Whether `npu-smi` answered only after the driver's directories were put on `LD_LIBRARY_PATH`.
    pub npu_smi_needs_path: bool,
    /// `npu-smi info -t board` for one device of each name that does not decide the SoC, by that name.
    pub boards: Vec<(String, Board)>,
    /// `docker info --format '{{json .}}'`.
    pub docker: Answer,
    /// `docker inspect` of the containers that run, where there are NPUs to hold.
    pub containers: Answer,
    /// What [`python`](crate::python) asks.
    pub python: Answer,
    /// The same of the interpreter in PyPTO's home; not asked where there is none, or where it is the one on `PATH`.
    pub home_python: Answer,
    /// The host's compilers.
    pub compilers: Option<Survey>,
    /// What is fetched already.
    pub pinned: Pinned,
    /// `ptoas --version`.
    pub ptoas: Answer,
    /// The runtime's checkout.
    pub runtime: RuntimeGit,
    /// What a setup of PyPTO's home would do, or why that cannot be told.
    pub setup: Option<Result<Plan, String>>,
    /// PyPTO's checkout, or why it cannot be read.
    pub checkout: Option<Result<Checkout, String>>,
    /// What keeps an update from its branch, or why that cannot be told.
    pub branch: Option<Result<Option<Blocked>, String>>,
    /// How the next build would begin, or why that cannot be told.
    pub build: Option<Result<NextBuild, String>>,
    /// ACL.
    pub acl: AclProbe,
    /// The newest `GLIBC_` symbol of the C library.
    pub glibc: SymbolVersion,
    /// The newest `GLIBCXX_` symbol of libstdc++.
    pub glibcxx: SymbolVersion,
    /// Who examines.
    pub user: User,
    /// Room.
    pub room: Room,
    /// Devices that somebody set aside, and when that was looked up.
    pub quarantine: (Standing, SystemTime),
}

impl Probes {
    /// What is known without asking anybody.
    pub fn unasked(cx: &Context) -> Self {
        let now = SystemTime::now();
        Self {
            npu_smi: Answer::NotAsked,
            npu_smi_needs_path: false,
            boards: Vec::new(),
            docker: Answer::NotAsked,
            containers: Answer::NotAsked,
            python: Answer::NotAsked,
            home_python: Answer::NotAsked,
            compilers: None,
            pinned: Pinned::default(),
            ptoas: Answer::NotAsked,
            runtime: RuntimeGit::default(),
            setup: None,
            checkout: None,
            branch: None,
            build: None,
            acl: AclProbe::NotAsked,
            glibc: SymbolVersion::NotAsked,
            glibcxx: SymbolVersion::NotAsked,
            user: User::of_this_process(),
            room: Room::of(cx),
            quarantine: (Quarantine::of(cx).standing(now), now),
        }
    }

    /// Asks everybody who is wanted, all at once.
    pub fn gather(cx: &Context, wanted: &BTreeSet<Source>, options: &ProbeOptions) -> Self {
        let deadline = options.deadline;
        let wants = |source| wanted.contains(&source);
        let mut probes = Self::unasked(cx);
        thread::scope(|scope| {
            let npu = wants(Source::NpuSmi).then(|| scope.spawn(|| NpuAnswers::ask(cx, deadline)));
            let docker = wants(Source::Docker).then(|| scope.spawn(|| ask(cx, docker_question(), deadline)));
            let containers = wants(Source::Containers).then(|| scope.spawn(|| containers(cx, deadline)));
            let python = wants(Source::Python).then(|| scope.spawn(|| ask(cx, python::question(cx), deadline)));
            let home_python = wants(Source::HomePython).then(|| scope.spawn(|| home_python(cx, deadline)));
            let compilers = wants(Source::Compiler).then(|| scope.spawn(|| survey(cx)));
            let ptoas = wants(Source::Ptoas).then(|| scope.spawn(|| ptoas(cx, deadline)));
            let runtime = wants(Source::RuntimeGit).then(|| scope.spawn(|| pypto::runtime(cx, deadline)));
            let setup = wants(Source::Setup).then(|| scope.spawn(|| pypto::setup(cx, options)));
            let checkout = wants(Source::Checkout).then(|| scope.spawn(|| pypto::checkout(cx)));
            let build = wants(Source::Build).then(|| scope.spawn(|| pypto::build(cx)));
            let acl = wants(Source::Acl).then(|| scope.spawn(|| acl(cx, options)));
            if wants(Source::Libraries) {
                // Here, while the others work: both libraries together are some MB.
                probes.glibc = SymbolVersion::of(cx, "libc.so.6", "GLIBC_");
                probes.glibcxx = SymbolVersion::of(cx, "libstdc++.so.6", "GLIBCXX_");
            }
            // A thread that panicked leaves its answer unasked: its checks say so, the others are not harmed.
            if let Some(answers) = npu.and_then(|thread| thread.join().ok()) {
                (probes.npu_smi, probes.npu_smi_needs_path, probes.boards) =
                    (answers.info, answers.needs_path, answers.boards);
            }
            let answer = |thread: Option<thread::ScopedJoinHandle<'_, Answer>>| {
                thread.and_then(|thread| thread.join().ok()).unwrap_or_default()
            };
            probes.docker = answer(docker);
            probes.room.docker_free = machine::docker_free(cx, &probes.docker);
            probes.containers = answer(containers);
            probes.python = answer(python);
            probes.home_python = answer(home_python);
            probes.ptoas = answer(ptoas);
            probes.compilers = compilers.and_then(|thread| thread.join().ok());
            probes.runtime = runtime.and_then(|thread| thread.join().ok()).unwrap_or_default();
            probes.setup = setup.and_then(|thread| thread.join().ok()).flatten();
            (probes.checkout, probes.branch) = checkout.and_then(|thread| thread.join().ok()).unwrap_or_default();
            probes.build = build.and_then(|thread| thread.join().ok()).flatten();
            probes.acl = acl.and_then(|thread| thread.join().ok()).unwrap_or_default();
        });
        probes
    }

    /// The containers that run, as far as docker told.
    pub fn running(&self) -> Inspection {
        self.containers.stdout().map(parse_docker_inspect).unwrap_or_default()
    }

    /// The table of `npu-smi info`, if there is one.
    pub fn npus(&self) -> Option<NpuSmiInfo> {
        self.npu_smi.said().map(|said| parse_info(&said.text()))
    }
}

fn docker_question() -> Invocation {
    Invocation::new("docker").args(["info", "--format", "{{json .}}"])
}

/// Who else was given this machine's cards. Without a card nobody holds one.
fn containers(cx: &Context, deadline: Duration) -> Answer {
    if device_nodes(cx).indices().is_empty() {
        return Answer::NotAsked;
    }
    let running = ask(cx, Invocation::new("docker").args(["ps", "--quiet", "--no-trunc"]), deadline);
    let ids: Vec<&str> = running.stdout().map(|ids| ids.split_whitespace().collect()).unwrap_or_default();
    if ids.is_empty() {
        return running;
    }
    ask(cx, Invocation::new("docker").arg("inspect").args(ids), deadline)
}

fn ptoas(cx: &Context, deadline: Duration) -> Answer {
    match facts::ptoas(cx) {
        Some(found) if found.in_tree && files::is_tree(cx) => Answer::NotAsked,
        Some(found) => ask(cx, Invocation::new(found.path).arg("--version"), deadline),
        None => Answer::NotFound,
    }
}

fn home_python(cx: &Context, deadline: Duration) -> Answer {
    python::question_to_home(cx).map_or(Answer::NotAsked, |question| ask(cx, question, deadline))
}

/// ACL is asked where there is something to ask: a device to open, on the machine this runs on.
fn acl(cx: &Context, options: &ProbeOptions) -> AclProbe {
    match &options.worker {
        Some(worker) if !files::is_tree(cx) && !device_nodes(cx).indices().is_empty() => {
            let choice = Choice { device: facts::probed_device(cx), among_all: false };
            acl_probe::run(cx, worker, choice, options.acl_deadline())
        }
        _ => AclProbe::NotAsked,
    }
}
