//! What programs, devices and the kernel say of a machine. Each program has a deadline and a thread of its own, so one
//! that hangs costs its own checks alone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use pto_compile::cpu::{Survey, survey};
use pto_context::Context;
use pto_platform::docker::{Inspection, parse_docker_inspect};
use pto_platform::npu_smi::{self, Board, NpuSmiInfo};
use pto_process::Invocation;
use pto_quarantine::{Quarantine, Standing};
use pto_store::Store;

use crate::acl_probe::{self, AclProbe, Choice};
use crate::ask::{Answer, ask};
use crate::check::Source;
use crate::elf_strings::SymbolVersion;
use crate::facts::{self, device_nodes};
use crate::{files, python};

/// How long a program may take to answer. `npu-smi info` needs up to 3 s on a host of 16 dies; a program that needs three
/// times that is stuck. In seconds.
pub(crate) const DEFAULT_DEADLINE: Duration = Duration::from_secs(10);
/// Overrules [`DEFAULT_DEADLINE`], in seconds.
pub(crate) const DEADLINE_VARIABLE: &str = "PTOKIT_PROBE_SECONDS";

/// How to ask.
#[derive(Debug, Clone)]
pub struct ProbeOptions {
    /// A program whose `main` calls [`acl_probe::intercept`]; without one ACL is not asked.
    pub worker: Option<PathBuf>,
    /// How long each program may take.
    pub deadline: Duration,
}

impl ProbeOptions {
    /// The deadline that the environment names, or the default; no worker.
    pub fn new(cx: &Context) -> Self {
        let seconds = cx.var(DEADLINE_VARIABLE).and_then(|text| text.parse().ok());
        Self { worker: None, deadline: seconds.map_or(DEFAULT_DEADLINE, Duration::from_secs) }
    }
}

/// Who examines: decides which device nodes can be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Effective user id.
    pub uid: u32,
    /// Effective and supplementary group ids.
    pub gids: Vec<u32>,
}

/// Room on this machine, in bytes; `None` where the kernel does not tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Room {
    /// Free for this user where artifacts are kept.
    pub disk_free: Option<u64>,
    /// Size of `/dev/shm`.
    pub shm: Option<u64>,
    /// Free where docker keeps its images, if docker tells where that is.
    pub docker_free: Option<u64>,
}

/// The checkout of PyPTO's runtime.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuntimeGit {
    /// `git rev-parse HEAD`.
    pub head: Answer,
    /// `git status --porcelain`: empty when nothing was changed.
    pub status: Answer,
    /// `git diff --binary HEAD`.
    pub diff: Answer,
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
    /// The host's compilers.
    pub compilers: Option<Survey>,
    /// `ptoas --version`.
    pub ptoas: Answer,
    /// The runtime's checkout.
    pub runtime: RuntimeGit,
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
            compilers: None,
            ptoas: Answer::NotAsked,
            runtime: RuntimeGit::default(),
            acl: AclProbe::NotAsked,
            glibc: SymbolVersion::NotAsked,
            glibcxx: SymbolVersion::NotAsked,
            user: user(),
            room: room(cx),
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
            let compilers = wants(Source::Compiler).then(|| scope.spawn(|| survey(cx)));
            let ptoas = wants(Source::Ptoas).then(|| scope.spawn(|| ptoas(cx, deadline)));
            let runtime = wants(Source::RuntimeGit).then(|| scope.spawn(|| runtime(cx, deadline)));
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
            probes.room.docker_free = docker_free(cx, &probes.docker);
            probes.containers = answer(containers);
            probes.python = answer(python);
            probes.ptoas = answer(ptoas);
            probes.compilers = compilers.and_then(|thread| thread.join().ok());
            probes.runtime = runtime.and_then(|thread| thread.join().ok()).unwrap_or_default();
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
        self.npu_smi.said().map(|said| npu_smi::parse_info(&said.text()))
    }
}

/// What `npu-smi` said.
pub(crate) struct NpuAnswers {
    pub(crate) info: Answer,
    pub(crate) needs_path: bool,
    pub(crate) boards: Vec<(String, Board)>,
}

impl NpuAnswers {
    /// Asks for the table, and then for the boards of those names in it that do not decide the SoC. A shell without the
    /// driver's directories on `LD_LIBRARY_PATH` is helped out, so that it is not mistaken for a machine without NPUs.
    pub(crate) fn ask(cx: &Context, deadline: Duration) -> Self {
        let plain = ask(cx, Invocation::new("npu-smi").arg("info"), deadline);
        let helped =
            lacks_library(&plain).then(|| ask(cx, with_driver(cx, Invocation::new("npu-smi").arg("info")), deadline));
        let (info, needs_path) = match helped {
            Some(answer) if answer.said().is_some() && !lacks_library(&answer) => (answer, true),
            _ => (plain, false),
        };
        let boards = boards(cx, &info, deadline);
        Self { info, needs_path, boards }
    }
}

