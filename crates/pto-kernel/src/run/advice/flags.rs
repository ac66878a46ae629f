//! Flags between pipes: the runtime knows which flag it is, and the source knows where that flag is set or waited for.

use crate::lint::{Finding, Rule, Subject, lint_source};
use crate::manifest::Manifest;
use crate::run::case_result::{CaseResult, CaseStatus};
use crate::source::Source;

/// What the runtime calls a flag that stays set, and one that never comes.
const LEFT: &str = "flag left set at the end of the kernel: ";
const NEVER: &str = ", which is never set";

/// Gives flags that do not pair the line they are in, if that is no guess.
pub(super) fn point(manifest: &Manifest, sources: &[Source], cases: &mut [CaseResult]) {
    let unpaired = unpaired(manifest, sources);
    for case in cases {
        for note in case.notes.iter_mut().filter(|note| note.text.starts_with(LEFT)) {
            if let Some((file, line)) = site(sources, &unpaired, "set_flag", &note.text) {
                (note.file, note.line) = (file, u32::try_from(line).unwrap_or(0));
            }
        }
        if case.status == CaseStatus::Fault && case.message.contains(NEVER) {
            let told = match site(sources, &unpaired, "wait_flag", &case.message) {
                Some((file, line)) => format!("the flag that does not pair is in {file}:{line}"),
                None => {
                    format!("`cargo xtask kernel lint {}` looks for flags that do not pair", manifest.dir.display())
                }
            };
            case.hint = Some(case.hint.take().map_or(told.clone(), |hint| format!("{hint}; {told}")));
        }
    }
}

fn unpaired(manifest: &Manifest, sources: &[Source]) -> Vec<Finding> {
    let subject = Subject { targets: manifest.targets.clone(), core: Some(manifest.core) };
    let cpp = sources.iter().filter(|source| !Manifest::is_assembly(source.path()));
    let findings = cpp.flat_map(|source| lint_source(source, &subject));
    findings.filter(|finding| finding.rule == Rule::UnpairedFlag).collect()
}

/// Where the flag of a message is: what lint says of its pipes, else the only call for them.
fn site(sources: &[Source], unpaired: &[Finding], call: &str, message: &str) -> Option<(String, usize)> {
    let (from, to) = pipes(message)?;
    let about = |finding: &&Finding| finding.message.contains(from) && finding.message.contains(to);
    let place = |path: &std::path::Path, line| Some((path.display().to_string(), line));
    match unpaired.iter().filter(about).collect::<Vec<_>>()[..] {
        [one] => return place(&one.path, one.line),
        [] => {}
        _ => return None,
    }
    let mut calls = sources.iter().flat_map(|source| {
        let lines = source.text().lines().enumerate();
        lines.filter(|(_, line)| is_call(line, call, from, to)).map(move |(at, _)| (source.path(), at + 1))
    });
    let (path, line) = calls.next()?;
    calls.next().is_none().then(|| place(path, line))?
}

/// `set_flag(PIPE_V, PIPE_MTE3, ...` in a line, and not behind `//`.
fn is_call(line: &str, call: &str, from: &str, to: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let plain: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    let wanted = format!("{call}({from},{to},");
    plain.find(&wanted).is_some_and(|at| !plain[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// The two pipes that a message names, in their order.
fn pipes(message: &str) -> Option<(&str, &str)> {
    let mut words = message.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.starts_with("PIPE_"));
    Some((words.next()?, words.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &str = "deadlock: vector core 0 waits for event 0 from PIPE_V to PIPE_MTE3, which is never set";

    #[test]
    fn the_only_call_for_the_pipes_is_its_place() {
        let one = Source::parse("k.cpp", "// wait_flag(PIPE_V, PIPE_MTE3, 0);\n wait_flag(PIPE_V,PIPE_MTE3, 0);\n");
        let two = Source::parse("m.cpp", "wait_flag(PIPE_V, PIPE_MTE3, 0);\nset_flag(PIPE_V, PIPE_MTE3, 0);\n");
        let found = |sources: &[Source]| site(sources, &[], "wait_flag", MESSAGE);
        assert_eq!(found(std::slice::from_ref(&one)), Some(("k.cpp".to_owned(), 2)));
        assert_eq!(found(&[one, two]), None, "either of the two may be meant");
        assert_eq!(found(&[]), None);
    }
}
