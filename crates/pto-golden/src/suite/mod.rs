//! Tensor files against tensor files: two files, or two directories by name.

mod spec;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use self::spec::{RuleKind, Spec, SpecError, Tail};
use crate::compare::{Criterion, Rule, unexpected};
use crate::files::{self, Content, Declared};
use crate::pattern::{self, Clues};
use crate::{Error, Report, Tensor};

/// How tensors are compared: a default, and what differs from it by name.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Rules {
    /// For every tensor.
    #[serde(default)]
    pub default: Spec,
    /// For the tensors of these names.
    #[serde(default)]
    pub tensor: BTreeMap<String, Spec>,
}

impl Rules {
    /// How the tensor of this name is compared.
    pub fn of(&self, name: &str) -> Spec {
        self.tensor.get(name).map_or_else(|| self.default.clone(), |own| own.over(&self.default))
    }
}

/// The verdict on the tensor of one name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Named {
    /// Its name: of the file without the ending, or inside the file.
    pub name: String,
    /// The verdict.
    #[serde(flatten)]
    pub report: Report,
}

/// A pair of tensors and the verdict on it.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The name and the verdict.
    pub named: Named,
    /// What was compared, if there is either.
    pub actual: Option<Tensor>,
    /// What it was compared with.
    pub expected: Option<Tensor>,
}

/// Why files cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// A file cannot be used.
    #[error(transparent)]
    Tensor(#[from] Error),
    /// A rule cannot be used.
    #[error("the rule for `{name}` cannot be used")]
    Spec {
        /// The tensor.
        name: String,
        /// What is wrong.
        #[source]
        source: SpecError,
    },
    /// The rules name a tensor that is on neither side.
    #[error("there is no tensor `{name}`, for which there is a rule")]
    NoSuchTensor {
        /// The name.
        name: String,
        /// The one whose name looks most like it.
        nearest: Option<String>,
    },
    /// A file against a directory.
    #[error("`{}` is a directory and `{}` is a file", dir.display(), file.display())]
    FileAgainstDirectory {
        /// The one.
        dir: PathBuf,
        /// The other.
        file: PathBuf,
    },
}

impl SuiteError {
    /// What to do about it, where that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Tensor(error) => error.hint(),
            Self::Spec { source, .. } => source.hint().map(str::to_owned),
            Self::NoSuchTensor { nearest, .. } => nearest.as_ref().map(|name| format!("did you mean `{name}`?")),
            Self::FileAgainstDirectory { .. } => None,
        }
    }
}

/// Files that help to say how a tensor is wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hints {
    /// What the run before gave: a file, or a directory with files of the same names.
    pub previous: Option<PathBuf>,
    /// What the kernel was given: files, or directories of them.
    pub inputs: Vec<PathBuf>,
}

/// Compares files, or directories by name; `each` gets every pair as soon as it is judged, in the order of the names. The
/// tensors are opened one pair after the other, and mapped where that can be.
///
/// # Errors
/// A file is malformed, a rule cannot be used, or one side is a file and the other a directory.
pub fn compare_files(
    actual: &Path,
    expected: &Path,
    rules: &Rules,
    hints: &Hints,
    each: impl FnMut(Judged),
) -> Result<(), SuiteError> {
    let inputs = inputs(hints, rules)?;
    let previous = hints.previous.as_deref().map(|path| Side::open(path, rules)).transpose()?;
    let mut each = each;
    let mut each = |mut judged: Judged| {
        explain(&mut judged, previous.as_ref(), &inputs, rules)?;
        each(judged);
        Ok::<(), SuiteError>(())
    };
    let (actual, expected) = (Side::open(actual, rules)?, Side::open(expected, rules)?);
    let names = match (&actual, &expected) {
        (Side::Directory { dir, .. }, Side::File { path, .. })
        | (Side::File { path, .. }, Side::Directory { dir, .. }) => {
            return Err(SuiteError::FileAgainstDirectory { dir: dir.clone(), file: path.clone() });
        }
        // Two files with one tensor each are compared whatever they are called.
        (Side::File { content: Content::One(a), path }, Side::File { content: Content::One(e), .. }) => {
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            known(rules, &BTreeSet::from([name.clone()]))?;
            each(pair(name, Some(a.clone()), Some(e.clone()), rules)?)?;
            return Ok(());
        }
        _ => actual.names().into_iter().chain(expected.names()).collect::<BTreeSet<String>>(),
    };
    known(rules, &names)?;
    for name in names {
        let (a, e) = (actual.get(&name, rules)?, expected.get(&name, rules)?);
        for (name, a, e) in members(name, a, e) {
            each(pair(name, a, e, rules)?)?;
        }
    }
    Ok(())
}

fn inputs(hints: &Hints, rules: &Rules) -> Result<Vec<(String, Tensor)>, SuiteError> {
    let mut inputs = Vec::new();
    for path in &hints.inputs {
        let side = Side::open(path, rules)?;
        for name in side.names() {
            if let Some(content) = side.get(&name, rules)? {
                inputs
                    .extend(members(name, Some(content), None).into_iter().filter_map(|(name, a, _)| Some((name, a?))));
            }
        }
    }
    Ok(inputs)
}

