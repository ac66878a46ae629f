//! An interrupt ends a wait. A file of its own, because the request counts for the whole process and cannot be undone.

use std::sync::mpsc::channel;
use std::time::Duration;

use pto_context::{Context, interrupt};
use pto_store::{Error, Store};

#[test]
fn whoever_waits_is_released_and_whoever_builds_ends_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let entry = &Store::open(dir.path()).entry("kind", "key").unwrap();
    let cx = &Context::fake("/", [("A", "1")]);
    let (at_work, is_at_work) = channel();
    let (waiter_done, is_waiter_done) = channel::<()>();
    std::thread::scope(|scope| {
        let builder = scope.spawn(move || {
            entry.get_or_build(cx, |_| {
                at_work.send(()).unwrap();
                is_waiter_done.recv_timeout(Duration::from_secs(20)).expect("the waiter is not released");
                pto_store::stop_if_interrupted()
            })
        });
        is_at_work.recv().unwrap();
        let waiter = scope.spawn(|| entry.get_or_build(cx, |_| Ok::<(), Error>(())));
        std::thread::sleep(Duration::from_millis(100));
        assert!(!waiter.is_finished());
        interrupt::request();
        assert!(waiter.join().unwrap().unwrap_err().is_interrupted());
        waiter_done.send(()).unwrap();
        assert!(builder.join().unwrap().unwrap_err().is_interrupted());
    });
    assert_eq!(fs_err::read_dir(dir.path().join("kind")).unwrap().count(), 0);
}
