//! One `.pto` source assembled to C++, by the PTOAS that a build would use.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use pto_compile::{DEADLINE, DEADLINE_VARIABLE};
use pto_context::{BadSeconds, Context};
use pto_platform::{Arch, Target};
use pto_process::{Invocation, Output, Status};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::isolated::isolated;
use crate::pin::PinSource;
use crate::status::status;

/// How many of the assembler's last lines are shown.
const LAST_WORDS: usize = 12;
/// What A5's compiler refuses and A3's wants: code that was generated for A3.
const ONLY_A3: &str = "pipe_barrier(PIPE_V)";
/// The attribute of a module that says what it is written for.
const ATTRIBUTE: &str = "pto.target_arch";

/// What `--pto-arch` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PtoArch {
    /// A2 and A3.
    A3,
    /// A5.
    A5,
}

/// What `--pto-level` takes: how much of the work is the assembler's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// `level1`.
    Level1,
    /// `level2`, the assembler's default.
    Level2,
    /// `level3`.
    Level3,
}

/// How a source is assembled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AssembleOptions {
    /// The generation.
    pub arch: PtoArch,
    /// `None` leaves it to the assembler.
    pub level: Option<Level>,
    /// Whether it inserts the flags between the pipes.
    pub insert_sync: bool,
}

/// A PTOAS that says its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Assembler {
    /// Its launcher.
    pub path: PathBuf,
    /// Its version.
    pub version: String,
}

/// Why a source was not assembled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// A build would find none.
    #[error("no PTOAS to assemble with: {why}")]
    NoAssembler {
        /// Where was looked.
        why: String,
    },
    /// The one that a build would use does not start.
    #[error("`{}` does not work: {problem}", .path.display())]
    Broken {
        /// Its launcher.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// The assembler could not be looked for.
    #[error("cannot look for a PTOAS")]
    Status(#[source] Box<Error>),
    /// The source cannot be read, or what was made of it.
    #[error("cannot read a source or what was assembled from it")]
    Read(#[source] io::Error),
    /// The source says another generation than it is built for.
    #[error("{}:{line}: `{ATTRIBUTE}` is `{declared}`, and the source is assembled for `{wanted}`", .path.display())]
    OtherArch {
        /// The source.
        path: PathBuf,
        /// The attribute's line, from 1.
        line: usize,
        /// What it says.
        declared: String,
        /// What the target needs.
        wanted: PtoArch,
    },
    /// It failed or died.
    #[error("{assembler} {ended} for `{}`\n$ {line}\n{last_words}", .source_path.display())]
    Failed {
        /// The assembler.
        assembler: Assembler,
        /// The source.
        source_path: PathBuf,
        /// How it ended: `was ended by signal 11 (SIGSEGV)`.
        ended: String,
        /// Its command line.
        line: String,
        /// Its last lines.
        last_words: String,
    },
    /// It says that all went well, and what it wrote is no C++ with a kernel in it.
    #[error("{assembler} wrote {found} for `{}`, expected C++ with a `__global__` function\n$ {line}", .source_path.display())]
    NoKernel {
        /// The assembler.
        assembler: Assembler,
        /// The source.
        source_path: PathBuf,
        /// What there is.
        found: &'static str,
        /// Its command line.
        line: String,
    },
    /// What it wrote is for another generation than was asked for.
    #[error("{assembler} wrote code for A3, `{ONLY_A3}` in line {at}, though it was asked for `{wanted}`\n$ {line}")]
    CodeOfOtherArch {
        /// The assembler.
        assembler: Assembler,
        /// The line of the generated code, from 1.
        at: usize,
        /// What was asked for.
        wanted: PtoArch,
        /// Its command line.
        line: String,
    },
    /// It cannot be run.
    #[error("cannot run the assembler")]
    Process(#[source] pto_process::Error),
    /// The deadline of the environment is none.
    #[error(transparent)]
    BadDeadline(#[from] BadSeconds),
    /// The user asked for the end.
    #[error("interrupted")]
    Interrupted,
}

impl AssembleError {
    /// Whether the source is to blame, or the assembler with this source.
    pub fn is_the_sources(&self) -> bool {
        matches!(self, Self::Failed { .. } | Self::NoKernel { .. } | Self::CodeOfOtherArch { .. })
    }

    /// Whether what was given is malformed.
    pub fn is_the_inputs(&self) -> bool {
        matches!(self, Self::OtherArch { .. } | Self::BadDeadline(_))
    }

    /// Whether the user asked for the end.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Self::Interrupted => true,
            Self::Process(error) => error.is_interrupted(),
            _ => false,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::NoAssembler { .. } => "`cargo xtask ptoas install` installs the one that a checkout of PyPTO pins",
            Self::Broken { .. } => "`cargo xtask ptoas status` tells more; `cargo xtask ptoas install` puts it right",
            Self::OtherArch { .. } => "build for the target that the attribute names, or change the attribute",
            Self::CodeOfOtherArch { .. } => {
                "its code generator took the default back end: use a newer PTOAS, or set the attribute in the source"
            }
            Self::NoKernel { found: OBJECT, .. } => "this release assembles to objects: use one that writes C++",
            Self::Process(error) => return error.hint(),
            _ => return None,
        };
        Some(text.to_owned())
    }
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
        let text = fs_err::read_to_string(cx.cwd().join(source)).map_err(AssembleError::Read)?;
        if let Some((declared, line)) = declared_arch(&text)
            && declared.parse() != Ok(options.arch)
        {
            let (path, wanted) = (source.to_path_buf(), options.arch);
            return Err(AssembleError::OtherArch { path, line, declared, wanted });
        }
        let deadline = cx.seconds(DEADLINE_VARIABLE, DEADLINE)?;
        let invocation = self.invocation(cx, source, options, output).deadline(deadline);
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
        let bytes = match fs_err::read(output) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(AssembleError::Read(error)),
        };
        let found = match std::str::from_utf8(&bytes) {
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

impl PtoArch {
    /// For code of this target; `None` for the CPU, which plays one of them.
    pub fn of(target: Target) -> Option<Self> {
        match target.arch()? {
            Arch::DAV_2201 => Some(Self::A3),
            Arch::DAV_3510 => Some(Self::A5),
            _ => None,
        }
    }
}

impl FromStr for PtoArch {
    type Err = ();

    /// In any case, as the assembler takes it.
    fn from_str(word: &str) -> Result<Self, ()> {
        match word.to_ascii_lowercase().as_str() {
            "a3" => Ok(Self::A3),
            "a5" => Ok(Self::A5),
            _ => Err(()),
        }
    }
}

impl fmt::Display for PtoArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::A3 => "a3",
            Self::A5 => "a5",
        })
    }
}

impl Level {
    /// Every level.
    pub const ALL: [Self; 3] = [Self::Level1, Self::Level2, Self::Level3];

    /// As the assembler takes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Level1 => "level1",
            Self::Level2 => "level2",
            Self::Level3 => "level3",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
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
