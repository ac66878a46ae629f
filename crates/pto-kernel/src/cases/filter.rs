//! Which cases to run: by their sizes or by their number.

use std::collections::BTreeMap;
use std::str::FromStr;

use super::{Case, Origin};
use crate::KernelError;
use crate::manifest::{Dim, Manifest, nearest_help, quoted};

/// A selection of cases, as given on the command line: `n=4096`, `n=4096,m=3`, or the case's number from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseFilter {
    given: String,
    what: Selection,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Selection {
    Number(usize),
    Dims(BTreeMap<String, i64>),
}

impl FromStr for CaseFilter {
    type Err = KernelError;

    fn from_str(given: &str) -> Result<Self, KernelError> {
        let refuse = |problem: String| {
            let help = Some("write `n=4096`, `n=4096,m=3`, or the number of a case".to_owned());
            KernelError::CaseFilter { given: given.to_owned(), problem, help }
        };
        if let Ok(number) = given.trim().parse::<usize>() {
            return match number {
                0 => Err(refuse("selects case 0, and the first case is 1".to_owned())),
                number => Ok(Self { given: given.to_owned(), what: Selection::Number(number) }),
            };
        }
        let mut dims = BTreeMap::new();
        for part in given.split(',') {
            let Some((name, value)) = part.split_once('=') else {
                return Err(refuse(format!("selects no case: `{part}` is not of the form `dim=length`")));
            };
            let Some(value) = value.trim().parse::<i64>().ok().filter(|value| *value >= 1) else {
                return Err(refuse(format!("selects no case: `{value}` is not a length of at least 1")));
            };
            if dims.insert(name.trim().to_owned(), value).is_some() {
                return Err(refuse(format!("gives `{}` twice", name.trim())));
            }
        }
        Ok(Self { given: given.to_owned(), what: Selection::Dims(dims) })
    }
}

impl CaseFilter {
    /// The cases selected. Sizes that give every dynamic dim a value are a case even if nobody listed it.
    ///
    /// # Errors
    /// An unknown or static dim; a number beyond the last case; sizes that no case has and that are not complete.
    pub fn select(&self, manifest: &Manifest, cases: &[Case], seed: u64) -> Result<Vec<Case>, KernelError> {
        match &self.what {
            Selection::Number(number) => match cases.get(number - 1) {
                Some(case) => Ok(vec![case.clone()]),
                None => {
                    let numbered = cases.iter().enumerate().map(|(index, case)| format!("{}: {case}", index + 1));
                    let help =
                        format!("the cases of `{}` are {}", manifest.name, numbered.collect::<Vec<_>>().join(", "));
                    Err(self.refuse("selects no case".to_owned(), Some(help)))
                }
            },
            Selection::Dims(dims) => self.by_dims(dims, manifest, cases, seed),
        }
    }

    fn by_dims(
        &self,
        dims: &BTreeMap<String, i64>,
        manifest: &Manifest,
        cases: &[Case],
        seed: u64,
    ) -> Result<Vec<Case>, KernelError> {
        for name in dims.keys() {
            match manifest.dims.get(name) {
                Some(Dim::Dynamic) => {}
                Some(Dim::Static(length)) => {
                    return Err(self.refuse(format!("gives `{name}`, which is static ({length})"), None));
                }
                None => {
                    let help = nearest_help(name, manifest.dynamic_dims());
                    return Err(self.refuse(format!("gives `{name}`, which is no dim of `{}`", manifest.name), help));
                }
            }
        }
        let fits = |case: &&Case| dims.iter().all(|(name, value)| case.dims.get(name) == Some(value));
        let found: Vec<Case> = cases.iter().filter(fits).cloned().collect();
        let missing: Vec<&str> = manifest.dynamic_dims().filter(|name| !dims.contains_key(*name)).collect();
        match (found.is_empty(), missing.is_empty()) {
            (false, _) => Ok(found),
            (true, true) => Ok(vec![Case { dims: dims.clone(), origin: Origin::Asked, seed }]),
            (true, false) => {
                let help = format!("give {} a length too, and the case need not be listed", quoted(missing));
                Err(self.refuse("fits no case".to_owned(), Some(help)))
            }
        }
    }

    fn refuse(&self, problem: String, help: Option<String>) -> KernelError {
        KernelError::CaseFilter { given: self.given.clone(), problem, help }
    }
}
