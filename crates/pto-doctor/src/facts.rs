//! What a file tree and an environment tell of a machine, for more than one check.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use pto_compile::cann::{self, Located, Release};
use pto_context::Context;
use pto_context::places::PYPTO_PINS;
pub(crate) use pto_context::places::{driver_root, pypto_home, pypto_source as pypto_src};
pub(crate) use pto_devices::{Node, Nodes, device_nodes, driver_library_path};
use pto_platform::files::{DriverInfo, VersionsEnv, parse_cann_file, parse_driver_info, parse_versions_env};
use pto_platform::{Generation, Machine, Version};
use pto_ptoas::Layout;

use crate::files::{self, Reading};
use crate::probes::Probes;

/// Machine of the inspected system: this process's, or in a tree that of its C library.
pub(crate) fn machine(cx: &Context) -> Option<Machine> {
    if !files::is_tree(cx) {
        return Machine::current();
    }
    let library = library(cx, "libc.so.6")?;
    let mut header = [0; 20];
    files::open_regular(&files::open_path(cx, &library)).and_then(|mut file| file.read_exact(&mut header)).ok()?;
    // `e_machine` of the ELF header.
    match header.get(18..20)? {
        [62, 0] => Some(Machine::X86_64),
        [183, 0] => Some(Machine::Aarch64),
        _ => None,
    }
}

/// A library where the loader of a distribution keeps it.
pub(crate) fn library(cx: &Context, name: &str) -> Option<PathBuf> {
    const DIRS: [&str; 7] = [
        "/lib/x86_64-linux-gnu",
        "/usr/lib/x86_64-linux-gnu",
        "/lib/aarch64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/lib64",
        "/usr/lib64",
        "/usr/lib",
    ];
    DIRS.iter().map(|dir| Path::new(dir).join(name)).find(|path| files::is_file(cx, path))
}

/// What the driver's `version.info` says.
pub(crate) enum DriverFile {
    Read(PathBuf, Box<DriverInfo>),
    Absent(PathBuf),
    Unreadable(String),
}

pub(crate) fn driver_file(cx: &Context) -> DriverFile {
    let path = driver_root(cx).join("version.info");
    match files::read(cx, &path) {
        Reading::Text(text) => DriverFile::Read(path, Box::new(parse_driver_info(&text))),
        Reading::Absent => DriverFile::Absent(path),
        Reading::Unreadable(why) => DriverFile::Unreadable(why),
    }
}

/// One CANN on the machine.
pub(crate) struct CannInstall {
    pub(crate) root: PathBuf,
    pub(crate) release: Option<Release>,
}

/// Every CANN: the one that is meant first. Links to one that is listed already are left out.
pub(crate) fn cann_installs(cx: &Context) -> Vec<CannInstall> {
    let meant = cann::find_root(cx, None).ok().map(|located| located.path);
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut installs = Vec::new();
    for root in meant.into_iter().chain(cann::usual_places(cx)).filter(|root| files::is_dir(cx, root)) {
        let real = files::open_path(cx, &root).canonicalize().unwrap_or_else(|_| root.clone());
        if !seen.contains(&real) {
            seen.push(real);
            installs.push(CannInstall { release: cann::release(cx, &root), root });
        }
    }
    installs
}

/// Files of a CANN that may name its release, relative to its root. None is in every installation.
pub(crate) fn cann_version_files() -> Vec<PathBuf> {
    let by_machine = Machine::ALL.iter().flat_map(|machine| machine.cann_dirs());
    let by_machine = by_machine.map(|dir| Path::new(dir).join("ascend_toolkit_install.info"));
    let packages = ["runtime", "compiler", "opp", "toolkit"].map(|package| Path::new(package).join("version.info"));
    let top = ["version.cfg", "version.info", "ascend_toolkit_install.info"].map(PathBuf::from);
    top.into_iter().chain(by_machine).chain(packages).collect()
}

/// The release that each of these files names, where it is there and names one.
pub(crate) fn cann_releases(cx: &Context, root: &Path) -> Vec<(PathBuf, Version)> {
    let release = |file: PathBuf| {
        let text = files::read(cx, root.join(&file)).text()?;
        Some((file, parse_cann_file(&text).release?))
    };
    cann_version_files().into_iter().filter_map(release).collect()
}

/// A program of CANN's: inside the one that is meant, else on `PATH`.
pub(crate) fn cann_program(cx: &Context, root: &Path, name: &str) -> Option<PathBuf> {
    let on_path = || which::which_in_global(name, cx.var_os("PATH")).ok()?.next();
    cann::program_inside(cx, root, name).or_else(on_path)
}

