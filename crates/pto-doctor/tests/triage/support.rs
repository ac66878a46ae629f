//! What all tests of the triage share.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use pto_doctor::triage::{Finding, Machine, Role, Triage, Triager};

/// The directory with logs in the formats of all tools.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/triage/logs")
}

/// What one log means.
pub(crate) fn triage_file(path: &Path) -> Triage {
    let mut triager = Triager::new(Machine::default());
    let name = path.file_name().unwrap().to_str().unwrap();
    triager.log(name, BufReader::new(fs_err::File::open(path).unwrap())).unwrap();
    triager.finish()
}

/// What logs given as text mean.
pub(crate) fn triage_texts(machine: Machine, logs: &[(&str, &str)]) -> Triage {
    let mut triager = Triager::new(machine);
    for (name, text) in logs {
        triager.log(name, text.as_bytes()).unwrap();
    }
    triager.finish()
}

/// Ids of the findings in this role, in order.
pub(crate) fn ids(triage: &Triage, role: Role) -> Vec<&'static str> {
    triage.findings.iter().filter(|finding| finding.role == role).map(|finding| finding.id).collect()
}

/// The finding with this id.
pub(crate) fn finding<'a>(triage: &'a Triage, id: &str) -> &'a Finding {
    triage.findings.iter().find(|finding| finding.id == id).unwrap_or_else(|| panic!("no `{id}` in {triage:#?}"))
}

/// The value of a field, by the name that people see.
pub(crate) fn field(finding: &Finding, name: &str) -> Option<String> {
    finding.fields.list().into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
}
