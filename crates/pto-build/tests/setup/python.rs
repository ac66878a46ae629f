//! Where the interpreter comes from.

use pto_build::{Error, HomeError, VenvStep};

use crate::support::World;

/// A version that no machine has.
const FUTURE: &str = "3.77";

/// Plays `uv`: keeps what it is asked, installs an interpreter, makes environments with it.
const UV: &str = r#"
echo "$*" >> "%/asked"
case "$1 $2" in
--version*) echo "uv 1.2.3" ;;
"python install")
    [ -e "%/unreachable" ] && { echo "error: error sending request: dns error" >&2; exit 2; }
    dir=$6/cpython-3.77.0-linux/bin
    mkdir -p "$dir" && cp "%/interpreter" "$dir/python3.77" ;;
venv*)
    for dir in "$@"; do :; done
    mkdir -p "$dir/bin" && touch "$dir/pyvenv.cfg" "$dir/bin/activate" && cp "%/interpreter" "$dir/bin/python" ;;
esac
"#;

fn world() -> World {
    let world = World::bare();
    world.write("src/.python-version", FUTURE);
    let at = world.path("").display().to_string().trim_end_matches('/').to_owned();
    world.program("home/bin/uv", &UV.replace('%', &at));
    let file = |name: &str| {
        world.write(name, "");
        world.path(name).display().to_string()
    };
    let answer = format!(
        "{{\"version\": [3, 77], \"text\": \"3.77.0\", \"implementation\": \"cpython\", \"executable\": \"/gone\", \
         \"python_h\": \"{}\", \"pyconfig_h\": \"{}\", \"libraries\": [\"/gone\", \"{}\"]}}",
        file("headers/Python.h"),
        file("headers/pyconfig.h"),
        file("lib/libpython3.77.a"),
    );
    world.program("interpreter", &format!("cat <<'END'\nptokit:{answer}\nEND\n"));
    world
}

#[test]
fn uv_installs_what_is_not_here_into_the_home() {
    let world = world();
    let planned = world.plan(&world.options()).unwrap();
    assert_eq!(planned.plan.venv, Some(VenvStep::Build { with: None, why: None }));
    world.setup().unwrap();
    let asked = fs_err::read_to_string(world.path("asked")).unwrap();
    let asked: Vec<&str> = asked.lines().filter(|line| !line.starts_with("--version")).collect();
    let pythons = world.path("home/python").display().to_string();
    assert_eq!(asked[0], format!("python install --no-bin --no-progress --install-dir {pythons} {FUTURE}"));
    let made = format!("--prompt pypto --python {pythons}/cpython-3.77.0-linux/bin/python3.77 ");
    assert!(asked[1].starts_with("venv --no-project ") && asked[1].contains(&made), "{}", asked[1]);
    assert!(asked[2].starts_with("pip install ") && asked[2].contains("--constraint"), "{}", asked[2]);
    assert!(asked[2].contains(" tiny>=1.0 small"), "{}", asked[2]);
    assert_eq!(asked.len(), 3, "{asked:?}");
    assert!(world.setup().unwrap().plan.is_empty());
}

#[test]
fn a_machine_without_it_and_without_a_network_is_told_what_to_do() {
    let world = world();
    world.write("unreachable", "");
    let error = world.setup().unwrap_err();
    assert!(matches!(&error, Error::Home(HomeError::NoPython { wanted, .. }) if wanted == FUTURE), "{error}");
    assert!(error.to_string().contains("dns error"), "{error}");
    let hint = error.hint().unwrap();
    assert!(hint.contains("python3.77-dev") && hint.contains("UV_PYTHON_INSTALL_MIRROR"), "{hint}");
    assert!(!world.venv().exists());
}

#[test]
fn an_interpreter_that_the_owner_cannot_reach_is_passed_over() {
    if !rustix::process::geteuid().is_root() {
        return pto_test::skip("only root sets a home up for somebody else");
    }
    let world = world();
    world.setup().unwrap();
    let give = |uid: u32| std::os::unix::fs::chown(world.path("src"), Some(uid), Some(uid)).unwrap();
    give(4_000_001);
    assert!(world.plan(&world.options()).unwrap().plan.is_empty(), "it can be reached by everybody");
    use std::os::unix::fs::PermissionsExt;
    fs_err::set_permissions(world.path("headers"), std::fs::Permissions::from_mode(0o700)).unwrap();
    let Some(VenvStep::Build { why: Some(why), .. }) = world.plan(&world.options()).unwrap().plan.venv else {
        panic!("it was kept")
    };
    assert!(why.ends_with("cannot be read by the checkout's owner (uid 4000001)"), "{why}");
    give(0);
    assert!(world.plan(&world.options()).unwrap().plan.is_empty(), "root can");
}
