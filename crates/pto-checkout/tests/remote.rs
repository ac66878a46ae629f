//! Remotes: refs to commits, what they refuse, and what must not be shown of them.

use pto_checkout::{Error, RunAs, remote};
use pto_test::pypto::{Binding, Project};

#[test]
fn a_ref_becomes_a_full_commit() {
    let project = Project::new(Binding::Plain);
    let (cx, bare) = (project.cx(), project.remote("third"));
    let url = bare.display().to_string();
    let main = project.git(&bare, &["rev-parse", "main"]);
    project.git(&bare, &["tag", "light", "main"]);
    project.git(&bare, &["tag", "--annotate", "--message", "v1", "v1", "main"]);
    let newer = project.push("third", "new.txt", "new\n");
    project.git(&bare, &["branch", "team/v1", "main"]);
    let resolved = |name: &str| remote::resolve(&cx, &url, name).unwrap();
    assert_eq!(["main", "HEAD", "refs/heads/main", "team/v1"].map(resolved), [(); 4].map(|()| newer.clone()));
    assert_eq!(["light", "v1", "refs/tags/v1"].map(resolved), [(); 3].map(|()| main.clone()));
    assert!(matches!(remote::resolve(&cx, &url, "none"), Err(Error::NoSuchRef { name, .. }) if name == "none"));

    // Nobody is asked for what is a commit already.
    assert_eq!(remote::resolve(&cx, "/nowhere", &newer.to_uppercase()).unwrap(), newer);
}

#[test]
fn credentials_are_not_shown() {
    let project = Project::new(Binding::Plain);
    // Nothing listens there.
    let url = "http://somebody:s3cret@127.0.0.1:1/x.git";
    let error = remote::resolve(&project.cx(), url, "main").unwrap_err();
    let shown =
        format!("{} {} {error:?} {}", pto_context::with_causes(&error), error.last_words(), error.hint().unwrap());
    assert!(shown.contains("http://***@127.0.0.1:1/x.git"), "{shown}");
    assert!(!shown.contains("s3cret"), "{shown}");
}

#[test]
fn a_name_is_never_an_option() {
    let project = Project::new(Binding::Plain);
    let url = format!("--upload-pack=touch {}", project.dir().join("owned").display());
    assert!(matches!(remote::resolve(&project.cx(), &url, "main"), Err(Error::Remote { .. })));
    assert!(!project.dir().join("owned").exists());
}

#[test]
fn a_clone_has_no_work_tree_yet() {
    let project = Project::new(Binding::Plain);
    let into = project.dir().join("clone");
    let url = project.remote("third").display().to_string();
    remote::clone(&project.cx(), &RunAs::caller(), &url, &into).unwrap();
    assert_eq!(fs_err::read_dir(&into).unwrap().count(), 1, "`.git` alone");
}
