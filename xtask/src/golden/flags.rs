//! Rules on the command line and in a file.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use pto_golden::DType;
use pto_golden::suite::{RuleKind, Rules, Spec, Tail};

use crate::exit::Failure;

/// How tensors are compared; each option is a key of the file too.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Rules")]
pub struct Flags {
    /// TOML file with `[default]` and `[tensor.NAME]`; what is said here counts for tensors that it does not name
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// What makes a tensor right
    #[arg(long, value_name = "RULE", value_parser = rule_names())]
    rule: Option<RuleKind>,
    /// Relative tolerance [default: by dtype]
    #[arg(long, value_name = "X")]
    rtol: Option<f64>,
    /// Absolute tolerance [default: by dtype]
    #[arg(long, value_name = "X")]
    atol: Option<f64>,
    /// ulp: units in the last place [default: 1]
    #[arg(long, value_name = "N")]
    max_ulp: Option<u64>,
    /// pass-rate, floored: share of the elements [default: 0.99 and 1]
    #[arg(long, value_name = "X")]
    rate: Option<f64>,
    /// pass-rate, floored: how many times the limit the worst element may be off [default: 10]
    #[arg(long, value_name = "X")]
    cap: Option<f64>,
    /// floored: largest relative difference [default: rtol of the dtype]
    #[arg(long, value_name = "X")]
    rel: Option<f64>,
    /// floored: smaller expected values count as this large [default: 1e-3]
    #[arg(long, value_name = "X")]
    floor: Option<f64>,
    /// quantized: the value of one step
    #[arg(long, value_name = "X")]
    scale: Option<f64>,
    /// quantized: the integer that stands for 0 [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    zero_point: Option<i64>,
    /// quantized: how many steps may be between [default: 1]
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// whole: largest RMSE relative to the magnitude of the expected values
    #[arg(long, value_name = "X")]
    rmse: Option<f64>,
    /// whole: least coefficient of determination
    #[arg(long, value_name = "X")]
    r_squared: Option<f64>,
    /// whole: least cosine
    #[arg(long, value_name = "X")]
    cosine: Option<f64>,
    /// whole: least signal to noise in dB
    #[arg(long, value_name = "X")]
    snr: Option<f64>,
    /// top-k: the scores that the indices select
    #[arg(long, value_name = "FILE")]
    scores: Option<PathBuf>,
    /// A NaN is right where a NaN is expected
    #[arg(long)]
    equal_nan: bool,
    /// The output's buffer held ptokit's fill pattern before the launch
    #[arg(long)]
    poisoned: bool,
    /// Only this part means something, counted from the first element: 3,100
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    valid: Option<Vec<usize>>,
    /// What lies behind the valid part [default: any]
    #[arg(long, value_name = "TAIL", requires = "valid")]
    tail: Option<TailKind>,
    /// Element type of files that do not say it
    #[arg(long, value_name = "DTYPE")]
    dtype: Option<DType>,
    /// Shape of raw files: 3,128 [default: one axis]
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    shape: Option<Vec<usize>>,
    /// Why the rule is looser than the default of the dtype
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// What may lie behind the valid part.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum TailKind {
    /// Anything
    Any,
    /// Zeros
    Zero,
}

fn rule_names() -> impl TypedValueParser<Value = RuleKind> {
    let names = RuleKind::ALL.map(|rule| PossibleValue::new(rule.name()).help(rule.meaning()));
    PossibleValuesParser::new(names)
        .try_map(|name| RuleKind::ALL.into_iter().find(|rule| rule.name() == name).ok_or("no rule of that name"))
}

impl Flags {
    /// The rules of the file with the flags over its default.
    ///
    /// # Errors
    /// The file cannot be read or holds something else.
    pub fn rules(&self) -> Result<Rules, Failure> {
        let mut rules = self.rules.as_deref().map(read).transpose()?.unwrap_or_default();
        rules.default = self.spec().over(&rules.default);
        Ok(rules)
    }

    fn spec(&self) -> Spec {
        Spec {
            rule: self.rule,
            rtol: self.rtol,
            atol: self.atol,
            max_ulp: self.max_ulp,
            rate: self.rate,
            cap: self.cap,
            rel: self.rel,
            floor: self.floor,
            scale: self.scale,
            zero_point: self.zero_point,
            steps: self.steps,
            rmse: self.rmse,
            r_squared: self.r_squared,
            cosine: self.cosine,
            snr: self.snr,
            scores: self.scores.clone(),
            equal_nan: self.equal_nan.then_some(true),
            poisoned: self.poisoned.then_some(true),
            valid: self.valid.clone(),
            tail: self.tail.map(|tail| match tail {
                TailKind::Any => Tail::Any,
                TailKind::Zero => Tail::Zero,
            }),
            dtype: self.dtype,
            shape: self.shape.clone(),
            reason: self.reason.clone(),
        }
    }
}

/// Paths in the file are relative to it.
fn read(path: &Path) -> Result<Rules, Failure> {
    let text = fs_err::read_to_string(path).map_err(|error| Failure::usage(error.to_string(), None))?;
    let mut rules: Rules = toml::from_str(&text)
        .map_err(|error| Failure::usage(format!("`{}`: {}", path.display(), error.to_string().trim_end()), None))?;
    let dir = path.parent().unwrap_or(Path::new(""));
    for spec in std::iter::once(&mut rules.default).chain(rules.tensor.values_mut()) {
        spec.scores = spec.scores.take().map(|scores| dir.join(scores));
    }
    Ok(rules)
}
