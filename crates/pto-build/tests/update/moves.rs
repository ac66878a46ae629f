//! What an update moves, and where to.

use pto_build::{Error, How, PullOptions, UpdateError, pull};

use crate::support::{World, assert_same, moves, snapshot, text};

#[test]
fn everything_goes_forwards_and_then_nothing_moves() {
    let world = World::with_lib();
    assert!(moves(&world.plan().unwrap()).is_empty());
    let (own, runtime) = world.push_both();
    let lib = world.project.push("pypto-lib", "models/new.py", "new\n");
    let before = snapshot(&world.project.dir());
    let planned = world.plan().unwrap();
    assert_same(&before, &snapshot(&world.project.dir()), "a plan changes nothing");
    let seen: Vec<_> = moves(&planned).into_iter().map(|one| (one.root.clone(), one.to.clone(), one.commits)).collect();
    let expected = [
        (world.src(), own.clone(), Some(1)),
        (world.runtime(), runtime.clone(), Some(1)),
        (world.lib(), lib.clone(), Some(1)),
    ];
    assert_eq!(seen, expected);

    let done = world.pull().unwrap();
    assert_eq!(done, planned);
    for (dir, commit) in [(world.src(), own), (world.runtime(), runtime), (world.lib(), lib)] {
        assert_eq!(world.head(&dir), commit);
    }
    assert_eq!(world.git(&world.src(), &["symbolic-ref", "--short", "HEAD"]), "main");
    assert_eq!(world.git(&world.src(), &["status", "--porcelain"]), "");
    assert!(world.runtime().join("src/news.txt").is_file());
    assert!(!world.journal().exists());
    assert!(moves(&world.pull().unwrap()).is_empty());
}

#[test]
fn commits_of_the_users_own_are_no_reason_to_stop() {
    let world = World::new();
    world.write(&world.src().join("mine.txt"), "mine");
    world.project.commit(&world.src(), "Mine");
    // Files that no commit knows, where the update has none.
    world.write(&world.src().join("notes.txt"), "notes");
    let head = world.head(&world.src());
    assert!(moves(&world.pull().unwrap()).is_empty());
    assert_eq!(world.head(&world.src()), head);
    assert_eq!(fs_err::read_to_string(world.src().join("notes.txt")).unwrap(), "notes");
}

#[test]
fn a_linked_worktree_follows_its_own_branch() {
    let world = World::new();
    let tree = world.project.worktree("topic");
    world.git(&tree, &["push", "--quiet", "--set-upstream", "origin", "topic"]);
    let (own, runtime) = world.push_both();
    world.git(&world.project.remote("pypto"), &["branch", "--force", "topic", "main"]);
    let primary = world.head(&world.src());
    let options = PullOptions { src: Some(tree.clone()), ..world.options() };
    pull(&world.project.cx(), &options).unwrap();
    assert_eq!((world.head(&tree), world.head(&tree.join("runtime"))), (own, runtime));
    assert_eq!(world.head(&world.src()), primary, "the primary checkout is another branch's");
}

#[test]
fn a_new_submodule_is_cloned() {
    let world = World::new();
    let clone = world.project.dir().join("work");
    world.git(&world.project.dir(), &["clone", "--quiet", &text(&world.project.remote("pypto")), "work"]);
    world.git(&clone, &["submodule", "--quiet", "add", &text(&world.project.remote("pto-isa")), "3rdparty/isa"]);
    world.project.commit(&clone, "Add a submodule");
    world.git(&clone, &["push", "--quiet", "origin", "main"]);
    // What lies in its place is the user's.
    world.write(&world.src().join("3rdparty/isa/mine.txt"), "mine");
    let error = world.pull().unwrap_err();
    assert!(error.to_string().contains("where the update has some: `3rdparty/isa`"), "{error}");
    fs_err::remove_dir_all(world.src().join("3rdparty/isa")).unwrap();
    let done = world.pull().unwrap();
    assert!(matches!(moves(&done)[1].how, How::Clone { .. }));
    assert!(world.src().join("3rdparty/isa/include").is_dir());
    assert_eq!(world.git(&world.src(), &["status", "--porcelain"]), "");
}

