//! A directory with wheels, pins and places to install to, and only the programs that a test puts there.
#![allow(dead_code, reason = "each test program uses a part of it")]

pub(crate) mod wheel;

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use pto_context::{Context, Recorder, Silent};
use pto_platform::Machine;
use pto_process::Invocation;
use pto_ptoas::{Error, InstallOptions, Installation, Launcher, PinSource, Source, install, version_in};
use pto_store::Store;

pub(crate) use wheel::Wheel;

/// Where shells and system tools are.
const SYSTEM: &str = "/usr/bin:/bin";

/// A `uv` that makes an environment as far as it is looked at, and unpacks the wheel into it, which it is not told but finds
/// beside its temporary directory.
pub(crate) const UV_STAND_IN: &str = r#"
for last; do :; done
case $1 in
venv)
    mkdir -p "$last/bin"
    : > "$last/pyvenv.cfg"
    : > "$last/bin/activate"
    ln -s /bin/sh "$last/bin/python"
    ;;
pip)
    cd "${TMPDIR%/scratch-*}/${TMPDIR##*/scratch-}"
    python3 -m zipfile -e "$last" x
    mv x/*.data/scripts/ptoas bin/
    chmod +x bin/ptoas
    rm -r x
    ;;
esac
"#;

pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) events: Arc<Recorder>,
    /// The Python that wheels are made for, and its version: `(3, 11)`.
    pub(crate) python: (PathBuf, (u32, u32)),
}

impl World {
    /// A world with this machine's Python, and its `uv` if it has one.
    pub(crate) fn new() -> Self {
        let world = Self::without_uv();
        match real_uv() {
            // Not a link: whoever writes to it, as tests do that put a stand-in there, would write to the machine's own.
            Some(uv) => world.program("uv", &format!("exec '{}' \"$@\"", uv.display())),
            None => skipped("there is no `uv` on this machine: `venv` and `pip` are used, which takes longer"),
        }
        world
    }

    pub(crate) fn without_uv() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs_err::create_dir(dir.path().join("bin")).unwrap();
        let world = Self { python: real_python(), events: Arc::default(), dir };
        let (path, (major, minor)) = &world.python;
        for name in ["python3".to_owned(), format!("python{major}.{minor}")] {
            world.program(&name, &format!("exec '{}' \"$@\"", path.display()));
        }
        world
    }

    pub(crate) fn path(&self, sub: &str) -> PathBuf {
        self.dir.path().join(sub)
    }

    /// Puts a shell script on the world's `PATH`.
    pub(crate) fn program(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        let _ = fs_err::remove_file(&path);
        let mut file = fs_err::OpenOptions::new().write(true).create_new(true).open(&path).unwrap();
        write!(file, "#!/bin/sh\n{script}\n").unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn vars(&self) -> Vec<(String, String)> {
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        vec![
            ("PATH".to_owned(), format!("{}:{SYSTEM}", text(self.path("bin")))),
            ("HOME".to_owned(), text(self.path("home"))),
            ("TMPDIR".to_owned(), text(self.path("."))),
        ]
    }

    pub(crate) fn cx(&self) -> Context {
        Context::fake("/", self.vars()).with_events(self.events.clone())
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(self.path("store"))
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.path("opt/ptoas")
    }

    /// A wheel for this machine's Python, as a file, and a `versions.env` that pins it.
    pub(crate) fn offer(&self, wheel: &Wheel) -> Offer {
        let bytes = wheel.bytes();
        let dir = self.path("wheels");
        fs_err::create_dir_all(&dir).unwrap();
        let file = dir.join(wheel.file(self.python.1));
        fs_err::write(&file, &bytes).unwrap();
        let pins = dir.join(format!("{}.env", file.file_name().unwrap().to_str().unwrap()));
        let offer = Offer { sha256: pto_fetch::sha256(&file).unwrap(), pins, file };
        offer.pin(&wheel.version);
        offer
    }

    pub(crate) fn options(&self, offer: &Offer) -> InstallOptions {
        InstallOptions {
            pin: PinSource { file: Some(offer.pins.clone()), ..PinSource::default() },
            source: Source::File(offer.file.clone()),
            root: Some(self.root()),
            ..InstallOptions::default()
        }
    }

    pub(crate) fn install(&self, offer: &Offer) -> Result<Installation, Error> {
        self.install_with(&self.options(offer))
    }

    pub(crate) fn install_with(&self, options: &InstallOptions) -> Result<Installation, Error> {
        install(&self.cx(), &self.store(), options)
    }

    /// The version that the installation says, if there is one that works.
    pub(crate) fn version(&self) -> Option<String> {
        version_at(&self.root())
    }

    /// The example program, which installs an offer.
    pub(crate) fn example(&self, offer: &Offer) -> Invocation {
        let tests = std::env::current_exe().unwrap();
        let example = tests.ancestors().nth(2).unwrap().join("examples/install");
        assert!(example.exists(), "`{}` is missing: cargo build -p pto-ptoas --examples", example.display());
        Invocation::new(example).arg(self.path("store")).arg(&offer.pins).arg(&offer.file).arg(self.root())
    }

    /// What lies beside the installation: its directories, locks, half of something.
    pub(crate) fn beside(&self) -> Vec<String> {
        let mut found = Vec::new();
        for dir in ["opt", "opt/.ptoas.d"] {
            let listing = fs_err::read_dir(self.path(dir)).into_iter().flatten();
            found.extend(listing.map(|item| format!("{dir}/{}", item.unwrap().file_name().to_str().unwrap())));
        }
        found
    }

    /// Nothing lies there but the link and what it leads to.
    #[track_caller]
    pub(crate) fn assert_tidy(&self) {
        assert_eq!(self.beside().len(), 3, "{:?}", self.beside());
    }
}

/// A wheel that can be installed.
pub(crate) struct Offer {
    pub(crate) file: PathBuf,
    pub(crate) pins: PathBuf,
    pub(crate) sha256: String,
}

impl Offer {
    /// Pins it under a version.
    pub(crate) fn pin(&self, version: &str) {
        let machine = Machine::current().unwrap().name().to_uppercase();
        let text = format!("PTOAS_VERSION=v{version}\nPTOAS_SHA256_{machine}={}\n", self.sha256);
        fs_err::write(&self.pins, text).unwrap();
    }
}

/// The version that an installation says.
pub(crate) fn version_at(root: &Path) -> Option<String> {
    let launcher = Launcher::find(root)?;
    let output = Invocation::new(&launcher.path).arg("--version").run(&machine()).ok()?;
    version_in(&output.stdout.text()).filter(|_| output.success()).map(|version| version.to_string())
}

/// This machine, for what a test needs of it.
pub(crate) fn machine() -> Context {
    Context::from_process(Arc::new(Silent)).unwrap()
}

fn on_path(name: &str) -> Vec<PathBuf> {
    which::which_in_all(name, machine().var_os("PATH"), "/").into_iter().flatten().collect()
}

/// Asks `python3` for itself: what is on `PATH` may be a shim.
fn real_python() -> (PathBuf, (u32, u32)) {
    static FOUND: OnceLock<(PathBuf, (u32, u32))> = OnceLock::new();
    FOUND.get_or_init(ask_python).clone()
}

fn ask_python() -> (PathBuf, (u32, u32)) {
    let question = "import sys; print(sys.base_prefix, *sys.version_info[:2])";
    let output = Invocation::new("python3").args(["-c", question]).run(&machine()).unwrap().require_success().unwrap();
    let text = output.stdout.text();
    let words: Vec<&str> = text.split_whitespace().collect();
    let version = (words[1].parse().unwrap(), words[2].parse().unwrap());
    (Path::new(words[0]).join(format!("bin/python{}.{}", words[1], words[2])), version)
}

/// `uv` itself: a shim would need its owner's environment.
fn real_uv() -> Option<PathBuf> {
    let is_program = |path: &PathBuf| fs_err::read(path).is_ok_and(|bytes| bytes.starts_with(b"\x7fELF"));
    let beside_python = || Some(real_python().0.parent()?.join("uv"));
    on_path("uv").into_iter().chain(beside_python()).find(is_program)
}

/// Says that a test cannot do its work here. Written past the harness, which would swallow it: the test counts as passed.
pub(crate) fn skipped(why: &str) {
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(std::io::stderr(), "SKIPPED {name}: {why}");
}

/// A figure of a test, past the harness as well.
pub(crate) fn report(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// A small file system of its own, for root alone.
pub(crate) struct Disk(PathBuf);

impl Disk {
    /// `None` if nothing can be mounted here, which is said.
    pub(crate) fn mount(at: &Path, options: &str) -> Option<Self> {
        fs_err::create_dir_all(at).unwrap();
        if sh(&format!("mount -t tmpfs -o {options} none ."), at) {
            return Some(Self(at.to_path_buf()));
        }
        skipped("no file system can be mounted here (needs root)");
        None
    }

    #[track_caller]
    pub(crate) fn remount(&self, options: &str) {
        assert!(sh(&format!("mount -o remount,{options} ."), &self.0));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        sh("umount -l .", &self.0);
    }
}

pub(crate) fn sh(script: &str, dir: &Path) -> bool {
    Invocation::new("sh").args(["-c", script]).cwd(dir).run(&machine()).unwrap().success()
}
