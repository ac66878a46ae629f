//! How many jobs a machine may run.

use std::path::PathBuf;

use pto_context::Context;
use pto_context::files::{Reading, read};
use pto_platform::files::parse_testing_env;
use serde::Serialize;

use crate::checkout::Checkout;
use crate::error::Error;

/// On a machine whose owner has not said what it is: enough to get on, and no harm on a small one or a shared one.
const UNCLASSIFIED: u32 = 2;
const BUILD: &str = "PYPTO_BUILD_JOBS";
const TEST: &str = "PYPTO_TEST_JOBS";

/// The most jobs at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JobLimits {
    /// Of a build.
    pub build: u32,
    /// Of a test run.
    pub test: u32,
    /// What kind of machine its owner says it is.
    pub profile: Option<String>,
    /// Where the limit of a build comes from.
    pub source: LimitSource,
}

/// Where a limit comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitSource {
    /// The machine's own file.
    File(PathBuf),
    /// The environment.
    Variable(&'static str),
    /// Nobody has said anything.
    Unclassified,
}

impl JobLimits {
    /// Where PyPTO keeps them, below the primary checkout: linked worktrees are on the same machine.
    pub const FILE: &str = ".claude/skills/testing/testing.env";

    /// The file of the machine that a checkout is on, which may not be there.
    pub fn file(checkout: &Checkout) -> Option<PathBuf> {
        checkout.primary.as_ref().map(|primary| primary.join(Self::FILE))
    }

    /// The limits of the machine that a checkout is on: its file counts, where that says nothing the environment, and
    /// then two jobs.
    ///
    /// # Errors
    /// A limit is no number above 0, or the file is there and cannot be read.
    pub fn of(cx: &Context, checkout: &Checkout) -> Result<Self, Error> {
        let file = Self::file(checkout);
        let text = match file.as_ref().map(|file| read(cx, file)) {
            Some(Reading::Text(text)) => text,
            None | Some(Reading::Absent) => String::new(),
            Some(Reading::Unreadable(why)) => {
                return Err(Error::Io { action: "cannot read the job limits", source: std::io::Error::other(why) });
            }
        };
        // An empty variable is a value there, as in the shell that reads the file.
        let given = |name: &str| {
            cx.vars().find(|(found, _)| *found == name).map(|(_, value)| value.to_string_lossy().into_owned())
        };
        let env = parse_testing_env(&text, given);
        let file = file.unwrap_or_default();
        if let Some(note) = env.notes.into_iter().next() {
            return Err(Error::BadLimit { file, line: note.line, text: note.text, why: note.why.into_owned() });
        }
        let (build, source) = match (env.build_jobs, variable(cx, BUILD)?) {
            (Some(jobs), _) => (jobs, LimitSource::File(file)),
            (None, Some(jobs)) => (jobs, LimitSource::Variable(BUILD)),
            (None, None) => (UNCLASSIFIED, LimitSource::Unclassified),
        };
        let test = env.test_jobs.or(variable(cx, TEST)?).unwrap_or(UNCLASSIFIED);
        Ok(Self { build, test, profile: env.profile.or_else(|| cx.var("PYPTO_MACHINE_PROFILE")), source })
    }

    /// Jobs for a build that was asked for so many: a request may lower the limit, and never raises it.
    pub fn build_jobs(&self, asked: Option<u32>) -> u32 {
        asked.map_or(self.build, |asked| asked.clamp(1, self.build))
    }
}

impl std::fmt::Display for LimitSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(f, "`{}`", path.display()),
            Self::Variable(name) => write!(f, "`{name}`"),
            Self::Unclassified => f.write_str("an unclassified machine"),
        }
    }
}

fn variable(cx: &Context, name: &'static str) -> Result<Option<u32>, Error> {
    let Some(value) = cx.var(name) else { return Ok(None) };
    let jobs = value.trim().parse().ok().filter(|jobs| *jobs > 0);
    jobs.map(Some).ok_or(Error::BadLimitVariable { variable: name, value })
}
