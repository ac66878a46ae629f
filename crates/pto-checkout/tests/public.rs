//! The public PyPTO, where a checkout of it is named.

use pto_checkout::{Checkout, JobLimits, Pins};
use pto_process::Invocation;

#[test]
fn a_public_checkout_is_read() {
    let Some(dir) = pto_test::pypto_checkout() else { return };
    let cx = pto_test::machine();
    let checkout = Checkout::open(&cx, &dir).unwrap();
    let git = |args: &[&str]| {
        let output = Invocation::new("git").args(["-c", "safe.directory=*"]).args(args).cwd(&dir).run(&cx).unwrap();
        output.require_success().unwrap().stdout.text().trim_end().to_owned()
    };
    assert_eq!(checkout.head, Some(git(&["rev-parse", "HEAD"])));
    assert_eq!(checkout.is_detached(), git(&["branch", "--show-current"]).is_empty());
    assert_eq!(checkout.is_dirty(), !git(&["status", "--porcelain", "--ignore-submodules=none"]).is_empty());
    for submodule in &checkout.submodules {
        assert_eq!(git(&["rev-parse", &format!(":{}", submodule.path)]), submodule.recorded, "{}", submodule.path);
    }
    let runtime = checkout.submodule("runtime").expect("PyPTO has a runtime");
    let pins = Pins::read(&cx, checkout.root()).unwrap();
    let versions = pins.versions.unwrap();
    assert!(versions.ptoas.is_some() && versions.notes.is_empty(), "{versions:?}");
    assert_eq!(pins.python.unwrap().version, "3.10");
    assert_eq!(pins.pto_isa.is_some(), runtime.checkout.is_some(), "the pin lies in the runtime");
    assert!(pins.pto_isa.is_none_or(|pin| pin.commit.is_some()));
    assert!(JobLimits::of(&cx, &checkout).unwrap().build >= 1);
}
