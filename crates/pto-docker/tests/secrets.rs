//! Where credentials may not appear, with a client that notes all it is given.

use std::sync::Arc;

use pto_context::Recorder;
use pto_docker::{Credentials, Docker, Error, Proxies, RegistryClient};
use pto_test::host::Host;

const PASSWORD: &str = "planted-pass$word";

/// A client that notes its environment and, on `login`, what it reads; it stores the login as the real one does.
const CLIENT: &str = r#"
/usr/bin/env > "$NOTES/env"
case "$1" in
    context) echo unix:///of/a/context.sock ;;
    login)
        /bin/cat > "$NOTES/stdin"
        echo "{}" > "$DOCKER_CONFIG/config.json"
        echo "$DOCKER_CONFIG" > "$NOTES/config"
        echo "warning: planted-pass\$word is stored unencrypted" >&2
        exit "${LOGIN_CODE:-0}" ;;
esac
"#;

fn host() -> Host {
    let mut host = Host::empty();
    host.script("docker", CLIENT);
    for (name, value) in [
        ("NOTES", host.root().display().to_string()),
        ("TMPDIR", host.root().display().to_string()),
        ("HTTPS_PROXY", "http://proxyuser:proxypass@proxy:1".to_owned()),
        ("no_proxy", "localhost".to_owned()),
    ] {
        host.var(name, &value);
    }
    host
}

fn credentials() -> Credentials {
    Credentials { user: "me".to_owned(), password: PASSWORD.to_owned() }
}

#[test]
fn a_login_that_does_not_fit_is_not_the_engines_disk() {
    let mut host = host();
    host.script(
        "docker",
        "echo \"Error saving credentials: write $DOCKER_CONFIG/x: no space left on device\" >&2; exit 1",
    );
    host.var("DOCKER_HOST", "unix:///x.sock");
    let mut registry = RegistryClient::new(&Docker::new(&host.cx()).unwrap()).unwrap();
    let error = registry.login("registry.example", &credentials()).unwrap_err();
    assert!(matches!(&error, Error::Private { path, .. } if path == registry.config()), "{error}");
    assert!(error.hint().unwrap().contains("TMPDIR"));
    host.script("docker", "echo 'write /var/lib/docker/x: no space left on device' >&2; exit 1");
    let error = registry.login("registry.example", &credentials()).unwrap_err();
    assert!(matches!(error, Error::DiskFull { .. }), "{error}");
}

#[test]
fn what_the_client_always_says_is_not_the_reason() {
    let mut host = Host::empty();
    host.script(
        "docker",
        "echo 'DEPRECATED: The legacy builder is deprecated and will be removed in a future release.
            Install the buildx component to build images with BuildKit:
            https://docs.docker.com/go/buildx/

the reason
See '\\''docker build --help'\\''.' >&2; exit 3",
    );
    let docker = Docker::new(&host.cx()).unwrap();
    match docker.run(&docker.command(["build", "."]), "x").unwrap_err() {
        Error::Failed { said, .. } => assert_eq!(said, "the reason"),
        other => panic!("{other}"),
    }
}

#[test]
fn a_password_goes_to_stdin_alone() {
    let host = host();
    let events = Arc::new(Recorder::default());
    let cx = host.cx().with_events(events.clone());
    let mut registry = RegistryClient::new(&Docker::new(&cx).unwrap()).unwrap();
    registry.login("registry.example", &credentials()).unwrap();
    let noted = |name: &str| fs_err::read_to_string(host.place(name)).unwrap_or_default();
    assert_eq!(noted("stdin"), PASSWORD);
    assert!(noted("calls").contains("docker login --username me --password-stdin registry.example"));
    let env = noted("env");
    assert!(env.contains("DOCKER_HOST=unix:///of/a/context.sock"), "the user's context still counts: {env}");
    for text in [noted("calls"), env.clone(), format!("{:?} {registry:?} {:?}", events.events(), credentials())] {
        assert!(!text.contains("planted-pass") && !text.contains("proxypass"), "{text}");
    }
    for proxy in pto_docker::PROXY_VARIABLES {
        assert!(!env.lines().any(|line| line.starts_with(&format!("{proxy}="))), "{proxy}: {env}");
    }
    let config = std::path::PathBuf::from(noted("config").trim());
    assert!(config.join("config.json").is_file());
    drop(registry);
    assert!(!config.exists());
}

#[test]
fn a_refused_login_shows_no_password() {
    let mut host = host();
    host.var("LOGIN_CODE", "1");
    let docker = Docker::new(&host.cx()).unwrap();
    let error = RegistryClient::new(&docker).unwrap().login("registry.example", &credentials()).unwrap_err();
    let text = format!("{error} {error:?} {:?}", error.hint());
    assert!(
        matches!(error, Error::Failed { .. }) && text.contains("*** is stored") && !text.contains("planted"),
        "{text}"
    );
    let left = fs_err::read_dir(host.root()).unwrap().flatten().map(|entry| entry.path());
    let private = left.filter(|path| path.to_string_lossy().contains("ptokit-docker-"));
    assert!(private.flat_map(|path| fs_err::read_dir(path).unwrap()).next().is_none(), "nothing is left over");
}

#[test]
fn proxies_are_handed_on_by_name() {
    let host = host();
    let cx = host.cx();
    let docker = Docker::new(&cx).unwrap();
    let proxies = Proxies::of(&cx, Some("http://other:otherpass@proxy:2"));
    let args = proxies.names().flat_map(|name| ["--env", name]).map(str::to_owned).collect::<Vec<_>>();
    let run = proxies.hand_on(docker.command(["run"]).args(args));
    docker.run(&run, "").unwrap();
    assert!(
        run.to_shell_line().ends_with(
            "docker run --env HTTP_PROXY --env http_proxy --env HTTPS_PROXY --env https_proxy --env no_proxy"
        )
    );
    assert!(!host.calls().contains("pass") && !run.to_shell_line().contains("pass"));
    let env = fs_err::read_to_string(host.place("env")).unwrap();
    assert!(env.contains("HTTPS_PROXY=http://other:otherpass@proxy:2"), "{env}");
}
