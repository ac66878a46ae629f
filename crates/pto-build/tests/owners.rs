//! Checkouts that are not simply one's own: linked worktrees, and those of users without a name here.

mod support;

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use pto_build::{BuildError, Decision, Error, Reason, build, plan_build};
use pto_checkout::{JobLimits, Owner};
use pto_test::pypto::{Binding, Python};
use support::{Site, edit};

/// Nobody has this number.
const UID: u32 = 47_110;

#[test]
fn a_linked_worktree_is_a_build_of_its_own_with_the_limits_of_its_primary() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    let linked = site.project.worktree("feature");
    let limits = site.project.checkout().join(JobLimits::FILE);
    fs_err::create_dir_all(limits.parent().unwrap()).unwrap();
    fs_err::write(&limits, "export PYPTO_BUILD_JOBS=1\n").unwrap();
    edit(&linked.join("src/core/version.cpp"), "0.1.0", "0.3.0");
    let cx = site.cx().with_var("PYPTO_SRC", &linked);
    let built = build(&cx, &site.options()).unwrap();
    assert_eq!((built.plan.source.as_path(), built.plan.jobs.used), (&*linked, 1));
    assert!(built.artifacts[0].starts_with(linked.join("python/pypto")));
    assert!(!site.project.checkout().join("build").exists());
    assert_eq!(plan_build(&cx, &site.options()).unwrap().decision, Decision::Incremental);
    let primary = plan_build(&site.cx(), &site.options()).unwrap().decision;
    assert_eq!(primary, Decision::Fresh { reason: Reason::NoBuild });
}

#[test]
fn what_is_built_for_another_owner_is_the_owners() {
    if !Owner::of_this_process().is_root() {
        return pto_test::skip("only root can give files to somebody else");
    }
    let Some(python) = Python::for_everybody(UID) else { return };
    let site = Site::with(Binding::Plain, &python);
    let checkout = site.project.checkout();
    // A remote that is a directory has to be the user's as well.
    site.project.give_to(&checkout, UID);
    site.project.give_to(&site.project.dir().join("remotes"), UID);
    let built = build(&site.cx(), &site.options()).unwrap();
    assert_eq!(built.plan.owner, Owner { uid: UID, gid: UID });
    let command = |what: &str| built.plan.commands.iter().find(|step| step.what == what).unwrap().command.clone();
    for what in ["configure", "build", "make the runtime's wheel", "fetch PTO-ISA"] {
        assert!(command(what).contains(&format!("setpriv '--reuid={UID}'")), "{}", command(what));
    }
    assert!(!command("install it").contains("setpriv"));
    others(&checkout, UID);
    // The environment stays the caller's, and so does what is installed into it.
    others(&site.project.home().join("venv"), 0);
    let users = site.project.home().join("users");
    assert_eq!(fs_err::metadata(&users).unwrap().uid(), 0);
    others(&users.join(UID.to_string()), UID);
    assert_eq!(site.project.python("import pypto, simpler; print(pypto.answer(), simpler.slots)"), "42 8");

    // The next build goes on with it, discards what it has to, and leaves the owner's tree the owner's.
    assert_eq!(plan_build(&site.cx(), &site.options()).unwrap().decision, Decision::Incremental);
    fs_err::remove_file(checkout.join("build/.ptokit-build.json")).unwrap();
    let again = build(&site.cx(), &site.options()).unwrap();
    assert_eq!(again.plan.decision, Decision::Fresh { reason: Reason::Unrecorded });
    others(&checkout, UID);

    // Files that root left there are not the owner's to replace: that is said, with what to type.
    fs_err::write(checkout.join("build/CMakeFiles/of-root"), "").unwrap();
    site.project.give_to(&checkout.join("build/CMakeFiles"), 0);
    fs_err::remove_file(checkout.join("build/.ptokit-build.json")).unwrap();
    let error = build(&site.cx(), &site.options()).unwrap_err();
    assert!(matches!(error, Error::Build(BuildError::NotTheOwners { .. })), "{error:?}");
    assert!(error.hint().unwrap().starts_with("as root: `rm -rf "), "{:?}", error.hint());
}

/// Fails for every file of a tree that is not this user's.
#[track_caller]
fn others(tree: &Path, uid: u32) {
    let mut wrong = Vec::new();
    let mut left = vec![tree.to_owned()];
    while let Some(path) = left.pop() {
        let metadata = fs_err::symlink_metadata(&path).unwrap();
        if metadata.uid() != uid {
            wrong.push(path.clone());
        }
        if metadata.is_dir() {
            left.extend(fs_err::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    assert!(wrong.is_empty(), "not of {uid}: {wrong:#?}");
}
