//! Installing wheels of all layouts, and what must not be installed.

mod support;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use pto_process::Invocation;
use pto_ptoas::{Action, Error, Fault, InstallOptions, Layout, Source, Tool};
use support::wheel::script;
use support::{Offer, Wheel, World, machine, skipped};

const BIN: Layout = Layout::PackageDirectory;

/// The world with version 0.50 installed.
fn installed() -> World {
    let world = World::new();
    world.install(&world.offer(&Wheel::new("0.50", BIN))).unwrap();
    assert_eq!(world.version().as_deref(), Some("0.50"));
    world
}

/// Nothing has been changed by what failed.
#[track_caller]
fn refused(world: &World, offer: &Offer) -> Error {
    let before = world.beside();
    let error = world.install(offer).unwrap_err();
    assert_eq!((world.version().as_deref(), world.beside()), (Some("0.50"), before));
    error
}

#[test]
fn all_three_layouts_are_installed() {
    for layout in Layout::ALL {
        let world = World::new();
        let done = world.install(&world.offer(&Wheel::new("0.61", layout))).unwrap();
        assert_eq!((done.action, done.layout, done.version.as_str()), (Action::Installed, layout, "0.61"));
        assert_eq!(done.launcher, world.root().join(layout.launcher()));
        assert_eq!((world.version().as_deref(), done.replaced), (Some("0.61"), None));
        for part in ["pyvenv.cfg", "bin/activate", "bin/python"] {
            assert!(world.root().join(part).exists(), "{part}");
        }
        world.assert_tidy();
    }
}

#[test]
fn what_is_there_and_sound_is_left_alone() {
    let world = installed();
    let before = fs_err::read_link(world.root()).unwrap();
    let offer = world.offer(&Wheel::new("0.50", BIN));
    // Neither the wheel nor the store is needed for that.
    fs_err::remove_file(&offer.file).unwrap();
    fs_err::remove_dir_all(world.path("store")).unwrap();
    assert_eq!(world.install(&offer).unwrap().action, Action::Nothing);
    assert_eq!(fs_err::read_link(world.root()).unwrap(), before);
}

#[test]
fn force_installs_again() {
    let world = installed();
    let before = fs_err::read_link(world.root()).unwrap();
    let offer = world.offer(&Wheel::new("0.50", BIN));
    let done = world.install_with(&InstallOptions { force: true, ..world.options(&offer) }).unwrap();
    assert_eq!(done.action, Action::Installed);
    assert_ne!(fs_err::read_link(world.root()).unwrap(), before);
    world.assert_tidy();
}

#[test]
fn another_version_takes_its_place() {
    let world = installed();
    let done = world.install(&world.offer(&Wheel::new("0.61", Layout::LauncherScript))).unwrap();
    assert_eq!((done.replaced.as_deref(), world.version().as_deref()), (Some("it is 0.50"), Some("0.61")));
    world.assert_tidy();
}

#[test]
fn a_damaged_installation_is_made_again() {
    for (damage, why) in [
        ("bin/python", "its environment has no working `bin/python`"),
        ("pyvenv.cfg", "its environment has no working `pyvenv.cfg`"),
        ("bin/activate", "its environment has no working `bin/activate`"),
        ("bin/ptoas", ""),
    ] {
        let world = installed();
        fs_err::remove_file(world.root().join(damage)).unwrap();
        let done = world.install(&world.offer(&Wheel::new("0.50", BIN))).unwrap();
        assert_eq!((done.replaced.unwrap_or_default().as_str(), done.action), (why, Action::Installed));
        assert_eq!(world.version().as_deref(), Some("0.50"));
    }
    let world = World::new();
    let offer = world.offer(&Wheel::new("0.61", BIN).with_data(3));
    world.install(&offer).unwrap();
    let (major, minor) = world.python.1;
    let file = world.root().join(format!("lib/python{major}.{minor}/site-packages/ptoas/data/1.txt"));
    fs_err::write(&file, "cut").unwrap();
    let done = world.install(&offer).unwrap();
    assert!(done.replaced.unwrap().contains("1.txt` is missing or has changed its size"));
}

