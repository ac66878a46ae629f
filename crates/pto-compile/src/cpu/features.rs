//! What a set of PTO-ISA headers has and lacks: each question is a small source that compiles or does not.

use std::path::Path;

use pto_context::{Context, in_parallel};
use serde::{Deserialize, Serialize};

use super::error::CpuError;
use super::flags::Flags;

/// The probes, by the name of their source in `cpu/probes`, and what each asks.
const PROBES: [(&str, &str); 11] = [
    ("acc_phase", "the AccPhase of TMATMUL"),
    ("bf16", "bfloat16_t with arithmetic"),
    ("event", "pto::Event on the CPU"),
    ("get_block_num", "get_block_num() and the core count in the simulator's configuration"),
    ("pipe_global", "TPOP of a slot in GM"),
    ("pipe_hook", "a TPUSH/TPOP pipe that both sides of a block can share"),
    ("syncall", "SYNCALL"),
    ("tmatmul_acc3", "TMATMUL_ACC with three operands"),
    ("tmov_phase", "TMOV_IMPL with an STPhase parameter"),
    ("trowsum_shapes", "TROWSUM over tiles with different static rows"),
    ("tstore_converts", "TSTORE from an f32 accumulator to f16, over the valid region"),
];

/// The answers, in the order of the names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Features {
    answers: Vec<(String, bool)>,
}

impl Features {
    /// Asks all questions of the headers and compiler behind `flags`.
    pub(super) fn probe(cx: &Context, flags: &Flags, probes: &Path) -> Result<Self, CpuError> {
        let answers = in_parallel(&PROBES, None, |(name, _)| {
            let question = flags.invocation().arg("-fsyntax-only").arg(probes.join(format!("{name}.cpp")));
            let output = flags.compiler.run(cx, question)?;
            Ok::<_, CpuError>(((*name).to_owned(), output.success()))
        })?;
        Ok(Self { answers })
    }

    /// `-DPTOCPU_HAS_<NAME>=<0 or 1>` for the prelude.
    pub(super) fn defines(&self) -> impl Iterator<Item = String> + '_ {
        self.answers.iter().map(|(name, has)| format!("-DPTOCPU_HAS_{}={}", name.to_uppercase(), u8::from(*has)))
    }

    /// Whether the simulator's FIFOs work between the sides of a block.
    pub fn has_pipes(&self) -> bool {
        self.has("pipe_hook")
    }

    fn has(&self, name: &str) -> bool {
        self.answers.iter().any(|(asked, has)| asked == name && *has)
    }

    /// What is missing, for people. The prelude supplies it, bf16 and pipes excepted.
    pub fn missing(&self) -> Vec<&'static str> {
        PROBES.iter().filter(|(name, _)| !self.has(name)).map(|(_, what)| *what).collect()
    }
}
