//! A rule as it is written, in flags or in TOML.

use serde::{Deserialize, Serialize};

use crate::compare::{Criterion, Region, Rule, Tolerance};
use crate::{DType, Error, Options, Shape};

/// The names of the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleKind {
    /// [`Rule::Close`].
    Close,
    /// [`Rule::Exact`].
    Exact,
    /// [`Rule::BitExact`].
    BitExact,
    /// [`Rule::Ulp`].
    Ulp,
    /// [`Rule::PassRate`].
    PassRate,
    /// [`Rule::Floored`].
    Floored,
    /// [`Rule::TopK`].
    TopK,
    /// [`Rule::Quantized`].
    Quantized,
    /// [`Rule::Determinism`].
    Determinism,
    /// [`Rule::Whole`].
    Whole,
}

/// What lies behind the valid region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tail {
    /// Anything.
    Any,
    /// Zeros.
    Zero,
}

/// How one tensor is compared. What is not said is the default.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Spec {
    /// The rule; `close` if none is named.
    pub rule: Option<RuleKind>,
    /// `close`, `pass-rate`, `top-k`: relative to the expected value.
    pub rtol: Option<f64>,
    /// `close`, `pass-rate`, `top-k`: in the unit of the elements.
    pub atol: Option<f64>,
    /// `ulp`: units in the last place; 1 if nothing is said.
    pub max_ulp: Option<u64>,
    /// `pass-rate`, `floored`: share of the elements; 0.99 for `pass-rate` and 1 for `floored` if nothing is said.
    pub rate: Option<f64>,
    /// `pass-rate`, `floored`: how many times the limit the worst element may be off; 10 if nothing is said.
    pub cap: Option<f64>,
    /// `floored`: largest relative difference; the `rtol` of the dtype if nothing is said.
    pub rel: Option<f64>,
    /// `floored`: smaller expected values count as this large; 1e-3 if nothing is said.
    pub floor: Option<f64>,
    /// `quantized`: the value of one step.
    pub scale: Option<f64>,
    /// `quantized`: the integer that stands for 0.
    pub zero_point: Option<i64>,
    /// `quantized`: how many steps may be between; 1 if nothing is said.
    pub steps: Option<u64>,
    /// `whole`: largest relative RMSE.
    pub rmse: Option<f64>,
    /// `whole`: least R2.
    pub r_squared: Option<f64>,
    /// `whole`: least cosine.
    pub cosine: Option<f64>,
    /// `whole`: least signal to noise in dB.
    pub snr: Option<f64>,
    /// `top-k`: the file of the scores that the indices select.
    pub scores: Option<std::path::PathBuf>,
    /// A NaN is right where a NaN is expected.
    pub equal_nan: Option<bool>,
    /// The buffer held the fill pattern before the launch.
    pub poisoned: Option<bool>,
    /// Only this part of the buffer means something: sizes from the first element on.
    pub valid: Option<Vec<usize>>,
    /// What lies behind the valid part.
    pub tail: Option<Tail>,
    /// The element type of files that do not say it.
    pub dtype: Option<DType>,
    /// The shape of raw files.
    pub shape: Option<Vec<usize>>,
    /// Why the rule is looser than the default.
    pub reason: Option<String>,
}

/// Why a rule as written cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// A number that belongs to another rule.
    #[error("`{field}` means nothing to the rule `{}`", rule.name())]
    Foreign {
        /// The field.
        field: &'static str,
        /// The rule.
        rule: RuleKind,
    },
    /// A number without which the rule says nothing.
    #[error("the rule `{}` needs {what}", rule.name())]
    Needs {
        /// The rule.
        rule: RuleKind,
        /// What is missing.
        what: &'static str,
    },
    /// A number that makes no sense.
    #[error("{0}")]
    Number(String),
    /// A rule that lets more pass than the default, without a reason.
    #[error("`{rule}` is looser than the default of {dtype} ({default}) and has no reason")]
    NoReason {
        /// The rule in words.
        rule: String,
        /// The element type.
        dtype: DType,
        /// The default in words.
        default: String,
    },
}

impl SpecError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoReason { .. } => Some(
                "give a `reason`; relax only for a documented numerical reason, for example the order of accumulation",
            ),
            _ => None,
        }
    }
}

