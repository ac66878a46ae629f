//! What makes a build another one: every input in its turn, with the explanation; and what does not.

mod support;

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use pto_build::{ArtifactChange, Became, BuildOptions, BuildPlan, Change, Decision, Input, Reason, build, plan_build};
use pto_context::Context;
use pto_process::Invocation;
use pto_test::pypto::{Binding, Python};
use support::{Site, edit, has_make};

/// What a plan says has changed; empty for an incremental build.
fn changed(plan: &BuildPlan) -> Vec<Change> {
    match &plan.decision {
        Decision::Incremental => Vec::new(),
        Decision::Fresh { reason: Reason::Inputs { changes } } => changes.clone(),
        Decision::Fresh { reason } => panic!("{reason:?}"),
    }
}

fn names(changes: &[Change]) -> Vec<String> {
    changes.iter().map(|change| change.input.to_string()).collect()
}

/// Variables that count, with a value that may be theirs, and one that is another.
const VARIABLES: [(&str, &str); 20] = [
    ("CPPFLAGS", "-DX"),
    ("CFLAGS", "-O1"),
    ("CXXFLAGS", "-O1"),
    ("LDFLAGS", "-s"),
    ("ASCEND_HOME_PATH", "/opt/cann"),
    ("ASCEND_TOOLKIT_HOME", "/opt/cann"),
    ("CMAKE_BUILD_TYPE", "Debug"),
    ("CMAKE_CONFIG_TYPE", "Debug"),
    ("CMAKE_C_COMPILER_LAUNCHER", "distcc"),
    ("CMAKE_CXX_COMPILER_LAUNCHER", "distcc"),
    ("CMAKE_TOOLCHAIN_FILE", "/x.cmake"),
    ("PTO_ISA_ROOT", "/isa"),
    ("PTO_LIB_PATH", "/isa"),
    ("CMAKE_PREFIX_PATH", "/p"),
    ("CPATH", "/p"),
    ("C_INCLUDE_PATH", "/p"),
    ("CPLUS_INCLUDE_PATH", "/p"),
    ("LIBRARY_PATH", "/p"),
    ("PKG_CONFIG_PATH", "/p"),
    ("PYTHONPATH", "/p"),
];

