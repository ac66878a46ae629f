//! Updates that are killed: the next one finishes, and no edit is lost.

use std::time::{Duration, Instant};

use pto_build::{Error, UpdateError, pull};
use pto_context::Event;

use crate::support::World;

/// Files that each update brings.
const FILES: usize = 40;
/// How often an update is killed.
const KILLS: u32 = 5;

/// Somebody pushes many files at once, to the project and to its runtime.
fn push(world: &World, generation: &str) -> (String, String) {
    let work = world.project.dir().join("work");
    let commit = |remote: &str| {
        let _ = std::fs::remove_dir_all(&work);
        world.git(&world.project.dir(), &["clone", "--quiet", world.project.remote(remote).to_str().unwrap(), "work"]);
        for index in 0..FILES {
            world.write(&work.join(format!("many/{index}.txt")), &format!("{generation} {index}\n").repeat(500));
        }
        world.project.commit(&work, generation);
        world.git(&work, &["push", "--quiet", "origin", "HEAD:main"]);
        world.head(&work)
    };
    let runtime = commit("runtime");
    commit("pypto");
    (world.project.push_submodule("runtime", &runtime), runtime)
}

#[track_caller]
fn assert_at(world: &World, (own, runtime): &(String, String)) {
    assert_eq!((&world.head(&world.src()), &world.head(&world.runtime())), (own, runtime));
    for dir in [world.src(), world.runtime()] {
        assert_eq!(world.git(&dir, &["status", "--porcelain"]), "", "{}", dir.display());
    }
    assert!(!world.journal().exists());
}

#[test]
fn killed_at_any_moment_the_next_update_finishes() {
    let world = World::new();
    let first = push(&world, "generation 0");
    let start = Instant::now();
    assert!(world.example().run(&world.project.cx()).unwrap().success());
    let whole = start.elapsed();
    assert_at(&world, &first);
    let mut amid = 0;
    for kill in 0..KILLS {
        let pushed = push(&world, &format!("generation {}", kill + 1));
        let running = world.example().start(&world.project.cx()).unwrap();
        std::thread::sleep(whole.mul_f64(0.3 + 0.7 * f64::from(kill) / f64::from(KILLS)));
        // SIGKILL to it; the kernel ends its children.
        drop(running);
        amid += usize::from(world.journal().exists());
        world.pull().unwrap_or_else(|error| panic!("after {kill}: {}", pto_context::with_causes(&error)));
        assert_at(&world, &pushed);
    }
    report(&format!("killed {KILLS} times, {amid} of them while repositories moved"));
}

/// Past the harness, which keeps what a passing test prints to itself.
fn report(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// What a git leaves that is killed amid its files: some are new, one is half there, one is gone, the index is locked.
#[test]
fn files_that_are_half_moved_are_put_back_and_edits_are_not() {
    let world = World::new();
    let old = push(&world, "old");
    world.pull().unwrap();
    assert_at(&world, &old);
    let (own, runtime) = push(&world, "new");
    world.project.push("pypto", "many/more.txt", "more\n");
    let planned = world.plan().unwrap();
    let to = planned.repositories[0].moves[0].to.clone();
    let tear = || {
        world.write_journal(&planned);
        let new = |index: usize| format!("new {index}\n").repeat(500);
        world.git(&world.src(), &["fetch", "--quiet"]);
        world.write(&world.src().join("many/0.txt"), &new(0));
        world.write(&world.src().join("many/1.txt"), &new(1)[..700]);
        fs_err::remove_file(world.src().join("many/2.txt")).unwrap();
        world.write(&world.src().join("many/more.txt"), "mo");
        world.write(&world.src().join(".git/index.lock"), "");
        world.write(&world.runtime().join("many/3.txt"), "");
    };
    tear();
    world.write(&world.src().join("many/5.txt"), "mine\n");
    let error = world.pull().unwrap_err();
    let Error::Update(UpdateError::Blocked(_)) = &error else { panic!("{}", pto_context::with_causes(&error)) };
    assert!(error.to_string().contains("has changes that are in no commit: `many/5.txt`"), "{error}");
    assert_eq!(fs_err::read_to_string(world.src().join("many/5.txt")).unwrap(), "mine\n");
    world.git(&world.src(), &["checkout", "--quiet", "many/5.txt"]);
    tear();
    world.pull().unwrap_or_else(|error| panic!("{}", pto_context::with_causes(&error)));
    assert_at(&world, &(to.clone(), runtime));
    assert_ne!(own, to);
}

/// The moment between the last file and the commit's name: the index is the new one already.
#[test]
fn an_index_that_is_ahead_is_put_back() {
    let world = World::new();
    push(&world, "old");
    world.pull().unwrap();
    let pushed = push(&world, "new");
    let planned = world.plan().unwrap();
    world.git(&world.src(), &["fetch", "--quiet"]);
    world.git(&world.src(), &["read-tree", "-m", "-u", "HEAD", "origin/main"]);
    world.write_journal(&planned);
    world.pull().unwrap_or_else(|error| panic!("{}", pto_context::with_causes(&error)));
    assert_at(&world, &pushed);
}

#[test]
fn a_clone_that_was_killed_is_made_again() {
    let world = World::new();
    let third = world.src().join("3rdparty/third");
    world.git(&world.src(), &["submodule", "--quiet", "deinit", "--force", "3rdparty/third"]);
    let modules = world.src().join(".git/modules/third");
    fs_err::remove_dir_all(&modules).unwrap();
    let planned = world.plan().unwrap();
    // What a clone leaves that did not get far.
    world.write(&modules.join("HEAD"), "ref: refs/heads/main\n");
    world.write(&modules.join("objects/pack/tmp_pack_1"), "half");
    world.write(&third.join(".git"), "gitdir: ../../.git/modules/third\n");
    world.write_journal(&planned);
    world.pull().unwrap_or_else(|error| panic!("{}", pto_context::with_causes(&error)));
    assert!(third.join("include/third.h").is_file());
    assert_eq!(world.git(&world.src(), &["status", "--porcelain"]), "");
}

#[test]
fn a_full_disk_leaves_what_was_there() {
    let world = World::new();
    let disk = world.project.dir().join("disk");
    fs_err::create_dir(&disk).unwrap();
    let mount = |options: &str| {
        let mount = pto_process::Invocation::new("mount").args(["-t", "tmpfs", "-o", options, "none"]).arg(&disk);
        mount.run(&pto_test::machine()).is_ok_and(|output| output.success())
    };
    if !mount("size=64m") {
        return pto_test::absent("no file system can be mounted here (needs root)");
    }
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| fill_up(&world, &disk, mount)));
    pto_process::Invocation::new("umount").arg("-l").arg(&disk).run(&pto_test::machine()).unwrap();
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

