//! Sizes to time a kernel at: a dim over a range or a list.

use std::str::FromStr;

use crate::KernelError;
use crate::cases::{Case, Origin};
use crate::manifest::{Dim, Manifest, nearest_help};

/// More cases than this nobody meant.
const MOST: usize = 1000;

/// The lengths of one dim: `n=4096..1048576:x2`, `n=4096..65536:+4096` or `n=100,200,400`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sweep {
    given: String,
    /// The dim.
    pub dim: String,
    /// Its lengths, each at least 1.
    pub lengths: Vec<i64>,
}

impl FromStr for Sweep {
    type Err = KernelError;

    fn from_str(given: &str) -> Result<Self, KernelError> {
        let refuse = |problem: &str| KernelError::CaseFilter {
            given: given.to_owned(),
            problem: format!("is no sweep: {problem}"),
            help: Some("write `n=4096..1048576:x2`, `n=4096..65536:+4096` or `n=100,200,400`".to_owned()),
        };
        let (dim, values) = given.split_once('=').ok_or_else(|| refuse("it has no `=`"))?;
        let lengths = lengths(values).map_err(|problem| refuse(&problem))?;
        Ok(Self { given: given.to_owned(), dim: dim.trim().to_owned(), lengths })
    }
}

fn lengths(values: &str) -> Result<Vec<i64>, String> {
    let Some((from, rest)) = values.split_once("..") else {
        return values.split(',').map(length).collect();
    };
    let (to, step) = rest.split_once(':').unwrap_or((rest, "x2"));
    let (from, to) = (length(from)?, length(to)?);
    if from > to {
        return Err(format!("{from} is above {to}"));
    }
    let next: Box<dyn Fn(i64) -> Option<i64>> = match (step.strip_prefix('x'), step.strip_prefix('+')) {
        (Some(factor), _) => {
            let factor = length(factor)?;
            if factor < 2 {
                return Err("a factor of 1 never ends".to_owned());
            }
            Box::new(move |length| length.checked_mul(factor))
        }
        (_, Some(step)) => {
            let step = length(step)?;
            Box::new(move |length| length.checked_add(step))
        }
        _ => return Err(format!("the step `{step}` is neither `x` nor `+` and a number")),
    };
    let all = std::iter::successors(Some(from), |length| next(*length).filter(|length| *length <= to));
    let lengths: Vec<i64> = all.take(MOST + 1).collect();
    if lengths.len() > MOST { Err(format!("it has more than {MOST} lengths")) } else { Ok(lengths) }
}

fn length(text: &str) -> Result<i64, String> {
    let length = text.trim().parse().ok().filter(|length| *length >= 1);
    length.ok_or_else(|| format!("`{}` is not a length of at least 1", text.trim()))
}

/// The cases of all sweeps together, the last one varying fastest. A dim that is not swept has its value of `base`.
///
/// # Errors
/// A sweep of a dim that is none or is static; far too many cases.
pub fn sweep_cases(manifest: &Manifest, base: &Case, sweeps: &[Sweep]) -> Result<Vec<Case>, KernelError> {
    let mut cases = vec![Case { origin: Origin::Asked, ..base.clone() }];
    for sweep in sweeps {
        let refuse = |problem: String, help| Err(KernelError::CaseFilter { given: sweep.given.clone(), problem, help });
        match manifest.dims.get(&sweep.dim) {
            Some(Dim::Dynamic) => {}
            Some(Dim::Static(length)) => {
                return refuse(format!("sweeps `{}`, which is static ({length})", sweep.dim), None);
            }
            None => {
                let help = nearest_help(&sweep.dim, manifest.dynamic_dims());
                return refuse(format!("sweeps `{}`, which is no dim of `{}`", sweep.dim, manifest.name), help);
            }
        }
        if cases.len() * sweep.lengths.len() > MOST {
            return refuse(format!("makes more than {MOST} cases"), None);
        }
        let at = |case: &Case, length: i64| {
            let mut case = case.clone();
            case.dims.insert(sweep.dim.clone(), length);
            case
        };
        cases = cases.iter().flat_map(|case| sweep.lengths.iter().map(move |length| at(case, *length))).collect();
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranges_and_lists() {
        let lengths = |given: &str| given.parse::<Sweep>().unwrap().lengths;
        assert_eq!(lengths("n=4..32:x2"), [4, 8, 16, 32]);
        assert_eq!(lengths("n=4..33"), [4, 8, 16, 32]);
        assert_eq!(lengths("n=4..11:+3"), [4, 7, 10]);
        assert_eq!(lengths("n=7, 5"), [7, 5]);
    }

    #[test]
    fn what_is_none_says_why() {
        for (given, why) in [
            ("n", "it has no `=`"),
            ("n=", "`` is not a length"),
            ("n=0..4", "`0` is not a length"),
            ("n=9..4", "9 is above 4"),
            ("n=1..4:x1", "never ends"),
            ("n=1..4:4", "the step `4`"),
            ("n=1..9999:+1", "more than 1000"),
        ] {
            let error = given.parse::<Sweep>().unwrap_err().to_string();
            assert!(error.contains(why), "{given}: {error}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(given in "\\PC*", tail in "n=[0-9x+:.,]*") {
            let _ = given.parse::<Sweep>();
            let _ = tail.parse::<Sweep>();
        }
    }
}
