//! The release's wheel from a server, which is cut, moved, gone or wrong. The interpreter and `uv` are stand-ins: the release
//! is for CPython 3.10, which need not be here.

mod support;

use std::sync::Arc;

use pto_loopback::{Reply, Server};
use pto_platform::Machine;
use pto_ptoas::{Action, Error, Fault, InstallOptions, Layout, Pin, PinSource, Source, Verdict, status};
use support::{Wheel, World, version_at};

/// A server with a release, and a world with the stand-ins.
struct Releases {
    world: World,
    server: Server,
    asset: String,
    bytes: Arc<[u8]>,
    options: InstallOptions,
}

impl Releases {
    fn new() -> Self {
        let world = World::without_uv();
        let machine = Machine::current().unwrap();
        let answer = format!(
            r#"{{"version": [3, 10], "text": "3.10.1", "implementation": "cpython", "platform": "linux-{machine}", "soabi": "cpython-310-{machine}-linux-gnu"}}"#
        );
        world.program("python3.10", &format!("echo 'ptokit:{answer}'"));
        world.program("uv", support::UV_STAND_IN);
        let wheel = Wheel::new("0.61", Layout::PackageDirectory).with_data(200);
        let bytes: Arc<[u8]> = wheel.bytes().into();
        let asset = format!("ptoas-0.61-cp310-cp310-manylinux_2_34_{machine}.whl");
        let offer = world.offer(&wheel);
        let server = Server::start().unwrap();
        let options = InstallOptions {
            pin: PinSource { file: Some(offer.pins), ..PinSource::default() },
            source: Source::Releases(vec![server.url("/hw-native-sys/PTOAS/releases/download/")]),
            root: Some(world.root()),
            ..InstallOptions::default()
        };
        Self { world, server, asset, bytes, options }
    }

    fn path(&self) -> String {
        format!("/hw-native-sys/PTOAS/releases/download/v0.61/{}", self.asset)
    }

    fn body(&self) -> Reply {
        Reply::body(&*self.bytes)
    }

    fn error(&self) -> Error {
        let error = self.world.install_with(&self.options).unwrap_err();
        assert_eq!(self.world.beside(), Vec::<String>::new());
        error
    }
}

#[test]
fn the_asset_of_the_release_is_fetched_and_installed() {
    let releases = Releases::new();
    let cut = releases.bytes.len() / 2;
    releases.server.script(&releases.path(), [releases.body().cut_after(cut), releases.body()]);
    let done = releases.world.install_with(&releases.options).unwrap();
    assert_eq!((done.action, done.origin), (Action::Installed, Some(releases.server.url(&releases.path()))));
    assert_eq!(releases.world.version().as_deref(), Some("0.61"));
    assert_eq!(releases.server.requests()[1].range_start(), Some(cut));
    // Installing again fetches nothing.
    let again = releases.world.install_with(&InstallOptions { force: true, ..releases.options.clone() }).unwrap();
    assert_eq!((again.origin.as_deref(), releases.server.requests().len()), (Some("the store"), 2));
}

#[test]
fn a_release_whose_owner_moved_is_followed_and_the_last_place_said() {
    let releases = Releases::new();
    let moved = format!("/new-owner/PTOAS/releases/download/v0.61/{}", releases.asset);
    releases.server.script(&releases.path(), [Reply::redirect(301, moved.clone())]);
    releases.server.script(&moved, [releases.body()]);
    let done = releases.world.install_with(&releases.options).unwrap();
    assert_eq!(done.origin, Some(releases.server.url(&moved)));
}

#[test]
fn a_missing_asset_is_named_with_what_the_pin_expects() {
    let releases = Releases::new();
    let error = releases.error();
    let text = error.to_string();
    let pin = Pin::read(&releases.world.cx(), &releases.options.pin).unwrap();
    assert!(text.starts_with(&format!("there is no `{}` for PTOAS v0.61; `", releases.asset)), "{text}");
    assert!(text.ends_with(&format!(" pins sha256 {}", pin.sha256)), "{text}");
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains(&releases.server.url(&releases.path())) && cause.contains("404"), "{cause}");
    assert_eq!(error.fault(), Fault::Verdict);
}