fn fill_up(world: &World, disk: &std::path::Path, remount: impl Fn(&str) -> bool) {
    let src = disk.join("pypto");
    world.project.run(pto_process::Invocation::new("cp").arg("-a").args([world.src(), src.clone()]));
    let options = pto_build::PullOptions { src: Some(src.clone()), ..world.options() };
    let (own, _) = push(world, "new");
    let before = crate::support::snapshot(&src.join("src"));
    let old = world.head(&src);
    let df = pto_process::Invocation::new("df").args(["--output=used", "-k"]).arg(disk);
    let used: u32 = world.project.run(df).stdout.text().split_whitespace().last().unwrap().parse().unwrap();
    let mut refused = 0;
    for room in [60, 120, 180, 240, 300] {
        assert!(remount(&format!("remount,size={}k", used + room)));
        let Err(error) = pull(&world.project.cx(), &options) else { break };
        refused += 1;
        let said = pto_context::with_causes(&error);
        assert!(matches!(&error, Error::Checkout(_)), "{room}: {said}");
        // Git has put down what it could of the objects; no file and no branch has moved.
        assert_eq!(world.head(&src), old, "{room}: {said}");
        assert_eq!(world.git(&src, &["--no-optional-locks", "status", "--porcelain"]), "", "{room}: {said}");
    }
    assert!(refused > 0, "the disk was never full");
    assert_eq!(crate::support::snapshot(&src.join("src")), before);
    assert!(remount("remount,size=64m"));
    pull(&world.project.cx(), &options).unwrap_or_else(|error| panic!("{}", pto_context::with_causes(&error)));
    assert_eq!(world.head(&src), own);
    report(&format!("disk full at {refused} sizes, nothing had moved"));
}

#[test]
fn two_at_once_do_it_one_after_the_other() {
    let world = World::new();
    let pushed = push(&world, "new");
    let running: Vec<_> = (0..2).map(|_| world.example().start(&world.project.cx()).unwrap()).collect();
    let ends: Vec<_> = running.into_iter().map(|one| one.wait().unwrap().require_success().unwrap()).collect();
    let moved = ends.iter().filter(|output| !output.stdout.text().is_empty()).count();
    assert_eq!(moved, 1);
    assert_at(&world, &pushed);
}

#[test]
fn a_journal_that_cannot_be_read_is_not_thrown_away() {
    let world = World::new();
    for text in ["{", r#"{"schema":"of-the-future/9","root":"/x","moves":[]}"#] {
        world.write(&world.journal(), text);
        for result in [world.plan(), world.pull()] {
            let error = result.unwrap_err();
            assert!(error.to_string().contains(&world.src().display().to_string()), "{error}");
            assert!(error.hint().unwrap().contains("rm "), "{:?}", error.hint());
        }
        assert_eq!(fs_err::read_to_string(world.journal()).unwrap(), text);
    }
    fs_err::remove_file(world.journal()).unwrap();
    world.pull().unwrap();
}

/// Whoever builds, or updates from another home, has the lock on the checkout.
#[test]
fn who_has_to_wait_says_for_whom() {
    let world = World::new();
    let events = std::sync::Arc::new(pto_context::Recorder::default());
    let cx = world.project.cx().with_events(events.clone());
    let held = std::fs::File::open(world.src()).unwrap();
    held.lock().unwrap();
    let options = world.options();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| pull(&cx, &options));
        let start = Instant::now();
        let says = || format!("Waiting for the work on `{}` by process {} ", world.src().display(), std::process::id());
        while !events
            .events()
            .iter()
            .any(|event| matches!(event, Event::Started { message, .. } if message.starts_with(&says())))
        {
            assert!(start.elapsed() < Duration::from_secs(60), "it does not say that it waits");
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(held);
        waiting.join().unwrap().unwrap();
    });
}
