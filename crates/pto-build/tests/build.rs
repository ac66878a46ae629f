//! Real builds: CMake, Ninja, a compiler, uv and a build backend, on the project that is shaped like PyPTO.

mod support;

use std::sync::Arc;

use pto_build::{BuildError, BuildOptions, Decision, Error, Fault, Reason, build, plan_build};
use pto_checkout::JobLimits;
use pto_context::{Event, Recorder};
use pto_test::pypto::Binding;
use support::{Site, edit, has_make, steps};

#[test]
fn a_fresh_checkout_is_built_and_works() {
    is_built_and_works(Binding::Pybind11);
}

#[test]
fn so_is_one_that_is_bound_as_pypto_is() {
    let Some(site) = is_built_and_works(Binding::Nanobind) else { return };
    edit(&site.project.checkout().join("src/core/version.cpp"), "0.1.0", "0.2.0");
    let events = Arc::new(Recorder::default());
    let built = build(&site.cx().with_events(events.clone()), &site.options()).unwrap();
    assert_eq!((built.plan.decision, steps(&events, "build:native")), (Decision::Incremental, 2));
    assert_eq!(site.project.python("import pypto; print(pypto.version())"), "0.2.0");
}

fn is_built_and_works(binding: Binding) -> Option<Site> {
    let site = Site::new(binding)?;
    let built = build(&site.cx(), &site.options()).unwrap();
    assert_eq!(built.plan.decision, Decision::Fresh { reason: Reason::NoBuild });
    assert_eq!(built.plan.generator, "Ninja");
    let mut modules = built.artifacts.iter().filter(|path| path.extension().is_some_and(|it| it == "so"));
    let (Some(extension), None) = (modules.next(), modules.next()) else { panic!("{:?}", built.artifacts) };
    assert!(extension.starts_with(site.project.checkout().join("python/pypto")), "{}", extension.display());
    assert_eq!(site.project.python("import pypto; print(pypto.answer(), pypto.version())"), "42 0.1.0");
    let head = site.project.git(&site.runtime(), &["rev-parse", "HEAD"]);
    let stamp = "import _task_interface as t; print(t.__build_commit__, t.slots, t.pto_isa, t.__file__)";
    assert_eq!(site.project.python(stamp), format!("{head} 8 1 {}", built.extension.unwrap().display()));
    assert!(!built.isa.unwrap().reused && !built.recorded_state);
    assert_eq!(
        site.project.git(&site.project.checkout(), &["status", "--porcelain"]),
        "",
        "nothing but sources is seen"
    );
    Some(site)
}

#[test]
fn edits_are_built_and_nothing_else() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    let cx = || {
        let events = Arc::new(Recorder::default());
        (site.cx().with_events(events.clone()), events)
    };
    let (first, events) = cx();
    build(&first, &site.options()).unwrap();
    assert_eq!(steps(&events, "build:native"), 4, "three sources and the extension");

    // Nothing changed.
    let (again, events) = cx();
    let built = build(&again, &site.options()).unwrap();
    assert_eq!(built.plan.decision, Decision::Incremental);
    assert_eq!(steps(&events, "build:native"), 0);
    assert!(built.isa.unwrap().reused);

    // One file of the extension: it is compiled, and the extension is linked.
    edit(&site.project.checkout().join("src/core/version.cpp"), "0.1.0", "0.2.0");
    let (edited, events) = cx();
    build(&edited, &site.options()).unwrap();
    assert_eq!(steps(&events, "build:native"), 2);
    assert_eq!(site.project.python("import pypto; print(pypto.version())"), "0.2.0");

    // An edit of the runtime that nobody committed; its header is the extension's too.
    edit(&site.runtime().join("src/common/ring.h"), "SLOTS 8", "SLOTS 16");
    let (edited, events) = cx();
    build(&edited, &site.options()).unwrap();
    assert_eq!(steps(&events, "build:native"), 2);
    assert_eq!(site.project.python("import simpler; print(simpler.slots)"), "16");

    // A source that does not compile costs no rebuild when it is mended.
    let source = site.project.checkout().join("src/core/answer.cpp");
    edit(&source, "return 40", "retrun 40");
    let error = build(&site.cx(), &site.options()).unwrap_err();
    assert!(matches!(error, Error::Build(BuildError::NotBuilt { .. })) && error.fault() == Fault::Verdict, "{error:?}");
    assert!(error.said(40).unwrap().contains("retrun"), "{:?}", error.said(40));
    edit(&source, "retrun 40", "return 41");
    let (mended, events) = cx();
    let built = build(&mended, &site.options()).unwrap();
    assert_eq!(built.plan.decision, Decision::Incremental);
    assert_eq!(steps(&events, "build:native"), 2);
    assert_eq!(site.project.python("import pypto; print(pypto.answer())"), "43");

    // The runtime moved to another commit: the stamp follows.
    let commit = site.project.push("runtime", "news.txt", "news\n");
    site.project.git(&site.runtime(), &["fetch", "--quiet"]);
    site.project.git(&site.runtime(), &["checkout", "--quiet", "--force", &commit]);
    build(&site.cx(), &site.options()).unwrap();
    assert_eq!(
        site.project.python("import _task_interface as t; print(t.__build_commit__, t.slots)"),
        format!("{commit} 8")
    );
}