/// The CANN that a program belongs to, if it is another than the first.
pub(crate) fn other_cann<'a>(cx: &Context, installs: &'a [CannInstall], program: &Path) -> Option<&'a CannInstall> {
    let real = |path: &Path| files::open_path(cx, path).canonicalize().ok();
    // What was found on `PATH` is a path of this machine, and not of an inspected tree.
    let program = real(program).or_else(|| program.canonicalize().ok())?;
    let holds = |install: &&CannInstall| real(&install.root).is_some_and(|root| program.starts_with(root));
    if installs.first().is_some_and(|first| holds(&first)) {
        return None;
    }
    installs.iter().find(holds)
}

/// The CANN that is meant, as a build would choose it.
pub(crate) fn cann_root(cx: &Context) -> Result<Located, cann::CannError> {
    cann::find_root(cx, None)
}

/// The device that a program gets when it does not choose: `PYPTO_DEVICE`, else 0.
pub(crate) fn probed_device(cx: &Context) -> u32 {
    cx.var("PYPTO_DEVICE").and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

/// What says that this is a container; `None` outside.
pub(crate) fn container(cx: &Context) -> Option<&'static str> {
    if files::exists(cx, "/.dockerenv") {
        return Some("/.dockerenv");
    }
    if files::exists(cx, "/run/.containerenv") {
        return Some("/run/.containerenv");
    }
    let cgroup = files::read(cx, "/proc/1/cgroup").text().unwrap_or_default();
    ["docker", "kubepods", "containerd"].iter().any(|word| cgroup.contains(word)).then_some("/proc/1/cgroup")
}

/// Whether Ascend Docker Runtime was asked for cards when this container was started.
pub(crate) fn has_ascend_runtime(cx: &Context) -> bool {
    container(cx).is_some() && cx.var("ASCEND_VISIBLE_DEVICES").is_some()
}

/// The interpreter of PyPTO's environment.
pub(crate) fn home_python(cx: &Context) -> PathBuf {
    pto_build::Home::of(cx, None).python()
}

/// Names in `bin` of PyPTO's home that should stand for verbs of ours. An image's message is none.
pub(crate) fn helper_names(cx: &Context) -> Vec<String> {
    let names = files::names(cx, pypto_home(cx).join("bin"));
    let is_helper = |name: &String| name.starts_with("pypto-") && !name.ends_with(".sh") && name != pto_build::WELCOME;
    names.into_iter().filter(is_helper).collect()
}

/// The pins of PyPTO's checkout, with the file.
pub(crate) fn pins(cx: &Context) -> Option<(PathBuf, VersionsEnv)> {
    let path = pypto_src(cx)?.join(PYPTO_PINS);
    let text = files::read(cx, &path).text()?;
    Some((path, parse_versions_env(&text)))
}

/// The assembler.
pub(crate) struct Ptoas {
    pub(crate) path: PathBuf,
    pub(crate) rule: &'static str,
    /// Whether it lies in the inspected file system, and not on `PATH`.
    pub(crate) in_tree: bool,
}

/// The assembler: below `PTOAS_ROOT`, and then nowhere else; where the installer puts it; on `PATH`.
pub(crate) fn ptoas(cx: &Context) -> Option<Ptoas> {
    if let Some(root) = cx.var_os("PTOAS_ROOT") {
        return launcher(cx, Path::new(root)).map(|path| Ptoas { path, rule: "from `PTOAS_ROOT`", in_tree: true });
    }
    let installed = pypto_home(cx).join("ptoas");
    if let Some(path) = launcher(cx, &installed) {
        return Some(Ptoas { path, rule: "the usual place", in_tree: true });
    }
    let found = which::which_in_global("ptoas", cx.var_os("PATH")).ok()?.next()?;
    Some(Ptoas { path: found, rule: "found on `PATH`", in_tree: false })
}

/// The launcher of an installation. Links of an inspected tree lead into that tree, so each place is looked up in it.
fn launcher(cx: &Context, root: &Path) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        let metadata = fs_err::metadata(files::open_path(cx, path));
        metadata.is_ok_and(|metadata| metadata.is_file() && metadata.mode() & 0o111 != 0)
    };
    Layout::ALL.map(|layout| root.join(layout.launcher())).into_iter().find(is_program)
}

/// The generation of this machine's NPUs, if anything told.
pub(crate) fn generation(probes: &Probes) -> Option<Generation> {
    let of_board = probes.boards.iter().find_map(|(_, board)| board.identity()?.generation);
    let of_acl = probes.acl.success().and_then(|answer| pto_platform::identify(answer.soc.as_deref()?).generation);
    let of_table = || probes.npus()?.devices.iter().find_map(|device| device.identity().generation);
    of_acl.or(of_board).or_else(of_table)
}
