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
    /// Its lengths, each at least 1, each once.
    pub lengths: Vec<i64>,
    /// Those that were given more than once.
    pub repeated: Vec<i64>,
}

impl Sweep {
    /// What became of lengths that were given more than once; `None` if none was.
    pub fn note(&self) -> Option<String> {
        let repeated: Vec<String> = self.repeated.iter().map(i64::to_string).collect();
        let times = if repeated.len() == 1 { "it is timed once" } else { "each is timed once" };
        (!repeated.is_empty()).then(|| format!("`{}` has {} more than once: {times}", self.given, repeated.join(", ")))
    }
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
        let (mut once, mut repeated) = (Vec::new(), Vec::new());
        for length in lengths(values).map_err(|problem| refuse(&problem))? {
            let seen = if once.contains(&length) { &mut repeated } else { &mut once };
            if !seen.contains(&length) {
                seen.push(length);
            }
        }
        Ok(Self { given: given.to_owned(), dim: dim.trim().to_owned(), lengths: once, repeated })
    }
}

fn lengths(values: &str) -> Result<Vec<i64>, String> {
    let Some((from, rest)) = values.split_once("..") else {
        let lengths: Vec<i64> = values.split(',').map(length).collect::<Result<_, _>>()?;
        return if lengths.len() > MOST { Err(format!("it has more than {MOST} lengths")) } else { Ok(lengths) };
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
/// A sweep of a dim that is none or is static, or that another one sweeps; far too many cases.
pub fn sweep_cases(manifest: &Manifest, base: &Case, sweeps: &[Sweep]) -> Result<Vec<Case>, KernelError> {
    let mut cases = vec![Case { origin: Origin::Asked, ..base.clone() }];
    for (index, sweep) in sweeps.iter().enumerate() {
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
        if sweeps[..index].iter().any(|before| before.dim == sweep.dim) {
            let help = Some(format!("write all lengths of `{0}` as one list, `{0}=100,200`", sweep.dim));
            return refuse(format!("sweeps `{}` a second time", sweep.dim), help);
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
    fn what_is_given_twice_is_kept_once_and_said() {
        let sweep: Sweep = "n=64,128,64,64,7,128".parse().unwrap();
        assert_eq!((&sweep.lengths[..], &sweep.repeated[..]), (&[64, 128, 7][..], &[64, 128][..]));
        let note = sweep.note().unwrap();
        assert_eq!(note, "`n=64,128,64,64,7,128` has 64, 128 more than once: each is timed once");
        assert_eq!("n=64,128".parse::<Sweep>().unwrap().note(), None);
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