#[test]
fn every_input_makes_it_another_build_and_nothing_else_does() {
    let Some(python) = Python::find() else { return };
    let site = Site::with(Binding::Plain, &python.copied());
    if !has_make(&site.cx()) {
        return;
    }
    // A list whose order can change.
    let cx = site.cx().with_var("CPATH", "/b:/a").with_var("CC", "gcc").with_var("CXX", "g++");
    let first = build(&cx, &site.options()).unwrap().plan;
    let plan = |cx: &Context, options: &BuildOptions| plan_build(cx, options).unwrap();
    let same = |cx: &Context| assert_eq!(changed(&plan(cx, &site.options())), [], "this does not count");
    let mut covered = BTreeSet::from([Input::Generator]);
    let mut differs = |expected: &[&str], cx: &Context, options: &BuildOptions| {
        let found = changed(&plan(cx, options));
        assert_eq!(names(&found), expected);
        assert!(
            found
                .iter()
                .all(|change| change.was != change.is && change.was == first.inputs.get(&change.input).cloned())
        );
        covered.extend(found.into_iter().map(|change| change.input));
    };

    // What does not count.
    same(&cx);
    same(&cx.clone().with_var("CPATH", ":/a/::/b:/a"));
    // As a container sets it that shows a driver, and cargo for a program that it runs.
    same(&cx.clone().with_var("LD_LIBRARY_PATH", "/usr/local/Ascend/driver/lib64:/root/target/debug/deps"));
    // As an activated shell sets it.
    same(&cx.clone().with_var("PYTHONPATH", site.project.checkout().join("python")));
    let path = format!("/nowhere:{}:/usr/games", cx.var("PATH").unwrap());
    for (name, value) in
        [("HOSTNAME", "c0ffee"), ("HOME", "/elsewhere"), ("TERM", "dumb"), ("PATH", &path), ("LANG", "de")]
    {
        same(&cx.clone().with_var(name, value));
    }
    touch_all(&site.project.checkout().join("build"));
    touch_all(&site.project.checkout().join("python"));
    same(&cx);
    if pto_checkout::Owner::of_this_process().is_root() {
        site.project.give_to(&site.project.checkout().join("build"), 47_110);
        same(&cx);
        site.project.give_to(&site.project.checkout().join("build"), 0);
    }

    // The environment.
    for (name, value) in VARIABLES {
        differs(&[&format!("env:{name}")], &cx.clone().with_var(name, value), &site.options());
    }
    differs(&["env:CC"], &cx.clone().with_var("CC", "gcc -m64"), &site.options());
    differs(&["env:CXX"], &cx.clone().with_var("CXX", "g++ -m64"), &site.options());

    // What was asked for.
    let debug = BuildOptions { build_type: Some("Debug".into()), ..site.options() };
    differs(&["options"], &cx, &debug);
    differs(&["options"], &cx, &BuildOptions { cmake_args: vec!["-DX=1".into()], ..site.options() });

    // The system: another distribution below the same path.
    let root = site.project.dir().join("other-system");
    fs_err::create_dir_all(root.join("etc")).unwrap();
    fs_err::write(root.join("etc/os-release"), "ID=openeuler\nVERSION_ID=\"22.03\"\n").unwrap();
    differs(&["system"], &cx.clone().with_root(&root), &site.options());

    // Programs, replaced under the same name by one that says the same version. `CC` and `CXX` name none with a path.
    for (name, inputs) in [
        ("cmake", &["cmake"][..]),
        ("ninja", &["make-program"]),
        ("gcc", &["c-compiler", "runtime:gcc"]),
        ("g++", &["cxx-compiler", "runtime:g++"]),
    ] {
        let real = which(&cx, name);
        let program = site.program(name, &format!("exec {real} \"$@\""));
        differs(inputs, &cx, &site.options());
        fs_err::remove_file(program).unwrap();
    }
    let ccache = site.program("ccache", "exec \"$@\"");
    differs(&["ccache"], &cx, &site.options());
    fs_err::remove_file(ccache).unwrap();

    // Without Ninja another generator has to do.
    let tools = site.project.dir().join("tools");
    fs_err::create_dir(&tools).unwrap();
    for name in
        ["cmake", "make", "gcc", "g++", "git", "ccache", "setpriv", "sh"].into_iter().filter(|name| is_there(&cx, name))
    {
        fs_err::os::unix::fs::symlink(which(&cx, name), tools.join(name)).unwrap();
    }
    let bare = cx.clone().with_var("PATH", &tools);
    let without = changed(&plan(&bare, &site.options()));
    assert!(
        without.iter().any(|change| change.input == Input::Generator && change.is.as_deref() == Some("Unix Makefiles"))
    );

    // The environment's Python and its bindings.
    let init = site.project.home().join("venv").join(binding_version(&site));
    let text = fs_err::read_to_string(&init).unwrap();
    fs_err::write(&init, format!("{text}\n__version__ = '0.0.1'\n")).unwrap();
    differs(&["bindings"], &cx, &site.options());
    fs_err::write(&init, text).unwrap();
    let other = site.project.dir().join("other-home");
    fs_err::rename(site.project.home(), &other).unwrap();
    differs(&["python"], &cx.clone().with_var("PYPTO_HOME", &other), &site.options());
    fs_err::rename(&other, site.project.home()).unwrap();

    // The place.
    let moved = site.project.dir().join("moved");
    fs_err::rename(site.project.checkout(), &moved).unwrap();
    differs(&["source-path"], &cx.clone().with_var("PYPTO_SRC", &moved), &site.options());
    fs_err::rename(&moved, site.project.checkout()).unwrap();

    same(&cx);
    let all: BTreeSet<Input> = first.inputs.into_keys().collect();
    assert_eq!(all.difference(&covered).collect::<Vec<_>>(), Vec::<&Input>::new(), "inputs that no case has changed");
}

#[test]
fn a_record_that_tells_of_other_places_has_nothing_deleted_there() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    let extension = build(&site.cx(), &site.options()).unwrap().artifacts.remove(0);
    let (original, copy) = (site.project.checkout(), site.project.dir().join("copy"));
    site.project.run(Invocation::new("cp").arg("-a").arg(&original).arg(&copy));
    let record = copy.join("build/.ptokit-build.json");
    let mut told: serde_json::Value = serde_json::from_slice(&fs_err::read(&record).unwrap()).unwrap();
    let victim = site.project.dir().join("victim");
    fs_err::create_dir(&victim).unwrap();
    told["artifacts"]["native"]["files"][victim.to_str().unwrap()] = "0".into();
    fs_err::write(&record, told.to_string()).unwrap();
    let built = build(&site.cx().with_var("PYPTO_SRC", &copy), &site.options()).unwrap();
    assert!(!built.plan.decision.is_incremental());
    assert!(extension.is_file() && victim.is_dir(), "{extension:?}");
}

