//! One kernel, from its sources to a library that can be loaded.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pto_context::{Context, Event};
use pto_platform::{Core, Soc, Target};
use pto_store::Store;

use super::deps::{Dependencies, parse_depfile};
use super::diagnostics;
use super::error::CpuError;
use super::key::Key;
use super::precompiled::Precompiled;
use super::runtime;
use super::source::Source;
use super::toolchain::Toolchain;

/// Large kernels take tens of seconds with optimization; ten minutes is a compiler that hangs.
pub(super) const COMPILE_DEADLINE: Duration = Duration::from_secs(600);
const DEPS: &str = "deps.json";

/// A kernel to build for the CPU.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelRequest {
    /// Names the library: `lib<name>.so`.
    pub name: String,
    /// The sources as the user names them, relative to the context's directory.
    pub sources: Vec<PathBuf>,
    /// Generated sources, compiled as well: a name for messages, and the text. They see the sources' directories.
    pub generated: Vec<(String, String)>,
    /// Which cores it runs on. Mix is compiled once per side.
    pub core: Core,
    /// The SoC whose cores are played: it decides guards and the size of on-chip memory.
    pub soc: &'static Soc,
    /// Macros, defined before the first line of each source.
    pub defines: Vec<(String, Option<String>)>,
    /// Further include directories.
    pub include_dirs: Vec<PathBuf>,
    /// `-O<n>`.
    pub opt_level: u8,
    /// Passed on as they are, last.
    pub extra_flags: Vec<String>,
}

/// A built kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The library that holds the launcher. Everything it needs lies beside it.
    pub library: PathBuf,
    /// Whether it was in the store already.
    pub cached: bool,
    /// How long it took to get it.
    pub duration: Duration,
    /// What the compiler warned of.
    pub warnings: String,
}

/// Which half of a core group a library plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Vector,
    Cube,
}

/// The defines that tell the prelude what to be.
pub(super) struct SideFlags {
    side: Side,
    mix: bool,
    args: Vec<String>,
}

impl SideFlags {
    fn new(side: Side, request: &KernelRequest, toolchain: &Toolchain) -> Self {
        let mix = request.core == Core::Mix;
        let a5 = request.soc.target() == Some(Target::A5);
        let mut args = vec![
            format!("-O{}", request.opt_level),
            format!("-DPTOCPU_SIDE={}", side as u8),
            format!("-DPTOCPU_MIX={}", u8::from(mix)),
            format!("-DPTOCPU_A5={}", u8::from(a5)),
            format!("-DPTOCPU_UB_BYTES={}", request.soc.ub_bytes),
            format!("-DPTOCPU_L0C_BYTES={}", request.soc.l0c_bytes),
        ];
        args.extend(toolchain.features.defines());
        Self { side, mix, args }
    }

    pub(super) fn args(&self) -> &[String] {
        &self.args
    }

    /// For people.
    pub(super) fn name(&self) -> &'static str {
        match (self.side, self.mix) {
            (Side::Vector, false) => "vector cores",
            (Side::Cube, false) => "cube cores",
            (Side::Vector, true) => "vector side of mix kernels",
            (Side::Cube, true) => "cube side of mix kernels",
        }
    }
}

/// The launcher is called in the cube side of a mix kernel; that one brings the vector side along.
fn side_library(side: Side, mix: bool, name: &str) -> String {
    match (side, mix) {
        (Side::Vector, true) => format!("lib{name}.vec.so"),
        _ => format!("lib{name}.so"),
    }
}

/// Builds a kernel, unless `artifacts` has it for exactly these sources, headers, flags and this compiler. What all kernels
/// share (the runtime, the precompiled prelude) is in `shared`; both may be one store.
///
/// # Errors
/// See [`CpuError`]; [`CpuError::is_the_kernels`] tells the kernel's faults from the machine's.
pub fn build(
    cx: &Context,
    shared: &Store,
    artifacts: &Store,
    toolchain: &Toolchain,
    request: &KernelRequest,
) -> Result<Artifact, CpuError> {
    let start = Instant::now();
    let sources = load_sources(cx, request)?;
    let sides: Vec<SideFlags> = match request.core {
        Core::Vec => vec![Side::Vector],
        Core::Cube => vec![Side::Cube],
        Core::Mix => vec![Side::Vector, Side::Cube],
    }
    .into_iter()
    .map(|side| SideFlags::new(side, request, toolchain))
    .collect();
    let runtime = runtime::library(cx, shared, toolchain)?;
    let precompiled = in_parallel(&sides, |side| Precompiled::get(cx, shared, toolchain, side))?;
    let key = key(toolchain, request, &sides, &precompiled, &sources);
    let entry = artifacts.entry("cpu-kernel", &key)?;
    if let Some(dir) = entry.get() {
        if Dependencies::load(&dir.join(DEPS)).is_some_and(|deps| deps.changed().is_none()) {
            return Ok(artifact(&dir, request, true, start));
        }
        // A header that no include in the text names, such as one of the system's, has changed.
        entry.remove(cx)?;
    }
    let job = Job { cx, toolchain, request, sources: &sources, runtime: &runtime };
    let dir = entry.get_or_build(cx, |dir| job.run(dir, &sides, &precompiled))?;
    Ok(artifact(&dir, request, false, start))
}