/// Looks again at what is wrong, with what else is known.
fn explain(
    judged: &mut Judged,
    previous: Option<&Side>,
    inputs: &[(String, Tensor)],
    rules: &Rules,
) -> Result<(), SuiteError> {
    let (Some(actual), Some(expected)) = (&judged.actual, &judged.expected) else { return Ok(()) };
    if judged.named.report.passed() || (previous.is_none() && inputs.is_empty()) {
        return Ok(());
    }
    let before = match previous {
        Some(Side::File { content: Content::One(tensor), .. }) => Some(tensor.clone()),
        Some(side) => match side.get(&judged.named.name, rules)? {
            Some(Content::One(tensor)) => Some(tensor),
            _ => None,
        },
        None => None,
    };
    let spec = rules.of(&judged.named.name);
    let rule = spec.rule(expected.dtype()).unwrap_or(Rule::default_for(expected.dtype())); // it was usable before
    let clues = Clues { previous: before.as_ref(), inputs, division: None };
    judged.named.report.patterns = pattern::find(actual, expected, &rule, &spec.options(), &clues);
    Ok(())
}

/// A name that a rule is for must be there. Tensors inside files of a directory are named `file/tensor`.
fn known(rules: &Rules, names: &BTreeSet<String>) -> Result<(), SuiteError> {
    let file = |name: &str| name.split_once('/').map_or(name.to_owned(), |(file, _)| file.to_owned());
    match rules.tensor.keys().find(|name| !names.contains(*name) && !names.contains(&file(name))) {
        None => Ok(()),
        Some(name) => {
            let nearest = crate::suggest::nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
            Err(SuiteError::NoSuchTensor { name: name.clone(), nearest })
        }
    }
}

enum Side {
    File { path: PathBuf, content: Content },
    Directory { dir: PathBuf, files: BTreeMap<String, PathBuf> },
}

impl Side {
    fn open(path: &Path, rules: &Rules) -> Result<Self, SuiteError> {
        if path.is_dir() {
            return Ok(Self::Directory { dir: path.to_owned(), files: files::list(path)? });
        }
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let content = files::open(path, &rules.of(&stem).declared())?;
        Ok(Self::File { path: path.to_owned(), content })
    }

    fn names(&self) -> Vec<String> {
        match self {
            Self::Directory { files, .. } => files.keys().cloned().collect(),
            Self::File { content: Content::Named(tensors), .. } => tensors.keys().cloned().collect(),
            Self::File { path, .. } => {
                path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).into_iter().collect()
            }
        }
    }

    fn get(&self, name: &str, rules: &Rules) -> Result<Option<Content>, SuiteError> {
        Ok(match self {
            Self::Directory { files, .. } => match files.get(name) {
                Some(path) => Some(files::open(path, &rules.of(name).declared())?),
                None => None,
            },
            Self::File { content: Content::Named(tensors), .. } => tensors.get(name).cloned().map(Content::One),
            Self::File { content, .. } => self.names().contains(&name.to_owned()).then(|| content.clone()),
        })
    }
}

/// The pairs of one name: one, or those inside of both files.
fn members(name: String, a: Option<Content>, e: Option<Content>) -> Vec<(String, Option<Tensor>, Option<Tensor>)> {
    let by_name = |content: Option<Content>| match content {
        None => BTreeMap::new(),
        Some(Content::One(tensor)) => BTreeMap::from([(name.clone(), tensor)]),
        Some(Content::Named(tensors)) => {
            tensors.into_iter().map(|(inner, tensor)| (format!("{name}/{inner}"), tensor)).collect()
        }
    };
    let (mut a, mut e) = (by_name(a), by_name(e));
    let names: BTreeSet<String> = a.keys().chain(e.keys()).cloned().collect();
    names
        .into_iter()
        .map(|name| {
            let pair = (a.remove(&name), e.remove(&name));
            (name, pair.0, pair.1)
        })
        .collect()
}

fn pair(name: String, actual: Option<Tensor>, expected: Option<Tensor>, rules: &Rules) -> Result<Judged, SuiteError> {
    let report = match (&actual, &expected) {
        (Some(actual), Some(expected)) => criterion(&name, expected, rules)?.judge(actual, expected),
        (None, Some(expected)) => criterion(&name, expected, rules)?.missing(expected),
        (Some(actual), None) => unexpected(actual),
        (None, None) => unreachable!("every name is of a tensor on either side"),
    };
    Ok(Judged { named: Named { name, report }, actual, expected })
}

fn criterion(name: &str, expected: &Tensor, rules: &Rules) -> Result<Criterion, SuiteError> {
    let spec = rules.of(name);
    let unusable = |source| SuiteError::Spec { name: name.to_owned(), source };
    let criterion = spec.criterion(expected.dtype()).map_err(unusable)?;
    if let Some(refusal) = spec.lacks_reason(&criterion.rule, expected.dtype()) {
        return Err(unusable(refusal));
    }
    let Rule::TopK { .. } = criterion.rule else { return Ok(criterion) };
    let needs = || SpecError::Needs { rule: RuleKind::TopK, what: "`scores`, the file that indices count in" };
    let path = spec.scores.as_ref().ok_or_else(|| unusable(needs()))?;
    match files::open(path, &Declared::default())? {
        Content::One(scores) => Ok(Criterion { scores: Some(scores), ..criterion }),
        Content::Named(_) => Err(Error::UnknownKind { path: path.clone() }.into()),
    }
}
