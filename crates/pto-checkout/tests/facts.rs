//! A checkout as git shows it: every state is made with git itself.

use std::path::Path;

use pto_checkout::{Checkout, Error, JobLimits, LimitSource, Operation, Pins, Tracking};
use pto_test::pypto::{Binding, Project};

const LIMITS: &str = JobLimits::FILE;

fn write(dir: &Path, file: &str, text: &str) {
    let path = dir.join(file);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
}

#[test]
fn a_clean_checkout_and_its_submodules() {
    let project = Project::new(Binding::Plain);
    let (cx, root) = (project.cx(), project.checkout());
    let checkout = Checkout::open(&cx, root.join("src/core")).unwrap();
    assert_eq!((checkout.root(), checkout.primary.as_deref()), (&*root, Some(&*root)));
    assert_eq!(checkout.head.as_deref(), Some(&*project.git(&root, &["rev-parse", "HEAD"])));
    assert_eq!(checkout.branch.as_deref(), Some("main"));
    let upstream = checkout.upstream.as_ref().unwrap();
    assert_eq!((upstream.name.as_str(), upstream.tracking), ("origin/main", Tracking::Same));
    assert!(!checkout.is_dirty() && !checkout.is_linked() && checkout.operation.is_none());
    assert_eq!(checkout.uninitialised(), Vec::<String>::new());
    let runtime = checkout.submodule("runtime").unwrap();
    assert_eq!(runtime.is_at_recorded(), Some(true));
    let inside = runtime.checkout.as_ref().unwrap();
    assert!(inside.is_detached() && !inside.is_linked());
    assert_eq!(inside.primary.as_deref(), Some(&*root.join("runtime")));
    assert_eq!(inside.dirs.git_dir, root.join(".git/modules/runtime"));
}

#[test]
fn looking_writes_nothing() {
    let project = Project::new(Binding::Plain);
    let root = project.checkout();
    let index = root.join(".git/index");
    // A file that looks changed makes `git status` refresh the index, unless it is told not to.
    let file = std::fs::File::options().append(true).open(root.join("CMakeLists.txt")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000)).unwrap();
    let before = (fs_err::read(&index).unwrap(), fs_err::metadata(&index).unwrap().modified().unwrap());
    write(&root, ".git/hooks/monitor", "#!/bin/sh\ntouch \"$(dirname \"$0\")/asked\"\n");
    project.run(pto_process::Invocation::new("chmod").arg("+x").arg(root.join(".git/hooks/monitor")));
    project.git(&root, &["config", "core.fsmonitor", ".git/hooks/monitor"]);
    assert!(!Checkout::open(&project.cx(), &root).unwrap().is_dirty());
    let after = (fs_err::read(&index).unwrap(), fs_err::metadata(&index).unwrap().modified().unwrap());
    assert!(before == after, "the index was refreshed");
    assert!(!root.join(".git/hooks/asked").exists(), "a program that the repository names was started");
}

#[test]
fn a_repository_that_the_environment_names_is_not_the_one() {
    let project = Project::new(Binding::Plain);
    let (root, other) = (project.checkout(), project.remote("third"));
    let cx = project.cx().with_var("GIT_DIR", &other).with_var("GIT_INDEX_FILE", other.join("none"));
    assert_eq!(Checkout::open(&cx, &root).unwrap(), Checkout::open(&project.cx(), &root).unwrap());
}

#[test]
fn changes_are_told_apart_also_inside_submodules() {
    let project = Project::new(Binding::Plain);
    let root = project.checkout();
    write(&root, "CMakeLists.txt", "# changed\n");
    write(&root, "src/new file.cpp", "");
    project.git(&root, &["rm", "--quiet", "src/core/version.cpp"]);
    write(&root, "runtime/src/common/ring.cpp", "// changed\n");
    write(&root, "build/ignored", "");
    let checkout = Checkout::open(&project.cx(), &root).unwrap();
    assert_eq!(checkout.staged, ["src/core/version.cpp"]);
    assert_eq!(checkout.modified, ["CMakeLists.txt", "runtime"]);
    assert_eq!(checkout.untracked, ["src/new file.cpp"]);
    let runtime = checkout.submodule("runtime").unwrap();
    assert_eq!(runtime.checkout.as_ref().unwrap().modified, ["src/common/ring.cpp"]);
    assert_eq!(runtime.is_at_recorded(), Some(true));
}

