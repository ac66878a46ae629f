//! Which `uv` a home gets.

use pto_build::{Error, HomeError, SetupOptions, UvStep, setup};
use pto_process::Invocation;

use crate::support::World;

/// A world in which nothing but stand-ins and the system is on `PATH`.
fn world() -> Option<(World, std::path::PathBuf)> {
    let mut world = World::new()?;
    let Some(UvStep::Copy { from, .. }) = world.plan(&world.options()).unwrap().plan.uv else { unreachable!() };
    let path = format!("{}:/usr/bin:/bin", world.path("bin").display());
    world.vars = vec![("PATH", path), ("HOME", world.path("nobody").display().to_string())];
    // The interpreter of the environment may come from where `PATH` led before.
    let root = pto_test::machine().var("PYENV_ROOT").or_else(|| Some(pto_test::machine().var("HOME")? + "/.pyenv"));
    world.vars.extend(root.map(|root| ("PYENV_ROOT", root)));
    Some((world, from))
}

/// A client that delivers a program as `uv`, and keeps what it was asked.
fn client(world: &World, name: &str, program: &std::path::Path) {
    let program = pto_process::shell_word(program.to_str().unwrap()).to_owned();
    let log = pto_process::shell_word(world.path("asked").to_str().unwrap()).to_owned();
    let script = format!(
        "echo \"{name} $*\" >> {log}\nwhile [ $# -gt 0 ]; do [ \"$1\" = --target ] && dir=$2; shift; done\n\
         mkdir -p \"$dir/bin\" && cp {program} \"$dir/bin/uv\"\n"
    );
    world.program(&format!("bin/{name}"), &script);
}

fn version(program: &std::path::Path) -> String {
    let output = Invocation::new(program).arg("--version").run(&pto_test::machine()).unwrap();
    output.stdout.text().split_whitespace().nth(1).unwrap().to_owned()
}

#[test]
fn a_release_that_is_named_is_always_fetched() {
    let Some((world, real)) = world() else { return };
    let tag = version(&real);
    client(&world, "pip", &real);
    for _ in 0..2 {
        let done = setup(&world.cx(), &SetupOptions { uv_version: Some(tag.clone()), ..world.options() }).unwrap();
        assert_eq!(done.plan.uv, Some(UvStep::Fetch { version: Some(tag.clone()) }));
    }
    let asked = fs_err::read_to_string(world.path("asked")).unwrap();
    assert_eq!(asked.lines().count(), 2, "{asked}");
    let line = asked.lines().next().unwrap();
    assert!(line.starts_with("pip install --no-deps --only-binary=:all: "), "{line}");
    assert!(line.ends_with(&format!(" uv=={tag}")), "{line}");
    assert_eq!(version(&world.path("home/bin/uv")), tag);
    world.assert_tidy();
}

#[test]
fn the_variable_names_a_release_and_another_one_is_not_taken_for_it() {
    let Some((mut world, real)) = world() else { return };
    client(&world, "pip", &real);
    setup(&world.cx(), &SetupOptions { uv_version: Some("latest".into()), ..world.options() }).unwrap();
    let kept = version(&world.path("home/bin/uv"));
    world.vars.push(("UV_VERSION", "0.0.1".into()));
    let error = world.setup().unwrap_err();
    assert!(matches!(&error, Error::Home(HomeError::NotUv { .. })), "{error}");
    assert!(error.to_string().contains(&format!("it is {kept}, 0.0.1 was asked for")), "{error}");
    assert_eq!(version(&world.path("home/bin/uv")), kept, "the old one is there");
    assert!(world.setup().unwrap_err().hint().unwrap().contains("--uv-version"));
}

#[test]
fn the_newest_is_fetched_where_there_is_none_and_then_kept() {
    let Some((world, real)) = world() else { return };
    client(&world, "pip", &real);
    assert_eq!(world.setup().unwrap().plan.uv, Some(UvStep::Fetch { version: None }));
    assert!(fs_err::read_to_string(world.path("asked")).unwrap().ends_with(" uv\n"));
    assert_eq!(world.setup().unwrap().plan.uv, Some(UvStep::Keep { version: version(&real) }));
}