#[test]
fn the_archive_of_an_old_release_under_the_pinned_digest_is_another_file() {
    let releases = Releases::new();
    releases.server.script(&releases.path(), [Reply::body("ptoas-bin-x86_64.tar.gz")]);
    let error = releases.error();
    let pin = Pin::read(&releases.world.cx(), &releases.options.pin).unwrap();
    assert!(error.to_string().contains(&format!("expected sha256 {}, found ", pin.sha256)), "{error}");
}

#[test]
fn a_package_index_can_have_it() {
    let mut releases = Releases::new();
    let file = format!("/files/{}", releases.asset);
    releases.server.script("/simple/ptoas/", [Reply::body(format!("<a href=\"../..{file}\">x</a>"))]);
    releases.server.script(&file, [releases.body()]);
    releases.options.source = Source::Index(releases.server.url("/simple"));
    let done = releases.world.install_with(&releases.options).unwrap();
    assert_eq!(done.origin, Some(releases.server.url(&file)));
}

#[test]
fn the_given_proxy_is_used_and_its_password_not_shown() {
    let releases = Releases::new();
    releases.server.script(&releases.path(), [releases.body()]);
    let proxy = Server::start().unwrap();
    proxy.demand_proxy_password("me:s3cret");
    let address = Some(format!("http://me:s3cret@{}", proxy.address()));
    let through = InstallOptions { proxy: address, ..releases.options.clone() };
    releases.world.install_with(&through).unwrap();
    assert_eq!(proxy.requests().len(), 1);
    let installed = fs_err::read_to_string(releases.world.root().join("ptokit-install.json")).unwrap();
    let shown = format!("{:?} {installed}", releases.world.events.events());
    assert!(!shown.contains("s3cret"), "{shown}");
}

#[test]
fn the_status_tells_what_a_build_would_use_and_what_to_do() {
    let releases = Releases::new();
    releases.server.script(&releases.path(), [releases.body()]);
    let look = |vars: &[(&str, &str)]| {
        let vars = releases.world.vars().into_iter().chain(vars.iter().map(|(k, v)| ((*k).into(), (*v).into())));
        let cx = pto_context::Context::fake("/", vars);
        status(&cx, &releases.options.pin, Some(&releases.world.root())).unwrap()
    };
    let missing = look(&[]);
    assert_eq!((missing.verdict, missing.used), (Verdict::Missing, None));
    assert!(missing.command.unwrap().starts_with("cargo xtask ptoas install --versions-env "));
    releases.world.program("ptoas", "echo ptoas 0.70");
    // A root that was named is never left for `PATH`.
    let elsewhere = look(&[]);
    assert_eq!((elsewhere.verdict, elsewhere.found.len()), (Verdict::Missing, 1));
    releases.world.install_with(&releases.options).unwrap();
    let good = look(&[]);
    assert_eq!((good.verdict, good.command, good.found.len()), (Verdict::AsPinned, None, 2));
    assert_eq!(good.used, Some(releases.world.root().join("bin/ptoas")));

    let pins = releases.options.pin.file.clone().unwrap();
    let newer = fs_err::read_to_string(&pins).unwrap().replace("v0.61", "v0.70");
    fs_err::write(&pins, newer).unwrap();
    assert_eq!(look(&[]).verdict, Verdict::Older);
    let cann = releases.world.path("cann");
    fs_err::create_dir_all(cann.join("python/site-packages/ptoas")).unwrap();
    let with_cann = look(&[("ASCEND_HOME_PATH", cann.to_str().unwrap())]);
    let package = with_cann.found.last().unwrap();
    assert!(package.path.starts_with(&cann) && package.problem.as_ref().unwrap().contains("PYTHONPATH"));
    fs_err::write(releases.world.root().join("bin/ptoas"), "#!/bin/sh\nexit 1\n").unwrap();
    assert_eq!(look(&[]).verdict, Verdict::Broken);
    assert_eq!(version_at(&releases.world.root()), None);
}
