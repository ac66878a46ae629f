//! Rough treatment: killed at any moment, interrupted, a full disk. The store holds whole entries or none.

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use pto_process::{Invocation, Status};
use support::{World, machine};

/// How often the fetch is killed.
const KILLS: u32 = 40;

#[test]
fn killed_at_any_moment_the_store_stays_sound() {
    const FILES: usize = 300;
    let world = World::new(FILES);
    world.pip_stub();
    let cx = world.cx().with_var("STUB_WAIT", "0.03");
    let fetch = world.example(&world.path("store"));
    let remove = |dir: &Path| fs_err::remove_dir_all(dir).unwrap();

    // The quickest of three: a disk that is busy for others can hold one of them up for seconds.
    let whole_run = (0..3).map(|_| {
        let start = Instant::now();
        assert!(fetch.run(&cx).unwrap().success());
        let time = start.elapsed();
        remove(&world.pin.find(&world.store()).unwrap());
        time
    });
    let whole_run = whole_run.min().unwrap();

    let mut finished = 0;
    for kill in 0..KILLS {
        let running = fetch.start(&cx).unwrap();
        // Spread over the whole run: a prime step visits early, middle and late moments in no order.
        std::thread::sleep(whole_run * (kill * 17 % KILLS) / KILLS);
        // SIGKILL to the group, as an out-of-memory killer or a lost machine would.
        drop(running);
        if world.whole(FILES) {
            finished += 1;
            remove(&world.pin.find(&world.store()).unwrap());
        }
    }
    assert!(finished < KILLS, "no run was killed before its end");

    let output = fetch.run(&cx).unwrap();
    assert!(output.success(), "{}", output.last_words(10));
    assert!(world.whole(FILES));
    world.assert_tidy();
}

#[test]
fn eight_processes_fetch_once() {
    let world = World::new(50);
    world.pip_stub();
    let cx = world.cx().with_var("STUB_WAIT", "0.3");
    let started: Vec<_> = (0..8).map(|_| world.example(&world.path("store")).start(&cx).unwrap()).collect();
    for running in started {
        let output = running.wait().unwrap();
        assert!(output.success(), "{}", output.last_words(10));
    }
    assert!(world.whole(50));
    assert_eq!(world.stub_log().len(), 1);
    world.assert_tidy();
}

#[test]
fn an_interrupt_ends_the_client_and_leaves_no_entry() {
    let world = World::new(0);
    world.pip_stub();
    let running = world.example(&world.path("store")).start(&world.cx().with_var("STUB_WAIT", "60")).unwrap();
    while world.stub_log().is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let kill = Invocation::new("kill").args(["-INT", &running.pid().to_string()]).run(&machine()).unwrap();
    assert!(kill.success());
    let output = running.wait().unwrap();
    assert_eq!(output.status, Status::Exited(3));
    assert!(output.duration < Duration::from_secs(20) && output.last_words(1) == "error: interrupted", "{output:?}");
    assert!(!world.whole(0));
    world.assert_tidy();
}

#[test]
fn a_disk_that_fills_up_is_named_and_leaves_no_entry() {
    const FILES: usize = 400; // 3 MB when unpacked, a tenth of that as a wheel
    // First while the client downloads, then while we unpack.
    for (kilobytes, what) in [(80, "download"), (1500, "unpack")] {
        let world = World::new(FILES);
        world.pip_stub();
        fs_err::create_dir(world.path("store")).unwrap();
        let sh = |script: &str| {
            Invocation::new("sh").args(["-c", script]).cwd(world.path("store")).run(&machine()).unwrap().success()
        };
        if !sh(&format!("mount -t tmpfs -o size={kilobytes}k none .")) {
            return pto_test::absent("no small file system can be mounted here (needs root)");
        }
        let result = world.pin.fetch(&world.cx(), &world.store());
        let there = world.whole(FILES);
        let tidy = sh("! ls -A wheels | grep .");
        // Room again: the next run does it.
        assert!(sh("mount -o remount,size=64m ."));
        let again = world.pin.fetch(&world.cx(), &world.store());
        let whole = world.whole(FILES);
        assert!(sh("umount -l ."));
        let error = result.unwrap_err();
        assert!(error.to_string().starts_with("no space left: cannot write under `"), "{what}: {error:?}");
        assert!(error.to_string().contains("/store/") && error.hint().unwrap().contains("PTOKIT_HOME"), "{error}");
        assert!(!there && tidy && whole, "{what}: {there} {tidy} {whole} {again:?}");
    }
}

#[test]
fn a_limit_on_file_sizes_is_reported_like_a_full_disk() {
    let world = World::new(0);
    world.pip_stub();
    // The signal would end the process; ignored, the write fails.
    let fetch = world.example(&world.path("store"));
    let line = fetch.to_shell_line();
    let script = format!("trap '' XFSZ; ulimit -f 0; exec {line}");
    let output = Invocation::new("/bin/sh").args(["-c", &script]).run(&world.cx()).unwrap();
    assert_eq!(output.status, Status::Exited(3), "{output:?}");
    let words = output.stderr.text();
    assert!(words.contains("no space left: cannot write under") && words.contains("File too large"), "{words}");
    assert!(!world.whole(0));
}
