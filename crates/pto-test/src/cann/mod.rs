//! A CANN for tests: a tree in a temporary directory whose programs are recording stand-ins.
//!
//! `bisheng` refuses inputs and libraries that are not there, as a compiler does, and writes its output; told what builds
//! kernels for this machine, it writes libraries that run. `msprof` and `cannsim` take their options apart, look at the
//! library path, load a stand-in of the model into the program and leave traces. Each can be told to
//! [behave](Behaviour) otherwise. `libascendcl.so` is the one that plays a device.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_process::{Invocation, shell_word};
use tempfile::TempDir;

const PROGRAMS: [(&str, &str); 4] = [
    ("bin/bisheng", include_str!("bisheng.sh")),
    ("bin/msprof", include_str!("msprof.sh")),
    ("bin/cannsim", include_str!("cannsim.sh")),
    ("bin/setenv.bash", include_str!("setenv.bash")),
];

/// Where CANN keeps the models: by SoC in older releases, by architecture since 9.2.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimulatorLayout {
    /// `tools/simulator/SOC/lib`.
    BySoc,
    /// `MACHINE-linux/simulator/dav_ARCH/lib`.
    ByArch,
}

/// How a stand-in behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// As it should.
    Succeed,
    /// The same, with the lines that the real ones print when all is well.
    Noise,
    /// It refuses to work.
    Fail,
    /// It writes bytes that mean nothing, and says that all is well.
    Garbage,
    /// It does nothing, and says that all is well.
    Silent,
    /// What it runs does not end. A compiler itself does not.
    Hang,
    /// What it runs crashes before its result is there.
    CrashWithin,
    /// What it runs submits a task that the model does not have.
    Task,
    /// It crashes after what it ran has ended well.
    CrashAfter,
    /// It exits with 1 after what it ran has ended well.
    CodeAfter,
}

impl Behaviour {
    const fn word(self) -> &'static str {
        match self {
            Self::Succeed => "succeed",
            Self::Noise => "noise",
            Self::Fail => "fail",
            Self::Garbage => "garbage",
            Self::Silent => "silent",
            Self::Hang => "hang",
            Self::CrashWithin => "crash-within",
            Self::Task => "task",
            Self::CrashAfter => "crash-after",
            Self::CodeAfter => "code-after",
        }
    }
}

/// A call of a stand-in.
#[derive(Debug, Clone)]
pub struct Call {
    /// Its arguments.
    pub args: Vec<String>,
    /// Its variables.
    pub env: BTreeMap<String, String>,
}

/// The tree.
#[derive(Debug)]
pub struct StandInCann {
    tree: TempDir,
    /// The CANN root.
    pub root: PathBuf,
}

impl StandInCann {
    /// A CANN in a directory of this name, with the model of A2/A3 and of A5.
    ///
    /// # Panics
    /// A file cannot be written.
    pub fn below(name: &str, layout: SimulatorLayout) -> Self {
        let tree = TempDir::new().expect("a temporary directory");
        let cann = Self { root: tree.path().join(name).join("cann"), tree };
        for (place, text) in PROGRAMS {
            write(&cann.root.join(place), text);
            set_executable(&cann.root.join(place));
        }
        write(&cann.root.join("record.sh"), include_str!("record.sh"));
        for place in ["include/pto/pto-inst.hpp", "lib64/libascendcl.so", "lib64/libc_sec.so"] {
            write(&cann.root.join(place), "");
        }
        for (soc, arch) in [("Ascend910B2", 2201), ("Ascend950PR_9599", 3510)] {
            let place = cann.model_dir(layout, soc, arch).join("libruntime_camodel.so");
            write(&place, "");
        }
        cann
    }

    /// The same at a place like any other, in the older layout.
    ///
    /// # Panics
    /// As [`below`](Self::below).
    pub fn new() -> Self {
        Self::below("opt", SimulatorLayout::BySoc)
    }

    fn model_dir(&self, layout: SimulatorLayout, soc: &str, arch: u16) -> PathBuf {
        match layout {
            SimulatorLayout::BySoc => self.root.join("tools/simulator").join(soc).join("lib"),
            SimulatorLayout::ByArch => {
                let machine = format!("{}-linux", std::env::consts::ARCH);
                self.root.join(machine).join(format!("simulator/dav_{arch}/lib"))
            }
        }
    }

