//! Rough treatment: killed, two at once, a full disk. The environment that was there works, and the next run finishes.

use std::time::{Duration, Instant};

use pto_build::{Error, HomeError, VenvStep, setup};
use pto_context::Event;
use pto_process::Invocation;
use pto_store::Lock;

use crate::support::World;

/// How often a setup is killed.
const KILLS: u32 = 12;

#[test]
fn killed_at_any_moment_the_old_environment_works_and_the_next_run_finishes() {
    let Some(world) = World::new() else { return };
    world.setup().unwrap();
    // An environment that has to be replaced, although its interpreter works.
    let spoil = || drop(std::fs::remove_file(world.venv().join("bin/activate")));
    spoil();
    let start = Instant::now();
    let whole = world.example().run(&world.cx()).unwrap();
    assert!(whole.success(), "{}", whole.last_words(10));
    let whole = start.elapsed();
    let (mut old, mut new) = (0, 0);
    for kill in 0..KILLS {
        spoil();
        let running = world.example().start(&world.cx()).unwrap();
        std::thread::sleep(whole.mul_f64(f64::from(kill) / f64::from(KILLS)));
        // SIGKILL to it; the kernel ends its children.
        drop(running);
        assert_eq!(world.versions().as_deref(), Some("1.0 2.0"), "killed after {kill}/{KILLS} of a run");
        *if world.venv().join("bin/activate").exists() { &mut new } else { &mut old } += 1;
    }
    assert!(old > 0, "no run was killed before its end ({new})");
    spoil();
    let done = world.setup().unwrap();
    assert!(matches!(done.plan.venv, Some(VenvStep::Build { .. })));
    world.assert_tidy();
    assert!(world.setup().unwrap().plan.is_empty());
}

#[test]
fn killed_from_nothing_the_next_run_finishes() {
    let Some(world) = World::new() else { return };
    for kill in 0..6_u64 {
        let running = world.example().start(&world.cx()).unwrap();
        std::thread::sleep(Duration::from_millis(40 * kill));
        drop(running);
    }
    world.setup().unwrap();
    assert_eq!(world.versions().as_deref(), Some("1.0 2.0"));
    world.assert_tidy();
    assert!(world.setup().unwrap().plan.is_empty());
}

#[test]
fn who_has_to_wait_says_for_whom() {
    let world = World::bare();
    let options = pto_build::SetupOptions { helpers_only: true, ..world.options() };
    fs_err::create_dir_all(world.home()).unwrap();
    let cx = world.cx();
    let held = Lock::acquire(&cx, &world.path("home/.setup.lock"), "the test").unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| setup(&cx, &options));
        let said = || {
            world.events.events().into_iter().find_map(|event| match event {
                Event::Started { message, .. } if message.starts_with("Waiting for ") => Some(message),
                _ => None,
            })
        };
        let start = Instant::now();
        let message = loop {
            if let Some(message) = said() {
                break message;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "it does not say that it waits");
            std::thread::sleep(Duration::from_millis(20));
        };
        let expected = format!(
            "Waiting for process {} that is preparing `setup of `{}``",
            std::process::id(),
            world.home().display()
        );
        assert_eq!(message, expected);
        assert!(!waiting.is_finished());
        drop(held);
        waiting.join().unwrap().unwrap();
    });
}

#[test]
fn four_at_once_set_it_up_once() {
    let Some(world) = World::new() else { return };
    let running: Vec<_> = (0..4).map(|_| world.example().start(&world.cx()).unwrap()).collect();
    let ends: Vec<_> = running.into_iter().map(|one| one.wait().unwrap().require_success().unwrap()).collect();
    let built = ends.iter().filter(|output| output.stdout.text().contains("Build {")).count();
    assert_eq!(built, 1);
    assert_eq!(world.versions().as_deref(), Some("1.0 2.0"));
    world.assert_tidy();
}

#[test]
fn a_full_disk_leaves_the_old_environment() {
    let Some(world) = World::new() else { return };
    fs_err::create_dir(world.home()).unwrap();
    let mount = |options: &str| {
        let mount = Invocation::new("mount").args(["-t", "tmpfs", "-o", options, "none"]).arg(world.home());
        mount.run(&pto_test::machine()).is_ok_and(|output| output.success())
    };
    if !mount("size=128m") {
        return pto_test::absent("no file system can be mounted here (needs root)");
    }
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| fill_up(&world, mount)));
    Invocation::new("umount").arg("-l").arg(world.home()).run(&pto_test::machine()).unwrap();
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

fn fill_up(world: &World, remount: impl Fn(&str) -> bool) {
    world.setup().unwrap();
    let used = |what: &str| {
        let output = Invocation::new("df").arg(format!("--output={what}")).arg(world.home());
        let output = output.run(&pto_test::machine()).unwrap();
        output.stdout.text().split_whitespace().last().unwrap().parse::<u32>().unwrap()
    };
    let inodes = used("iused");
    let mut refused = 0;
    for room in (0..).step_by(4) {
        fs_err::remove_file(world.venv().join("bin/activate")).or_else(gone).unwrap();
        assert!(remount(&format!("remount,nr_inodes={}", inodes + room)));
        match world.setup() {
            Ok(_) => break,
            Err(Error::Home(HomeError::NotWritten(pto_store::Error::NoSpace { .. }))) => refused += 1,
            Err(other) => panic!("{room}: {}", pto_context::with_causes(&other)),
        }
        assert_eq!(world.versions().as_deref(), Some("1.0 2.0"), "room for {room} files");
        world.assert_tidy();
    }
    assert!(refused > 2, "the disk was full {refused} times");
    assert_eq!(world.versions().as_deref(), Some("1.0 2.0"));
}

fn gone(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
