//! `[kernel]`: what the kernel is called, where its sources are, what the host calls.

use std::path::{Path, PathBuf};

use pto_platform::{Core, Target};

use super::diagnostic::{Sink, nearest_help};
use super::fields::{At, Fields};
use super::is_identifier;
use super::model::Entry;

pub(super) const KEYS: [&str; 7] = ["name", "summary", "core", "sources", "entry", "global", "targets"];

pub(super) struct Kernel {
    pub(super) name: String,
    pub(super) summary: Option<String>,
    pub(super) core: Core,
    pub(super) sources: Vec<PathBuf>,
    pub(super) entry: Entry,
    pub(super) targets: Vec<Target>,
}

pub(super) fn read(fields: &Fields<'_>, dir: &Path, sink: &mut Sink<'_>) -> Option<Kernel> {
    let name = name(fields, sink);
    let summary = fields.string("summary", sink).map(|text| text.value).filter(|text| !text.trim().is_empty());
    let core = core(fields, sink);
    let sources = sources(fields, dir, sink);
    let entry = entry(fields, sink);
    let targets = targets(fields, sink);
    Some(Kernel { name: name?, summary, core: core?, sources, entry: entry?, targets })
}

fn name(fields: &Fields<'_>, sink: &mut Sink<'_>) -> Option<String> {
    let name = fields.required_string("name", sink)?;
    if !is_kernel_name(&name.value) {
        let message =
            format!("the kernel's name is `{}`, expected letters, digits, `_` and `-`, a letter first", name.value);
        sink.error(name.span, message);
        return None;
    }
    Some(name.value)
}

/// A kernel's name becomes part of file names and of symbols.
fn is_kernel_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

fn core(fields: &Fields<'_>, sink: &mut Sink<'_>) -> Option<Core> {
    let text = fields.required_string("core", sink)?;
    match Core::ALL.into_iter().find(|core| core.name() == text.value) {
        Some(core) => Some(core),
        None => {
            let help = nearest_help(&text.value, Core::ALL.map(Core::name));
            sink.error_with(text.span, format!("unknown core `{}`, expected `vec`, `cube` or `mix`", text.value), help);
            None
        }
    }
}

fn sources(fields: &Fields<'_>, dir: &Path, sink: &mut Sink<'_>) -> Vec<PathBuf> {
    let listed = fields.required_strings("sources", sink);
    listed.into_iter().filter_map(|source| existing_file(source, dir, sink)).collect()
}

fn existing_file(source: At<String>, dir: &Path, sink: &mut Sink<'_>) -> Option<PathBuf> {
    let path = dir.join(&source.value);
    if path.is_file() {
        return Some(path);
    }
    let found = if path.is_dir() { "a directory" } else { "no such file" };
    let neighbours = if path.is_dir() { sources_in(&path) } else { path.parent().map(sources_in).unwrap_or_default() };
    let help =
        (!neighbours.is_empty()).then(|| nearest_help(&source.value, neighbours.iter().map(String::as_str))).flatten();
    sink.error_with(source.span, format!("source `{}`: {found} ({})", source.value, path.display()), help);
    None
}

/// The C++ sources that could be meant, if a directory can be read.
fn sources_in(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs_err::read_dir(directory) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> =
        names.filter(|name| [".cpp", ".cc", ".pto"].iter().any(|end| name.ends_with(end))).collect();
    names.sort();
    names
}

fn entry(fields: &Fields<'_>, sink: &mut Sink<'_>) -> Option<Entry> {
    match (fields.has("entry"), fields.has("global")) {
        (true, true) => {
            let span = fields.get("global").map_or(fields.span(), |node| node.span());
            sink.error(span, "[kernel] has both `entry` and `global`, expected one of them");
            None
        }
        (false, false) => {
            let help = "`entry` names your own `extern \"C\"` launcher, `global` a `__global__` function".to_owned();
            sink.error_with(fields.span(), "[kernel] has neither `entry` nor `global`", Some(help));
            None
        }
        (true, false) => launcher(fields, sink),
        (false, true) => global(fields, sink),
    }
}

fn launcher(fields: &Fields<'_>, sink: &mut Sink<'_>) -> Option<Entry> {
    let symbol = fields.required_string("entry", sink)?;
    if !is_identifier(&symbol.value) {
        let message = format!("`entry` is `{}`, expected the name of an `extern \"C\"` function", symbol.value);
        sink.error(symbol.span, message);
        return None;
    }
    Some(Entry::Launcher(symbol.value))
}

fn global(fields: &Fields<'_>, sink: &mut Sink<'_>) -> Option<Entry> {
    let name = fields.required_string("global", sink)?;
    let path = name.value.split('<').next().unwrap_or_default().trim();
    let brackets_close = name.value.contains('<') == name.value.trim_end().ends_with('>');
    if !path.split("::").all(is_identifier) || !brackets_close {
        let message = format!("`global` is `{}`, expected the name of a `__global__` function", name.value);
        sink.error(name.span, message);
        return None;
    }
    Some(Entry::Global(name.value.trim().to_owned()))
}

fn targets(fields: &Fields<'_>, sink: &mut Sink<'_>) -> Vec<Target> {
    read_targets(fields.required_strings("targets", sink), sink)
}

/// Targets by their names in manifests; repetition is a finding.
pub(super) fn read_targets(listed: Vec<At<String>>, sink: &mut Sink<'_>) -> Vec<Target> {
    let mut targets = Vec::new();
    for text in listed {
        match Target::ALL.into_iter().find(|target| target.name() == text.value) {
            Some(target) if targets.contains(&target) => {
                sink.error(text.span, format!("target `{target}` is listed twice"));
            }
            Some(target) => targets.push(target),
            None => {
                // Other names of the same hardware are understood, but a manifest has one spelling.
                let help = match text.value.parse::<Target>() {
                    Ok(target) => Some(format!("write `{target}`")),
                    Err(_) => nearest_help(&text.value, Target::ALL.map(Target::name)),
                };
                sink.error_with(text.span, format!("unknown target `{}`", text.value), help);
            }
        }
    }
    targets
}
