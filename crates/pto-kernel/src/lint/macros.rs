//! `pipe-macro` and `guard-generation`: what the preprocessor is told.

use pto_platform::Target;

use super::tree::{text, walk};
use super::{Finding, Place, Rule, Subject};
use crate::source::{Source, words};

/// Macros that only A2/A3's compiler defines.
const A2A3_ONLY: &str = "__DAV_C220_";
/// Macros that only A5's compiler defines.
const A5_ONLY: &str = "__DAV_C310_";
/// Macros that tell the generations apart in another way, or that every generation defines: whoever uses one knows of
/// both.
const GENERAL: [&str; 6] =
    ["__DAV_VEC__", "__DAV_CUBE__", "__CCE_AICORE__", "__NPU_ARCH__", "MEMORY_BASE", "REGISTER_BASE"];

pub(super) fn check(source: &Source, subject: &Subject) -> Vec<Finding> {
    let mut findings = pipe_macros(source);
    findings.extend(guard(source, subject, A2A3_ONLY, (Target::A5, Target::A2a3), A5_ONLY));
    findings.extend(guard(source, subject, A5_ONLY, (Target::A2a3, Target::A5), A2A3_ONLY));
    findings
}

fn pipe_macros(source: &Source) -> Vec<Finding> {
    let place = Place::of(source);
    let definitions = walk(source.tree().root_node()).filter(|node| node.kind() == "preproc_def");
    let names = definitions.filter_map(|node| node.child_by_field_name("name"));
    let pipes = names.filter(|name| text(source.text(), *name).starts_with("PIPE_"));
    pipes
        .map(|name| {
            let message = format!("`{}` is defined as a macro", text(source.text(), name));
            place.finding(name.start_byte(), Rule::PipeMacro, message)
        })
        .collect()
}

/// A file that is built for `missing` and whose guards are all those of the other generation: nothing is compiled.
fn guard(
    source: &Source,
    subject: &Subject,
    prefix: &str,
    (missing, owner): (Target, Target),
    counterpart: &str,
) -> Option<Finding> {
    if !subject.builds(missing) {
        return None;
    }
    let knows_both = words(source.text()).any(|word| GENERAL.contains(&word) || word.starts_with(counterpart));
    if knows_both {
        return None;
    }
    let conditions = walk(source.tree().root_node())
        .filter(|node| matches!(node.kind(), "preproc_if" | "preproc_ifdef" | "preproc_elif"));
    let mut guards = conditions
        .filter_map(|node| node.child_by_field_name("condition").or_else(|| node.child_by_field_name("name")));
    let guard = guards.find(|guard| text(source.text(), *guard).contains(prefix))?;
    let message = format!("the code is built for `{missing}` and guarded by `{prefix}...`, which is `{owner}` alone");
    Some(Place::of(source).finding(guard.start_byte(), Rule::GuardGeneration, message))
}