fn artifact(dir: &Path, request: &KernelRequest, cached: bool, start: Instant) -> Artifact {
    let warnings = std::fs::read_to_string(dir.join("warnings.txt")).unwrap_or_default();
    Artifact { library: dir.join(format!("lib{}.so", request.name)), cached, duration: start.elapsed(), warnings }
}

fn load_sources(cx: &Context, request: &KernelRequest) -> Result<Vec<Source>, CpuError> {
    let files = request.sources.iter().map(|path| Source::load(path, cx.cwd(), &request.include_dirs));
    let mut sources = files.collect::<Result<Vec<_>, _>>()?;
    for (name, text) in &request.generated {
        let dirs = sources.iter().flat_map(|source| source.quote_dirs.clone()).collect();
        sources.push(Source::generated(Path::new(name), text, dirs, &request.include_dirs)?);
    }
    Ok(sources)
}

fn key(
    toolchain: &Toolchain,
    request: &KernelRequest,
    sides: &[SideFlags],
    precompiled: &[Precompiled],
    sources: &[Source],
) -> String {
    let KernelRequest {
        name,
        sources: _,
        generated: _,
        core: _,
        soc: _,
        defines,
        include_dirs,
        opt_level: _,
        extra_flags,
    } = request;
    let defines = defines.iter().map(|(name, value)| format!("{name}={value:?}"));
    let mut key = Key::new("kernel").with(&toolchain.identity).with(name).all(defines).all(extra_flags);
    key = include_dirs.iter().fold(key, |key, dir| key.path(dir));
    key = sides.iter().fold(key, |key, side| key.all(side.args()));
    key = precompiled.iter().fold(key, |key, pch| key.with(&pch.digest));
    sources.iter().fold(key, |key, source| source.add_to(key)).finish()
}

/// Runs `work` for each item on a thread of its own; the first error wins.
fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R, CpuError> + Sync,
) -> Result<Vec<R>, CpuError> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = items.iter().map(|item| scope.spawn(|| work(item))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a compilation does not panic")).collect()
    })
}

struct Job<'a> {
    cx: &'a Context,
    toolchain: &'a Toolchain,
    request: &'a KernelRequest,
    sources: &'a [Source],
    runtime: &'a Path,
}

/// One call of the compiler.
struct Unit<'a> {
    source: &'a Source,
    text: PathBuf,
    side: &'a SideFlags,
    precompiled: &'a Precompiled,
    object: PathBuf,
}

