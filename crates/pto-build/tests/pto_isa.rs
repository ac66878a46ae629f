//! PTO-ISA at the runtime's pin: reused, fetched again, fetched from the mirror, and where it cannot be had.

mod support;

use std::path::Path;
use std::sync::Arc;

use pto_build::{BuildError, BuildOptions, Error, build, plan_build};
use pto_context::{Event, Recorder};
use pto_test::pypto::Binding;
use support::{Site, edit, sources};

fn clones(events: &Recorder) -> Vec<String> {
    let clone = |event| match event {
        Event::Command { line } if line.contains(" clone ") => Some(line),
        _ => None,
    };
    events.events().into_iter().filter_map(clone).collect()
}

fn pin(site: &Site, commit: &str) {
    fs_err::write(site.runtime().join("pto_isa.pin"), format!("{commit}\n")).unwrap();
}

#[test]
fn a_pin_is_followed_and_what_is_changed_is_kept_aside() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    let isa = site.runtime().join("build/pto-isa");
    let header = "include/pto/pto-inst.hpp";
    let generation = || site.project.python("import _task_interface as t; print(t.pto_isa)");
    let built = build(&site.cx(), &site.options()).unwrap();
    assert_eq!(built.isa.unwrap().path, isa);
    let second = site.project.push("pto-isa", header, "#pragma once\n#define PTO_ISA_GENERATION 2\n");
    build(&site.cx(), &site.options()).unwrap();
    assert_eq!(generation(), "1", "the remote moved, the pin did not");
    pin(&site, &second);
    build(&site.cx(), &site.options()).unwrap();
    assert_eq!(generation(), "2");

    // Somebody edits what is managed: it is replaced, and not lost.
    edit(&isa.join(header), "GENERATION 2", "GENERATION 7");
    let isa_again = build(&site.cx(), &site.options()).unwrap().isa.unwrap();
    assert!(!isa_again.reused && generation() == "2");
    let kept = |number: u32| site.runtime().join(format!("build/pto-isa.previous.{number}"));
    let holds = |number: u32, text: &str| {
        let found = fs_err::read_to_string(kept(number).join(header)).unwrap();
        assert!(found.contains(text), "{number}: {found}");
    };
    holds(1, "GENERATION 7");

    // A commit of one's own that no remote has, and the one that was kept before stays.
    edit(&isa.join(header), "GENERATION 2", "GENERATION 8");
    site.project.commit(&isa, "Mine");
    build(&site.cx(), &site.options()).unwrap();
    holds(1, "GENERATION 7");
    holds(2, "GENERATION 8");

    // What git cannot read may be anything.
    edit(&isa.join(header), "GENERATION 2", "GENERATION 9");
    fs_err::write(isa.join(".git/HEAD"), "none").unwrap();
    build(&site.cx(), &site.options()).unwrap();
    holds(3, "GENERATION 9");

    // They survive a build from scratch, as the checkout does; one that only the remote has made is not kept.
    let again = build(&site.cx(), &BuildOptions { clean: true, ..site.options() }).unwrap();
    assert!(again.isa.unwrap().reused && [1, 2, 3].map(kept).iter().all(|kept| kept.exists()));
    let third = site.project.push("pto-isa", header, "#pragma once\n#define PTO_ISA_GENERATION 3\n");
    pin(&site, &third);
    build(&site.cx(), &site.options()).unwrap();
    assert_eq!((generation().as_str(), kept(4).exists()), ("3", false));
}

#[test]
fn a_pin_that_cannot_be_read_is_not_no_pin() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    fs_err::remove_file(site.runtime().join("pto_isa.pin")).unwrap();
    assert_eq!(plan_build(&site.cx(), &site.options()).unwrap().pto_isa, None);
    fs_err::create_dir(site.runtime().join("pto_isa.pin")).unwrap();
    let error = plan_build(&site.cx(), &site.options()).unwrap_err();
    assert!(pto_context::with_causes(&error).contains("pto_isa.pin"), "{}", pto_context::with_causes(&error));
}

#[test]
fn three_tries_and_then_the_mirror() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    let nowhere = site.project.dir().join("nowhere.git").display().to_string();
    let events = Arc::new(Recorder::default());
    let cx = site.cx().with_events(events.clone());
    let options = |mirror: &str| BuildOptions { pto_isa: sources(&nowhere, mirror), ..site.options() };
    build(&cx, &options(&site.remote("pto-isa"))).unwrap();
    let asked = clones(&events);
    assert_eq!(asked.len(), 4, "{asked:#?}");
    assert!(asked[..3].iter().all(|line| line.contains("nowhere.git")) && asked[3].contains("remotes/pto-isa.git"));

    // A pin that no source has; what is there stays there, and no draft is left.
    pin(&site, &"0".repeat(40));
    let error = build(&site.cx(), &options(&site.remote("pto-isa"))).unwrap_err();
    let Error::Build(BuildError::NoPtoIsa { failures, .. }) = &error else { panic!("{error:?}") };
    assert_eq!(failures.len(), 4);
    let message = error.to_string();
    assert!(message.contains(&"0".repeat(40)) && message.contains("nowhere.git"), "{message}");
    let left = |dir: &Path| {
        let names = fs_err::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.contains("pto-isa")).collect::<Vec<_>>()
    };
    assert_eq!(left(&site.runtime().join("build")), ["pto-isa"]);
}

#[test]
fn a_commit_that_no_branch_leads_to_is_fetched_by_its_name() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    let first = site.project.git(&site.project.remote("pto-isa"), &["rev-parse", "main"]);
    let header = "#pragma once\n#define PTO_ISA_GENERATION 3\n";
    let lone = site.project.push("pto-isa", "include/pto/pto-inst.hpp", header);
    site.project.git(&site.project.remote("pto-isa"), &["update-ref", "refs/heads/main", &first]);
    site.project.git(&site.project.remote("pto-isa"), &["config", "uploadpack.allowAnySHA1InWant", "true"]);
    pin(&site, &lone);
    // A clone of a directory takes all objects; one of a URL takes what branches lead to.
    let url = format!("file://{}", site.remote("pto-isa"));
    let options = BuildOptions { pto_isa: sources(&url, &url), ..site.options() };
    assert_eq!(build(&site.cx(), &options).unwrap().isa.unwrap().commit, lone);
}