#[test]
fn targets_and_jobs_are_the_runtimes_and_the_machines() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    let cx = site.cx().with_var("PYPTO_RUNTIME_BUILD_TARGETS", "build_package_a5 build_package_sim");
    let plan = plan_build(&cx, &BuildOptions { jobs: Some(64), ..site.options() }).unwrap();
    assert_eq!((plan.jobs.used, plan.jobs.limit), (2, 2));
    let command = |what: &str| plan.commands.iter().find(|step| step.what == what).unwrap().command.clone();
    assert!(command("build").ends_with("--parallel 2"), "{}", command("build"));
    assert!(!command("build").contains("build_package_a5") && !command("configure").contains("build_package_a5"));
    let wheel = command("make the runtime's wheel");
    assert!(wheel.contains("'build.targets=build_package_a5;build_package_sim'"), "{wheel}");
    for limit in ["CMAKE_BUILD_PARALLEL_LEVEL=2 ", "MAKEFLAGS=-j2 ", "MAX_JOBS=2 "] {
        assert!(wheel.contains(limit), "{limit}: {wheel}");
    }
    assert!(command("configure").contains("-DCMAKE_BUILD_PARALLEL_LEVEL=2"), "{}", command("configure"));
    assert_eq!(plan_build(&cx, &BuildOptions { jobs: Some(1), ..site.options() }).unwrap().jobs.used, 1);

    let limits = site.project.checkout().join(JobLimits::FILE);
    fs_err::create_dir_all(limits.parent().unwrap()).unwrap();
    fs_err::write(&limits, "export PYPTO_BUILD_JOBS=1\n").unwrap();
    let built = build(&cx, &site.options()).unwrap();
    assert_eq!(built.plan.jobs.used, 1);
    let platforms = "import os, simpler; print(sorted(os.listdir(os.path.dirname(simpler.__file__) + '/platforms')))";
    assert_eq!(site.project.python(platforms), "['a5', 'sim']");
}

#[test]
fn a_build_of_makes_keeps_its_generator() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    if !has_make(&site.cx()) {
        return;
    }
    let checkout = site.project.checkout();
    let python = site.project.home().join("venv/bin/python");
    let by_hand = pto_process::Invocation::new("cmake").args(["-S", ".", "-B", "build", "-G", "Unix Makefiles"]);
    site.project.run(by_hand.arg(format!("-DPython_EXECUTABLE={}", python.display())).cwd(&checkout));
    let built = build(&site.cx(), &site.options()).unwrap();
    assert_eq!(built.plan.generator, "Unix Makefiles");
    assert_eq!(built.plan.decision, Decision::Fresh { reason: Reason::Unrecorded });
    assert!(checkout.join("build/Makefile").exists() && !checkout.join("build/build.ninja").exists());
    let again = build(&site.cx(), &BuildOptions { clean: true, ..site.options() }).unwrap();
    assert_eq!(
        (again.plan.generator.as_str(), again.plan.decision),
        ("Unix Makefiles", Decision::Fresh { reason: Reason::Asked })
    );
}

