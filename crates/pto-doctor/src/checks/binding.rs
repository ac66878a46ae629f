//! simpler's extension, as it is installed, against the runtime that it should be built from.

use std::io::ErrorKind;

use pto_context::Context;
use pto_devices::Answer;
use pto_platform::files::{DistState, parse_dist_state};

use super::{new, sentence, short};
use crate::check::{Check, Source};
use crate::digest::sha256;
use crate::facts;
use crate::files;
use crate::finding::{Finding, Status};
use crate::probes::Probes;
use crate::python::{BuildCommit, PythonFacts, facts as python_facts};

/// simpler's extension has some MB.
const LARGEST_EXTENSION: u64 = 1 << 30;
/// Patches have some KB.
const LARGEST_PATCH: u64 = 64 << 20;
/// Puts nearly everything right that this check finds.
const REBUILD: &str = "cargo xtask build && cargo xtask doctor";
/// How `git status` marks what no commit knows.
const UNTRACKED: &str = "?? ";
/// Columns of `git status --porcelain` before a path.
const MARKS: usize = 3;

pub(super) const CHECKS: &[Check] = &[sentence(new(
    "simpler-binding",
    "simpler binding",
    &[Source::Python, Source::HomePython, Source::RuntimeGit],
    "Whether the installed simpler was built from the revision of `runtime/`. The Python of PyPTO's home is asked, or the one \
     on `PATH` where there is none. After a change of a struct's layout one that was not reads fields as 0 and fails much \
     later. Uncommitted edits in `runtime/`, new files among them, cannot be proved to be in the binding, except the managed \
     patch that `dist-state.json` records; nor can it be proved to lack a patch that was taken off. A known mismatch and a \
     binding without a stamp fail, with `PYPTO_SKIP_RUNTIME_PIN_CHECK` too; with `--strict` everything unverified does.",
    binding,
))];

/// What the interpreter said that is asked, and which one that is.
struct Asked {
    /// The program, for people.
    program: String,
    /// Whether it is another one than `python3` on `PATH`.
    is_other: bool,
    /// How it ended.
    status: String,
    facts: Option<PythonFacts>,
}

impl Asked {
    fn of(cx: &Context, probes: &Probes) -> Self {
        let is_other = probes.home_python != Answer::NotAsked;
        let answer = if is_other { &probes.home_python } else { &probes.python };
        let facts = answer.said().and_then(|said| python_facts(&said.stdout));
        let program = match &facts {
            _ if is_other => facts::home_python(cx).display().to_string(),
            Some(facts) => facts.executable.clone(),
            None => "python3".to_owned(),
        };
        let status = match answer {
            Answer::Said(said) => said.status.clone(),
            Answer::Broken(why) => why.clone(),
            Answer::NotFound => "is not there".to_owned(),
            Answer::NotAsked => "was not asked".to_owned(),
        };
        Self { program, is_other, status, facts }
    }
}

fn binding(cx: &Context, probes: &Probes) -> Finding {
    let asked = Asked::of(cx, probes);
    let mut finding = match &asked.facts {
        Some(facts) => installed(cx, probes, &asked, facts),
        None => return unseen(cx, &format!("cannot be looked at: `{}` {}", asked.program, asked.status)),
    };
    // In a shell that was set up there is one Python alone, and nothing to tell of a binding that is right.
    if finding.status != Status::Ok || asked.is_other {
        finding.evidence += &format!(" (in `{}`)", asked.program);
    }
    finding
}

/// Nothing was looked at. Where there is a checkout and a home for what is built from it, that proves nothing.
fn unseen(cx: &Context, evidence: &str) -> Finding {
    let should_be = facts::pypto_src(cx).is_some_and(|src| files::is_dir(cx, src));
    match should_be && files::is_dir(cx, facts::pypto_home(cx)) {
        true => Finding::warn(evidence).remedy(REBUILD).unverified(),
        false => Finding::skip(evidence),
    }
}

fn unverified(why: impl std::fmt::Display) -> Finding {
    Finding::warn(format!("cannot be verified: {why}")).remedy(REBUILD).unverified()
}

fn installed(cx: &Context, probes: &Probes, asked: &Asked, facts: &PythonFacts) -> Finding {
    let has_simpler = facts.modules.get("simpler").is_some_and(Option::is_some);
    match &facts.build_commit {
        BuildCommit::NotAsked if has_simpler => {
            Finding::fail(format!("ends Python when it is imported: it {}", asked.status)).remedy(REBUILD)
        }
        BuildCommit::NotAsked => unseen(cx, "is not there: simpler is not installed"),
        BuildCommit::NoExtension => unverified("simpler has no extension to import"),
        BuildCommit::Broken { why } => Finding::fail(format!("does not load: {why}")).remedy(REBUILD),
        BuildCommit::Unstamped => Finding::fail("predates revision stamping").remedy(REBUILD),
        BuildCommit::Stamped { commit, .. } if commit.is_empty() => {
            unverified("it was built without git, its stamp is empty")
        }
        BuildCommit::Stamped { commit, file } => stamped(cx, probes, commit, file.as_deref()),
    }
}