    /// Makes everything in it that is loaded loadable: `acl` is the library that plays a device, and the models are
    /// libraries with nothing in them, made by the machine's compiler.
    ///
    /// # Panics
    /// There is no C compiler, or a file cannot be written.
    #[must_use]
    pub fn loadable(self, cx: &Context, acl: &Path) -> Self {
        let library = self.root.join("lib64/libascendcl.so");
        fs_err::remove_file(&library).expect("it was written before");
        fs_err::os::unix::fs::symlink(acl, &library).expect("a link can be made");
        let empty = self.tree.path().join("model.so");
        let compile = Invocation::new("cc").args(["-shared", "-x", "c", "/dev/null", "-o"]).arg(&empty);
        compile.run(cx).and_then(pto_process::Output::require_success).expect("a C compiler");
        let models = files(&self.root).into_iter().filter(|path| path.ends_with("libruntime_camodel.so"));
        let others = [self.root.join("lib64/libc_sec.so")];
        models.chain(others).for_each(|path| {
            fs_err::copy(&empty, path).expect("a copy");
        });
        self
    }

    /// Tells `bisheng` how kernels are built for this machine: `builder` is a command that is given a directory with a
    /// kernel.toml and the name of a SoC, and prints the path of the library that it has built.
    ///
    /// # Panics
    /// A file cannot be written.
    #[must_use]
    pub fn building(self, script: &str) -> Self {
        write(&self.root.join("builder"), script);
        self
    }

    /// A builder that is a workspace's own program, `kernel build KERNEL --target cpu --json` in short.
    ///
    /// # Panics
    /// A file cannot be written.
    #[must_use]
    pub fn building_with(self, program: &Path) -> Self {
        let program = shell_word(&program.to_string_lossy());
        let words = format!("{program} kernel build \"$1\" --target cpu --soc \"$2\" --json --offline");
        // Its compiler warnings and progress are the real compiler's business: stderr goes where this one's goes.
        self.building(&format!(
            "document=\"$({words})\" || exit 1\necho \"$document\" | sed -n 's/.*\"library\": \"\\(.*\\)\".*/\\1/p'\n"
        ))
    }

    /// Makes `bisheng` write exactly this, whatever it is asked.
    ///
    /// # Panics
    /// A file cannot be written.
    pub fn always_writes(&self, bytes: &[u8]) {
        fs_err::write(self.root.join("ready"), bytes).expect("a file can be written");
    }

    /// Says how `bisheng`, `msprof` or `cannsim` behaves from now on.
    ///
    /// # Panics
    /// A file cannot be written.
    pub fn set(&self, tool: &str, behaviour: Behaviour) {
        write(&self.root.join("behaviour").join(tool), behaviour.word());
    }

    /// Takes a program or a directory away.
    ///
    /// # Panics
    /// It is not there.
    pub fn remove(&self, place: &str) {
        let path = self.root.join(place);
        let removed = if path.is_dir() { fs_err::remove_dir_all(path) } else { fs_err::remove_file(path) };
        removed.expect("it was there");
    }

    /// The real root, this CANN, and a working directory of the user that is the temporary one.
    pub fn context(&self) -> Context {
        Context::fake("/", [("ASCEND_HOME_PATH", self.root.as_os_str()), ("PATH", "/usr/bin:/bin".as_ref())])
    }

    /// A source file of the user.
    ///
    /// # Panics
    /// It cannot be written.
    pub fn source(&self, name: &str) -> PathBuf {
        let path = self.tree.path().join("sources of the user").join(name);
        write(&path, "");
        path
    }

    /// Where outputs go.
    pub fn out_dir(&self) -> PathBuf {
        self.tree.path().join("out")
    }

    /// What a stand-in was asked, call by call.
    ///
    /// # Panics
    /// A record cannot be read.
    pub fn calls(&self, tool: &str) -> Vec<Call> {
        let record = self.root.join("record").join(tool);
        let read = |name: String| fs_err::read(record.join(name)).expect("a record");
        let count = fs_err::read_dir(&record).map_or(0, |entries| entries.count() / 2);
        let call = |number: usize| Call {
            args: words(&read(number.to_string())),
            env: words(&read(format!("{number}.env")))
                .into_iter()
                .filter_map(|pair| pair.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())))
                .collect(),
        };
        (0..count).map(call).collect()
    }
}

impl Default for StandInCann {
    fn default() -> Self {
        Self::new()
    }
}

fn words(bytes: &[u8]) -> Vec<String> {
    let words = bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    let mut words: Vec<String> = words.collect();
    words.pop(); // behind the last NUL
    words
}

fn write(path: &Path, text: &str) {
    fs_err::create_dir_all(path.parent().expect("a directory")).expect("a directory can be made");
    fs_err::write(path, text).expect("a file can be written");
}

fn set_executable(path: &Path) {
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a mode can be set");
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
