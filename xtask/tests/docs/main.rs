//! The documentation against the program: commands are run and must write what is shown, links and paths lead somewhere,
//! every verb, option, manifest key, function and variable is described, and nothing is described that does not exist.

mod console;
mod pages;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use console::{Console, Ran};
use pages::{Page, all, root};
use pto_kernel::Manifest;
use serde_json::Value;

const BOOK: &str = "docs/src";
/// Directories of this repository: inline code that starts with one of them is taken for a path.
const PLACES: [&str; 7] = [".cargo/", ".ci/", ".github/", "crates/", "docs/", "examples/", "xtask/"];

fn none(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

fn page(name: &str) -> Page {
    Page::load(&Path::new(BOOK).join(name))
}

fn help(verb: &[&str]) -> Option<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask")).args(verb).arg("--help").output().unwrap();
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

/// The verbs that a help text lists. What a description needs in further lines is indented deeper.
fn listed(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| line.starts_with(' '));
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !matches!(*name, "" | "help")).map(str::to_owned).collect()
}

/// The long options that a help text names.
fn options(help: &str) -> BTreeSet<String> {
    let is_part = |c: &char| c.is_ascii_lowercase() || *c == '-';
    let own = help.split(" -- ").next().unwrap_or(help); // what stands behind is another program's
    let words = own.split_whitespace().filter(|word| word.starts_with("--"));
    words.map(|word| word.chars().take_while(is_part).collect()).filter(|word: &String| word.len() > 2).collect()
}

/// Every verb, by its words: `["kernel", "test"]`.
fn verbs() -> Vec<Vec<String>> {
    let mut verbs = Vec::new();
    for verb in listed(&help(&[]).unwrap()) {
        let help = help(&[&verb]).unwrap();
        // Some verbs that have verbs below them are verbs themselves.
        if !help.lines().any(|line| line.starts_with("Usage:") && line.ends_with("<COMMAND>")) {
            verbs.push(vec![verb.clone()]);
        }
        verbs.extend(listed(&help).into_iter().map(|inner| vec![verb.clone(), inner]));
    }
    verbs
}

#[test]
fn commands_write_what_is_shown() {
    let mut wrong = Vec::new();
    let mut console = Console::default();
    // The examples' pages show one command each, which the quickstart and the tests of the examples run.
    for page in all().iter().filter(|page| !page.path.starts_with("examples")) {
        let json = console.page(page, &mut wrong);
        json.iter().for_each(|ran| undocumented_keys(page, ran, &mut wrong));
    }
    none(&wrong);
    assert!(console.count > 20, "only {} commands were found", console.count);
}

/// Every key of a JSON document shown on a page is explained on that page.
fn undocumented_keys(page: &Page, ran: &Ran, wrong: &mut Vec<String>) {
    let document: Value = match serde_json::from_str(&ran.stdout) {
        Ok(document) => document,
        Err(error) => return wrong.push(format!("{}: not one JSON document: {error}", page.path.display())),
    };
    let mut keys = BTreeSet::new();
    collect_keys(&document, &mut keys);
    let schema = document["schema"].as_str().unwrap_or("(no schema)").to_owned();
    for word in keys.into_iter().chain([schema]).filter(|word| !page.has_code(word)) {
        wrong.push(format!("{}: `{word}` of the JSON document is not explained", page.path.display()));
    }
}

fn collect_keys(value: &Value, keys: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_keys(item, keys)),
        Value::Object(fields) => {
            for (key, value) in fields {
                keys.insert(key.clone());
                match (key.as_str(), value) {
                    // Their keys are the manifest's names.
                    ("dims" | "outputs" | "shapes" | "static", Value::Object(named)) => {
                        named.values().for_each(|value| collect_keys(value, keys));
                    }
                    _ => collect_keys(value, keys),
                }
            }
        }
        _ => {}
    }
}

#[test]
fn commands_are_in_console_blocks() {
    let mut wrong = Vec::new();
    for page in all() {
        for block in page.blocks.iter().filter(|block| block.info != "console" && block.text.contains("cargo xtask")) {
            // A workflow is run as a whole, by those it is for.
            if !matches!(block.info.as_str(), "yaml" | "text") {
                wrong.push(format!("{}: `cargo xtask` outside of a `console` block", page.at(block.line)));
            }
        }
    }
    none(&wrong);
}

