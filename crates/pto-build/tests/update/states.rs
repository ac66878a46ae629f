//! Every state in which a repository is left alone: nothing is changed in any, and what to do is said.

use pto_build::{Error, UpdateError};
use pto_process::Invocation;

use crate::support::World;

/// A state: its name, how it comes about, what is said of it, a command that is suggested.
type Case = (&'static str, fn(&World), &'static str, &'static str);

const CASES: [Case; 23] = [
    (
        "detached",
        |world| world.run(&["checkout", "--quiet", "--detach"]),
        "has no branch checked out, it is at ",
        "switch main`",
    ),
    (
        "no upstream",
        |world| world.run(&["switch", "--quiet", "-c", "topic"]),
        "is on `topic`, which follows no branch of a remote",
        "branch --set-upstream-to=origin/main topic`",
    ),
    (
        "upstream gone",
        |world| {
            world.run(&["switch", "--quiet", "-c", "topic"]);
            world.run(&["push", "--quiet", "-u", "origin", "topic"]);
            world.run(&["push", "--quiet", "origin", ":topic"]);
        },
        "is on `topic`, which follows `origin/topic`, and that is no branch of a remote",
        "branch --set-upstream-to=",
    ),
    (
        "follows a branch here",
        |world| world.run(&["switch", "--quiet", "-c", "topic", "--track", "main"]),
        "is on `topic`, which follows `main`, and that is no branch of a remote",
        "branch --set-upstream-to=",
    ),
    (
        "diverged",
        |world| {
            world.change("mine.txt");
            world.project.commit(&world.src(), "Mine");
        },
        "is on `main`, which has commits that `origin/main` lacks, and lacks some of its",
        "rebase origin/main`",
    ),
    (
        "staged",
        |world| {
            world.change("mine.txt");
            world.run(&["add", "mine.txt"]);
        },
        "has changes that are in no commit: `mine.txt`",
        "stash`",
    ),
    (
        "edited",
        |world| world.change("CMakeLists.txt"),
        "has changes that are in no commit: `CMakeLists.txt`",
        "commit --all`",
    ),
    (
        "deleted",
        |world| fs_err::remove_file(world.src().join("CMakeLists.txt")).unwrap(),
        "has changes that are in no commit: `CMakeLists.txt`",
        "stash`",
    ),
    ("merge with conflicts", |world| world.conflict("merge"), "is in the middle of a merge", "merge --abort`"),
    ("rebase with conflicts", |world| world.conflict("rebase"), "is in the middle of a rebase", "rebase --continue`"),
    (
        "conflicts alone",
        |world| {
            world.conflict("merge");
            fs_err::remove_file(world.src().join(".git/MERGE_HEAD")).unwrap();
        },
        "has conflicts in `mine.txt`",
        "commit --all`",
    ),
    (
        "a file in the way",
        |world| world.change("docs/news.txt"),
        "has files of its own where the update has some: `docs/news.txt`",
        "docs/news.txt.mine`",
    ),
    (
        "an ignored file in the way",
        |world| {
            world.change("docs/news.txt");
            world.write(&world.src().join(".git/info/exclude"), "docs\n");
        },
        "has files of its own where the update has some: `docs/news.txt`",
        "docs/news.txt.mine`",
    ),
    (
        "a file where a directory has to be",
        |world| world.change("docs"),
        "has files of its own where the update has some: `docs`",
        "docs.mine`",
    ),
    (
        "an ignored file where a directory has to be",
        |world| {
            world.change("docs");
            world.write(&world.src().join(".git/info/exclude"), "docs\n");
        },
        "has files of its own where the update has some: `docs`",
        "docs.mine`",
    ),
    (
        "an ignored directory where a file has to be",
        |world| {
            world.change("docs/news.txt/mine.txt");
            world.write(&world.src().join(".git/info/exclude"), "docs\n");
        },
        "has files of its own where the update has some: `docs/news.txt`",
        "docs/news.txt.mine`",
    ),
    (
        "a directory where a file of a submodule has to be",
        |world| world.write(&world.runtime().join("src/news.txt/mine.txt"), "mine"),
        "runtime` has files of its own where the update has some: `src/news.txt`",
        "src/news.txt.mine`",
    ),
    (
        "an edit that git is told to assume away",
        |world| {
            world.run(&["update-index", "--assume-unchanged", "CMakeLists.txt"]);
            world.change("CMakeLists.txt");
        },
        "has edits that git was told not to look at, and the update changes these: `CMakeLists.txt`",
        "update-index --no-assume-unchanged",
    ),
    (
        "an edit that git is told to skip",
        |world| {
            world.run(&["update-index", "--skip-worktree", "CMakeLists.txt"]);
            world.change("CMakeLists.txt");
        },
        "has edits that git was told not to look at, and the update changes these: `CMakeLists.txt`",
        "stash`",
    ),
    (
        "a lock of somebody's git",
        |world| world.change(".git/index.lock"),
        "is locked by a git: there is `",
        "index.lock`",
    ),
    (
        "an edited submodule",
        |world| world.write(&world.runtime().join("CMakeLists.txt"), "mine"),
        "runtime` has changes that are in no commit: `CMakeLists.txt`",
        "runtime stash`",
    ),
    (
        "a submodule with commits",
        |world| {
            world.write(&world.runtime().join("mine.txt"), "mine");
            world.project.commit(&world.runtime(), "Mine");
        },
        "which no remote has",
        "push origin HEAD:refs/heads/NAME`",
    ),
    (
        "a submodule on a branch",
        |world| drop(world.git(&world.runtime(), &["switch", "--quiet", "-c", "topic"])),
        "is a submodule that has to move, and has `topic` checked out",
        "runtime switch --detach`",
    ),
];

impl World {
    fn run(&self, args: &[&str]) {
        self.git(&self.src(), args);
    }

    fn change(&self, file: &str) {
        self.write(&self.src().join(file), "mine\n");
    }

    /// Stops amid a merge or rebase of two commits that do not fit.
    fn conflict(&self, how: &str) {
        self.run(&["branch", "other"]);
        self.change("mine.txt");
        self.project.commit(&self.src(), "Mine");
        self.run(&["switch", "--quiet", "other"]);
        self.write(&self.src().join("mine.txt"), "another\n");
        self.project.commit(&self.src(), "Another");
        let stops = Invocation::new("git").args([how, "main"]).cwd(self.src());
        assert!(!stops.run(&self.project.cx()).unwrap().success());
    }
}

#[test]
fn every_state_is_left_as_it_is() {
    let world = World::with_lib();
    // There is something to do for everybody, in each of the repositories.
    world.project.push("pypto", "docs/news.txt", "new\n");
    world.project.push("pypto", "CMakeLists.txt", "# new\n");
    world.push_both();
    world.project.push("pypto-lib", "models/new.py", "new\n");
    let src = world.src();
    let kept = world.keep(&src);
    for (name, make, said, remedy) in CASES {
        make(&world);
        // What git notes of the index when it looks is not what is compared.
        world.git(&src, &["status", "--porcelain"]);
        for error in world.refused(name) {
            let (text, hint) = (error.to_string(), error.hint().unwrap());
            assert!(text.starts_with("nothing was changed\n") && text.contains(said), "{name}: {text}");
            assert!(text.contains(&src.display().to_string()), "{name}: {text}");
            assert!(hint.contains(remedy) && hint.ends_with("`--no-pull`"), "{name}: {hint}");
        }
        world.put_back(&src, &kept);
    }
    world.pull().expect("nothing is in the way any more");
}

#[test]
fn all_repositories_that_are_in_the_way_are_named_at_once() {
    let world = World::with_lib();
    world.run(&["checkout", "--quiet", "--detach"]);
    world.git(&world.lib(), &["checkout", "--quiet", "--detach"]);
    let error = world.pull().unwrap_err();
    let Error::Update(UpdateError::Blocked(blocked)) = &error else { panic!("{error}") };
    assert_eq!(blocked.iter().map(|one| one.repository.clone()).collect::<Vec<_>>(), [world.src(), world.lib()]);
}

#[test]
fn a_suggested_command_helps() {
    let world = World::new();
    world.run(&["switch", "--quiet", "-c", "topic"]);
    world.run(&["push", "--quiet", "origin", "topic"]);
    let hint = world.pull().unwrap_err().hint().unwrap();
    let command = hint.split('`').nth(1).unwrap();
    world.project.run(Invocation::new("sh").args(["-c", command]));
    world.pull().unwrap();
}
