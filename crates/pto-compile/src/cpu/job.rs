//! Compiling and linking: what a kernel's entry in the store is made of.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pto_context::{Context, Event, in_parallel};
use pto_process::Output;

use super::diagnostics::Messages;
use super::error::CpuError;
use super::precompiled::Precompiled;
use super::request::KernelRequest;
use super::side::SideFlags;
use super::source::Source;
use super::toolchain::Toolchain;
use crate::deps::{Dependencies, parse_depfile};

/// What the compiler warned of, in the entry.
pub(super) const WARNINGS: &str = "warnings.txt";
/// The command lines that made it, in the entry, as a JSON array.
pub(super) const COMMANDS: &str = "commands.json";
/// Objects and rewritten sources lie here while the entry is made, inside of it: what a killed build leaves goes with it.
const SCRATCH: &str = "scratch";

/// All that a kernel is made from.
pub(super) struct Job<'a> {
    pub(super) cx: &'a Context,
    pub(super) toolchain: &'a Toolchain,
    pub(super) request: &'a KernelRequest,
    pub(super) sources: &'a [Source],
    pub(super) sides: &'a [SideFlags],
    /// One per side.
    pub(super) precompiled: &'a [Precompiled],
    pub(super) runtime: &'a Path,
    /// Names the result; no other library has the same.
    pub(super) key: &'a str,
}

/// One call of the compiler: a source, for a side.
struct Unit<'a> {
    source: &'a Source,
    text: PathBuf,
    side: &'a SideFlags,
    precompiled: &'a Precompiled,
    object: PathBuf,
}

/// What a compilation tells.
struct Compiled {
    read: Vec<PathBuf>,
    warnings: String,
    /// As it can be pasted into a shell.
    line: String,
}