#[test]
fn remotes_of_submodules_are_followed_again_and_again() {
    let world = World::new();
    let follow = || {
        let options = PullOptions { remote_submodules: true, ..world.options() };
        pull(&world.project.cx(), &options)
    };
    for text in ["one", "two"] {
        let tip = world.project.push("runtime", "src/news.txt", text);
        follow().unwrap();
        assert_eq!(world.head(&world.runtime()), tip);
    }
    assert!(moves(&follow().unwrap()).is_empty());
    // Without that, the commit is one that somebody chose.
    let error = world.pull().unwrap_err();
    assert!(error.to_string().contains("runtime` is at "), "{error}");
    assert!(error.hint().unwrap().contains("--remote-submodules"), "{:?}", error.hint());
    // Edits are not moved over.
    world.write(&world.runtime().join("src/news.txt"), "mine");
    assert!(follow().unwrap_err().to_string().contains("has changes that are in no commit: `src/news.txt`"));
}

#[test]
fn a_submodule_that_was_left_behind_catches_up() {
    let world = World::new();
    world.push_both();
    let (own, runtime) = world.push_both_again();
    // As after `git pull` by hand: the submodule is where an older commit had it.
    world.git(&world.src(), &["pull", "--quiet", "--no-recurse-submodules"]);
    assert_eq!(world.head(&world.src()), own);
    let done = world.pull().unwrap();
    assert!(matches!(moves(&done)[..], [one] if one.how == How::Checkout), "{done:?}");
    assert_eq!(world.head(&world.runtime()), runtime);
}

#[test]
fn a_remote_that_does_not_answer_is_named() {
    let world = World::with_lib();
    world.push_both();
    fs_err::rename(world.project.remote("pypto-lib"), world.project.dir().join("gone")).unwrap();
    let before = snapshot(&world.project.dir());
    let error = world.pull().unwrap_err();
    assert!(matches!(&error, Error::Update(UpdateError::Remote { remote, .. }) if remote == "origin"), "{error}");
    let text = pto_context::with_causes(&error);
    assert!(text.contains(&world.lib().display().to_string()), "{text}");
    assert!(error.hint().unwrap().contains("--no-pull"), "{:?}", error.hint());
    assert_same(&before, &snapshot(&world.project.dir()), "nothing was changed");
}

#[test]
fn another_users_checkout_stays_that_users() {
    if !rustix::process::geteuid().is_root() {
        return pto_test::skip("only root updates somebody else's checkout");
    }
    const UID: u32 = 4_000_001;
    let world = World::new();
    world.project.give_to(&world.src(), UID);
    let (own, runtime) = world.push_both();
    world.project.give_to(&world.project.remote("pypto"), UID);
    world.project.give_to(&world.project.remote("runtime"), UID);
    world.project.give_to(&world.project.remote("third"), UID);
    // Root's own directory for temporary files, which nobody else can enter.
    let temp = world.project.dir().join("temp");
    std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), 0o700).create(&temp).unwrap();
    pull(&world.project.cx().with_var("TMPDIR", &temp), &world.options()).unwrap();
    let head = |dir: &std::path::Path| {
        let args = ["-c", "safe.directory=*", "rev-parse", "HEAD"];
        world.git(dir, &args)
    };
    assert_eq!((head(&world.src()), head(&world.runtime())), (own, runtime));
    let strangers = pto_process::Invocation::new("find").arg(world.src()).args(["!", "-uid", &UID.to_string()]);
    assert_eq!(world.project.run(strangers).stdout.text(), "");
}

impl World {
    /// As [`push_both`](Self::push_both), with other content.
    fn push_both_again(&self) -> (String, String) {
        let runtime = self.project.push("runtime", "src/news.txt", "newer\n");
        (self.project.push_submodule("runtime", &runtime), runtime)
    }
}