#[test]
fn what_was_changed_since_is_discarded_with_its_objects() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    let cx = site.cx();
    let tree = site.project.checkout().join("build");
    let extension = build(&cx, &site.options()).unwrap().artifacts.remove(0);
    let reason = || match plan_build(&cx, &site.options()).unwrap().decision {
        Decision::Fresh { reason } => reason,
        Decision::Incremental => panic!("nothing was seen"),
    };
    let one = |reason: Reason| match reason {
        Reason::Artifacts { mut changes } if changes.len() == 1 => changes.remove(0),
        reason => panic!("{reason:?}"),
    };
    let object = Path::new("python/bindings/CMakeFiles/pypto_core.dir/__/__/src/core/version.cpp.o");
    let marked = tree.join("CMakeFiles/mark");
    fs_err::write(&marked, "").unwrap();

    let whole = fs_err::read(&extension).unwrap();
    fs_err::write(&extension, "stripped").unwrap();
    assert_eq!(one(reason()), ArtifactChange { path: extension.clone(), change: Became::Changed });
    fs_err::remove_file(&extension).unwrap();
    assert_eq!(one(reason()).change, Became::Missing);
    fs_err::write(&extension, whole).unwrap();

    fs_err::write(tree.join("CMakeFiles/extra.o"), "x").unwrap();
    assert_eq!(one(reason()), ArtifactChange { path: "CMakeFiles/extra.o".into(), change: Became::New });
    fs_err::remove_file(tree.join("CMakeFiles/extra.o")).unwrap();
    assert_eq!(plan_build(&cx, &site.options()).unwrap().decision, Decision::Incremental);
    fs_err::write(tree.join(object), "not an object").unwrap();
    assert_eq!(one(reason()).path, object);

    edit(&tree.join("CMakeCache.txt"), "CMAKE_BUILD_TYPE:STRING=RelWithDebInfo", "CMAKE_BUILD_TYPE:STRING=Debug");
    assert!(matches!(reason(), Reason::Artifacts { changes } if changes.len() == 2));
    let built = build(&cx, &site.options()).unwrap();
    assert!(!built.plan.decision.is_incremental() && !marked.exists(), "objects are left");
    assert_eq!(site.project.python("import pypto; print(pypto.answer())"), "42");

    fs_err::write(tree.join(".ptokit-build.json"), "{").unwrap();
    assert_eq!(reason(), Reason::Unreadable);
    fs_err::remove_file(tree.join(".ptokit-build.json")).unwrap();
    assert_eq!(reason(), Reason::Unrecorded);
}

#[test]
fn what_was_changed_of_the_runtime_is_discarded_as_well() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    let built = site.runtime().join("build");
    // What the runtime locks while it looks for PTO-ISA is no build, and in nobody's way.
    fs_err::create_dir_all(&built).unwrap();
    fs_err::write(built.join(".pto-isa.lock"), "").unwrap();
    build(&site.cx(), &site.options()).unwrap();
    let changes = || match plan_build(&site.cx(), &site.options()).unwrap().decision {
        Decision::Incremental => Vec::new(),
        Decision::Fresh { reason: Reason::Artifacts { changes } } => changes,
        Decision::Fresh { reason } => panic!("{reason:?}"),
    };
    assert_eq!(changes(), []);
    let found = Invocation::new("find").arg(&built).args(["-name", "_task_interface*.so"]).run(&site.cx()).unwrap();
    let extension = PathBuf::from(found.stdout.text().lines().next().expect("it makes a binding"));
    fs_err::write(&extension, "stripped").unwrap();
    fs_err::write(built.join("libextra.so.1"), "").unwrap();
    let [changed, new] = <[_; 2]>::try_from(changes()).unwrap();
    assert_eq!(changed, ArtifactChange { path: extension, change: Became::Changed });
    assert_eq!(new, ArtifactChange { path: built.join("libextra.so.1"), change: Became::New });
    build(&site.cx(), &site.options()).unwrap();
    assert_eq!(site.project.python("import simpler; print(simpler.slots)"), "8");
    assert!(!built.join("libextra.so.1").exists() && built.join(".pto-isa.lock").exists());
}

