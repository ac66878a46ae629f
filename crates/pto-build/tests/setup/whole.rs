//! A home from nothing, kept, and brought up to date.

use std::os::unix::fs::MetadataExt;

use pto_build::{Error, HomeError, PackagesStep, SetupOptions, UvStep, VenvStep, plan_setup, setup};

use crate::support::{PYTHON, World};

#[test]
fn a_home_from_nothing_and_then_nothing_to_do() {
    let Some(world) = World::new() else { return };
    let planned = world.plan(&world.options()).unwrap();
    assert!(!world.home().exists(), "a plan writes nothing");
    let done = world.setup().unwrap();
    assert_eq!(done.plan, planned.plan);
    assert!(matches!(done.plan.uv, Some(UvStep::Copy { .. })));
    assert_eq!(done.python.unwrap().to_string(), PYTHON.clone().unwrap());
    // The constraints hold 1.1 back.
    assert_eq!(world.versions().as_deref(), Some("1.0 2.0"));
    assert_eq!(world.python("import sys; print(sys.prefix)").stdout.text().trim(), world.venv().to_str().unwrap());
    world.assert_tidy();

    let identity = |path: &str| fs_err::metadata(world.path(path)).map(|meta| (meta.ino(), meta.mtime_nsec())).unwrap();
    let places = ["home/venv/pyvenv.cfg", "home/bin/uv", "home/bin/ptokit", "home/bin/pypto-activate.sh"];
    let before = places.map(identity);
    let again = world.setup().unwrap();
    assert!(again.plan.is_empty(), "{:?}", again.plan);
    assert_eq!(places.map(identity), before);
}

/// What is done to an environment: its name, what is said of it then, the deed.
type Damage = (&'static str, &'static str, fn(&World));

#[test]
fn what_will_not_do_is_replaced_and_what_is_complete_kept() {
    let Some(world) = World::new() else { return };
    world.setup().unwrap();
    let damages: [Damage; 5] = [
        ("bin/activate", "it has no `bin/activate`", |world| remove(world, "bin/activate")),
        ("pyvenv.cfg", "it has no `pyvenv.cfg`", |world| remove(world, "pyvenv.cfg")),
        ("bin/python", "its interpreter does not answer: it is not there", |world| {
            remove(world, "bin/python");
            fs_err::os::unix::fs::symlink("/gone", world.venv().join("bin/python")).unwrap();
        }),
        ("another interpreter", "it is PyPy 3.9.1, CPython", |world| {
            remove(world, "bin/python");
            world.program("home/venv/bin/python", SAYS_PYPY);
        }),
        ("without headers", "`Python.h` cannot be read at `/gone/Python.h`", |world| {
            remove(world, "bin/python");
            let version = PYTHON.clone().unwrap().replace('.', ", ");
            world.program("home/venv/bin/python", &SAYS_PYPY.replace("3, 9", &version).replace("PyPy", "cpython"));
        }),
    ];
    for (name, expected, damage) in damages {
        damage(&world);
        let planned = world.plan(&world.options()).unwrap();
        let Some(VenvStep::Build { why: Some(why), .. }) = &planned.plan.venv else { panic!("{name}: {planned:?}") };
        assert!(why.contains(expected), "{name}: {why}");
        world.setup().unwrap();
        assert_eq!(world.versions().as_deref(), Some("1.0 2.0"), "{name}");
        world.assert_tidy();
    }
}

const SAYS_PYPY: &str = r#"echo 'ptokit:{"version": [3, 9], "text": "3.9.1", "implementation": "PyPy",
"executable": "/gone", "python_h": "/gone/Python.h", "pyconfig_h": "/gone/pyconfig.h", "libraries": []}' | tr -d '\n'
echo
"#;

fn remove(world: &World, file: &str) {
    fs_err::remove_file(world.venv().join(file)).unwrap();
}

#[test]
fn packages_follow_the_checkout_and_others_are_left_alone() {
    let Some(world) = World::new() else { return };
    world.setup().unwrap();
    let inode = || fs_err::metadata(world.venv()).unwrap().ino();
    let before = inode();
    let own = pto_process::Invocation::new(world.path("home/bin/uv"))
        .args(["pip", "install", "--no-index", "own", "--find-links"])
        .arg(world.path("wheels"))
        .arg("--python")
        .arg(world.venv().join("bin/python"));
    own.run(&world.cx()).unwrap().require_success().unwrap();

    world.write("src/build-constraints.txt", "tiny==1.1\n");
    let done = world.setup().unwrap();
    let Some(PackagesStep::Install { why, .. }) = &done.plan.packages else { panic!("{done:?}") };
    assert_eq!(why, "`build-constraints.txt` has changed");
    assert_eq!((world.versions().as_deref(), inode()), (Some("1.1 2.0"), before));
    assert!(world.python("import own").success(), "a package that the user installed is still there");

    // A setup that was ended amid the packages is finished by the next one.
    fs_err::remove_file(world.venv().join("ptokit-setup.json")).unwrap();
    assert!(matches!(world.setup().unwrap().plan.packages, Some(PackagesStep::Install { .. })));
    assert!(world.setup().unwrap().plan.is_empty());

    let site = world.venv().join("lib").join(format!("python{}", PYTHON.clone().unwrap())).join("site-packages");
    fs_err::remove_file(site.join("tiny.py")).unwrap();
    let again = setup(&world.cx(), &SetupOptions { reinstall: true, ..world.options() }).unwrap();
    assert!(matches!(again.plan.packages, Some(PackagesStep::Install { .. })));
    assert_eq!(world.versions().as_deref(), Some("1.1 2.0"));
}