#[test]
fn branches_stand_in_each_way_to_what_they_follow() {
    let project = Project::new(Binding::Plain);
    let (cx, root) = (project.cx(), project.checkout());
    let tracking = || Checkout::open(&cx, &root).unwrap().upstream.map(|upstream| upstream.tracking);
    project.push("pypto", "news.txt", "news\n");
    let git = Checkout::open(&cx, &root).unwrap().git(&cx).unwrap();
    git.fetch(&cx).unwrap();
    assert_eq!(tracking(), Some(Tracking::Behind { commits: 1 }));
    git.fast_forward(&cx, "@{upstream}").unwrap();
    assert_eq!(tracking(), Some(Tracking::Same));
    write(&root, "mine.txt", "mine\n");
    project.commit(&root, "Mine");
    assert_eq!(tracking(), Some(Tracking::Ahead { commits: 1 }));
    project.push("pypto", "more.txt", "more\n");
    git.fetch(&cx).unwrap();
    assert_eq!(tracking(), Some(Tracking::Diverged { ahead: 1, behind: 1 }));
    let refused = git.fast_forward(&cx, "@{upstream}").unwrap_err();
    assert!(matches!(refused, Error::Git { action: "fast-forward", .. }), "{refused:?}");
    project.git(&root, &["update-ref", "-d", "refs/remotes/origin/main"]);
    assert_eq!(tracking(), Some(Tracking::Gone));
    project.git(&root, &["checkout", "--quiet", "--detach"]);
    let detached = Checkout::open(&cx, &root).unwrap();
    assert!(detached.is_detached() && detached.upstream.is_none());
}