#[test]
fn compilers_of_the_runtime_count() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    let cann = site.project.dir().join("cann");
    let version = cann.join("compiler/version.info");
    let ccec = cann.join("bin/ccec");
    for (path, text) in [(&version, "Version=9.0.0\n"), (&ccec, "#!/bin/sh\necho 1\n")] {
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }
    fs_err::set_permissions(&ccec, std::fs::Permissions::from_mode(0o755)).unwrap();
    let cx = site.cx().with_var("ASCEND_HOME_PATH", &cann);
    build(&cx, &site.options()).unwrap();
    let differs = |expected: &str| {
        assert_eq!(names(&changed(&plan_build(&cx, &site.options()).unwrap())), [expected]);
    };
    // Another release at the same path, as in another image.
    edit(&version, "9.0.0", "9.2.0");
    differs("cann");
    edit(&version, "9.2.0", "9.0.0");
    edit(&ccec, "echo 1", "echo 1 # patched");
    differs("runtime:ccec");
    edit(&ccec, "echo 1 # patched", "echo 1");
    let newer = site.program("g++-15", "exec g++ \"$@\"");
    differs("runtime:g++-15");
    fs_err::remove_file(newer).unwrap();
    assert_eq!(plan_build(&cx, &site.options()).unwrap().decision, Decision::Incremental);
}

#[test]
fn a_compiler_that_changed_links_no_stale_object() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    build(&site.cx(), &site.options()).unwrap();
    let log = site.project.dir().join("compiled");
    let real = which(&site.cx(), "c++");
    site.program("c++", &format!("case \"$*\" in *.cpp*) echo x >>{};; esac\nexec {real} \"$@\"", log.display()));
    let plain = site.cx().with_var("CCACHE_DISABLE", "1");
    let built = build(&plain, &site.options()).unwrap();
    let Decision::Fresh { reason: reason @ Reason::Inputs { .. } } = &built.plan.decision else { panic!() };
    assert!(reason.to_string().contains("`cxx-compiler`"), "{reason}");
    let compiled = fs_err::read_to_string(&log).unwrap().lines().count();
    assert!(compiled >= 3, "{compiled} of three sources were compiled");
}

#[test]
fn what_the_user_chose_is_kept_by_whoever_builds_for_him() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    let again = BuildOptions { as_recorded: true, ..site.options() };
    let debug =
        BuildOptions { build_type: Some("Debug".into()), cmake_args: vec!["-DOF_MINE=1".into()], ..site.options() };
    assert_eq!(plan_build(&site.cx(), &again).unwrap().decision, Decision::Fresh { reason: Reason::NoBuild });
    build(&site.cx(), &debug).unwrap();
    assert_eq!(names(&changed(&plan_build(&site.cx(), &site.options()).unwrap())), ["options"]);
    assert_eq!(plan_build(&site.cx(), &again).unwrap().decision, Decision::Incremental);
    // What the user did not choose still counts, and a build that is killed keeps his choice.
    let other = site.cx().with_var("CFLAGS", "-O1");
    assert_eq!(names(&changed(&plan_build(&other, &again).unwrap())), ["env:CFLAGS"]);
    fs_err::remove_file(site.project.checkout().join("build/.ptokit-build.json")).unwrap();
    build(&site.cx(), &again).unwrap();
    let cache = fs_err::read_to_string(site.project.checkout().join("build/CMakeCache.txt")).unwrap();
    assert!(cache.contains("CMAKE_BUILD_TYPE:STRING=Debug") && cache.contains("OF_MINE"), "{cache}");
    assert_eq!(plan_build(&site.cx(), &debug).unwrap().decision, Decision::Incremental);
}

fn which(cx: &Context, name: &str) -> String {
    let found = Invocation::new("sh").args(["-c", "command -v \"$1\"", "sh", name]).run(cx).unwrap();
    found.stdout.text().trim().to_owned()
}

fn is_there(cx: &Context, name: &str) -> bool {
    !which(cx, name).is_empty()
}

/// Where a version of a binding stands, below the environment.
fn binding_version(site: &Site) -> String {
    let venv = site.project.home().join("venv");
    let python = fs_err::read_dir(venv.join("lib")).unwrap().next().unwrap().unwrap().file_name();
    format!("lib/{}/site-packages/pybind11/__init__.py", python.into_string().unwrap())
}

/// Gives everything another time of its last change.
fn touch_all(dir: &Path) {
    let none = Context::fake("/", [("PATH", "/usr/bin:/bin")]);
    let touch = Invocation::new("find").arg(dir).args(["-exec", "touch", "--date", "2031-01-01", "{}", "+"]);
    assert!(touch.run(&none).unwrap().success());
}
