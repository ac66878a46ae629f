//! What a login has written is gone, however the program that logged in ends.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pto_context::Context;
use pto_docker::PrivateDirectory;
use pto_process::{Invocation, Running, Stdin};
use pto_test::host::{Host, PATIENCE};

/// A client that stores the login and does not come to an end.
const HANGS: &str = r#"
[ "$1" = login ] || exit 0
/bin/cat > "$DOCKER_CONFIG/config.json"
: > "$TMPDIR/stored"
exec /bin/sleep 600
"#;

/// The example program `login`, built beside the tests by `cargo test`.
fn example() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let example = tests.ancestors().nth(2).unwrap().join("examples/login");
    assert!(example.exists(), "`{}` is missing: cargo build -p pto-docker --examples", example.display());
    example
}

fn host(client: &str) -> Host {
    let mut host = Host::empty();
    host.script("docker", client);
    let tmp = host.root().display().to_string();
    host.var("TMPDIR", &tmp).var("DOCKER_HOST", "unix:///nowhere");
    host
}

fn login(cx: &Context) -> Invocation {
    Invocation::new(example()).args(["registry.example", "me"]).stdin(Stdin::Bytes(b"planted".to_vec())).cwd(cx.cwd())
}

/// A login that has been stored and has not ended.
fn hanging(host: &Host) -> Running {
    let running = login(&host.cx()).start(&host.cx()).unwrap();
    let start = Instant::now();
    while !host.place("/stored").exists() {
        assert!(start.elapsed() < PATIENCE, "no login came");
        std::thread::sleep(Duration::from_millis(10));
    }
    running
}

fn signal(name: &str, pid: u32) {
    let kill = Invocation::new("kill").args([format!("-{name}"), pid.to_string()]);
    kill.run(&pto_test::machine()).unwrap().require_success().unwrap();
}

/// Files below the temporary directory that hold the password.
fn stored(dir: &Path) -> Vec<PathBuf> {
    let grep = Invocation::new("grep").args(["-rl", "planted"]).arg(dir).run(&pto_test::machine()).unwrap();
    grep.stdout.text().lines().map(PathBuf::from).collect()
}

#[test]
fn an_interrupt_removes_it() {
    let host = host(HANGS);
    let running = hanging(&host);
    assert_eq!(stored(host.root()).len(), 1);
    signal("INT", running.pid());
    running.wait().unwrap();
    assert!(stored(host.root()).is_empty());
}

#[test]
fn the_next_run_removes_what_a_killed_one_left() {
    let mut host = host(HANGS);
    let running = hanging(&host);
    signal("KILL", running.pid());
    running.wait().unwrap();
    assert_eq!(stored(host.root()).len(), 1, "nobody was there to remove it");
    host.script("docker", "/bin/cat > /dev/null");
    let next = login(&host.cx()).run(&host.cx()).unwrap();
    assert!(next.success(), "{}", next.last_words(5));
    assert!(stored(host.root()).is_empty());
}

#[test]
fn what_a_killed_process_left_can_be_removed_without_a_login() {
    let host = host(HANGS);
    let killed = hanging(&host);
    signal("KILL", killed.pid());
    killed.wait().unwrap();
    assert!(!stored(host.root()).is_empty(), "nothing removes it by itself");
    assert_eq!(PrivateDirectory::remove_left_over(&host.cx()).unwrap(), 1);
    assert_eq!(stored(host.root()), Vec::<PathBuf>::new());
    assert_eq!(PrivateDirectory::remove_left_over(&host.cx()).unwrap(), 0);
    // One that lives keeps its own.
    fs_err::remove_file(host.place("/stored")).unwrap();
    let living = hanging(&host);
    assert_eq!(PrivateDirectory::remove_left_over(&host.cx()).unwrap(), 0);
    assert!(!stored(host.root()).is_empty());
    signal("KILL", living.pid());
    living.wait().unwrap();
}