#[test]
fn somebodys_own_directory_is_refused() {
    let Some(world) = World::new() else { return };
    world.write("home/venv/thesis.tex", "years");
    world.write("home/venv/pyvenv.cfg", "");
    let error = world.setup().unwrap_err();
    assert!(matches!(&error, Error::Home(HomeError::Foreign { found, .. }) if found == "thesis.tex"), "{error}");
    assert!(error.hint().unwrap().starts_with("move it away: mv "), "{:?}", error.hint());
    assert_eq!(fs_err::read_to_string(world.path("home/venv/thesis.tex")).unwrap(), "years");
}

#[test]
fn a_directory_that_only_looks_like_an_environment_is_refused() {
    let Some(world) = World::new() else { return };
    world.write("home/venv/bin/notes.txt", "years");
    for result in [world.plan(&world.options()), world.setup()] {
        let error = result.unwrap_err();
        assert!(error.to_string().contains("has no `pyvenv.cfg` and holds `bin`"), "{error}");
        assert_eq!(error.fault(), pto_build::Fault::Input);
        assert!(error.hint().unwrap().starts_with("move it away: mv "), "{:?}", error.hint());
    }
    assert_eq!(fs_err::read_to_string(world.path("home/venv/bin/notes.txt")).unwrap(), "years");
}

#[test]
fn files_in_an_environment_that_is_replaced_are_kept() {
    let Some(world) = World::new() else { return };
    // One that somebody made, then one of ours.
    world.write("home/venv/pyvenv.cfg", "home = /gone\n");
    for generation in ["theirs", "ours"] {
        world.write("home/venv/bin/notes.txt", generation);
        let _ = std::fs::remove_file(world.venv().join("bin/activate"));
        world.setup().unwrap();
        assert_eq!(world.versions().as_deref(), Some("1.0 2.0"));
        world.assert_tidy();
        let kept = || fs_err::read_to_string(world.path("home/venv.previous/bin/notes.txt")).unwrap();
        assert_eq!(kept(), generation);
        assert!(!world.venv().join("bin/notes.txt").exists());
        let is_said = |event: &pto_context::Event| matches!(event, pto_context::Event::Warning { message } if message.contains("venv.previous"));
        assert!(world.events.events().iter().any(is_said));
        // A setup that has nothing to do leaves it there.
        world.setup().unwrap();
        assert_eq!(kept(), generation);
    }
    fs_err::remove_file(world.path("home/venv.previous")).unwrap();
    world.write("home/venv.previous/mine.txt", "mine");
    remove(&world, "bin/activate");
    assert!(matches!(world.plan(&world.options()), Err(Error::Home(HomeError::Foreign { .. }))));
}

#[test]
fn what_is_no_checkout_is_named() {
    let world = World::bare();
    let at = |src: Option<&str>| {
        let options = SetupOptions { src: src.map(|src| world.path(src)), ..world.options() };
        plan_setup(&world.cx().with_var("PYPTO_SRC", ""), &options).unwrap_err()
    };
    assert!(at(Some("wheels")).to_string().ends_with("it has no `toolchain/versions.env`"));
    // Git has nothing to say of a directory that is none of its own.
    assert!(at(Some("wheels")).hint().unwrap().contains("`--pypto-src DIR`"));
    let git = pto_process::Invocation::new("git").args(["init", "--quiet"]).cwd(world.path("wheels"));
    git.run(&pto_test::machine()).unwrap().require_success().unwrap();
    assert!(at(Some("wheels")).hint().unwrap().contains("git -C "));
    fs_err::remove_file(world.path("src/pyproject.toml")).unwrap();
    assert!(at(Some("src")).to_string().ends_with("it has no `pyproject.toml`"));
    if !std::path::Path::new("/workspace/pypto").exists() {
        assert!(at(None).hint().unwrap().contains("--pypto-src"));
    }
}

#[test]
fn a_package_that_does_not_exist_leaves_the_old_environment() {
    let Some(world) = World::new() else { return };
    world.setup().unwrap();
    world.write("src/build-constraints.txt", "tiny==1.7\n");
    fs_err::remove_file(world.venv().join("bin/activate")).unwrap();
    let error = world.setup().unwrap_err();
    assert!(matches!(&error, Error::Home(HomeError::Step { what: "install the packages", .. })), "{error}");
    assert!(error.to_string().contains("tiny"), "{error}");
    assert_eq!(world.versions().as_deref(), Some("1.0 2.0"), "the old one is usable");
    world.assert_tidy();
}
