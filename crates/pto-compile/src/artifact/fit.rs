//! Whether a machine can load an artifact and run its kernels.

use std::fmt;
use std::path::{Path, PathBuf};

use memchr::memmem;
use pto_context::Context;
use pto_platform::{Arch, Machine};
use serde::Serialize;

use super::{Artifact, DeviceArch, NeededVersion, Processor};
use crate::cann::{self, ToolchainOptions};

/// The machine that is asked about, as far as its files do not tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Host {
    /// Its processor; `None` where CANN is not built for it.
    pub machine: Option<Machine>,
    /// The architectures of the NPUs that are there.
    pub npus: Vec<Arch>,
}

/// What a machine has of what an artifact needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Fit {
    /// One for each library that is needed, in the artifact's order.
    pub libraries: Vec<Library>,
    /// What stands in the way, none where everything fits.
    pub problems: Vec<Problem>,
}

/// A needed library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Library {
    /// As the artifact names it.
    pub name: String,
    /// Where the loader would find it.
    #[serde(flatten)]
    pub place: Where,
}

/// Where a library is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "place", content = "path", rename_all = "snake_case")]
pub enum Where {
    /// The loader finds it here.
    Found(PathBuf),
    /// The loader does not look there: CANN's `set_env.sh` has to be sourced first.
    InCann(PathBuf),
    /// Nowhere.
    Missing,
}

/// Why an artifact is of no use on a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Problem {
    /// It is for other processors.
    Processor {
        /// Its own.
        built_for: String,
        /// The machine's.
        here: Option<Machine>,
    },
    /// A library is not there, or not where the loader looks.
    Library {
        /// Its name.
        name: String,
        /// Where it lies all the same.
        in_cann: Option<PathBuf>,
    },
    /// A library is there and too old.
    Version {
        /// Where it is.
        library: PathBuf,
        /// What it does not have.
        version: String,
    },
    /// There are NPUs, of another generation than the device code.
    OtherNpu {
        /// The device code's.
        built_for: Arch,
        /// The machine's.
        here: Vec<Arch>,
    },
    /// There is no NPU: a CA model can still run it.
    NoNpu {
        /// The device code's.
        built_for: Arch,
    },
    /// The device code says something unknown.
    UnknownArch {
        /// Its `e_flags`.
        flags: u32,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Processor { built_for, here: Some(here) } => {
                write!(f, "built for {built_for}, this machine is {here}")
            }
            Self::Processor { built_for, here: None } => {
                write!(f, "built for {built_for}, this machine is {}", std::env::consts::ARCH)
            }
            Self::Library { name, in_cann: Some(path) } => {
                let path = path.display();
                write!(
                    f,
                    "`{name}` lies at `{path}`, where the loader does not look before CANN's `set_env.sh` is sourced"
                )
            }
            Self::Library { name, in_cann: None } => write!(f, "`{name}` is not on this machine"),
            Self::Version { library, version } => write!(f, "`{}` has no `{version}`", library.display()),
            Self::OtherNpu { built_for, here } => {
                let here: Vec<String> = here.iter().copied().map(Arch::with_target).collect();
                let built_for = built_for.with_target();
                write!(f, "its device code is for {built_for}, the NPUs here are {}", here.join(", "))
            }
            Self::NoNpu { built_for } => {
                write!(f, "its device code is for {}, and no NPU is here", built_for.with_target())
            }
            Self::UnknownArch { flags } => write!(f, "its device code has the unknown flags {flags:#x}"),
        }
    }
}

impl Fit {
    /// Asks a machine. `path` is where the artifact lies, for what it says of libraries beside it.
    pub fn of(cx: &Context, artifact: &Artifact, path: &Path, host: &Host) -> Self {
        let dirs = loader_dirs(cx, artifact, path, host.machine);
        let cann = cann_dirs(cx);
        let libraries: Vec<Library> = artifact
            .dynamic
            .needed
            .iter()
            .map(|name| Library { name: name.clone(), place: locate(name, &dirs, &cann) })
            .collect();
        let problems = match processor(artifact, host) {
            // Libraries for another processor are of no use to it either.
            Some(problem) => vec![problem],
            None => libraries
                .iter()
                .filter_map(Library::problem)
                .chain(old_libraries(&artifact.dynamic.versions, &libraries))
                .chain(npu(artifact, host))
                .collect(),
        };
        Self { libraries, problems }
    }

    /// Whether nothing stands in the way.
    pub fn fits(&self) -> bool {
        self.problems.is_empty()
    }
}

