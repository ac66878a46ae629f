//! Wheels through stand-ins, and through the real clients where the machine has them.

mod support;

use std::sync::Arc;

use pto_context::{Event, Recorder};
use pto_fetch::{Error, WheelPin};
use support::{FILE, World};

#[test]
fn a_wheel_is_fetched_once() {
    let world = World::new(3);
    world.pip_stub();
    let events = Arc::new(Recorder::default());
    let cx = world.cx().with_events(events.clone());
    assert_eq!(world.pin.find(&world.store()), None);

    let first = world.pin.fetch(&cx, &world.store()).unwrap();
    assert!(world.whole(3));
    world.assert_tidy();
    assert!(!world.path("store/.downloads").join(first.file_name().unwrap()).exists());
    assert_eq!(world.pin.fetch(&cx, &world.store()).unwrap(), first);

    let log = world.stub_log();
    assert_eq!(log.len(), 1, "{log:?}");
    for flag in ["--no-deps", "--only-binary=:all:", "--python-version 3.11", "--platform manylinux2014_x86_64"] {
        assert!(log[0].contains(flag), "{flag} is missing: {}", log[0]);
    }
    let events = events.events();
    assert!(matches!(&events[0], Event::Started { task, total_bytes, .. }
        if task == "fetch:ptokit-tiny" && *total_bytes == Some(world.pin.size)));
    assert!(
        matches!(events.last(), Some(Event::Finished { message, .. }) if message == "ptokit-tiny 1.0 ready (5 files)")
    );
}

#[test]
fn a_file_with_another_checksum_is_refused_and_not_kept() {
    let world = World::new(0);
    world.pip_stub();
    let error = world.wrong_pin().fetch(&world.cx(), &world.store()).unwrap_err();
    let text = error.to_string();
    for part in [FILE, &"0".repeat(64), world.pin.sha256, "`pip`", "PIP_FIND_LINKS="] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    assert!(error.hint().unwrap().contains("PIP_INDEX_URL"));
    world.assert_tidy();
    assert_eq!(world.wrong_pin().find(&world.store()), None);
    // The next run asks again and does not trip over what the last one left.
    assert!(matches!(world.wrong_pin().fetch(&world.cx(), &world.store()), Err(Error::Checksum { .. })));
    assert_eq!(world.stub_log().len(), 2);
}

#[test]
fn a_whole_file_of_an_earlier_run_is_used_and_a_half_one_is_not() {
    // The whole file, half a file, and one of the right size that a crash has left full of zeros.
    for (length, spoil, runs) in [(usize::MAX, false, 0), (100, false, 1), (usize::MAX, true, 1)] {
        let world = World::new(0);
        world.pip_stub();
        // Learn where downloads lie by failing one: the client delivers nothing.
        world.program("pip", "exit 1");
        world.pin.fetch(&world.cx(), &world.store()).unwrap_err();
        let downloads = fs_err::read_dir(world.path("store/.downloads")).unwrap().next().unwrap().unwrap().path();
        let mut wheel = fs_err::read(world.path("links").join(FILE)).unwrap();
        if spoil {
            wheel.fill(0);
        }
        fs_err::write(downloads.join("wheels").join(FILE), &wheel[..length.min(wheel.len())]).unwrap();
        world.pip_stub();
        world.pin.fetch(&world.cx(), &world.store()).unwrap();
        assert_eq!(world.stub_log().len(), runs);
    }
}

#[test]
fn another_file_than_the_pinned_one_is_named() {
    let world = World::new(0);
    world.pip_stub();
    let cx = world.cx().with_var("STUB_WHEEL", "/etc/hostname");
    let error = world.pin.fetch(&cx, &world.store()).unwrap_err();
    assert_eq!(error.to_string(), format!("expected the file `{FILE}`, the client got `hostname`"));
}

#[test]
fn a_subtree_that_is_not_there_is_an_error() {
    let world = World::new(0);
    world.pip_stub();
    let pin = WheelPin { keep: Some("no/such"), ..world.pin };
    let error = pin.fetch(&world.cx(), &world.store()).unwrap_err();
    assert_eq!(error.to_string(), format!("`{FILE}` holds no directory `no/such`"));
    world.assert_tidy();
}

