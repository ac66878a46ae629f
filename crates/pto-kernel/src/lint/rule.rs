//! The rules: what each is called, and why it is one.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// A rule. Its id is stable: comments in sources and manifests name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// A vector kernel for A2/A3 that does not set its lane mask first.
    VectorMask,
    /// A number of blocks that follows the size of the data.
    BlockDimGrows,
    /// A core count or a size of the UB as a number.
    HardwareLiteral,
    /// A `set_flag` without its `wait_flag`, or the reverse, on some path.
    UnpairedFlag,
    /// A tile that one pipe writes and another reads, with nothing that waits in between.
    MissingSync,
    /// A macro with the name of a pipe.
    PipeMacro,
    /// A guard that is never true for what the code is built for.
    GuardGeneration,
    /// Python that asks for the stream while it measures.
    StreamInTimedLoop,
    /// A tolerance above the default without a reason.
    LooseTolerance,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 9] = [
        Self::VectorMask,
        Self::BlockDimGrows,
        Self::HardwareLiteral,
        Self::UnpairedFlag,
        Self::MissingSync,
        Self::PipeMacro,
        Self::GuardGeneration,
        Self::StreamInTimedLoop,
        Self::LooseTolerance,
    ];

    /// What it is called in comments, manifests and reports.
    pub const fn id(self) -> &'static str {
        match self {
            Self::VectorMask => "vector-mask",
            Self::BlockDimGrows => "block-dim-grows",
            Self::HardwareLiteral => "hardware-literal",
            Self::UnpairedFlag => "unpaired-flag",
            Self::MissingSync => "missing-sync",
            Self::PipeMacro => "pipe-macro",
            Self::GuardGeneration => "guard-generation",
            Self::StreamInTimedLoop => "stream-in-timed-loop",
            Self::LooseTolerance => "loose-tolerance",
        }
    }

    /// What goes wrong otherwise.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::VectorMask => {
                "vector instructions of A2/A3 obey a lane mask that whoever ran before has left behind; without it they \
                 fault as if the UB were exceeded, or leave elements out"
            }
            Self::BlockDimGrows => {
                "blocks are cores, not threads of a grid: more of them than cores are run one after another, and kernels \
                 that use flags between cores wait for ones that do not run yet"
            }
            Self::HardwareLiteral => "the next SoC has other numbers: ask the runtime, or take them as an argument",
            Self::UnpairedFlag => {
                "a wait for a flag that nobody set hangs the core, and a flag that nobody waited for is still set for the \
                 next kernel"
            }
            Self::MissingSync => {
                "the pipes of a core run at once: on a card the tile is read before it is written; the CPU runs instructions in \
                 their order and shows nothing"
            }
            Self::PipeMacro => {
                "pipes are enumerators: `#ifndef` does not see them, so the macro always wins, moves the instruction to \
                 another pipe and hangs the kernel"
            }
            Self::GuardGeneration => {
                "the compiler never defines it for this target, so what it guards is left out in silence"
            }
            Self::StreamInTimedLoop => "asking for the stream costs as much as a small launch, and is measured with it",
            Self::LooseTolerance => "whoever reads the result later cannot tell a known error from a hidden one",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

/// A word that names no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no rule `{word}`, expected one of {}", Rule::ALL.map(Rule::id).join(", "))]
pub struct NoSuchRule {
    /// The word.
    pub word: String,
}

impl FromStr for Rule {
    type Err = NoSuchRule;

    fn from_str(word: &str) -> Result<Self, NoSuchRule> {
        Self::ALL.into_iter().find(|rule| rule.id() == word).ok_or_else(|| NoSuchRule { word: word.to_owned() })
    }
}