#[test]
fn verbs_named_in_the_text_exist() {
    let verbs = verbs();
    let mut wrong = Vec::new();
    for page in all() {
        for code in page.code.iter().filter_map(|code| code.strip_prefix("cargo xtask ")) {
            let is_verb = |word: &&str| word.starts_with(|c: char| c.is_ascii_lowercase());
            let words: Vec<&str> = code.split_whitespace().take_while(is_verb).collect();
            let known = verbs.iter().any(|verb| words.iter().zip(verb).all(|(a, b)| a == b));
            if !known {
                wrong.push(format!("{}: there is no `cargo xtask {code}`", page.path.display()));
            }
        }
    }
    none(&wrong);
}

#[test]
fn every_verb_has_a_page_with_all_its_options() {
    let readme = Page::load(Path::new("README.md"));
    let common = page("verbs/common.md");
    let mut wrong = Vec::new();
    let mut expected = BTreeSet::from(["common.md".to_owned()]);
    for verb in verbs() {
        let file = format!("{}.md", verb.join("-"));
        if !readme.code.iter().any(|code| *code == verb.join(" ")) {
            wrong.push(format!("README.md does not list `{}`", verb.join(" ")));
        }
        if root().join(BOOK).join("verbs").join(&file).is_file() {
            let page = page(&format!("verbs/{file}"));
            let refers = page.links.iter().any(|link| link.starts_with("common.md"));
            let words: Vec<&str> = verb.iter().map(String::as_str).collect();
            for option in options(&help(&words).unwrap()) {
                let explained = page.has_code(&option) || (refers && common.has_code(&option));
                if !explained {
                    wrong.push(format!("{}: `{option}` is not explained", page.path.display()));
                }
            }
        } else {
            wrong.push(format!("there is no page {BOOK}/verbs/{file}"));
        }
        expected.insert(file);
    }
    for entry in fs_err::read_dir(root().join(BOOK).join("verbs")).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        if !expected.contains(&file) {
            wrong.push(format!("{BOOK}/verbs/{file} describes a verb that does not exist"));
        }
    }
    none(&wrong);
}

#[test]
fn links_and_paths_lead_somewhere() {
    let pages = all();
    let anchors: BTreeMap<&Path, &BTreeSet<String>> =
        pages.iter().map(|page| (page.path.as_path(), &page.anchors)).collect();
    let mut wrong = Vec::new();
    for page in &pages {
        let dir = page.path.parent().unwrap();
        for link in page.links.iter().filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.path.clone() } else { normalized(&dir.join(file)) };
            if !root().join(&target).exists() {
                wrong.push(format!("{}: the link `{link}` leads nowhere", page.path.display()));
            } else if !anchor.is_empty() && !anchors.get(target.as_path()).is_some_and(|known| known.contains(anchor)) {
                wrong.push(format!("{}: there is no heading for `{link}`", page.path.display()));
            }
        }
        for code in page.code.iter().filter(|code| PLACES.iter().any(|place| code.starts_with(place))) {
            let is_path = !code.contains(['*', ' ', '<', ':']);
            if is_path && !root().join(code).exists() {
                wrong.push(format!("{}: there is no `{code}`", page.path.display()));
            }
        }
    }
    none(&wrong);
}

/// Without `..`, which the file system would follow through directories that are not there.
fn normalized(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                clean.pop();
            }
            part => clean.push(part),
        }
    }
    clean
}

#[test]
fn the_summary_lists_every_page() {
    let summary = page("SUMMARY.md");
    let listed: BTreeSet<PathBuf> = summary.links.iter().map(|link| Path::new(BOOK).join(link)).collect();
    let existing = all().into_iter().map(|page| page.path);
    let existing: BTreeSet<PathBuf> =
        existing.filter(|path| path.starts_with(BOOK) && !path.ends_with("SUMMARY.md")).collect();
    assert_eq!(listed, existing);
}

