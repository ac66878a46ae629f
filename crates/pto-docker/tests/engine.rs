//! Against a real engine, with images built on this machine.

use pto_docker::{Docker, Error};
use pto_test::engine::{Engine, NAMESPACE, engine};

fn image(engine: &Engine, name: &str, lines: &str) -> String {
    let tag = format!("{NAMESPACE}/docker-{name}:1");
    engine.image_of(&tag, &["sleep", "env"], lines);
    tag
}

#[test]
fn an_engine_says_what_it_is() {
    let Some(engine) = engine() else { return };
    let info = Docker::new(engine.cx()).unwrap().info().unwrap();
    assert!(info.server_version.is_some() && info.root_dir.is_some() && !info.runtimes.is_empty(), "{info:?}");
}

#[test]
fn images_and_containers_are_facts() {
    let Some(engine) = engine() else { return };
    let docker = Docker::new(engine.cx()).unwrap();
    let tag = image(&engine, "facts", "ENV PYPTO_CANN_TAG=9.2.0 TOKEN=planted\nLABEL ptokit.a=b other=planted");
    let _image = engine.image(&tag);
    let found = docker.image(&tag).unwrap().unwrap();
    assert_eq!((found.env("PYPTO_CANN_TAG"), found.env("TOKEN")), (Some("9.2.0"), None));
    assert_eq!(found.labels.len(), 1);
    assert!(found.size.unwrap() > 1_000_000);
    assert_eq!(docker.image("ptokit-test/absent:1").unwrap(), None);

    let name = "ptokit-test-docker-facts";
    let _container = engine.container(name);
    assert_eq!(docker.container(name).unwrap(), None);
    let create = docker.command(["create", "--name", name, "--tty", &tag, "sleep", "60"]);
    docker.run(&create, name).unwrap();
    let created = docker.container(name).unwrap().unwrap();
    assert_eq!((created.image_id, created.tty, created.status.as_deref()), (found.id, true, Some("created")));
    let running =
        |docker: &Docker| docker.running_containers().unwrap().iter().any(|it| it.name.as_deref() == Some(name));
    assert!(!running(&docker));
    engine.ok(&["start", name]);
    assert!(running(&docker));

    let again = docker.run(&create, name).unwrap_err();
    assert!(matches!(again, Error::NameTaken { .. }), "{again}");
}

#[test]
fn refusals_are_told_apart() {
    let Some(engine) = engine() else { return };
    let docker = Docker::new(engine.cx()).unwrap();
    let failed = |args: &[&str]| docker.run(&docker.command(args.iter().copied()), args[args.len() - 1]).unwrap_err();
    let absent = failed(&["create", "--pull", "never", "ptokit-test/absent:1"]);
    assert!(matches!(&absent, Error::NoSuchImage { name, .. } if name == "ptokit-test/absent:1"), "{absent}");
    assert!(matches!(failed(&["start", "ptokit-test-absent"]), Error::NoSuchContainer { .. }));
    assert!(matches!(failed(&["image", "nonsense"]), Error::Failed { .. }));

    let tag = image(&engine, "runtime", "");
    let _image = engine.image(&tag);
    let _container = engine.container("ptokit-test-runtime");
    let args = ["run", "--name", "ptokit-test-runtime", "--runtime=ptokit-none", &tag];
    assert!(matches!(failed(&args), Error::NoRuntime { .. }));
}

#[test]
fn without_an_engine_it_is_said_where_one_was_looked_for() {
    let Some(engine) = engine() else { return };
    let host = "unix:///nowhere/docker.sock";
    let docker = Docker::new(&engine.cx().clone().with_var("DOCKER_HOST", host)).unwrap();
    for error in [docker.info().unwrap_err(), docker.image("a").unwrap_err(), docker.running_containers().unwrap_err()]
    {
        assert!(matches!(&error, Error::NoDaemon { host: Some(found), .. } if found == host), "{error}");
        assert_eq!(error.to_string(), "no Docker engine answers at `unix:///nowhere/docker.sock`");
    }
}
