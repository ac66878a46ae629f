//! Commands that are offered: each is run as it stands, in the state that it is offered for.

use std::path::{Path, PathBuf};

use pto_build::{Error, PullOptions, UpdateError, pull};
use pto_process::Invocation;

use crate::support::{World, text};

/// How a state comes about, and the tree in which it is.
type Make = fn(&World) -> PathBuf;

/// Which of the commands in a hint is run: where conflicts have to be resolved first, the one that gives up.
#[derive(Clone, Copy)]
enum Run {
    First,
    Last,
}

const CASES: [(&str, Make, Run); 21] = [
    ("no upstream", |world| topic(world), Run::First),
    (
        "no upstream, with a branch that git has to be told in quotes",
        |world| {
            let src = world.src();
            world.git(&src, &["switch", "--quiet", "-c", "it's"]);
            src
        },
        Run::First,
    ),
    (
        "upstream gone",
        |world| {
            let src = topic(world);
            world.git(&src, &["push", "--quiet", "-u", "origin", "topic"]);
            world.git(&src, &["push", "--quiet", "origin", ":topic"]);
            src
        },
        Run::First,
    ),
    (
        "upstream gone, and what was fetched of it is there",
        |world| {
            let src = topic(world);
            world.git(&src, &["push", "--quiet", "-u", "origin", "topic"]);
            world.git(&world.project.remote("pypto"), &["branch", "-D", "topic"]);
            src
        },
        Run::First,
    ),
    ("a new branch in a linked worktree", |world| world.project.worktree("feature"), Run::First),
    ("detached", |world| detached(world, &world.src()), Run::First),
    ("a detached linked worktree", |world| detached(world, &world.project.worktree("feature")), Run::First),
    (
        "a detached linked worktree whose name is a branch",
        |world| {
            let tree = world.project.worktree("feature");
            let name = tree.file_name().unwrap().to_str().unwrap().to_owned();
            let _ = Invocation::new("git").args(["branch", &name]).cwd(&tree).run(&world.project.cx());
            detached(world, &tree)
        },
        Run::First,
    ),
    ("am", |world| stopped(world, &["am"]), Run::Last),
    ("rebase", |world| stopped(world, &["rebase"]), Run::Last),
    ("rebase of the older kind", |world| stopped(world, &["rebase", "--apply"]), Run::Last),
    ("merge", |world| stopped(world, &["merge"]), Run::Last),
    ("cherry-pick", |world| stopped(world, &["cherry-pick"]), Run::Last),
    (
        "bisect",
        |world| {
            world.git(&world.src(), &["bisect", "start"]);
            world.src()
        },
        Run::First,
    ),
    (
        "announced with `add -N`",
        |world| {
            world.write(&world.src().join("it's new.txt"), "new");
            world.git(&world.src(), &["add", "-N", "."]);
            world.src()
        },
        Run::Last,
    ),
    (
        "edited",
        |world| {
            world.write(&world.src().join("CMakeLists.txt"), "mine");
            world.src()
        },
        Run::Last,
    ),
    ("unborn", |world| unborn(world, "empty"), Run::First),
    (
        "unborn with files",
        |world| {
            world.git(&world.src(), &["checkout", "--quiet", "--orphan", "empty"]);
            world.src()
        },
        Run::First,
    ),
    (
        "unborn, and the branch that it was is deleted",
        |world| {
            let src = unborn(world, "empty");
            world.git(&src, &["branch", "--quiet", "-D", "main"]);
            src
        },
        Run::First,
    ),
    ("a submodule at a commit of its own, the recorded one not fetched", drifted, Run::First),
    (
        "the same, not known to git as a submodule",
        |world| {
            let src = drifted(world);
            world.git(&src, &["config", "--remove-section", "submodule.runtime"]);
            src
        },
        Run::First,
    ),
];

