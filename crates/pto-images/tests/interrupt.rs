//! A wish to end is obeyed while a registry says nothing. Alone in its process, whose flag it sets.

use std::time::Duration;

use pto_context::interrupt;
use pto_images::Error;
use pto_images::registry::{Client, Limits, Options, Repository};
use pto_loopback::{Reply, Server};

#[test]
fn whoever_waits_for_a_registry_may_end_it() {
    let server = Server::start().unwrap();
    server.script("/v2/a/b/manifests/t", [Reply::body("half").stall_after(2)]);
    let limits = Limits { patience: Duration::from_secs(3600), ..Limits::default() };
    let repository: Repository = format!("{}/a/b", server.address()).parse().unwrap();
    let client = Client::new(&pto_test::machine(), repository, Options { limits, ..Options::default() }).unwrap();
    let asking = std::thread::spawn(move || client.manifest("t"));
    while server.requests().is_empty() {
        std::thread::yield_now();
    }
    interrupt::request();
    assert!(matches!(asking.join().unwrap(), Err(Error::Interrupted)));
}
