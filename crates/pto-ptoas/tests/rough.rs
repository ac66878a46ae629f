//! Rough treatment: killed at random moments, many at once, a full disk, a read-only one. Afterwards either the old or the new
//! installation works, and the next run repairs what is left.
//!
//! Each test reports its figures. `PTOKIT_KILLS` says how often the installer is killed.

mod support;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pto_process::{Invocation, Output, Status};
use pto_ptoas::{Error, InstallOptions, Layout};
use support::{Disk, Offer, Wheel, World, machine, report, sh, skipped};

/// How often the installer is killed.
const KILLS: usize = 300;

/// Files of each wheel: enough to be in the middle of for a while.
const FILES: usize = 120;

/// Files of each wheel where every single one is a step of the test.
const FEW: usize = 4;

fn offers(world: &World, files: usize) -> [(&'static str, Offer); 2] {
    ["0.61", "0.62"]
        .map(|version| (version, world.offer(&Wheel::new(version, Layout::LauncherScript).with_data(files))))
}

/// The version that is installed, if it works and is whole.
#[track_caller]
fn whole_version(world: &World, files: usize) -> Option<String> {
    let version = world.version()?;
    let (major, minor) = world.python.1;
    let packages = world.root().join(format!("lib/python{major}.{minor}/site-packages/ptoas/data"));
    for index in 0..files {
        let found = fs_err::read(packages.join(format!("{index}.txt"))).unwrap();
        assert!(found == support::wheel::data(&version, index), "file {index} of {version} is another version's");
    }
    Some(version)
}

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    /// Between 0 and 1.
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[test]
fn killed_at_any_moment_one_installation_works() {
    let kills = machine().var("PTOKIT_KILLS").and_then(|text| text.parse().ok()).unwrap_or(KILLS);
    // Side by side: more happens between two moments, and it takes less time.
    let worlds = std::thread::scope(|scope| {
        let seeds = (0..WORLDS).map(|index| 0x9e37_79b9_7f4a_7c15 ^ index as u64);
        let started: Vec<_> = seeds.map(|seed| scope.spawn(move || kill(kills / WORLDS, Random(seed)))).collect();
        started.into_iter().map(|world| world.join().unwrap()).collect::<Vec<_>>()
    });
    let sum = |count: fn(&Killed) -> usize| worlds.iter().map(count).sum::<usize>();
    let (old, new, amid) = (sum(|world| world.old), sum(|world| world.new), sum(|world| world.amid));
    report(&format!("killed {} times: {old} old, {new} new, 0 broken; {amid} left something behind", old + new));
    assert!(amid > 0, "no run was killed while it was at work");
}

/// Worlds in which the installer is killed side by side.
const WORLDS: usize = 3;

/// What worked after the kills.
struct Killed {
    old: usize,
    new: usize,
    /// How often something was left to sweep.
    amid: usize,
}

fn kill(kills: usize, mut random: Random) -> Killed {
    let world = World::new();
    let offers = offers(&world, FILES);
    let install = |index: usize| world.example(&offers[index].1);
    let run = |index: usize| {
        let start = Instant::now();
        let output = install(index).run(&cx(&world)).unwrap();
        assert!(output.success(), "{}", output.last_words(10));
        start.elapsed()
    };
    // The quickest of some: a disk that is busy for others can hold one of them up for seconds.
    let whole_run = [run(0), run(1), run(0), run(1)].into_iter().min().unwrap();
    let mut killed = Killed { old: 0, new: 0, amid: 0 };
    for _ in 0..kills {
        let before = whole_version(&world, FILES).unwrap();
        let wanted = usize::from(before == offers[0].0);
        let running = install(wanted).start(&cx(&world)).unwrap();
        std::thread::sleep(whole_run.mul_f64(random.next() * 1.6));
        // SIGKILL to the installer; the kernel ends its children.
        drop(running);
        match whole_version(&world, FILES).expect("nothing works any more") {
            version if version == before => killed.old += 1,
            version => {
                assert_eq!(version, offers[wanted].0);
                killed.new += 1;
            }
        }
        killed.amid += usize::from(world.beside().len() > 3);
    }
    run(usize::from(whole_version(&world, FILES).unwrap() == offers[0].0));
    // A run that finds something to do sweeps: nothing but the installation is left.
    world.assert_tidy();
    killed
}

fn cx(world: &World) -> pto_context::Context {
    pto_context::Context::fake("/", world.vars())
}

#[test]
fn eight_at_once_install_once() {
    let world = World::new();
    let offers = offers(&world, FILES);
    let start =
        |index: usize, flag: Option<&str>| world.example(&offers[index].1).args(flag).start(&cx(&world)).unwrap();
    let finish = |running: Vec<pto_process::Running>| -> Vec<Output> {
        running.into_iter().map(|one| one.wait().unwrap().require_success().unwrap()).collect()
    };
    let same = finish((0..8).map(|_| start(0, None)).collect());
    let done = same.iter().filter(|output| output.stdout.text().starts_with("Installed")).count();
    assert_eq!((done, whole_version(&world, FILES).as_deref()), (1, Some("0.61")));
    world.assert_tidy();

    let mixed = finish((0..8).map(|index| start(index % 2, Some("--force"))).collect());
    assert!(mixed.iter().all(|output| output.stdout.text().starts_with("Installed")));
    let version = whole_version(&world, FILES).unwrap();
    world.assert_tidy();
    report(&format!("eight at once: 1 installed, 7 found it; eight with force and two versions: {version} in the end"));
}

#[test]
fn a_disk_without_room_for_one_more_file_leaves_the_old_one() {
    let world = World::new();
    let Some(disk) = Disk::mount(&world.path("opt"), "size=64m") else { return };
    let offers = offers(&world, FEW);
    world.install(&offers[0].1).unwrap();
    let used = inodes(&world);
    let mut ends = BTreeMap::new();
    // Every file that the installation makes is the one that no longer fits; the last steps have room for all.
    let mut last = None;
    for room in 0.. {
        disk.remount(&format!("nr_inodes={}", used + room));
        let wanted = &offers[1].1;
        match world.install(wanted) {
            Ok(_) => {
                last = Some(room);
                break;
            }
            Err(Error::NoSpace { .. }) => *ends.entry("no space").or_insert(0) += 1,
            Err(other) => {
                let text = format!("{other} {:?}", std::error::Error::source(&other).map(ToString::to_string));
                assert!(text.contains("No space left on device"), "{room}: {text}");
                *ends.entry("another error that names it").or_insert(0) += 1;
            }
        }
        assert_eq!(whole_version(&world, FEW).as_deref(), Some("0.61"), "{room}");
        world.assert_tidy();
    }
    let (version, last) = (whole_version(&world, FEW), last.unwrap());
    drop(disk);
    assert_eq!(version.as_deref(), Some("0.62"));
    assert!(last > FEW, "only {last} files were made");
    report(&format!("disk full at each of {last} files: {ends:?}, the old one worked every time"));
}

/// Files that are on the small disk.
fn inodes(world: &World) -> usize {
    let output = Invocation::new("df").args(["--output=iused"]).arg(world.path("opt")).run(&machine()).unwrap();
    output.stdout.text().split_whitespace().last().unwrap().parse().unwrap()
}

#[test]
fn a_disk_that_fills_up_leaves_the_old_one() {
    let world = World::without_uv();
    let Some(disk) = Disk::mount(&world.path("opt"), "size=64m") else { return };
    let offers = offers(&world, FILES);
    world.install(&offers[0].1).unwrap();
    let used = kilobytes(&world);
    let mut refused = 0;
    // An environment with pip takes more than is asked for beforehand.
    for room in [5, 11, 17] {
        disk.remount(&format!("size={}k", used + room * 1024));
        match world.install(&offers[1].1) {
            Ok(_) => break,
            Err(error) => {
                // A tool that fails may have made room again before it can be asked, and does not always say why.
                assert!(matches!(error, Error::NoSpace { .. } | Error::Environment { .. }), "{error:?}");
                refused += 1;
            }
        }
        assert_eq!(whole_version(&world, FILES).as_deref(), Some("0.61"), "{room} MB");
        world.assert_tidy();
    }
    disk.remount("size=64m");
    let again = world.install(&offers[1].1);
    let version = whole_version(&world, FILES);
    drop(disk);
    again.unwrap();
    assert_eq!(version.as_deref(), Some("0.62"));
    assert!(refused > 0, "the disk was never full");
    report(&format!("disk full at {refused} sizes, the old one worked every time"));
}

fn kilobytes(world: &World) -> usize {
    let output = Invocation::new("df").args(["--output=used", "-k"]).arg(world.path("opt")).run(&machine()).unwrap();
    output.stdout.text().split_whitespace().last().unwrap().parse().unwrap()
}

#[test]
fn a_limit_on_file_sizes_leaves_the_old_one() {
    let world = World::new();
    let offers = offers(&world, FILES);
    world.install(&offers[0].1).unwrap();
    let mut ends = BTreeMap::new();
    for blocks in [0, 1, 2, 4, 8, 16, 32, 64, 128] {
        // The signal would end the process; ignored, the write fails.
        let line = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\" --force");
        let install = world.example(&offers[1].1);
        let words = install.argv();
        let limited = Invocation::new("sh").args(["-c", line.as_str()]).args(words).run(&cx(&world)).unwrap();
        match limited.status {
            Status::Exited(0) => assert_eq!(whole_version(&world, FILES).as_deref(), Some("0.62")),
            _ => {
                assert_eq!(limited.status, Status::Exited(3), "{}", limited.last_words(5));
                assert_eq!(whole_version(&world, FILES).as_deref(), Some("0.61"), "{blocks}");
            }
        }
        *ends.entry(limited.status.to_string()).or_insert(0) += 1;
        world.assert_tidy();
        world.install_with(&InstallOptions { force: true, ..world.options(&offers[0].1) }).unwrap();
    }
    report(&format!("files limited to 9 sizes: {ends:?}"));
    assert!(ends.len() > 1, "{ends:?}");
}

