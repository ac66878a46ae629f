//! The table of checks.

use pto_context::Context;

use crate::checks::GROUPS;
use crate::finding::Finding;
use crate::probes::Probes;

/// Something outside the file tree that a check wants to know. Only what the chosen checks want is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The symbols of the C and C++ libraries.
    Libraries,
    /// `npu-smi info`.
    NpuSmi,
    /// `docker info`.
    Docker,
    /// `docker inspect` of the containers that run.
    Containers,
    /// The Python that `PATH` finds, and where it would take modules from.
    Python,
    /// The Python of PyPTO's home, where that is another one.
    HomePython,
    /// The host's C++ compilers.
    Compiler,
    /// `ptoas --version`.
    Ptoas,
    /// The runtime's checkout, as git sees it.
    RuntimeGit,
    /// What a setup of PyPTO's home would do.
    Setup,
    /// PyPTO's checkout and its submodules, as git sees them.
    Checkout,
    /// How the next build of PyPTO would begin.
    Build,
    /// ACL itself, in a process of its own.
    Acl,
}

/// One check.
pub struct Check {
    /// Stable, kebab-case.
    pub id: &'static str,
    /// What its line begins with.
    pub title: &'static str,
    /// What stands between title and evidence.
    pub joint: &'static str,
    /// What it wants to know besides files and variables.
    pub needs: &'static [Source],
    /// What it looks at, and why that matters: its page of the documentation.
    pub docs: &'static str,
    pub(crate) judge: fn(&Context, &Probes) -> Finding,
}

impl Check {
    /// Judges a machine.
    pub fn judge(&self, cx: &Context, probes: &Probes) -> Finding {
        (self.judge)(cx, probes)
    }
}

impl std::fmt::Debug for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Check").field("id", &self.id).field("needs", &self.needs).finish_non_exhaustive()
    }
}

/// Every check, in the order in which causes come before what they cause.
pub fn checks() -> impl Iterator<Item = &'static Check> {
    GROUPS.iter().copied().flatten()
}

/// The check of this id.
pub fn check(id: &str) -> Option<&'static Check> {
    checks().find(|check| check.id == id)
}
