//! Trees of other owners: root acts as them, and everybody may look at them.

use std::os::unix::fs::MetadataExt as _;

use pto_checkout::{Checkout, Git, Owner, RunAs};
use pto_process::Invocation;
use pto_test::pypto::{Binding, Project};

/// Nobody has these numbers.
const UID: u32 = 47_110;
const OTHER_UID: u32 = 47_111;

fn is_root() -> bool {
    let root = Owner::of_this_process().is_root();
    if !root {
        pto_test::skip("only root can give files to somebody else");
    }
    root
}

#[test]
fn git_acts_as_the_owner_of_the_tree() {
    if !is_root() {
        return;
    }
    let project = Project::new(Binding::Plain);
    let (cx, root) = (project.cx(), project.checkout());
    project.push("pypto", "news.txt", "news\n");
    project.give_to(&root, UID);
    // A remote that is a directory has to be the user's as well.
    project.give_to(&project.dir().join("remotes"), UID);
    // Without `safe.directory` even root is refused.
    let refused = Invocation::new("git").arg("status").cwd(&root).run(&cx).unwrap();
    assert!(refused.stderr.text().contains("dubious ownership"), "{}", refused.last_words(9));

    let checkout = Checkout::open(&cx, &root).unwrap();
    assert_eq!(checkout.owner, Owner { uid: UID, gid: UID });
    let git = checkout.git(&cx).unwrap();
    git.run_as().prepare().unwrap();
    git.fetch(&cx).unwrap();
    git.fast_forward(&cx, "@{upstream}").unwrap();
    for file in ["news.txt", ".git/index", ".git/FETCH_HEAD"] {
        assert_eq!(fs_err::metadata(root.join(file)).unwrap().uid(), UID, "{file}");
    }
    let home = fs_err::metadata(project.home().join(format!("users/{UID}"))).unwrap();
    assert_eq!((home.uid(), home.mode() & 0o777), (UID, 0o700));
    assert_eq!(fs_err::metadata(project.home()).unwrap().uid(), 0);
}

#[test]
fn a_submodule_of_a_third_owner_is_trusted_for_this_command_alone() {
    if !is_root() {
        return;
    }
    let project = Project::new(Binding::Plain);
    let (cx, root) = (project.cx(), project.checkout());
    project.give_to(&root, UID);
    project.give_to(&root.join("runtime"), OTHER_UID);
    fs_err::write(root.join("runtime/new.txt"), "").unwrap();
    let checkout = Checkout::open(&cx, &root).unwrap();
    assert_eq!(checkout.modified, ["runtime"]);
    let runtime = checkout.submodule("runtime").unwrap().checkout.as_ref().unwrap();
    assert_eq!((runtime.owner.uid, &*runtime.untracked), (OTHER_UID, &["new.txt".to_owned()][..]));
    let git = checkout.git(&cx).unwrap();
    let line = git.reading().arg("status").to_shell_line();
    let given = line.split(' ').find_map(|word| word.strip_prefix("GIT_CONFIG_GLOBAL=")).unwrap().to_owned();
    let trusted = fs_err::read_to_string(&given).unwrap();
    assert!(trusted.contains(&format!("directory = \"{}\"", root.join("runtime").display())), "{trusted}");
    assert!(!trusted.contains('*') && trusted.contains("gitconfig"), "{trusted}");
    drop(git);
    assert!(!std::path::Path::new(&given).exists());
    let settings = fs_err::read_to_string(project.dir().join("gitconfig")).unwrap();
    assert!(!settings.contains("safe"), "{settings}");
}

#[test]
fn everybody_else_looks_without_becoming_anybody() {
    if !is_root() {
        return;
    }
    let project = Project::new(Binding::Plain);
    let cx = project.cx();
    // What a process without rights would do, as root owns this tree.
    let git = Git::at(&cx, &project.checkout()).unwrap();
    assert!(!git.run_as().is_other());
    assert_eq!(RunAs::caller().user(), Owner::of_this_process());
    assert!(git.reading().argv().iter().all(|word| !word.to_string_lossy().contains("safe.directory")));
}

#[test]
fn a_directory_that_is_there_is_left_as_it_is() {
    if !is_root() {
        return;
    }
    let project = Project::new(Binding::Plain);
    let cx = project.cx();
    let home = project.home().join(format!("users/{UID}"));
    fs_err::create_dir_all(&home).unwrap();
    let run_as = RunAs::owner(&cx, Owner { uid: UID, gid: UID });
    run_as.prepare().unwrap();
    assert_eq!(fs_err::metadata(&home).unwrap().uid(), 0);
    let ccache = project.home().join(format!("cache/ccache/{UID}"));
    assert_eq!(fs_err::metadata(&ccache).unwrap().uid(), UID);
    let said = run_as.command("sh").args(["-c", "id -u; id -g; id -G; echo $HOME; echo $CCACHE_DIR"]).run(&cx).unwrap();
    let expected = format!("{UID}\n{UID}\n{UID}\n{}\n{}\n", home.display(), ccache.display());
    assert_eq!(said.stdout.text(), expected);
}
