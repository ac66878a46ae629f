//! One `.pto` source assembled to C++, by the PTOAS that a build would use.

mod error;
mod options;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use pto_compile::{DEADLINE, DEADLINE_VARIABLE};
use pto_context::{Context, files};
use pto_process::{Invocation, Output, Status};
use serde::Serialize;

use crate::isolated::isolated;
use crate::pin::PinSource;
use crate::status::status;

pub use error::AssembleError;
pub use options::{AssembleOptions, Level, PtoArch};

/// Far above any source, written or generated; far below what hurts.
const LARGEST: u64 = 64 << 20;
/// How many of the assembler's last lines are shown.
const LAST_WORDS: usize = 12;
/// What A5's compiler refuses and A3's wants: code that was generated for A3.
const ONLY_A3: &str = "pipe_barrier(PIPE_V)";
/// The attribute of a module that says what it is written for.
const ATTRIBUTE: &str = "pto.target_arch";

/// A PTOAS that says its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Assembler {
    /// Its launcher.
    pub path: PathBuf,
    /// Its version.
    pub version: String,
}

const OBJECT: &str = "an object file";

impl Assembler {
    /// The one that a build would use.
    ///
    /// # Errors
    /// There is none, or it does not say its version.
    pub fn used(cx: &Context) -> Result<Self, AssembleError> {
        let found = status(cx, &PinSource::default(), None).map_err(|error| AssembleError::Status(Box::new(error)))?;
        let Some(path) = found.used else { return Err(AssembleError::NoAssembler { why: found.why }) };
        let used = found.found.into_iter().find(|one| one.path == path);
        match used.map(|one| (one.version, one.problem)) {
            Some((Some(version), _)) => Ok(Self { path, version }),
            Some((None, Some(problem))) => Err(AssembleError::Broken { path, problem }),
            _ => Err(AssembleError::Broken { path, problem: "it says no version".to_owned() }),
        }
    }

    /// The command, not run.
    pub fn invocation(&self, cx: &Context, source: &Path, options: AssembleOptions, output: &Path) -> Invocation {
        isolated(cx, Invocation::new(&self.path))
            .arg(format!("--pto-arch={}", options.arch))
            .args(options.level.map(|level| format!("--pto-level={level}")))
            .args(options.insert_sync.then_some("--enable-insert-sync"))
            .arg(cx.cwd().join(source))
            .arg("-o")
            .arg(output)
    }

    /// Assembles a source into `output`, and looks whether what was written can be what was asked for. Gives the command.
    ///
    /// # Errors
    /// The source says another generation; the assembler fails, dies or hangs; it writes nothing, or something else.
    pub fn assemble(
        &self,
        cx: &Context,
        source: &Path,
        options: AssembleOptions,
        output: &Path,
    ) -> Result<String, AssembleError> {
        let text = read_source(&cx.cwd().join(source)).map_err(AssembleError::Read)?;
        if let Some((declared, line)) = declared_arch(&text)
            && declared.parse() != Ok(options.arch)
        {
            let (path, wanted) = (source.to_path_buf(), options.arch);
            return Err(AssembleError::OtherArch { path, line, declared, wanted });
        }
        let deadline = cx.seconds(DEADLINE_VARIABLE, DEADLINE)?;
        let invocation = self.invocation(cx, source, options, output).deadline_from(DEADLINE_VARIABLE, deadline);
        let ran = invocation.run(cx).map_err(AssembleError::Process)?;
        match ran.status {
            Status::Interrupted => return Err(AssembleError::Interrupted),
            Status::Exited(0) => {}
            _ => return Err(self.failed(source, &ran)),
        }
        self.check(source, options, output, &ran)?;
        Ok(ran.line)
    }

    fn failed(&self, source: &Path, ran: &Output) -> AssembleError {
        AssembleError::Failed {
            assembler: self.clone(),
            source_path: source.to_path_buf(),
            ended: ran.status.to_string(),
            line: ran.line.clone(),
            last_words: ran.last_words(LAST_WORDS),
        }
    }