#[test]
fn manifests_shown_are_valid() {
    // Sources named in a manifest are looked for beside it.
    let beside = root().join("examples/vec_add/kernel.toml");
    let mut seen = 0;
    let mut wrong = Vec::new();
    for page in all() {
        for block in page.blocks.iter().filter(|block| block.info == "toml" && block.text.contains("[kernel]")) {
            seen += 1;
            match Manifest::parse(&beside, &block.text) {
                Ok(manifest) if manifest.warnings.is_empty() => {}
                Ok(manifest) => wrong.push(format!("{}: {:?}", page.at(block.line), manifest.warnings)),
                Err(errors) => wrong.push(format!("{}: {}", page.at(block.line), errors.render())),
            }
        }
    }
    none(&wrong);
    assert!(seen > 0, "no page shows a manifest");
}

/// What the reader of manifests says of a key that cannot exist: the keys that do.
#[test]
fn every_manifest_key_is_explained() {
    let page = page("kernel-toml.md");
    let stranger = "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq";
    let sections = ["", "[kernel]", "[[arg]]", "[launch]", "[golden]", "[cases]", "[bench]", "[tolerance]\ny = { X }"];
    let vec_add = fs_err::read_to_string(root().join("examples/vec_add/kernel.toml")).unwrap();
    let mut wrong = Vec::new();
    let mut keys = 0;
    for section in sections {
        let unknown = format!("{stranger} = 1");
        let text = match section {
            "" => format!("{unknown}\n{vec_add}"),
            _ if section.contains('X') => format!("{vec_add}\n{}\n", section.replace('X', &unknown)),
            _ => vec_add.replacen(section, &format!("{section}\n{unknown}"), 1),
        };
        let errors = Manifest::parse(&root().join("examples/vec_add/kernel.toml"), &text).unwrap_err();
        let finding = errors.diagnostics.iter().find(|finding| finding.message.contains(stranger)).unwrap();
        for key in finding.help.as_deref().unwrap().split('`').skip(1).step_by(2) {
            keys += 1;
            if !page.has_code(key) {
                wrong.push(format!("{}: `{key}` of {section} is not explained", page.path.display()));
            }
        }
    }
    none(&wrong);
    assert!(keys > 25, "only {keys} keys were found");
}

#[test]
fn every_function_of_expressions_is_explained() {
    let page = page("golden.md");
    let error = pto_golden::Expr::parse("qqqqqqqqqqqqqqqq(x)").unwrap_err();
    let known: Vec<_> = error.help.as_deref().unwrap().split('`').skip(1).step_by(2).collect();
    assert!(known.len() > 40, "only {} functions are known", known.len());
    none(&known.iter().filter(|name| !page.has_code(name)).map(|name| format!("`{name}`")).collect::<Vec<_>>());
}

#[test]
fn every_variable_is_explained() {
    let page = page("environment.md");
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    // This one must not know the environment; variables it names are found in other programs' output.
    let pure = root().join("crates/pto-platform");
    let crates = fs_err::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let crates = crates.filter(|path| *path != pure).map(|path| path.join("src"));
    for source in crates.chain([root().join("xtask/src")]).flat_map(|dir| sources(&dir)) {
        let text = fs_err::read_to_string(&source).unwrap();
        let strings = text.split('"').filter(|part| is_variable(part));
        for variable in strings.filter(|name| seen.insert((*name).to_owned()) && !page.has_code(name)) {
            wrong.push(format!("`{variable}` of {} is not explained", source.display()));
        }
    }
    none(&wrong);
    assert!(seen.len() > 10, "only {seen:?} were found");
}

/// Our own variables, CANN's, and those of the Python package clients. `PTO_INST` and its like are macros of PTO-ISA.
fn is_variable(text: &str) -> bool {
    let ours = ["PTOKIT_", "PTO_ACLSIM_", "ASCEND_", "PIP_"].iter().any(|start| text.starts_with(start));
    let pto = text.starts_with("PTO_") && ["_S", "_PATH", "_DIR"].iter().any(|end| text.ends_with(end));
    (ours || pto) && text.chars().all(|c| c.is_ascii_uppercase() || matches!(c, '_' | '0'..='9'))
}

fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}