impl Job<'_> {
    /// Fills the entry's directory.
    pub(super) fn run(&self, dir: &Path) -> Result<(), CpuError> {
        let task = format!("compile:{}", self.request.name);
        self.cx.emit(Event::Started {
            task: task.clone(),
            message: format!("Compiling {} for the CPU", self.request.name),
            total_bytes: None,
        });
        let start = Instant::now();
        let scratch = dir.join(SCRATCH);
        let units = self.units(&scratch)?;
        let compiled = in_parallel(&units, None, |unit| self.compile(unit, &scratch, None))?;
        self.copy_runtime(dir)?;
        let mut lines: Vec<String> = compiled.iter().map(|unit| unit.line.clone()).collect();
        for side in self.sides {
            let units: Vec<_> = units.iter().filter(|unit| unit.side.side == side.side).collect();
            let output = self.link(dir, side, &units)?;
            if !output.success() {
                return Err(self.link_error(dir, side, &units, &output));
            }
            lines.push(output.line);
        }
        self.record(dir, &scratch, &compiled)?;
        let lines = serde_json::to_vec(&lines).map_err(|error| CpuError::Write(error.into()))?;
        fs_err::write(dir.join(COMMANDS), lines).map_err(CpuError::Write)?;
        fs_err::remove_dir_all(scratch).map_err(CpuError::Write)?;
        self.cx.emit(Event::Finished {
            task,
            message: format!("Compiled {} ({:.1} s)", self.request.name, start.elapsed().as_secs_f64()),
        });
        Ok(())
    }

    /// Whether a shared part that the build uses is no longer in the store.
    pub(super) fn lost_its_parts(&self) -> bool {
        !self.runtime.is_file() || !self.precompiled.iter().all(Precompiled::is_intact)
    }

    /// Writes the rewritten sources.
    fn units(&self, scratch: &Path) -> Result<Vec<Unit<'_>>, CpuError> {
        fs_err::create_dir(scratch).map_err(CpuError::Write)?;
        let mut units = Vec::new();
        for (index, source) in self.sources.iter().enumerate() {
            for (name, header) in &source.headers {
                fs_err::write(scratch.join(name), header).map_err(CpuError::Write)?;
            }
            for (side, precompiled) in self.sides.iter().zip(self.precompiled) {
                let text = scratch.join(format!("source-{index}.{}.cpp", side.side as u8));
                fs_err::write(&text, self.preamble(side) + &source.text).map_err(CpuError::Write)?;
                let object = text.with_extension("o");
                units.push(Unit { source, text, side, precompiled, object });
            }
        }
        Ok(units)
    }

    /// Macros stand before the first line and not on the command line, where they would have to agree with the precompiled
    /// prelude. The source's own `#line` comes after.
    fn preamble(&self, side: &SideFlags) -> String {
        let define =
            |(name, value): &(String, Option<String>)| format!("#define {name} {}\n", value.as_deref().unwrap_or("1"));
        let mut preamble: String = self.request.defines.iter().map(define).collect();
        preamble.push_str(&format!("#define PTOCPU_LIBRARY \"{}\"\n", self.key));
        if let Some(sibling) = side.sibling(&self.request.name) {
            preamble.push_str(&format!("PTOCPU_LOAD_SIBLING(\"{sibling}\")\n"));
        }
        preamble
    }

    fn compile(&self, unit: &Unit, scratch: &Path, debug: Option<&str>) -> Result<Compiled, CpuError> {
        let depfile = unit.object.with_extension("d");
        let quoted = unit.source.quote_dirs.iter().map(|dir| ("-iquote", dir.clone()));
        let included = self.request.include_dirs.iter().map(|dir| ("-I", self.cx.cwd().join(dir)));
        let invocation = self
            .toolchain
            .flags
            .invocation()
            .args(unit.side.args())
            .args(unit.precompiled.args())
            .args(quoted.chain(included).flat_map(|(flag, dir)| [OsString::from(flag), dir.into()]))
            .args(debug)
            .args(["-MD".into(), "-MF".into(), depfile.clone().into_os_string()])
            .args(["-c".into(), unit.text.clone().into_os_string(), "-o".into(), unit.object.clone().into_os_string()]);
        let output = self.toolchain.compiler.run(self.cx, invocation)?;
        let messages = self.messages(&output, scratch);
        if !output.success() {
            return Err(CpuError::Compile { messages: messages.text(), line: output.line });
        }
        let read = fs_err::read_to_string(depfile).map_err(CpuError::Read)?;
        let warnings = messages.warnings();
        Ok(Compiled { read: parse_depfile(&read), warnings, line: output.line })
    }

    /// Beside the kernel, so that the directory can be moved and loaded by anyone.
    fn copy_runtime(&self, dir: &Path) -> Result<(), CpuError> {
        let name = self.runtime.file_name().expect("the runtime is a file");
        fs_err::copy(self.runtime, dir.join(name)).map(drop).map_err(CpuError::Write)
    }

    fn link(&self, dir: &Path, side: &SideFlags, units: &[&Unit]) -> Result<Output, CpuError> {
        let library = side.library(&self.request.name);
        let sanitizers: Vec<_> =
            self.request.extra_flags.iter().filter(|flag| flag.starts_with("-fsanitize")).collect();
        // A function that nobody defines is an error now, not when the library is loaded. A sanitizer's functions come from
        // the program that loads it.
        let no_undefined = sanitizers.is_empty().then_some("-Wl,-z,defs");
        let invocation = self
            .toolchain
            .compiler
            .invocation()
            .args(["-shared", "-pthread", "-Wl,-Bsymbolic", "-Wl,-rpath,$ORIGIN"])
            .args(no_undefined)
            .arg(format!("-Wl,-soname,{library}"))
            .args(sanitizers)
            .args(units.iter().map(|unit| unit.object.clone()))
            .args([self.runtime.as_os_str(), "-ldl".as_ref(), "-lm".as_ref(), "-o".as_ref()])
            .arg(dir.join(&library));
        self.toolchain.compiler.run(self.cx, invocation)
    }

    /// What the linker says, with the lines of the sources. For those it needs debug information, which is made only now: it
    /// costs a tenth of each compilation.
    fn link_error(&self, dir: &Path, side: &SideFlags, units: &[&Unit], plain: &Output) -> CpuError {
        let scratch = dir.join(SCRATCH);
        let described = in_parallel(units, None, |unit| self.compile(unit, &scratch, Some("-g1")))
            .and_then(|_| self.link(dir, side, units))
            .ok()
            .filter(|output| !output.success());
        let output = described.as_ref().unwrap_or(plain);
        CpuError::Link { messages: self.messages(output, &scratch).text(), line: output.line.clone() }
    }

    /// Writes what later builds ask for: the files read, and the warnings.
    fn record(&self, dir: &Path, scratch: &Path, compiled: &[Compiled]) -> Result<(), CpuError> {
        let read = compiled.iter().flat_map(|unit| &unit.read).filter(|path| !path.starts_with(scratch));
        Dependencies::read(read.cloned()).map_err(CpuError::Read)?.save(dir).map_err(CpuError::Write)?;
        let mut warnings: String = self.sources.iter().map(|source| source.notes.as_str()).collect();
        for unit in compiled {
            // Both sides of a mix kernel say the same of the same line.
            if !warnings.contains(&unit.warnings) {
                warnings.push_str(&unit.warnings);
            }
        }
        fs_err::write(dir.join(WARNINGS), warnings).map_err(CpuError::Write)
    }

    fn messages<'o>(&self, output: &'o Output, scratch: &Path) -> Messages<'o> {
        let messages = Messages::of(output).hiding(scratch).hiding(self.toolchain.resources.dir());
        // Whoever names sources by absolute paths wants to read those.
        let relative = self.request.sources.iter().all(|source| source.is_relative());
        if relative { messages.seen_from(self.cx.cwd()) } else { messages }
    }
}