#[test]
fn without_a_client_the_hint_says_how_to_get_one() {
    let world = World::new(0);
    let error = world.pin.fetch(&world.cx(), &world.store()).unwrap_err();
    assert!(matches!(error, Error::NoClient { .. }), "{error}");
    assert!(error.hint().unwrap().contains("ensurepip"));
    // Python without pip is no client either.
    world.program("python3", "echo '/usr/bin/python3: No module named pip' >&2; exit 1");
    assert!(matches!(world.pin.fetch(&world.cx(), &world.store()), Err(Error::NoClient { .. })));
}

#[test]
fn when_uv_fails_pip_is_tried_and_the_user_told() {
    let world = World::new(0);
    world.pip_stub();
    world.program("uv", "echo 'error: tls handshake' >&2; exit 2");
    let events = Arc::new(Recorder::default());
    world.pin.fetch(&world.cx().with_events(events.clone()), &world.store()).unwrap();
    let warning = Event::Warning { message: "`uv` exited with code 2; trying another client".into() };
    assert!(events.events().contains(&warning), "{:?}", events.events());
}

#[test]
fn when_all_fail_each_ones_last_words_are_told() {
    let world = World::new(0);
    world.program("uv", "echo 'error: tls handshake' >&2; exit 2");
    world.program("pip", "echo 'ERROR: http://me:pw@mirror refused' >&2; exit 1");
    world.program("python3", "echo 'must not be asked: it is the same pip' >&2; exit 1");
    let error = world.pin.fetch(&world.cx(), &world.store()).unwrap_err();
    let expected = "cannot get `ptokit-tiny==1.0`\n`uv` exited with code 2:\nerror: tls handshake\n\
                    `pip` exited with code 1:\nERROR: http://***@mirror refused";
    assert_eq!(error.to_string(), expected);
    assert!(error.hint().unwrap().contains("PIP_FIND_LINKS"));
}

#[test]
fn the_real_clients_deliver_the_same_entry() {
    for client in ["uv", "pip"] {
        for keep in [Some("tiny"), None] {
            let world = World::new(20);
            if !world.real_client(client) {
                continue;
            }
            let pin = WheelPin { keep, ..world.pin };
            let dir = pin.fetch(&world.cx(), &world.store()).unwrap_or_else(|e| panic!("{client}: {e}"));
            let listing = |dir: &std::path::Path| {
                let mut names: Vec<_> = fs_err::read_dir(dir).unwrap().map(|e| e.unwrap().file_name()).collect();
                names.sort();
                names
            };
            match keep {
                Some(_) => assert!(world.whole(20), "{client}"),
                None => assert_eq!(listing(&dir), ["tiny"], "{client}"),
            }
            world.assert_tidy();
        }
    }
}

#[test]
fn the_real_clients_refuse_a_wrong_checksum() {
    for client in ["uv", "pip"] {
        let world = World::new(0);
        if !world.real_client(client) {
            continue;
        }
        let error = world.wrong_pin().fetch(&world.cx(), &world.store()).unwrap_err();
        assert!(matches!(&error, Error::Checksum { found, .. } if found == world.pin.sha256), "{client}: {error}");
        assert_eq!(world.wrong_pin().find(&world.store()), None);
        world.assert_tidy();
    }
}

#[test]
fn the_real_clients_without_a_source_are_reported_with_their_last_words() {
    for client in ["uv", "pip"] {
        let world = World::new(0);
        if !world.real_client(client) {
            continue;
        }
        fs_err::remove_file(world.path("links").join(FILE)).unwrap();
        let error = world.pin.fetch(&world.cx(), &world.store()).unwrap_err();
        let Error::Clients { attempts, .. } = &error else { panic!("{client}: {error}") };
        assert!(attempts.len() == 1 && attempts[0].last_words.contains(NAME_IN_WORDS), "{client}: {error}");
    }
}

const NAME_IN_WORDS: &str = "ptokit-tiny";