impl RuleKind {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Close,
        Self::Exact,
        Self::BitExact,
        Self::Ulp,
        Self::PassRate,
        Self::Floored,
        Self::TopK,
        Self::Quantized,
        Self::Determinism,
        Self::Whole,
    ];

    /// As it is written.
    pub const fn name(self) -> &'static str {
        self.words().0
    }

    /// What it asks, in a few words.
    pub const fn meaning(self) -> &'static str {
        self.words().1
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Close => ("close", "|a - e| <= atol + rtol * |e|"),
            Self::Exact => ("exact", "Equal values"),
            Self::BitExact => ("bit-exact", "Equal bits"),
            Self::Ulp => ("ulp", "Few values of the type between"),
            Self::PassRate => ("pass-rate", "Close for a share of the elements, with a cap on the worst"),
            Self::Floored => ("floored", "Relative difference with a floor"),
            Self::TopK => ("top-k", "Indices of the largest, with legal ties"),
            Self::Quantized => ("quantized", "Integers that stand for reals"),
            Self::Determinism => ("determinism", "Runs of one kernel against each other"),
            Self::Whole => ("whole", "Figures of the whole tensor"),
        }
    }
}

impl Spec {
    /// What `self` says, and where it says nothing, `other`. Numbers of `other` are left out where `self` names another
    /// rule.
    #[must_use]
    pub fn over(&self, other: &Self) -> Self {
        let same = self.rule.is_none() || self.rule == other.rule;
        let other = if same { other.clone() } else { other.without_numbers() };
        Self {
            rule: self.rule.or(other.rule),
            rtol: self.rtol.or(other.rtol),
            atol: self.atol.or(other.atol),
            max_ulp: self.max_ulp.or(other.max_ulp),
            rate: self.rate.or(other.rate),
            cap: self.cap.or(other.cap),
            rel: self.rel.or(other.rel),
            floor: self.floor.or(other.floor),
            scale: self.scale.or(other.scale),
            zero_point: self.zero_point.or(other.zero_point),
            steps: self.steps.or(other.steps),
            rmse: self.rmse.or(other.rmse),
            r_squared: self.r_squared.or(other.r_squared),
            cosine: self.cosine.or(other.cosine),
            snr: self.snr.or(other.snr),
            scores: self.scores.clone().or(other.scores),
            equal_nan: self.equal_nan.or(other.equal_nan),
            poisoned: self.poisoned.or(other.poisoned),
            valid: self.valid.clone().or(other.valid),
            tail: self.tail.or(other.tail),
            dtype: self.dtype.or(other.dtype),
            shape: self.shape.clone().or(other.shape),
            reason: self.reason.clone().or(other.reason),
        }
    }

    fn without_numbers(&self) -> Self {
        Self {
            equal_nan: self.equal_nan,
            poisoned: self.poisoned,
            valid: self.valid.clone(),
            tail: self.tail,
            dtype: self.dtype,
            shape: self.shape.clone(),
            ..Self::default()
        }
    }

    /// What a tensor of this dtype is judged by; the scores of `top-k` are the caller's to read.
    ///
    /// # Errors
    /// As [`Spec::rule`].
    pub fn criterion(&self, dtype: DType) -> Result<Criterion, SpecError> {
        let rule = self.rule(dtype)?;
        Ok(Criterion { region: self.region(), ..Criterion::new(rule, self.options()) })
    }