#[test]
fn what_stops_a_build_names_the_repository_and_what_to_type() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    let (cx, checkout) = (site.cx(), site.project.checkout());
    let refused = |cx: &pto_context::Context| {
        let error = build(cx, &site.options()).unwrap_err();
        (pto_context::with_causes(&error), error.hint().unwrap(), error.fault())
    };
    // Files that no build has made are not deleted.
    fs_err::create_dir(checkout.join("build")).unwrap();
    fs_err::write(checkout.join("build/thesis.tex"), "all my work").unwrap();
    let (message, hint, fault) = refused(&cx);
    assert!(message.contains(&format!("`{}/build` is in the way", checkout.display())), "{message}");
    assert!(hint.contains("mv ") && fault == Fault::Input, "{hint}");
    assert_eq!(fs_err::read_to_string(checkout.join("build/thesis.tex")).unwrap(), "all my work");
    // Not either where they are another project's, with all that a build has.
    for (file, text) in [
        ("Makefile", "all:"),
        (".cmake/x", ""),
        ("CMakeCache.txt", "CMAKE_HOME_DIRECTORY:INTERNAL=/thesis\nCMAKE_CACHEFILE_DIR:INTERNAL=/thesis/out\n"),
    ] {
        let file = checkout.join("build").join(file);
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(file, text).unwrap();
        assert!(refused(&cx).0.contains("/build` is in the way"));
    }
    assert_eq!(fs_err::read_to_string(checkout.join("build/thesis.tex")).unwrap(), "all my work");
    fs_err::remove_dir_all(checkout.join("build")).unwrap();
    fs_err::create_dir_all(site.runtime().join("build/lib")).unwrap();
    fs_err::write(site.runtime().join("build/lib/thesis.tex"), "all my work").unwrap();
    let (message, hint, _) = refused(&cx);
    assert!(message.contains("/runtime/build` is in the way") && hint.contains("mv "), "{message}: {hint}");
    fs_err::remove_dir_all(site.runtime().join("build")).unwrap();

    fs_err::write(site.runtime().join("pto_isa.pin"), "main\n").unwrap();
    let (message, hint, _) = refused(&cx);
    assert!(message.contains("runtime/pto_isa.pin` line 1: expected a commit"), "{message}");
    assert!(hint.contains("git -C "), "{hint}");

    site.project.git(&checkout, &["submodule", "--quiet", "deinit", "--force", "--all"]);
    let (message, hint, _) = refused(&cx);
    let expected =
        format!("`{}` is not complete: `3rdparty/third`, `runtime` were not initialised", checkout.display());
    assert_eq!(message, expected);
    assert_eq!(hint, format!("`git -C {} submodule update --init --recursive`", checkout.display()));

    let (message, _, _) = refused(&cx.clone().with_var("PYPTO_SRC", site.project.home()));
    assert!(message.contains("is in no git checkout"), "{message}");
    site.project.git(&checkout, &["submodule", "--quiet", "update", "--init"]);
    let (message, hint, fault) = refused(&cx.with_var("PYPTO_HOME", site.project.dir().join("none")));
    assert!(message.contains("there is no working Python at") && fault == Fault::Machine, "{message}");
    assert!(hint.contains("cargo xtask setup"), "{hint}");
}

#[test]
fn what_cmake_makes_is_asked_for_again_where_its_answer_is_gone() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    let [extension] = &build(&site.cx(), &site.options()).unwrap().artifacts[..] else { panic!("one extension") };
    let answer = site.project.checkout().join("build/.cmake");
    fs_err::remove_dir_all(&answer).unwrap();
    let events = Arc::new(Recorder::default());
    let built = build(&site.cx().with_events(events.clone()), &site.options()).unwrap();
    assert_eq!(built.plan.decision, Decision::Incremental);
    let told = |text: &str| events.events().iter().any(|event| format!("{event:?}").contains(text));
    assert!(told("does not say what CMake makes: asking it again"), "{:?}", events.events());
    // So somebody who changes the extension is still noticed.
    let bytes = [fs_err::read(extension).unwrap(), b"x".to_vec()].concat();
    fs_err::write(extension, bytes).unwrap();
    let decision = plan_build(&site.cx(), &site.options()).unwrap().decision;
    assert!(matches!(decision, Decision::Fresh { reason: Reason::Artifacts { .. } }), "{decision:?}");

    // A CMake that does not answer.
    let real = which::which_in_global("cmake", site.cx().var_os("PATH")).unwrap().next().unwrap();
    site.program("cmake", &format!("{} \"$@\"; code=$?; rm -rf '{}'; exit $code", real.display(), answer.display()));
    let events = Arc::new(Recorder::default());
    build(&site.cx().with_events(events.clone()), &site.options()).unwrap();
    let warned = events
        .events()
        .into_iter()
        .any(|event| matches!(event, Event::Warning { message } if message.contains("is not recorded")));
    assert!(warned);
    let decision = plan_build(&site.cx(), &site.options()).unwrap().decision;
    assert_eq!(decision, Decision::Fresh { reason: Reason::Unrecorded });
}