fn stamped(cx: &Context, probes: &Probes, commit: &str, extension: Option<&str>) -> Finding {
    let Some(head) = probes.runtime.head.stdout().map(str::trim) else {
        let head = "the revision of `runtime/` is not known";
        let why = said_by_git(&probes.runtime.head).map(|said| format!(": {said}")).unwrap_or_default();
        return unverified(format!("built from {}, and {head}{why}", short(commit)));
    };
    if commit != head {
        let skipped = cx.var("PYPTO_SKIP_RUNTIME_PIN_CHECK").map_or(
            "",
            |_| "; `PYPTO_SKIP_RUNTIME_PIN_CHECK` keeps the runtime quiet about it, and makes it no better",
        );
        return Finding::fail(format!("was built from {}, `runtime/` is at {}{skipped}", short(commit), short(head)))
            .remedy(REBUILD);
    }
    let Some(status) = probes.runtime.status.stdout() else {
        return unverified("git does not say whether `runtime/` was changed");
    };
    let record = Record::read(cx);
    let is_of_record = || record.as_ref().is_some_and(|record| record.has_extension(cx, extension));
    match (status.lines().next(), &record) {
        (None, Some(record)) if record.has_changes() && is_of_record() => {
            unverified("it was built with the image's managed patch, which `runtime/` does not have any more")
        }
        (None, _) => Finding::ok("matches its source tree"),
        (Some(_), Some(record)) if record.is_managed_patch(cx, probes, head, status) && is_of_record() => {
            Finding::ok("matches its source tree with the image's managed patch")
        }
        (Some(first), _) => {
            let more = status.lines().count() - 1;
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let path = first.get(MARKS..).unwrap_or(first);
            Finding::warn(format!(
                "has the revision of `runtime/`, which has uncommitted changes that it may lack: `{path}`{more}"
            ))
            .remedy(REBUILD)
            .unverified()
        }
    }
}

fn said_by_git(head: &Answer) -> Option<&str> {
    match head {
        Answer::Broken(why) => Some(why),
        answer => answer.said().filter(|said| !said.success).map(|said| said.last_words()),
    }
}

/// What the last build with managed patches has recorded.
struct Record(DistState);

impl Record {
    fn read(cx: &Context) -> Option<Self> {
        let text = files::read(cx, facts::pypto_home(cx).join("dist-state.json")).text()?;
        Some(Self(parse_dist_state(&text)))
    }

    /// Whether the runtime had changes when it was built.
    fn has_changes(&self) -> bool {
        self.0.diff_sha256.as_deref().is_some_and(|diff| !diff.eq_ignore_ascii_case(&sha256(b"")))
    }

    /// Whether this is the extension that was built.
    fn has_extension(&self, cx: &Context, extension: Option<&str>) -> bool {
        let bytes =
            extension.and_then(|path| files::bytes(&files::open_path(cx, path.as_ref()), LARGEST_EXTENSION).ok());
        same(self.0.extension_sha256.as_deref(), bytes.map(|bytes| sha256(&bytes)).as_deref())
    }

    /// Whether the changes of the runtime are exactly those of the record. A patch leaves no file that git does not know.
    fn is_managed_patch(&self, cx: &Context, probes: &Probes, head: &str, status: &str) -> bool {
        !status.lines().any(|line| line.starts_with(UNTRACKED))
            && same(self.0.runtime_sha.as_deref(), Some(head))
            && same(self.0.diff_sha256.as_deref(), probes.runtime.diff_sha256.as_deref())
            && same(self.0.patch_sha256.as_deref(), self.patch(cx).as_deref())
    }

    /// The sum of the patches that a build puts down; what another program has recorded has to name them at least.
    fn patch(&self, cx: &Context) -> Option<String> {
        let file = files::open_path(cx, &facts::pypto_home(cx).join("dist-state.patch"));
        match files::bytes(&file, LARGEST_PATCH) {
            Ok(patch) => Some(sha256(&patch)),
            Err(error) if error.kind() == ErrorKind::NotFound => self.0.patch_sha256.clone(),
            Err(_) => None,
        }
    }
}

fn same(recorded: Option<&str>, found: Option<&str>) -> bool {
    recorded.zip(found).is_some_and(|(recorded, found)| recorded.eq_ignore_ascii_case(found))
}
