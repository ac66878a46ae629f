//! Real checkouts, as git and Python tell them on this machine.

use std::path::Path;

use pto_checkout::Owner;
use pto_context::{Called, Context};
use pto_doctor::{Answer, Finding, ProbeOptions, Probes, Status, check, judge};
use pto_process::Invocation;
use pto_test::pypto::{Binding, Project};

use crate::support::PATIENCE;

/// Nobody has this number.
const UID: u32 = 47_112;

fn probes(cx: &Context, id: &str) -> Probes {
    let wanted = check(id).unwrap().needs.iter().copied().collect();
    let worker = Some(std::env::current_exe().unwrap());
    Probes::gather(cx, &wanted, &ProbeOptions { worker, deadline: PATIENCE })
}

fn found(cx: &Context, id: &str) -> Finding {
    check(id).unwrap().judge(cx, &probes(cx, id))
}

/// A program on `PATH` before all others.
fn stand_in(project: &Project, name: &str, script: &str) -> Context {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = project.dir().join("stand-ins");
    fs_err::create_dir_all(&dir).unwrap();
    fs_err::write(dir.join(name), script).unwrap();
    fs_err::set_permissions(dir.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", dir.display(), project.cx().var("PATH").unwrap());
    project.cx().with_var("PATH", path)
}

fn new_branch(project: &Project, name: &str) {
    project.git(&project.checkout(), &["switch", "--quiet", "--create", name]);
}

type Make = fn(&Project);

/// How a state comes about, what is said of it, and which of the commands is typed that are offered.
const BRANCHES: [(&str, Make, usize); 6] = [
    ("follows no branch of a remote", |project| new_branch(project, "lonely"), 0),
    (
        "follows `main`, and that is no branch of a remote",
        |project| {
            new_branch(project, "local");
            project.git(&project.checkout(), &["branch", "--quiet", "--set-upstream-to=main"]);
        },
        0,
    ),
    (
        "that is no branch of a remote that is there",
        |project| {
            new_branch(project, "gone");
            project.git(&project.checkout(), &["push", "--quiet", "-u", "origin", "gone"]);
            project.git(&project.checkout(), &["push", "--quiet", "origin", ":gone"]);
        },
        0,
    ),
    ("in the middle of a bisect", |project| drop(project.git(&project.checkout(), &["bisect", "start"])), 0),
    (
        "has no commit yet",
        |project| drop(project.git(&project.checkout(), &["switch", "--quiet", "--orphan", "empty"])),
        0,
    ),
    (
        "in the middle of a merge",
        |project| {
            let src = project.checkout();
            for (branch, text) in [("one", "1"), ("main", "2")] {
                project.git(&src, &["switch", "--quiet", "--force-create", branch, "--track", "origin/main"]);
                fs_err::write(src.join("both.txt"), text).unwrap();
                project.commit(&src, branch);
            }
            let merge = Invocation::new("git").args(["merge", "one"]).cwd(&src).run(&project.cx()).unwrap();
            assert!(!merge.success());
        },
        // The second gives it up.
        1,
    ),
];

#[test]
fn what_is_offered_for_a_branch_can_be_typed() {
    for (says, make, which) in BRANCHES {
        let project = Project::new(Binding::Plain);
        let cx = project.cx();
        assert_eq!(found(&cx, "tracking-branch").status, Status::Ok);
        make(&project);
        let finding = found(&cx, "tracking-branch");
        assert!(finding.status == Status::Warn && finding.evidence.contains(says), "{says}: {finding:?}");
        let remedy = finding.remedy.unwrap();
        let command = remedy.split('`').filter(|part| part.starts_with("git ")).nth(which).unwrap_or(&remedy);
        project.run(Invocation::new("sh").args(["-c", command]));
        let after = found(&cx, "tracking-branch");
        assert!(!after.evidence.contains(says), "{says}: `{command}` has not helped: {after:?}");
    }
}

#[test]
fn branches_that_are_right_or_only_late() {
    let project = Project::new(Binding::Plain);
    let (cx, src) = (project.cx(), project.checkout());
    project.push("pypto", "docs/news.txt", "new");
    project.git(&src, &["fetch", "--quiet"]);
    let chosen = [check("tracking-branch").unwrap()];
    let remedy = |called| {
        let cx = cx.clone().with_called(called);
        judge(&cx, &probes(&cx, "tracking-branch"), &chosen, false).checks[0].remedy.clone()
    };
    assert_eq!(remedy(Called::FromWorkspace).as_deref(), Some("cargo xtask update"));
    assert_eq!(remedy(Called::ByName).as_deref(), Some("pypto-update"));
    project.git(&src, &["checkout", "--quiet", "--detach"]);
    let cx = cx.with_called(Called::ByName);
    let detached = found(&cx, "tracking-branch");
    assert!(detached.status == Status::Ok && detached.evidence.contains("`pypto-update` builds it"), "{detached:?}");
}

#[test]
fn new_files_of_the_runtime_are_changes() {
    let project = Project::new(Binding::Plain);
    let runtime = project.checkout().join("runtime");
    let status = || probes(&project.cx(), "simpler-binding").runtime.status.stdout().map(str::to_owned);
    assert_eq!(status().as_deref(), Some(""));
    fs_err::write(runtime.join("src/common/extra.cpp"), "").unwrap();
    assert_eq!(status().as_deref(), Some("?? src/common/extra.cpp\n"));
    // What the user told git not to show counts all the same.
    project.git(&runtime, &["config", "status.showUntrackedFiles", "no"]);
    assert_eq!(status().as_deref(), Some("?? src/common/extra.cpp\n"));
}

/// Git before 2.38 takes `safe.directory` from no command line.
#[test]
fn an_old_git_tells_of_another_owners_checkout() {
    if !Owner::of_this_process().is_root() {
        return pto_test::skip("only root can give files to somebody else");
    }
    let project = Project::new(Binding::Plain);
    let git = which::which("git").unwrap();
    let script = format!(
        "#!/bin/bash\nargs=()\nwhile (($#)); do\n  if [ \"$1\" = -c ] && [[ \"$2\" == safe.directory=* ]]; then shift 2; \
         else args+=(\"$1\"); shift; fi\ndone\nexec '{}' \"${{args[@]}}\"\n",
        git.display()
    );
    let cx = stand_in(&project, "git", &script);
    let head = project.git(&project.checkout().join("runtime"), &["rev-parse", "HEAD"]);
    project.give_to(&project.checkout(), UID);
    let old = Invocation::new("git").args(["-c", "safe.directory=*", "status"]).cwd(project.checkout());
    assert!(old.run(&cx).unwrap().stderr.text().contains("dubious ownership"));
    let runtime = probes(&cx, "simpler-binding").runtime;
    assert_eq!(runtime.head.stdout().map(str::trim), Some(&*head), "{runtime:?}");
    assert_eq!(runtime.status.stdout(), Some(""));
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(runtime.diff_sha256.as_deref(), Some(empty));
    assert_eq!(found(&cx, "tracking-branch").status, Status::Ok);
}

#[test]
fn a_mounted_tree_is_looked_at_where_it_is() {
    let project = Project::new(Binding::Plain);
    let cx = project.cx().with_root(project.dir()).with_var("PYPTO_SRC", "/pypto").with_var("PYPTO_HOME", "/home");
    let head = project.git(&project.checkout().join("runtime"), &["rev-parse", "HEAD"]);
    let probes = probes(&cx, "simpler-binding");
    assert_eq!(probes.runtime.head.stdout().map(str::trim), Some(&*head));
    assert_eq!(probes.home_python, Answer::NotAsked, "nothing of a tree is run");
}

/// The release that a setup would fetch says nothing of the one that is here, and nonsense nothing of the rest.
#[test]
fn a_release_of_uv_in_the_environment_is_not_asked_for() {
    let project = Project::new(Binding::Plain);
    let uv = project.home().join("bin/uv");
    fs_err::create_dir_all(uv.parent().unwrap()).unwrap();
    let cx = stand_in(&project, "uv", "#!/bin/sh\necho 'uv 0.9.2'\n");
    fs_err::copy(project.dir().join("stand-ins/uv"), &uv).unwrap();
    for version in ["", "0.9.3", "newest"] {
        let finding = found(&cx.clone().with_var("UV_VERSION", version), "uv");
        assert!(finding.status == Status::Ok && finding.evidence.contains("0.9.2 in"), "{version}: {finding:?}");
    }
}

#[test]
fn the_python_of_the_home_is_asked() {
    let project = Project::new(Binding::Plain);
    let (cx, home) = (project.cx(), project.home());
    let is_unseen = |cx: &Context| {
        let finding = found(cx, "simpler-binding");
        assert!(finding.unverified && finding.remedy.is_some(), "{finding:?}");
        finding.evidence
    };
    assert!(is_unseen(&cx).starts_with("is not there: simpler is not installed (in `"));
    let python = home.join("venv/bin/python");
    project.run(Invocation::new("python3").args(["-m", "venv", "--without-pip"]).arg(home.join("venv")));
    assert!(is_unseen(&cx).ends_with(&format!("(in `{}`)", python.display())));
    // In a shell that was set up it is the one on `PATH`, and is not asked twice.
    let path = format!("{}:{}", home.join("venv/bin").display(), cx.var("PATH").unwrap());
    let activated = cx.clone().with_var("PATH", path);
    assert_eq!(probes(&activated, "simpler-binding").home_python, Answer::NotAsked);
    assert!(is_unseen(&activated).contains("simpler is not installed"));
    // With neither home nor checkout there is nothing that could be missing.
    let nothing = cx.with_var("PYPTO_HOME", project.dir().join("none"));
    let nothing = found(&nothing, "simpler-binding");
    assert!(nothing.status == Status::Skip && !nothing.unverified, "{nothing:?}");
    assert!(Path::new(&python).exists());
}
