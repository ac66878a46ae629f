//! ARCHITECTURE.md is the source: its table of floors is read and held against the dependencies that Cargo.toml files
//! declare.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::Table;

/// Where dependencies are declared, and whether one of the same floor is allowed: tests may use a neighbour, for example
/// those of `pto-acl`, which need a library to load.
const SECTIONS: [(&str, bool); 3] =
    [("dependencies", false), ("build-dependencies", false), ("dev-dependencies", true)];

/// What tests need of the machine: for tests of every floor, and for nothing else.
const FOR_TESTS: &str = "pto-test";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn read(path: impl AsRef<Path>) -> String {
    fs_err::read_to_string(root().join(path.as_ref())).unwrap()
}

/// The floor of each crate, by the table in ARCHITECTURE.md: rows `| floor | crate | ... |`.
fn floors() -> BTreeMap<String, u32> {
    let text = read("ARCHITECTURE.md");
    let rows = text.lines().filter_map(|line| {
        let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
        let floor = cells.next()?.parse::<u32>().ok()?;
        let name = cells.next()?.split('`').nth(1)?;
        Some((name.to_owned(), floor))
    });
    rows.collect()
}

/// The manifests of the workspace's members, by the name of the package.
fn manifests() -> BTreeMap<String, Table> {
    let mut paths = vec![root().join("xtask")];
    paths.extend(fs_err::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path()));
    let manifest = |path: PathBuf| {
        let table: Table = fs_err::read_to_string(path.join("Cargo.toml")).unwrap().parse().unwrap();
        (table["package"]["name"].as_str().unwrap().to_owned(), table)
    };
    paths.into_iter().filter(|path| path.join("Cargo.toml").is_file()).map(manifest).collect()
}

#[test]
fn the_table_lists_exactly_the_crates_that_exist() {
    let listed: Vec<_> = floors().into_keys().collect();
    let existing: Vec<_> = manifests().into_keys().collect();
    assert_eq!(listed, existing, "ARCHITECTURE.md and the workspace's members");
}

#[test]
fn a_crate_uses_only_crates_on_lower_floors() {
    let floors = floors();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (name, manifest) in manifests() {
        for (section, same_floor) in SECTIONS {
            let Some(dependencies) = manifest.get(section).and_then(|section| section.as_table()) else { continue };
            for (used, floor) in dependencies.keys().filter_map(|used| Some((used, floors.get(used)?))) {
                seen += 1;
                let own = floors[&name];
                if used == FOR_TESTS && section == "dev-dependencies" {
                    continue;
                }
                if used == FOR_TESTS || *floor > own || (*floor == own && !same_floor) {
                    wrong.push(format!("{name} (floor {own}) has {used} (floor {floor}) in [{section}]"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 20, "only {seen} dependencies between our crates were found");
}

#[test]
fn the_root_manifest_names_the_same_floors() {
    let floors = floors();
    let text = read("Cargo.toml");
    let commented = text.lines().filter_map(|line| {
        let (entry, floor) = line.split_once("# floor ")?;
        Some((entry.split_whitespace().next()?.to_owned(), floor.trim().parse().ok()?))
    });
    let mut commented: BTreeMap<String, u32> = commented.collect();
    commented.insert("xtask".to_owned(), floors["xtask"]); // nobody depends on it
    assert_eq!(commented, floors);
}

#[test]
fn each_crate_says_what_it_must_not_know() {
    for name in manifests().into_keys().filter(|name| name != "xtask") {
        let text = read(format!("crates/{name}/src/lib.rs"));
        let about: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
        assert!(about.join(" ").contains("must not"), "crates/{name}/src/lib.rs opens without what it must not know");
    }
}
