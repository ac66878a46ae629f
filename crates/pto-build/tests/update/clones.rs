//! Submodules that are cloned: what somebody else wrote down leads nowhere else, and a clone that fails deletes nothing that
//! was there before.

use std::path::{Path, PathBuf};

use pto_build::{Error, How, Move};

use crate::support::{World, moves, text};

impl World {
    /// Somebody pushes a submodule with this name.
    fn push_named(&self, name: &str) {
        let work = tempfile::tempdir_in(self.project.dir()).unwrap();
        let work = work.path();
        self.git(work, &["clone", "--quiet", &text(&self.project.remote("pypto")), "."]);
        let modules = fs_err::read_to_string(work.join(".gitmodules")).unwrap();
        let url = text(&self.project.remote("pto-isa"));
        let entry = format!("{modules}[submodule \"{name}\"]\n\tpath = extra\n\turl = {url}\n");
        self.write(&work.join(".gitmodules"), &entry);
        self.git(work, &["add", ".gitmodules"]);
        let commit = self.head(&self.project.remote("pto-isa"));
        self.git(work, &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},extra")]);
        self.git(work, &["commit", "--quiet", "-m", "Extra"]);
        self.git(work, &["push", "--quiet", "origin", "HEAD:main"]);
    }

    fn module(&self) -> PathBuf {
        self.src().join(".git/modules/third")
    }

    fn deinit(&self) {
        self.git(&self.src(), &["submodule", "--quiet", "deinit", "--force", "3rdparty/third"]);
    }

    fn unfinished(&self, moves: &[&Move]) {
        self.write_moves(&serde_json::to_value(moves).unwrap());
    }
}

#[test]
fn a_name_that_leads_out_is_refused_and_what_it_leads_to_stays() {
    let world = World::new();
    let precious = world.project.dir().join("precious");
    world.write(&precious.join("thesis.txt"), "years");
    let absolute = text(&precious);
    for name in ["../../../precious", &absolute, "a/../../../../precious", "hooks/.git"] {
        world.push_named(name);
        for error in world.refused(name) {
            assert!(error.to_string().contains(&format!("would get a submodule `{name}`")), "{name}: {error}");
        }
        let remote = world.project.remote("pypto");
        world.git(&remote, &["update-ref", "refs/heads/main", "main~1"]);
    }
    // Nor is a journal believed that says so.
    world.deinit();
    world.project.push("pypto", "docs/news.txt", "new\n");
    let planned = world.plan().unwrap();
    let mut clone = moves(&planned).into_iter().find(|one| matches!(one.how, How::Clone { .. })).unwrap().clone();
    let How::Clone { git_dir, had_git_dir, .. } = &mut clone.how else { unreachable!() };
    (*git_dir, *had_git_dir) = (precious.clone(), false);
    world.unfinished(&[&clone]);
    world.pull().unwrap();
    assert_eq!(fs_err::read_to_string(precious.join("thesis.txt")).unwrap(), "years");
}

/// A branch of the user's in a submodule that was put away; its commit.
fn put_away(world: &World) -> String {
    let third = world.src().join("3rdparty/third");
    world.git(&third, &["switch", "--quiet", "-c", "mine"]);
    world.write(&third.join("mine.txt"), "mine");
    world.project.commit(&third, "Mine");
    let commit = world.head(&third);
    world.deinit();
    assert!(!third.join(".git").exists() && world.module().is_dir());
    commit
}

fn branch(world: &World, git_dir: &Path) -> String {
    world.git(&world.src(), &["--git-dir", &text(git_dir), "rev-parse", "mine"])
}

#[test]
fn a_clone_that_fails_deletes_no_repository_that_was_there() {
    let world = World::new();
    let mine = put_away(&world);
    let third = world.project.push("third", "include/more.h", "more\n");
    world.project.push_submodule("3rdparty/third", &third);
    let (remote, away) = (world.project.remote("third"), world.project.dir().join("away"));
    fs_err::rename(&remote, &away).unwrap();
    let error = world.pull().unwrap_err();
    assert!(matches!(&error, Error::Checkout(_)), "{}", pto_context::with_causes(&error));
    // Git's own words, of which there are several lines.
    assert!(error.said(12).unwrap().contains(&text(&remote)), "{:?}", error.said(12));
    assert_eq!(branch(&world, &world.module()), mine);
    fs_err::rename(&away, &remote).unwrap();
    world.pull().unwrap_or_else(|error| panic!("{}", pto_context::with_causes(&error)));
    assert_eq!(world.head(&world.src().join("3rdparty/third")), third);
    assert_eq!(branch(&world, &world.module()), mine);
}

#[test]
fn a_clone_that_was_killed_deletes_no_repository_that_was_there() {
    let world = World::new();
    let mine = put_away(&world);
    let planned = world.plan().unwrap();
    world.write(&world.src().join("3rdparty/third/.git"), "gitdir: ../../.git/modules/third\n");
    world.write(&world.module().join("index.lock"), "");
    world.unfinished(&moves(&planned));
    world.pull().unwrap_or_else(|error| panic!("{}", pto_context::with_causes(&error)));
    assert!(world.src().join("3rdparty/third/include/third.h").is_file());
    assert_eq!(branch(&world, &world.module()), mine);
    // What is not written down is taken as there before.
    world.deinit();
    let mut told = serde_json::to_value(moves(&planned)).unwrap();
    let how = told[0]["how"].as_object_mut().unwrap();
    assert!(
        how.remove("had_git_dir").is_some() || how["clone"].as_object_mut().unwrap().remove("had_git_dir").is_some()
    );
    world.write_moves(&told);
    world.pull().unwrap();
    assert_eq!(branch(&world, &world.module()), mine);
}

#[test]
fn work_in_a_clone_since_an_update_was_killed_is_kept() {
    let world = World::new();
    let third = world.src().join("3rdparty/third");
    world.deinit();
    fs_err::remove_dir_all(world.module()).unwrap();
    let planned = world.plan().unwrap();
    world.git(&world.src(), &["submodule", "--quiet", "update", "--init", "3rdparty/third"]);
    world.unfinished(&moves(&planned));
    world.write(&third.join("mine.txt"), "mine");
    let _ = world.pull();
    assert_eq!(fs_err::read_to_string(third.join("mine.txt")).unwrap(), "mine");
    world.unfinished(&moves(&planned));
    world.git(&third, &["switch", "--quiet", "-c", "mine"]);
    world.project.commit(&third, "Mine");
    let mine = world.head(&third);
    let _ = world.pull();
    assert_eq!(branch(&world, &world.module()), mine);
}

#[test]
fn what_killed_updates_have_fetched_is_removed_and_what_live_ones_have_is_not() {
    let world = World::new();
    let temp = world.project.cx().temp_dir();
    let make = |name: &str| {
        let dir = tempfile::Builder::new().prefix(&format!("ptokit-incoming-{name}-")).tempdir_in(&temp).unwrap();
        world.write(&dir.path().join("pack/half"), "half");
        dir
    };
    let (dead, live, others) = (make("dead"), make("live"), make("others"));
    let lock = |dir: &tempfile::TempDir| std::fs::File::create(dir.path().join("ptokit.lock")).unwrap();
    drop(lock(&dead));
    let held = lock(&live);
    held.lock().unwrap();
    world.pull().unwrap();
    assert!(!dead.path().exists() && live.path().exists() && others.path().exists());
}