#[test]
fn a_read_only_target_keeps_what_it_has() {
    let world = World::new();
    let root = sh("test $(id -u) = 0", world.dir.path());
    let disk = if root { Disk::mount(&world.path("opt"), "size=64m") } else { None };
    if root && disk.is_none() {
        return;
    }
    let offers = offers(&world, FILES);
    world.install(&offers[0].1).unwrap();
    match &disk {
        Some(disk) => disk.remount("ro"),
        None => assert!(sh("chmod a-w opt opt/.ptoas.d", world.dir.path())),
    }
    let same = world.install(&offers[0].1);
    let other = world.install(&offers[1].1);
    let version = whole_version(&world, FILES);
    if disk.is_none() {
        assert!(sh("chmod u+w opt opt/.ptoas.d", world.dir.path()));
    }
    drop(disk);
    assert_eq!(same.unwrap().action, pto_ptoas::Action::Nothing);
    let error = other.unwrap_err();
    assert!(matches!(error, Error::NotWritable { .. }) && error.hint().unwrap().contains("PTOAS_ROOT"), "{error}");
    assert_eq!(version.as_deref(), Some("0.61"));
}

#[test]
fn a_directory_of_an_images_lower_layer_is_replaced_all_the_same() {
    let world = World::new();
    let opt = world.path("opt");
    fs_err::create_dir_all(&opt).unwrap();
    let Some(disk) = Disk::mount(&world.path("layers"), "size=64m") else { return };
    let old = "mkdir -p lower/ptoas/bin upper work && printf '#!/bin/sh\\necho ptoas 0.40\\n' > lower/ptoas/bin/ptoas && \
               chmod +x lower/ptoas/bin/ptoas && mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work none ../opt";
    if !sh(old, &world.path("layers")) {
        return skipped("no overlay can be mounted here");
    }
    assert_eq!(world.version().as_deref(), Some("0.40"));
    let done = world.install(&offers(&world, FILES)[0].1);
    let version = whole_version(&world, FILES);
    let warned = format!("{:?}", world.events.events()).contains("cannot exchange");
    sh("umount -l opt", world.dir.path());
    drop(disk);
    done.unwrap();
    assert_eq!(version.as_deref(), Some("0.61"));
    report(&format!(
        "a directory of a lower layer: {}",
        if warned { "replaced in two steps, and said so" } else { "exchanged" }
    ));
}