/// At a commit of its remote that no commit of the parent has recorded, while the recorded one was never fetched.
fn drifted(world: &World) -> PathBuf {
    let chosen = world.project.push("runtime", "src/chosen.txt", "chosen");
    world.git(&world.runtime(), &["fetch", "--quiet"]);
    world.git(&world.runtime(), &["checkout", "--quiet", "--detach", &chosen]);
    world.push_both();
    world.git(&world.src(), &["pull", "--quiet", "--no-recurse-submodules"]);
    world.src()
}

fn topic(world: &World) -> PathBuf {
    world.git(&world.src(), &["switch", "--quiet", "-c", "topic"]);
    world.src()
}

fn detached(world: &World, tree: &Path) -> PathBuf {
    world.git(tree, &["checkout", "--quiet", "--detach"]);
    tree.to_path_buf()
}

fn unborn(world: &World, name: &str) -> PathBuf {
    world.git(&world.src(), &["switch", "--quiet", "--orphan", name]);
    world.src()
}

/// Stops amid two commits that do not fit.
fn stopped(world: &World, how: &[&str]) -> PathBuf {
    let src = world.src();
    for (branch, content) in [("one", "1"), ("two", "2")] {
        world.git(&src, &["switch", "--quiet", "-c", branch, "origin/main"]);
        world.write(&src.join("both.txt"), content);
        world.project.commit(&src, branch);
    }
    let patch = world.project.dir().join("one.patch");
    world.write(&patch, &(world.git(&src, &["format-patch", "--stdout", "-1", "one"]) + "\n"));
    let what = if how == ["am"] { text(&patch) } else { "one".to_owned() };
    let stops = Invocation::new("git").args(how).arg(what).cwd(&src).run(&world.project.cx()).unwrap();
    assert!(!stops.success(), "{how:?}");
    src
}

fn blocked(world: &World, tree: &Path) -> Option<(String, String)> {
    let options = PullOptions { src: Some(tree.to_path_buf()), ..world.options() };
    match pull(&world.project.cx(), &options) {
        Ok(_) => None,
        Err(error @ Error::Update(UpdateError::Blocked(_))) => Some((error.to_string(), error.hint().unwrap())),
        Err(error) => panic!("{}", pto_context::with_causes(&error)),
    }
}

#[test]
fn each_command_that_is_offered_works() {
    let world = World::new();
    let kept = world.keep(&world.project.dir());
    for (name, make, run) in CASES {
        let tree = make(&world);
        let (state, hint) = blocked(&world, &tree).unwrap_or_else(|| panic!("{name}: nothing is in the way"));
        let commands: Vec<&str> = hint.split('`').skip(1).step_by(2).filter(|it| it.starts_with("git ")).collect();
        let to_run = match run {
            Run::First => &commands[..1],
            // All that lead there: what is announced is given to git before it is put away.
            Run::Last => commands.get(1..).filter(|rest| !rest.is_empty()).unwrap_or(&commands),
        };
        for command in to_run {
            let output = Invocation::new("sh").args(["-c", command]).run(&world.project.cx()).unwrap();
            assert!(output.success(), "{name}: `{command}` of `{hint}`: {}", output.last_words(9));
        }
        if let Some((after, _)) = blocked(&world, &tree) {
            assert_ne!(after, state, "{name}: {to_run:?} have not helped");
        }
        world.put_back(&world.project.dir(), &kept);
    }
}

#[test]
fn branches_that_went_apart_are_told_apart_by_what_is_offered() {
    let world = World::new();
    world.project.push("pypto", "docs/news.txt", "new\n");
    world.write(&world.src().join("mine.txt"), "mine");
    world.project.commit(&world.src(), "Mine");
    let (_, hint) = blocked(&world, &world.src()).unwrap();
    for command in hint.split('`').skip(1).step_by(2).filter(|it| it.starts_with("git ")) {
        world.project.run(Invocation::new("sh").args(["-c", command]));
    }
    assert_eq!(blocked(&world, &world.src()), None);
    assert!(world.src().join("docs/news.txt").is_file() && world.src().join("mine.txt").is_file());
}
