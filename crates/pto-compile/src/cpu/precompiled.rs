//! The prelude, precompiled: PTO-ISA's headers are more than a second of every compilation without it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use pto_context::{Context, Event};
use pto_store::Store;
use serde::{Deserialize, Serialize};

use super::compiler::Family;
use super::diagnostics::Messages;
use super::error::CpuError;
use super::side::SideFlags;
use super::toolchain::Toolchain;
use crate::deps::{Dependencies, parse_depfile};
use crate::key::{Key, sha256};

/// The prelude as a compilation includes it.
pub(super) struct Precompiled {
    file: PathBuf,
    how: How,
    /// Names the contents of every header in it.
    pub(super) digest: String,
}

enum How {
    Clang,
    Gcc,
    /// Not precompiled at all.
    Text,
}

impl Precompiled {
    /// The prelude as text.
    pub(super) fn text(toolchain: &Toolchain) -> Self {
        let file = toolchain.resources.path("prelude/prelude.hpp");
        Self { file, how: How::Text, digest: "text".to_owned() }
    }

    /// The prelude for one side, built unless it is there and no header in it has changed.
    pub(super) fn get(cx: &Context, store: &Store, toolchain: &Toolchain, side: &SideFlags) -> Result<Self, CpuError> {
        let family = toolchain.compiler.family;
        let key = Key::new("pch").with(&toolchain.identity).all(side.args()).finish();
        let entry = store.entry("cpu-pch", &key)?;
        if let Some(dir) = Dependencies::get_fresh(cx, &entry)?
            && !Seal::load(&dir).is_some_and(|seal| seal.has_size_of(&dir.join(file_name(family))))
        {
            entry.remove(cx)?;
        }
        let dir = entry.get_or_build(cx, |dir| compile(cx, toolchain, side, dir))?;
        let how = match family {
            Family::Clang => How::Clang,
            Family::Gcc => How::Gcc,
        };
        Ok(Self { file: dir.join(file_name(family)), how, digest: Dependencies::digest_of(&dir) })
    }

    /// Whether it is still what was built. One that is not is deleted, so that the next build makes it anew.
    pub(super) fn is_intact(&self) -> bool {
        if matches!(self.how, How::Text) {
            return true;
        }
        let dir = self.file.parent().unwrap_or(Path::new("/"));
        let intact = Seal::load(dir).is_some_and(|seal| seal.matches(&self.file));
        if !intact {
            let _ = std::fs::remove_file(&self.file);
        }
        intact
    }

    /// How a compilation uses it.
    pub(super) fn args(&self) -> [OsString; 2] {
        match self.how {
            How::Clang => ["-include-pch".into(), self.file.clone().into()],
            // GCC looks for `X.gch` when told to include X.
            How::Gcc => ["-include".into(), self.file.with_extension("").into()],
            How::Text => ["-include".into(), self.file.clone().into()],
        }
    }
}

/// What a precompiled header was when it was made: a compiler that reads a damaged one blames the kernel.
#[derive(Serialize, Deserialize)]
struct Seal {
    size: u64,
    sha256: String,
}

impl Seal {
    const FILE: &str = "seal.json";

    fn make(dir: &Path, file: &Path) -> io::Result<()> {
        let bytes = fs_err::read(file)?;
        let seal = Self { size: bytes.len() as u64, sha256: sha256(&bytes) };
        fs_err::write(dir.join(Self::FILE), serde_json::to_vec(&seal)?)
    }

    fn load(dir: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(dir.join(Self::FILE)).ok()?).ok()
    }

    /// Cheap, for every build.
    fn has_size_of(&self, file: &Path) -> bool {
        std::fs::metadata(file).is_ok_and(|meta| meta.len() == self.size)
    }

    /// For a build that failed.
    fn matches(&self, file: &Path) -> bool {
        std::fs::read(file).is_ok_and(|bytes| sha256(&bytes) == self.sha256)
    }
}

fn file_name(family: Family) -> &'static str {
    match family {
        Family::Clang => "prelude.pch",
        Family::Gcc => "prelude.hpp.gch",
    }
}

fn compile(cx: &Context, toolchain: &Toolchain, side: &SideFlags, dir: &Path) -> Result<(), CpuError> {
    let task = format!("precompile:{}", side.name());
    cx.emit(Event::Started {
        task: task.clone(),
        message: format!("Precompiling PTO-ISA for the {}", side.name()),
        total_bytes: None,
    });
    let depfile = dir.join("prelude.d");
    let prelude = toolchain.resources.path("prelude/prelude.hpp");
    let mut invocation = toolchain.flags.invocation().args(side.args()).arg("-w");
    if toolchain.compiler.family == Family::Clang {
        invocation = invocation.arg("-fpch-instantiate-templates");
    }
    let invocation = invocation
        .args(["-MD".into(), "-MF".into(), depfile.clone().into_os_string()])
        .args(["-x".into(), "c++-header".into(), prelude.clone().into_os_string()])
        .args(["-o".into(), dir.join(file_name(toolchain.compiler.family)).into_os_string()]);
    let output = toolchain.compiler.run(cx, invocation)?;
    if !output.success() {
        let messages = Messages::of(&output).text();
        return Err(CpuError::Support { what: "the prelude over these PTO-ISA headers", messages, line: output.line });
    }
    if toolchain.compiler.family == Family::Gcc {
        // Used when GCC finds the precompiled one unfit, for example with other code generation flags.
        let text = format!("#include \"{}\"\n", super::rewrite::escape(&prelude.display().to_string()));
        fs_err::write(dir.join("prelude.hpp"), text).map_err(CpuError::Write)?;
    }
    Seal::make(dir, &dir.join(file_name(toolchain.compiler.family))).map_err(CpuError::Write)?;
    let read = fs_err::read_to_string(&depfile).map_err(CpuError::Read)?;
    Dependencies::read(parse_depfile(&read)).map_err(CpuError::Read)?.save(dir).map_err(CpuError::Write)?;
    cx.emit(Event::Finished {
        task,
        message: format!("PTO-ISA precompiled for the {} ({:.1} s)", side.name(), output.duration.as_secs_f64()),
    });
    Ok(())
}
