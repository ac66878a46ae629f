//! A submodule that has moved to another remote.

use std::path::PathBuf;

use pto_build::{Error, UpdateError};

use crate::support::{World, moves, text};

/// Moves the runtime's remote, pushes to the new one, and has the project record both. The new remote, and the runtime's
/// commit.
fn moved(world: &World) -> (PathBuf, String) {
    let (old, new) = (world.project.remote("runtime"), world.project.remote("moved"));
    fs_err::rename(&old, &new).unwrap();
    let commit = world.project.push("moved", "src/news.txt", "new\n");
    world.project.push_submodule("runtime", &commit);
    let listed = world.git(&world.project.remote("pypto"), &["show", "main:.gitmodules"]);
    world.project.push("pypto", ".gitmodules", &(listed.replace(&text(&old), &text(&new)) + "\n"));
    (new, commit)
}

#[test]
fn it_is_followed_with_both_settings() {
    let world = World::new();
    let (new, commit) = moved(&world);
    let origin = || world.git(&world.runtime(), &["remote", "get-url", "origin"]);
    let old = origin();
    let planned = world.plan().unwrap();
    assert_eq!(moves(&planned)[1].moved_to.as_deref(), Some(&*text(&new)));
    assert_eq!(origin(), old, "a plan changes nothing");
    assert_eq!(world.pull().unwrap(), planned);
    assert_eq!((world.head(&world.runtime()), origin()), (commit, text(&new)));
    assert_eq!(world.git(&world.src(), &["config", "submodule.runtime.url"]), text(&new));
    assert_eq!(world.git(&world.src(), &["status", "--porcelain"]), "");
    assert!(moves(&world.pull().unwrap()).is_empty());
}

#[test]
fn it_is_followed_after_a_pull_by_hand() {
    let world = World::new();
    let (new, commit) = moved(&world);
    world.git(&world.src(), &["pull", "--quiet", "--no-recurse-submodules"]);
    world.pull().unwrap();
    assert_eq!(world.head(&world.runtime()), commit);
    assert_eq!(world.git(&world.runtime(), &["remote", "get-url", "origin"]), text(&new));
}

#[test]
fn a_remote_of_the_users_choice_stays() {
    let world = World::new();
    let mine = world.project.remote("mine");
    world.git(
        &world.project.dir(),
        &["clone", "--quiet", "--bare", &text(&world.project.remote("runtime")), &text(&mine)],
    );
    world.git(&world.runtime(), &["remote", "set-url", "origin", &text(&mine)]);
    let (new, commit) = moved(&world);
    let error = world.pull().unwrap_err();
    assert!(matches!(&error, Error::Update(UpdateError::Blocked(_))), "{}", pto_context::with_causes(&error));
    let message = error.to_string();
    assert!(message.contains(&text(&mine)) && message.contains(&text(&new)), "{message}");

    // What is offered works, and so does having the commit there.
    let hint = error.hint().unwrap();
    let command = hint.split('`').nth(1).unwrap();
    assert!(command.ends_with(&format!("remote set-url origin {}", text(&new))), "{hint}");
    world.git(&world.project.remote("moved"), &["push", "--quiet", &text(&mine), "main"]);
    assert_eq!(moves(&world.pull().unwrap())[1].moved_to, None);
    assert_eq!(world.head(&world.runtime()), commit);
    assert_eq!(world.git(&world.runtime(), &["remote", "get-url", "origin"]), text(&mine));
    world.project.run(pto_process::Invocation::new("sh").args(["-c", command]));
    assert!(moves(&world.pull().unwrap()).is_empty());
}