fn lacks_library(answer: &Answer) -> bool {
    let failures = answer.said().map(|said| npu_smi::parse_failures(&said.text())).unwrap_or_default();
    failures.iter().any(|failure| matches!(failure.kind, npu_smi::FailureKind::MissingLibrary(_)))
}

fn with_driver(cx: &Context, invocation: Invocation) -> Invocation {
    let mut path = facts::driver_library_path(cx);
    if let Some(old) = cx.var("LD_LIBRARY_PATH") {
        path = format!("{path}:{old}");
    }
    invocation.env("LD_LIBRARY_PATH", path)
}

/// All cards of one name in one host are of one kind, so one question per name will do.
fn boards(cx: &Context, info: &Answer, deadline: Duration) -> Vec<(String, Board)> {
    let Some(said) = info.said() else { return Vec::new() };
    let table = npu_smi::parse_info(&said.text());
    let mut boards: Vec<(String, Board)> = Vec::new();
    for device in table.devices.iter().filter(|device| device.identity().soc.is_none()) {
        if boards.iter().any(|(name, _)| *name == device.name) {
            continue;
        }
        let question = Invocation::new("npu-smi").args(["info", "-t", "board"]).args(device.query_options());
        let answer = ask(cx, with_driver(cx, question), deadline);
        let board = answer.said().and_then(|said| npu_smi::parse_board(&said.text()).entries.into_iter().next());
        boards.extend(board.map(|board| (device.name.clone(), board)));
    }
    boards
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

fn runtime(cx: &Context, deadline: Duration) -> RuntimeGit {
    let Some(runtime) =
        facts::pypto_src(cx).map(|src| src.join("runtime")).filter(|dir| files::exists(cx, dir.join(".git")))
    else {
        return RuntimeGit::default();
    };
    let git = |args: &[&str]| {
        // Only looks: no index refresh, no monitor that the repository names, and no refusal of another owner's checkout.
        let invocation = Invocation::new("git")
            .args(["-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-C"])
            .arg(files::open_path(cx, &runtime))
            .args(args)
            .env("GIT_OPTIONAL_LOCKS", "0");
        ask(cx, invocation, deadline)
    };
    RuntimeGit {
        head: git(&["rev-parse", "HEAD"]),
        status: git(&["status", "--porcelain", "--untracked-files=no"]),
        diff: git(&["diff", "--binary", "HEAD"]),
    }
}

/// ACL is asked where there is something to ask: a device to open, on the machine this runs on.
fn acl(cx: &Context, options: &ProbeOptions) -> AclProbe {
    match &options.worker {
        Some(worker) if !files::is_tree(cx) && !device_nodes(cx).indices().is_empty() => {
            let choice = Choice { device: facts::probed_device(cx), among_all: false };
            acl_probe::run(cx, worker, choice, options.deadline.max(ACL_DEADLINE))
        }
        _ => AclProbe::NotAsked,
    }
}

/// Opening a device takes up to 8 s on a host where nothing was run since it booted.
pub(crate) const ACL_DEADLINE: Duration = Duration::from_secs(20);

fn user() -> User {
    let mut gids: Vec<u32> = rustix::process::getgroups().unwrap_or_default().iter().map(|gid| gid.as_raw()).collect();
    gids.push(rustix::process::getegid().as_raw());
    User { uid: rustix::process::geteuid().as_raw(), gids }
}

fn room(cx: &Context) -> Room {
    let store = Store::default_root(cx).unwrap_or_else(|_| cx.cwd().to_path_buf());
    Room {
        disk_free: existing_parent(&store).and_then(statvfs).map(|fs| fs.0),
        shm: statvfs(&cx.under_root("/dev/shm")).map(|fs| fs.1),
        docker_free: None,
    }
}

fn docker_free(cx: &Context, docker: &Answer) -> Option<u64> {
    let root = pto_platform::docker::parse_docker_info(docker.stdout()?).root_dir?;
    statvfs(&files::open_path(cx, root.as_ref())).map(|fs| fs.0)
}

fn existing_parent(path: &Path) -> Option<&Path> {
    path.ancestors().find(|dir| dir.is_dir())
}

/// Bytes free for an ordinary user, and bytes in all.
fn statvfs(path: &Path) -> Option<(u64, u64)> {
    let fs = rustix::fs::statvfs(path).ok()?;
    Some((fs.f_bavail * fs.f_frsize, fs.f_blocks * fs.f_frsize))
}