#[test]
fn a_shim_is_looked_behind() {
    let Some((mut world, real)) = world() else { return };
    world.program("pyenv/shims/uv", "echo 'a chain of shell scripts' >&2; exit 127");
    fs_err::create_dir_all(world.path("pyenv/versions/3.11.1/bin")).unwrap();
    fs_err::copy(&real, world.path("pyenv/versions/3.11.1/bin/uv")).unwrap();
    world.vars.push(("PATH", format!("{}:/usr/bin:/bin", world.path("pyenv/shims").display())));
    let Some(UvStep::Copy { from, .. }) = world.plan(&world.options()).unwrap().plan.uv else { panic!("not copied") };
    assert_eq!(from, world.path("pyenv/versions/3.11.1/bin/uv"));
}

#[test]
fn no_client_and_no_network_are_told_apart() {
    let Some((world, _)) = world() else { return };
    let options = SetupOptions { uv_version: Some("0.9.2".into()), ..world.options() };
    world.program("bin/pip", "echo 'ERROR: Could not connect to server: Connection refused' >&2; exit 1");
    world.program("bin/python3", "echo \"No module named pip\" >&2; exit 1");
    let error = setup(&world.cx(), &options).unwrap_err();
    let text = pto_context::with_causes(&error);
    assert!(matches!(&error, Error::Home(HomeError::Uv(pto_fetch::Error::Clients { .. }))), "{text}");
    assert!(text.contains("Connection refused") && error.hint().unwrap().contains("--proxy"), "{text}");
    assert!(!world.path("home/bin/uv").exists());
}

/// `pip` says last that there is no such release.
#[test]
fn a_proxy_that_does_not_answer_is_no_missing_release() {
    let Some((world, _)) = world() else { return };
    let options = SetupOptions { uv_version: Some("0.5.0".into()), ..world.options() };
    world.program(
        "bin/pip",
        "echo \"WARNING: Retrying (Retry(total=0)) after connection broken by 'ProxyError('Cannot connect to proxy.')'\" >&2\n\
         echo 'ERROR: No matching distribution found for uv==0.5.0' >&2; exit 1",
    );
    world.program("bin/python3", "echo 'No module named pip' >&2; exit 1");
    let error = setup(&world.cx(), &options).unwrap_err();
    let text = pto_context::with_causes(&error);
    assert!(matches!(&error, Error::Home(HomeError::Uv(pto_fetch::Error::Clients { .. }))), "{text}");
    assert_eq!(error.fault(), pto_build::Fault::Machine);
    assert!(error.hint().unwrap().contains("--proxy"), "{:?}", error.hint());
}

#[test]
fn a_release_that_does_not_exist_is_said_at_once() {
    let Some((world, _)) = world() else { return };
    let options = SetupOptions { uv_version: Some("0.0.9".into()), ..world.options() };
    world.program("bin/pip", "echo 'ERROR: No matching distribution found for uv==0.0.9' >&2; exit 1");
    world.program("bin/python3", "echo asked too >&2; exit 1");
    let error = setup(&world.cx(), &options).unwrap_err();
    assert!(
        matches!(&error, Error::Home(HomeError::Uv(pto_fetch::Error::NoRelease { artifact })) if artifact == "uv==0.0.9")
    );
    assert_eq!(error.fault(), pto_build::Fault::Input);
    assert!(error.hint().unwrap().contains("UV_VERSION"));
}

#[test]
fn the_proxy_reaches_whatever_fetches() {
    let Some((world, real)) = world() else { return };
    client(&world, "pip", &real);
    let script = fs_err::read_to_string(world.path("bin/pip")).unwrap();
    let log = pto_process::shell_word(world.path("proxies").to_str().unwrap()).to_owned();
    let script = script.replacen("#!/bin/sh\n", &format!("echo \"$HTTPS_PROXY $http_proxy\" >> {log}\n"), 1);
    world.program("bin/pip", &script);
    setup(&world.cx(), &SetupOptions { proxy: Some("http://p:1".into()), ..world.options() }).unwrap();
    assert_eq!(fs_err::read_to_string(world.path("proxies")).unwrap(), "http://p:1 http://p:1\n");
}