    /// The rule for a tensor of this dtype.
    ///
    /// # Errors
    /// A number that is missing, belongs to another rule, or makes no sense.
    pub fn rule(&self, dtype: DType) -> Result<Rule, SpecError> {
        let kind = self.rule.unwrap_or(RuleKind::Close);
        self.refuse_foreign(kind)?;
        let default = Tolerance::default_for(dtype);
        let needs = |what| SpecError::Needs { rule: kind, what };
        let (rtol, atol) = (self.rtol.unwrap_or(default.rtol), self.atol.unwrap_or(default.atol));
        let rule = match kind {
            RuleKind::Close => Rule::Close(Tolerance { rtol, atol }),
            RuleKind::Exact => Rule::Exact,
            RuleKind::BitExact => Rule::BitExact,
            RuleKind::Ulp => Rule::Ulp { max: self.max_ulp.unwrap_or(1) },
            RuleKind::PassRate => {
                Rule::PassRate { rtol, atol, rate: self.rate.unwrap_or(0.99), cap: self.cap.unwrap_or(10.0) }
            }
            RuleKind::Floored => Rule::Floored {
                rel: self.rel.unwrap_or(default.rtol),
                floor: self.floor.unwrap_or(1e-3),
                rate: self.rate.unwrap_or(1.0),
                cap: self.cap.unwrap_or(10.0),
            },
            RuleKind::TopK => Rule::TopK { rtol: self.rtol.unwrap_or(0.0), atol: self.atol.unwrap_or(0.0) },
            RuleKind::Quantized => Rule::Quantized {
                scale: self.scale.ok_or_else(|| needs("`scale`, the value of one step"))?,
                zero_point: self.zero_point.unwrap_or(0),
                steps: self.steps.unwrap_or(1),
            },
            RuleKind::Determinism => Rule::Determinism,
            RuleKind::Whole => {
                if [self.rmse, self.r_squared, self.cosine, self.snr].iter().all(Option::is_none) {
                    return Err(needs("at least one of `rmse`, `r-squared`, `cosine` and `snr`"));
                }
                Rule::Whole {
                    rmse: self.rmse.unwrap_or(f64::INFINITY),
                    r2: self.r_squared.unwrap_or(f64::NEG_INFINITY),
                    cosine: self.cosine.unwrap_or(f64::NEG_INFINITY),
                    snr: self.snr.unwrap_or(f64::NEG_INFINITY),
                }
            }
        };
        rule.check().map_err(|error: Error| SpecError::Number(error.to_string()))?;
        Ok(rule)
    }

    /// Whether a rule lets more pass than the default of the dtype, and nothing says why.
    pub fn lacks_reason(&self, rule: &Rule, dtype: DType) -> Option<SpecError> {
        let reason = self.reason.as_deref().is_some_and(|reason| !reason.trim().is_empty());
        let default = Tolerance::default_for(dtype).to_string();
        (rule.is_looser_than_default(dtype) && !reason).then(|| SpecError::NoReason {
            rule: rule.to_string(),
            dtype,
            default,
        })
    }

    fn refuse_foreign(&self, rule: RuleKind) -> Result<(), SpecError> {
        use RuleKind::{Close, Floored, PassRate, Quantized, TopK, Ulp, Whole};
        let fields: [(&'static str, bool, &[RuleKind]); 15] = [
            ("rtol", self.rtol.is_some(), &[Close, PassRate, TopK]),
            ("atol", self.atol.is_some(), &[Close, PassRate, TopK]),
            ("max-ulp", self.max_ulp.is_some(), &[Ulp]),
            ("rate", self.rate.is_some(), &[PassRate, Floored]),
            ("cap", self.cap.is_some(), &[PassRate, Floored]),
            ("rel", self.rel.is_some(), &[Floored]),
            ("floor", self.floor.is_some(), &[Floored]),
            ("scale", self.scale.is_some(), &[Quantized]),
            ("zero-point", self.zero_point.is_some(), &[Quantized]),
            ("steps", self.steps.is_some(), &[Quantized]),
            ("rmse", self.rmse.is_some(), &[Whole]),
            ("r-squared", self.r_squared.is_some(), &[Whole]),
            ("cosine", self.cosine.is_some(), &[Whole]),
            ("snr", self.snr.is_some(), &[Whole]),
            ("scores", self.scores.is_some(), &[TopK]),
        ];
        match fields.iter().find(|(_, given, rules)| *given && !rules.contains(&rule)) {
            Some((field, ..)) => Err(SpecError::Foreign { field, rule }),
            None => Ok(()),
        }
    }

    pub(super) fn options(&self) -> Options {
        Options {
            equal_nan: self.equal_nan.unwrap_or(false),
            poisoned: self.poisoned.unwrap_or(false),
            reason: self.reason.clone(),
            ..Options::default()
        }
    }

    pub(super) fn region(&self) -> Option<Region> {
        let valid = self.valid.clone()?;
        Some(Region { valid, zero_tail: self.tail == Some(Tail::Zero) })
    }

    pub(super) fn declared(&self) -> crate::files::Declared {
        crate::files::Declared { dtype: self.dtype, shape: self.shape.clone().map(Shape) }
    }
}