impl Job<'_> {
    fn run(&self, dir: &Path, sides: &[SideFlags], precompiled: &[Precompiled]) -> Result<(), CpuError> {
        let task = format!("compile:{}", self.request.name);
        self.cx.emit(Event::Started {
            task: task.clone(),
            message: format!("Compiling {} for the CPU", self.request.name),
            total_bytes: None,
        });
        let start = Instant::now();
        let scratch = tempfile::tempdir().map_err(CpuError::write)?;
        let units = self.units(scratch.path(), sides, precompiled)?;
        let compiled = in_parallel(&units, |unit| self.compile(unit))?;
        let mut read = Vec::new();
        let mut warnings = String::new();
        for (files, said) in compiled {
            read.extend(files);
            // Both sides of a mix kernel say the same of the same line.
            if !warnings.contains(&said) {
                warnings.push_str(&said);
            }
        }
        self.copy_runtime(dir)?;
        for side in sides {
            self.link(dir, side, units.iter().filter(|unit| unit.side.side == side.side))?;
        }
        let kept = read.into_iter().filter(|path| !path.starts_with(scratch.path()));
        Dependencies::record(kept).and_then(|deps| deps.save(&dir.join(DEPS))).map_err(CpuError::write)?;
        fs_err::write(dir.join("warnings.txt"), warnings).map_err(CpuError::write)?;
        self.cx.emit(Event::Finished {
            task,
            message: format!("Compiled {} ({:.1} s)", self.request.name, start.elapsed().as_secs_f64()),
        });
        Ok(())
    }

    fn units<'a>(
        &'a self,
        scratch: &Path,
        sides: &'a [SideFlags],
        precompiled: &'a [Precompiled],
    ) -> Result<Vec<Unit<'a>>, CpuError> {
        let mut units = Vec::new();
        for (index, source) in self.sources.iter().enumerate() {
            for (name, header) in &source.headers {
                fs_err::write(scratch.join(name), header).map_err(CpuError::write)?;
            }
            for (side, precompiled) in sides.iter().zip(precompiled) {
                let text = scratch.join(format!("source-{index}.{}.cpp", side.side as u8));
                fs_err::write(&text, self.with_preamble(side, &source.text)).map_err(CpuError::write)?;
                let object = text.with_extension("o");
                units.push(Unit { source, text, side, precompiled, object });
            }
        }
        Ok(units)
    }

    /// Macros stand before the first line and not on the command line, where they would have to agree with the precompiled
    /// prelude. The cube side of a mix kernel, which holds the launcher, loads the vector side.
    fn with_preamble(&self, side: &SideFlags, text: &str) -> String {
        let define =
            |(name, value): &(String, Option<String>)| format!("#define {name} {}\n", value.as_deref().unwrap_or("1"));
        let mut preamble: String = self.request.defines.iter().map(define).collect();
        if side.mix && side.side == Side::Cube {
            let vector = side_library(Side::Vector, true, &self.request.name);
            preamble.push_str(&format!("PTOCPU_LOAD_SIBLING(\"{vector}\")\n"));
        }
        preamble + text
    }

    /// The files that were read, and what the compiler warned of.
    fn compile(&self, unit: &Unit) -> Result<(Vec<PathBuf>, String), CpuError> {
        let depfile = unit.object.with_extension("d");
        let output = self
            .toolchain
            .flags
            .invoke()
            .args(unit.side.args())
            .args(unit.precompiled.args())
            .args(unit.source.quote_dirs.iter().flat_map(|dir| [OsString::from("-iquote"), dir.into()]))
            .args(
                self.request.include_dirs.iter().flat_map(|dir| [OsString::from("-I"), self.cx.cwd().join(dir).into()]),
            )
            .args(["-g1".into(), "-MD".into(), "-MF".into(), depfile.clone().into_os_string()])
            .args(&self.request.extra_flags)
            .args(["-c".into(), unit.text.clone().into_os_string(), "-o".into(), unit.object.clone().into_os_string()])
            .deadline(COMPILE_DEADLINE)
            .run(self.cx)?;
        if output.status == pto_process::Status::Interrupted {
            return Err(pto_store::Error::Interrupted.into());
        }
        if !output.success() {
            return Err(CpuError::Compile { messages: diagnostics::messages(&output), line: output.line });
        }
        let read = fs_err::read_to_string(depfile).map_err(CpuError::write)?;
        Ok((parse_depfile(&read), output.stderr.text().into_owned()))
    }

    /// Beside the kernel, so that the directory can be moved and loaded by anyone.
    fn copy_runtime(&self, dir: &Path) -> Result<(), CpuError> {
        let name = self.runtime.file_name().expect("a library has a name");
        fs_err::copy(self.runtime, dir.join(name)).map(drop).map_err(CpuError::write)
    }

    fn link<'u>(
        &self,
        dir: &Path,
        side: &SideFlags,
        units: impl Iterator<Item = &'u Unit<'u>>,
    ) -> Result<(), CpuError> {
        let library = side_library(side.side, side.mix, &self.request.name);
        let output = self
            .toolchain
            .compiler
            .invoke()
            .args(["-shared", "-pthread", "-Wl,-Bsymbolic", "-Wl,-rpath,$ORIGIN", "-Wl,-z,defs"])
            .arg(format!("-Wl,-soname,{library}"))
            .args(units.map(|unit| unit.object.clone()))
            .args([
                self.runtime.as_os_str().to_owned(),
                "-ldl".into(),
                "-lm".into(),
                "-o".into(),
                dir.join(&library).into_os_string(),
            ])
            .deadline(COMPILE_DEADLINE)
            .run(self.cx)?;
        if output.success() {
            return Ok(());
        }
        Err(CpuError::Link { messages: diagnostics::messages(&output), line: output.line })
    }
}
