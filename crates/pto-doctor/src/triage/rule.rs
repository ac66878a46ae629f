//! What a rule is.

use serde::Serialize;

use super::machine::Machine;

/// Where a trouble comes from; each family has its file of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Family {
    /// `npu-smi` and the device management behind it.
    NpuSmi,
    /// The runtime: ACL, driver, device.
    Runtime,
    /// The PyPTO runtime on top of it.
    Orchestrator,
    /// bisheng, host compilers and CMake.
    Compiler,
    /// Linking and loading.
    Linker,
    /// CA model, cannsim, CPU simulation.
    Simulator,
    /// Docker and registries.
    Docker,
    /// The PTOAS assembler and what is pinned with it.
    Ptoas,
    /// A process and how it ended.
    Process,
}

/// How much a finding matters by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Severity {
    /// Something does not work.
    Fault,
    /// Something is doubtful, and may be a fault.
    Warning,
    /// A code of which nothing is known.
    Unknown,
    /// This is as it should be, or harmless.
    Expected,
}

/// One kind of trouble: how it shows, what it means, what to do.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rule {
    /// Stable, kebab-case.
    pub id: &'static str,
    /// Where it belongs.
    pub family: Family,
    /// How much it matters.
    pub severity: Severity,
    /// One line, no period.
    pub title: &'static str,
    /// What it means, for the rule's page.
    pub docs: &'static str,
    /// It never is the first cause while anything else is there.
    pub(super) fallout: bool,
    /// It stands for many codes, and each is a finding of its own.
    pub(super) each_code: bool,
    /// After it nothing that comes from the same device can be believed.
    pub(super) poisons: bool,
    pub(super) patterns: &'static [Pattern],
    /// ACL and device management codes that mean this.
    pub(super) codes: &'static [i64],
    /// Codes with letters that mean this.
    pub(super) messages: &'static [&'static str],
    /// Rules whose findings follow from this one, wherever their lines stand.
    pub(super) explains: &'static [&'static str],
    pub(super) fields: &'static [FieldRule],
    pub(super) causes: &'static [CauseRule],
    pub(super) guide: &'static [StepRule],
}

/// Texts that must all stand in one line.
pub(super) type Pattern = &'static [&'static str];

/// A value to take out of a matching line: what stands between `after` and the first of `until`.
#[derive(Debug)]
pub(super) struct FieldRule {
    pub(super) name: &'static str,
    pub(super) after: &'static str,
    pub(super) until: &'static [char],
}

/// Why it may have happened. Causes are listed cheapest check first; those with evidence go before the others.
#[derive(Debug)]
pub(super) struct CauseRule {
    pub(super) text: &'static str,
    /// Any of these speaks for it.
    pub(super) clues: &'static [Clue],
    /// The next check, as a command that can be pasted; `{driver}`, `{device}`, `{image}`, `{log}` are filled in.
    pub(super) check: &'static str,
}

/// What speaks for a cause.
#[derive(Debug)]
pub(super) enum Clue {
    /// Such a line stands in a log.
    Text(Pattern),
    /// Another rule has a finding.
    Rule(&'static str),
    /// Both dies of one chip have this finding.
    BothDies,
    /// The machine this runs on says so.
    Machine(fn(&Machine) -> Option<String>),
}

/// A step of a guided answer.
#[derive(Debug)]
pub(super) struct StepRule {
    pub(super) why: &'static str,
    pub(super) command: &'static str,
}

impl Rule {
    /// For the rules' tables: a fault without anything else.
    pub(super) const BASE: Self = Self {
        id: "",
        family: Family::Runtime,
        severity: Severity::Fault,
        title: "",
        docs: "",
        fallout: false,
        each_code: false,
        poisons: false,
        patterns: &[],
        codes: &[],
        messages: &[],
        explains: &[],
        fields: &[],
        causes: &[],
        guide: &[],
    };

    /// Its documentation page in Markdown: meaning, possible causes with the check for each, the guided answer.
    pub fn page(&self) -> String {
        let mut page = format!("# `{}`: {}\n\n{}\n", self.id, self.title, self.docs);
        if !self.causes.is_empty() {
            page.push_str("\nPossible causes, cheapest check first:\n\n");
            for (index, cause) in self.causes.iter().enumerate() {
                page.push_str(&format!("{}. {}\n\n   ```bash\n   {}\n   ```\n\n", index + 1, cause.text, cause.check));
            }
        }
        if !self.guide.is_empty() {
            page.push_str("\nStep by step:\n\n");
            for (index, step) in self.guide.iter().enumerate() {
                let command = step.command.replace('\n', "\n   ");
                page.push_str(&format!("{}. {}\n\n   ```bash\n   {command}\n   ```\n\n", index + 1, step.why));
            }
        }
        page
    }
}