#[test]
fn what_was_begun_and_not_ended() {
    let project = Project::new(Binding::Plain);
    let (cx, root) = (project.cx(), project.checkout());
    for (branch, text) in [("one", "1\n"), ("two", "2\n")] {
        project.git(&root, &["checkout", "--quiet", "-B", branch, "main"]);
        write(&root, "both.txt", text);
        project.commit(&root, branch);
    }
    let patch = project.dir().join("one.patch");
    fs_err::write(&patch, project.git(&root, &["format-patch", "--stdout", "-1", "one"]) + "\n").unwrap();
    for (operation, args) in [
        (Operation::Merge, &["merge", "one"][..]),
        (Operation::CherryPick, &["cherry-pick", "one"]),
        (Operation::Rebase, &["rebase", "one"]),
        (Operation::Rebase, &["rebase", "--apply", "one"]),
        (Operation::Am, &["am", "--quiet", patch.to_str().unwrap()]),
    ] {
        let git = pto_process::Invocation::new("git").args(args).cwd(&root).run(&cx).unwrap();
        assert!(!git.success(), "{operation:?} had nothing to merge");
        let checkout = Checkout::open(&cx, &root).unwrap();
        // `git am` leaves no conflicts, it applies nothing.
        let conflicted = if operation == Operation::Am { vec![] } else { vec!["both.txt".to_owned()] };
        assert_eq!((checkout.operation, checkout.conflicted), (Some(operation), conflicted));
        let words: Vec<_> = operation.give_up().split(' ').skip(1).map(str::to_owned).collect();
        project.git(&root, &words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(Checkout::open(&cx, &root).unwrap().operation, None);
    }
}

#[test]
fn a_linked_worktree_knows_its_primary_checkout() {
    let project = Project::new(Binding::Plain);
    let cx = project.cx();
    let linked = project.worktree("feature");
    let checkout = Checkout::open(&cx, &linked).unwrap();
    assert!(checkout.is_linked());
    assert_eq!((checkout.root(), checkout.primary.as_deref()), (&*linked, Some(&*project.checkout())));
    assert_eq!(checkout.branch.as_deref(), Some("feature"));
    let runtime = checkout.submodule("runtime").unwrap().checkout.as_ref().unwrap();
    assert_eq!(runtime.root(), linked.join("runtime"));

    // A worktree of a submodule: its repository lies in that of the parent.
    let runtime = project.checkout().join("runtime");
    project.git(&runtime, &["worktree", "add", "--quiet", "--detach", "../../inner"]);
    let inner = Checkout::open(&cx, project.dir().join("inner")).unwrap();
    assert_eq!(inner.primary, Some(runtime));
}

#[test]
fn submodules_that_are_missing_or_moved() {
    let project = Project::new(Binding::Plain);
    let (cx, root) = (project.cx(), project.dir().join("bare"));
    let remote = project.remote("pypto").display().to_string();
    project.git(&project.dir(), &["clone", "--quiet", &remote, "bare"]);
    let checkout = Checkout::open(&cx, &root).unwrap();
    assert_eq!(checkout.uninitialised(), ["3rdparty/third", "runtime"]);
    assert_eq!(checkout.submodule("runtime").unwrap().is_at_recorded(), None);
    assert_eq!(Pins::read(&cx, &root).unwrap().pto_isa, None);

    let commit = project.push("runtime", "new.txt", "new\n");
    let runtime = project.checkout().join("runtime");
    project.git(&runtime, &["fetch", "--quiet"]);
    project.git(&runtime, &["checkout", "--quiet", &commit]);
    let checkout = Checkout::open(&cx, project.checkout()).unwrap();
    assert_eq!(checkout.modified, ["runtime"]);
    assert_eq!(checkout.submodule("runtime").unwrap().is_at_recorded(), Some(false));
}

#[test]
fn pins_are_read() {
    let project = Project::new(Binding::Plain);
    let (cx, root) = (project.cx(), project.checkout());
    let pins = Pins::read(&cx, &root).unwrap();
    assert_eq!(pins.versions.unwrap().ptoas_number(), Some("0.61"));
    assert_eq!(pins.pto_isa.unwrap().commit, Some(project.git(&project.remote("pto-isa"), &["rev-parse", "main"])));
    assert_eq!(pins.build_constraints, Some(root.join("build-constraints.txt")));
    let python = pins.python.unwrap();
    assert_eq!((python.version.as_str(), python.exact), ("3.10", false));
    write(&root, ".python-version", "3.11.2\n");
    let python = Pins::read(&cx, &root).unwrap().python.unwrap();
    assert_eq!((python.version.as_str(), python.exact, python.file), ("3.11.2", true, root.join(".python-version")));
}

#[test]
fn job_limits_are_those_of_the_primary_checkout() {
    let project = Project::new(Binding::Plain);
    let cx = project.cx();
    let linked = Checkout::open(&cx, project.worktree("feature")).unwrap();
    let limits = JobLimits::of(&cx, &linked).unwrap();
    assert_eq!((limits.build, limits.test, limits.source), (2, 2, LimitSource::Unclassified));
    let limits = JobLimits::of(&cx.clone().with_var("PYPTO_BUILD_JOBS", "6"), &linked).unwrap();
    assert_eq!((limits.build, limits.source), (6, LimitSource::Variable("PYPTO_BUILD_JOBS")));
    assert!(JobLimits::of(&cx.clone().with_var("PYPTO_BUILD_JOBS", "all"), &linked).is_err());

    let file = project.checkout().join(LIMITS);
    write(&project.checkout(), LIMITS, "export PYPTO_MACHINE_PROFILE=server\nexport PYPTO_BUILD_JOBS=16\n");
    write(&linked.dirs.root, LIMITS, "export PYPTO_BUILD_JOBS=99\n");
    let limits = JobLimits::of(&cx.clone().with_var("PYPTO_BUILD_JOBS", "6"), &linked).unwrap();
    assert_eq!((limits.build, limits.profile.as_deref()), (16, Some("server")));
    assert_eq!(limits.source, LimitSource::File(file.clone()));
    assert_eq!([None, Some(4), Some(64), Some(0)].map(|asked| limits.build_jobs(asked)), [16, 4, 16, 1]);

    fs_err::write(&file, "export PYPTO_MACHINE_PROFILE=server\nexport PYPTO_BUILD_JOBS=lots\n").unwrap();
    let refused = JobLimits::of(&cx, &linked).unwrap_err().to_string();
    let expected = format!("`{}` line 2: `PYPTO_BUILD_JOBS=lots`: expected a whole number above 0", file.display());
    assert_eq!(refused, expected);
}

#[test]
fn what_is_no_checkout_is_said() {
    let project = Project::new(Binding::Plain);
    let cx = project.cx();
    let none = project.home();
    assert!(matches!(Checkout::open(&cx, &none), Err(Error::NotACheckout { dir }) if dir == none));
    let gone = none.join("gone");
    assert!(matches!(Checkout::open(&cx, &gone), Err(Error::NoDirectory { dir }) if dir == gone));
    let linked = project.worktree("feature");
    fs_err::remove_dir_all(project.checkout()).unwrap();
    let refused = Checkout::open(&cx, &linked).unwrap_err();
    assert!(matches!(&refused, Error::Dangling { file, .. } if *file == linked.join(".git")), "{refused:?}");
    assert!(refused.hint().unwrap().contains("git worktree repair"));
}