#[test]
fn a_mount_point_is_refused_by_name() {
    let world = World::new();
    let Some(disk) = Disk::mount(&world.root(), "size=1m") else { return };
    let error = world.install(&offers(&world, FILES)[0].1);
    drop(disk);
    assert!(matches!(error, Err(Error::MountPoint { .. })), "{error:?}");
}

/// How long an interrupted run may take to end.
const END: Duration = Duration::from_secs(60);

#[test]
fn an_interrupt_leaves_nothing_behind() {
    let world = World::new();
    let offers = offers(&world, FILES);
    world.install(&offers[0].1).unwrap();
    world.program("uv", "touch \"$HOME-started\"; sleep 600");
    let running = world.example(&offers[1].1).deadline(END).start(&cx(&world)).unwrap();
    let start = Instant::now();
    while !world.path("home-started").exists() {
        assert!(start.elapsed() < END, "it did not come to `uv`");
        std::thread::sleep(Duration::from_millis(10));
    }
    let pid = rustix::process::Pid::from_raw(running.pid().try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = running.wait().unwrap();
    assert_eq!(output.status, Status::Exited(3), "{}", output.last_words(5));
    assert!(output.last_words(5).contains("interrupted"), "{}", output.last_words(5));
    assert_eq!(whole_version(&world, FILES).as_deref(), Some("0.61"));
    world.assert_tidy();
}