    /// An assembler that ends well has not always written C++.
    fn check(&self, source: &Path, options: AssembleOptions, output: &Path, ran: &Output) -> Result<(), AssembleError> {
        let (assembler, source_path, line) = (self.clone(), source.to_path_buf(), ran.line.clone());
        let (bytes, unread) = match files::bytes(output, LARGEST) {
            Ok(bytes) => (bytes, None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (Vec::new(), None),
            Err(error) if matches!(error.kind(), io::ErrorKind::Other | io::ErrorKind::IsADirectory) => {
                (Vec::new(), Some("no regular file, or far more than a source"))
            }
            Err(error) => return Err(AssembleError::Read(error)),
        };
        let found = match std::str::from_utf8(&bytes) {
            _ if unread.is_some() => unread,
            Ok(text) if text.contains("__global__") => None,
            Ok(text) if text.trim().is_empty() => Some("nothing"),
            Ok(_) => Some("no kernel"),
            Err(_) if bytes.starts_with(b"\x7fELF") => Some(OBJECT),
            Err(_) => Some("something that is no text"),
        };
        if let Some(found) = found {
            return Err(AssembleError::NoKernel { assembler, source_path, found, line });
        }
        let text = String::from_utf8_lossy(&bytes);
        match text.lines().position(|line| line.contains(ONLY_A3)) {
            Some(at) if options.arch == PtoArch::A5 => {
                Err(AssembleError::CodeOfOtherArch { assembler, at: at + 1, wanted: options.arch, line })
            }
            _ => Ok(()),
        }
    }
}

fn read_source(path: &Path) -> io::Result<String> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("cannot read `{}`: {error}", path.display()));
    let bytes = files::bytes(path, LARGEST).map_err(named)?;
    String::from_utf8(bytes).map_err(|error| named(io::Error::new(io::ErrorKind::InvalidData, error)))
}

/// What a module says that it is written for, and in which line.
pub fn declared_arch(text: &str) -> Option<(String, usize)> {
    let lines = text.lines().enumerate();
    let code = lines.map(|(index, line)| (index, line.split("//").next().unwrap_or_default()));
    code.filter_map(|(index, line)| {
        let (_, after) = line.split_once(ATTRIBUTE)?;
        let value = after.trim_start_matches('"').trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?;
        Some((value.split_once('"')?.0.to_owned(), index + 1))
    })
    .next()
}

impl fmt::Display for Assembler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ptoas {} (`{}`)", self.version.trim_start_matches('v'), self.path.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_says_what_it_is_for() {
        let declared = |text: &str| declared_arch(text);
        assert_eq!(declared("module attributes {pto.target_arch = \"a5\"} {"), Some(("a5".to_owned(), 1)));
        assert_eq!(declared("\nmodule attributes {\"pto.target_arch\"=\"a3\"} {"), Some(("a3".to_owned(), 2)));
        assert_eq!(declared("// pto.target_arch = \"a5\"\nmodule {"), None);
        assert_eq!(declared("module {"), None);
    }

    #[test]
    fn the_command_says_generation_level_and_sync() {
        let cx = Context::fake("/", [("PATH", "/bin")]);
        let assembler = Assembler { path: "/opt/ptoas".into(), version: "0.57".to_owned() };
        let all = AssembleOptions { arch: PtoArch::A5, level: Some(Level::Level3), insert_sync: true };
        let line = |options| {
            let invocation = assembler.invocation(&cx, "k.pto".as_ref(), options, "out.cpp".as_ref());
            invocation.argv().iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        let ends = "k.pto -o out.cpp";
        assert!(line(all).starts_with("/opt/ptoas --pto-arch=a5 --pto-level=level3 --enable-insert-sync "));
        assert!(line(all).ends_with(ends));
        let least = AssembleOptions { arch: PtoArch::A3, level: None, insert_sync: false };
        assert!(
            line(least).starts_with("/opt/ptoas --pto-arch=a3 /") && line(least).ends_with(ends),
            "{}",
            line(least)
        );
    }
}