impl Library {
    fn problem(&self) -> Option<Problem> {
        let in_cann = match &self.place {
            Where::Found(_) => return None,
            Where::InCann(path) => Some(path.clone()),
            Where::Missing => None,
        };
        Some(Problem::Library { name: self.name.clone(), in_cann })
    }
}

fn processor(artifact: &Artifact, host: &Host) -> Option<Problem> {
    let fits = match artifact.machine {
        Processor::Host(machine) => Some(machine) == host.machine,
        // Device code alone is loaded by whoever has it, on any host.
        Processor::AiCore => true,
        Processor::Other(_) => false,
    };
    (!fits).then(|| Problem::Processor { built_for: artifact.machine.to_string(), here: host.machine })
}

fn npu(artifact: &Artifact, host: &Host) -> Vec<Problem> {
    let archs = match artifact.device_arch() {
        // A model linked into it needs no hardware.
        _ if artifact.links_ca_model() => return Vec::new(),
        DeviceArch::None => return Vec::new(),
        DeviceArch::Unknown(flags) => return vec![Problem::UnknownArch { flags }],
        DeviceArch::One(arch) => vec![arch],
        DeviceArch::Several(archs) => archs,
    };
    // One image that fits is enough: which one is launched is the library's own choice.
    if archs.iter().any(|arch| host.npus.contains(arch)) {
        return Vec::new();
    }
    let problem = |built_for| match host.npus[..] {
        [] => Problem::NoNpu { built_for },
        _ => Problem::OtherNpu { built_for, here: host.npus.clone() },
    };
    archs.into_iter().map(problem).collect()
}

/// Versions that the libraries found do not define. A library defines a version by its name, which stands in it as a
/// string of its own.
fn old_libraries<'a>(needed: &'a [NeededVersion], libraries: &'a [Library]) -> impl Iterator<Item = Problem> + 'a {
    libraries
        .iter()
        .filter_map(|library| match &library.place {
            Where::Found(path) => Some((library, path)),
            _ => None,
        })
        .flat_map(move |(library, path)| {
            let needed = needed.iter().filter(|needed| needed.library == library.name);
            let bytes = fs_err::read(path).unwrap_or_default();
            let lacks = move |version: &String| memmem::find(&bytes, format!("\0{version}\0").as_bytes()).is_none();
            needed
                .map(|needed| needed.version.clone())
                .filter(lacks)
                .map(|version| Problem::Version { library: path.clone(), version })
        })
}

fn locate(name: &str, dirs: &[PathBuf], cann: &[PathBuf]) -> Where {
    let file = |dirs: &[PathBuf]| dirs.iter().map(|dir| dir.join(name)).find(|path| path.is_file());
    file(dirs).map(Where::Found).or_else(|| file(cann).map(Where::InCann)).unwrap_or(Where::Missing)
}

/// Where the loader looks: what the caller's environment says, what the artifact says, then the distribution's places.
fn loader_dirs(cx: &Context, artifact: &Artifact, path: &Path, machine: Option<Machine>) -> Vec<PathBuf> {
    let environment = cx.var_os("LD_LIBRARY_PATH").map(std::env::split_paths).into_iter().flatten();
    let origin = cx.cwd().join(path).parent().unwrap_or(Path::new("/")).display().to_string();
    let own =
        artifact.dynamic.run_path.iter().map(|dir| dir.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", &origin));
    let named = environment.filter(|dir| !dir.as_os_str().is_empty()).chain(own.map(PathBuf::from));
    let usual = machine.map(|machine| format!("{machine}-linux-gnu"));
    let usual = usual.iter().flat_map(|triple| [format!("/lib/{triple}"), format!("/usr/lib/{triple}")]);
    let plain = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"].map(str::to_owned);
    let system = configured(cx).into_iter().chain(usual.chain(plain).map(PathBuf::from));
    named.chain(system).map(|dir| cx.under_root(dir)).collect()
}

/// Directories that the distribution adds in `/etc/ld.so.conf.d`.
fn configured(cx: &Context) -> Vec<PathBuf> {
    let Ok(entries) = fs_err::read_dir(cx.under_root("/etc/ld.so.conf.d")) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let texts = files.iter().filter_map(|file| fs_err::read_to_string(file).ok()).collect::<Vec<_>>().join("\n");
    texts.lines().map(str::trim).filter(|line| line.starts_with('/')).map(PathBuf::from).collect()
}

/// Where `set_env.sh` makes the loader look as well.
fn cann_dirs(cx: &Context) -> Vec<PathBuf> {
    let Ok(root) = cann::find_root(cx, ToolchainOptions::default().cann.as_deref()) else { return Vec::new() };
    let root = cx.under_root(root.path);
    ["lib64", "runtime/lib64", "devlib"].map(|dir| root.join(dir)).to_vec()
}