#[test]
fn a_directory_made_by_another_installer_is_replaced() {
    let world = World::new();
    let venv = Invocation::new(&world.python.0).args(["-m", "venv", "--without-pip"]).arg(world.root());
    venv.run(&machine()).unwrap().require_success().unwrap();
    fs_err::write(world.root().join("bin/ptoas"), script("echo ptoas 0.40")).unwrap();
    fs_err::set_permissions(world.root().join("bin/ptoas"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let done = world.install(&world.offer(&Wheel::new("0.61", BIN))).unwrap();
    assert_eq!((done.replaced.as_deref(), world.version().as_deref()), (Some("it is 0.40"), Some("0.61")));
    world.assert_tidy();
}

#[test]
fn somebodys_directory_is_not_replaced() {
    let world = World::new();
    fs_err::create_dir_all(world.root()).unwrap();
    fs_err::write(world.root().join("thesis.tex"), "").unwrap();
    let error = world.install(&world.offer(&Wheel::new("0.61", BIN))).unwrap_err();
    assert!(matches!(error, Error::Foreign { .. }) && error.fault() == Fault::Input, "{error}");
    assert!(world.root().join("thesis.tex").exists() && !world.path("store").exists());
}

#[test]
fn another_file_than_the_pinned_one_is_refused() {
    let world = installed();
    let offer = world.offer(&Wheel::new("0.61", BIN));
    fs_err::write(&offer.file, Wheel::new("0.62", BIN).bytes()).unwrap();
    let error = refused(&world, &offer);
    let text = error.to_string();
    assert!(text.contains(&format!("expected sha256 {}, found ", offer.sha256)), "{text}");
    assert_eq!(error.fault(), Fault::Verdict);
    assert!(offer.file.exists() && error.hint().unwrap().contains("nothing was changed"));
}

#[test]
fn a_wheel_that_lies_is_refused_before_anything_of_it_runs() {
    let world = installed();
    let mark = world.path("has-run");
    let mut wheel = Wheel::with_program("0.61", BIN, script(&format!("touch {}; echo ptoas 0.61", mark.display())));
    wheel.files.push(("../outside.txt".into(), 0o644, b"out".to_vec()));
    let offer = world.offer(&wheel);
    let error = refused(&world, &offer);
    assert!(error.to_string().contains("refusing to unpack `../outside.txt`"), "{error}");
    assert!(!mark.exists() && error.fault() == Fault::Input);
}

#[test]
fn an_assembler_that_does_not_work_is_not_made_current() {
    let world = installed();
    let said = |program: Vec<u8>| refused(&world, &world.offer(&Wheel::with_program("0.61", BIN, program))).to_string();
    assert!(said(script("echo oops >&2; exit 3")).contains("does not start: it exited with code 3\noops"));
    assert!(said(script("kill -SEGV $$")).contains("SIGSEGV"));
    assert!(said(script("echo ready")).contains("does not start: it exited with code 0\nready"));
    assert!(said(b"#!/no/such/interpreter\n".to_vec()).contains("does not start"));
    assert!(said(script("echo ptoas 0.60")).contains("brings PTOAS 0.60, the checkout pins v0.61"));
    let mut wheel = Wheel::new("0.61", BIN);
    wheel.files.retain(|(name, ..)| !name.ends_with("/ptoas"));
    let error = refused(&world, &world.offer(&wheel));
    assert!(matches!(error, Error::NoLauncher { .. }) && error.fault() == Fault::Verdict, "{error}");
}

#[test]
fn a_library_that_is_missing_is_named() {
    let world = installed();
    let source =
        "#include <stdio.h>\nint gone(void);\nint main(void) { printf(\"ptoas 0.61 %d\\n\", gone()); return 0; }\n";
    fs_err::write(world.path("ptoas.c"), source).unwrap();
    fs_err::write(world.path("gone.c"), "int gone(void) { return 1; }\n").unwrap();
    let compile = "for lib in gone1 gone2; do cc -shared -o lib$lib.so gone.c || exit 1; done\n\
                   cc -o ptoas.elf ptoas.c -Wl,--no-as-needed -L. -lgone1 -lgone2 && rm lib*.so";
    assert!(support::sh(compile, world.dir.path()), "there is no C compiler");
    let program = fs_err::read(world.path("ptoas.elf")).unwrap();
    let error = refused(&world, &world.offer(&Wheel::with_program("0.61", BIN, program)));
    let text = error.to_string();
    assert!(text.ends_with("does not start: libraries are missing: `libgone1.so`, `libgone2.so`"), "{text}");
    assert_eq!(error.fault(), Fault::Machine);
    assert!(error.hint().unwrap().contains("LD_LIBRARY_PATH"));
}

#[test]
fn canns_python_package_does_not_shadow_the_pinned_one() {
    let world = World::new();
    // As in the newest releases: the launcher is a Python script that imports its own package.
    let launcher = b"#!python\nimport ptoas\nprint('ptoas', ptoas.version)\n".to_vec();
    let offer = world.offer(&Wheel::with_program("0.61", BIN, launcher));
    let cann = world.path("cann/ptoas");
    fs_err::create_dir_all(&cann).unwrap();
    fs_err::write(cann.join("__init__.py"), "version = '9.9'\n").unwrap();
    let path = format!("{}:", world.path("cann").display());
    let cx = world.cx().with_var("PYTHONPATH", path).with_var("PYTHONHOME", "/nowhere");
    let done = pto_ptoas::install(&cx, &world.store(), &world.options(&offer)).unwrap();
    assert_eq!(done.version, "0.61");
}

#[test]
fn without_uv_venv_and_pip_do_it() {
    let world = World::without_uv();
    let done = world.install(&world.offer(&Wheel::new("0.61", Layout::LauncherScript))).unwrap();
    assert_eq!((done.tool, world.version().as_deref()), (Some(Tool::Pip), Some("0.61")));
    let (major, minor) = world.python.1;
    let packages = world.root().join(format!("lib/python{major}.{minor}/site-packages"));
    assert!(packages.join("ptoas").is_dir() && !packages.join("pip").exists());
    world.assert_tidy();
}

#[test]
fn a_uv_that_fails_is_no_reason_to_stop() {
    let world = World::without_uv();
    world.program("uv", "echo cannot do that >&2; exit 2");
    let done = world.install(&world.offer(&Wheel::new("0.61", BIN))).unwrap();
    assert_eq!(done.tool, Some(Tool::Pip));
    assert!(format!("{:?}", world.events.events()).contains("`uv` exited with code 2; trying another way"));
}

#[test]
fn uv_is_told_to_stay_off_line_and_to_take_the_file_alone() {
    let world = World::without_uv();
    let log = world.path("log");
    let record = format!("echo \"$*\" >> '{log}'; env >> '{log}'", log = log.display());
    world.program("uv", &format!("{record}\n{}", support::UV_STAND_IN));
    let cx = world.cx().with_var("UV_INDEX_URL", "http://me:s3cret@index/").with_var("PYTHONPATH", "/x");
    let offer = world.offer(&Wheel::new("0.61", BIN));
    pto_ptoas::install(&cx, &world.store(), &world.options(&offer)).unwrap();
    let log = fs_err::read_to_string(log).unwrap();
    let line = |start: &str| log.lines().find(|line| line.starts_with(start)).unwrap().to_owned();
    for wanted in ["--offline", "--no-config", "--python"] {
        assert!(line("venv").contains(wanted) && line("pip install").contains(wanted), "{wanted}: {log}");
    }
    assert!(line("pip install").contains("--no-deps --no-index") && line("pip install").ends_with(".whl"));
    assert!(!log.contains("s3cret") && !log.contains("PYTHONPATH"), "{log}");
}

#[test]
fn an_interpreter_that_does_not_fit_is_named() {
    let world = installed();
    let answer = "{\"version\": [3, 2], \"text\": \"3.2.1\", \"implementation\": \"cpython\", \"platform\": \"linux-x86_64\", \"soabi\": \"\"}";
    world.program("python-old", &format!("echo 'ptokit:{answer}'"));
    let offer = world.offer(&Wheel::new("0.61", BIN));
    let old = world.path("bin/python-old");
    let error = world.install_with(&InstallOptions { python: Some(old.clone()), ..world.options(&offer) }).unwrap_err();
    let (major, minor) = world.python.1;
    let text = error.to_string();
    assert!(text.contains(&format!("needs CPython {major}.{minor}, which is not here")), "{text}");
    assert!(text.contains(&format!("`{}` (CPython 3.2.1)", old.display())), "{text}");
    assert!(error.hint().unwrap().contains(&format!("uv python install {major}.{minor}")));
    let gone = InstallOptions { python: Some("/gone/python".into()), ..world.options(&offer) };
    assert!(world.install_with(&gone).unwrap_err().to_string().contains("`/gone/python` (not there)"));
}

#[test]
fn an_old_libstdcxx_is_noticed_before_anything_is_fetched() {
    let world = World::new();
    fs_err::create_dir(world.path("lib")).unwrap();
    fs_err::write(world.path("lib/libstdc++.so.6"), "\0GLIBCXX_3.4.9\0GLIBCXX_3.4.28\0").unwrap();
    // Programs of this test must still start, so the library is not one that they load.
    world.program("python3", &format!("unset LD_LIBRARY_PATH; exec '{}' \"$@\"", world.python.0.display()));
    let cx = world.cx().with_var("LD_LIBRARY_PATH", world.path("lib"));
    let python = Some(world.path("bin/python3"));
    let offer = world.offer(&Wheel::new("0.61", BIN));
    let options = InstallOptions { python, ..world.options(&offer) };
    let error = pto_ptoas::install(&cx, &world.store(), &options).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("needs `GLIBCXX_3.4.29`") && text.contains("ends at `GLIBCXX_3.4.28`"), "{text}");
    assert!(!world.path("store").exists() && !world.path("opt").exists());
}

#[test]
fn a_file_that_is_no_wheel_is_refused() {
    let world = installed();
    let offer = world.offer(&Wheel::new("0.61", BIN));
    for name in ["ptoas-bin-x86_64.tar.gz", "other-0.61-py3-none-any.whl"] {
        let options = InstallOptions { source: Source::File(name.into()), ..world.options(&offer) };
        let error = world.install_with(&options).unwrap_err();
        assert!(matches!(error, Error::NotAWheel { .. }), "{error}");
    }
}

/// The package of the registry: it installs, and its program lacks libraries.
#[test]
fn the_real_package_is_noticed_to_lack_libraries() {
    const FILE: &str = "ptoas-0.1.1-py3-none-manylinux_2_34_x86_64.whl";
    const SHA256: &str = "815a83658d97de26cee2ec54e4b6a0cb22210b6af1edf8ae239711c7a107c8cc";
    if std::env::consts::ARCH != "x86_64" {
        return skipped("the package exists for x86-64");
    }
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = dir.join(FILE);
    if pto_fetch::sha256(&file).ok().as_deref() != Some(SHA256) {
        let pip = Invocation::new("python3").args([
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "ptoas==0.1.1",
            "--dest",
        ]);
        let pip =
            pip.arg(dir).args(["--platform", "manylinux_2_34_x86_64", "--only-binary=:all:"]).run(&machine()).unwrap();
        if !pip.success() {
            return skipped(&format!("the package cannot be had: {}", pip.last_words(2)));
        }
    }
    let world = installed();
    let offer = Offer { file, pins: world.path("real.env"), sha256: SHA256.to_owned() };
    offer.pin("0.1.1");
    let error = refused(&world, &offer);
    assert!(matches!(&error, Error::DoesNotStart { missing, .. } if missing.len() > 100), "{error}");
    assert!(error.to_string().contains("`libMLIRMlirOptMain.so.19.1`"), "{error}");
}
