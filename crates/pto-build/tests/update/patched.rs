//! Managed patches of an image stay on the runtime that an update moves; nothing but the recorded state is taken for them.

use pto_build::{Error, UpdateError, pull};
use pto_platform::files::{DistState, parse_dist_state};
use pto_process::Invocation;

use crate::support::World;

const HEADER: &str = "src/common/ring.h";

impl World {
    fn edit_header(&self, from: &str, to: &str) {
        let file = self.runtime().join(HEADER);
        let text = fs_err::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{text}");
        fs_err::write(&file, text.replace(from, to)).unwrap();
    }

    fn header(&self) -> String {
        fs_err::read_to_string(self.runtime().join(HEADER)).unwrap()
    }

    fn diff_sha(&self) -> Option<String> {
        let sum = Invocation::new("sh").args(["-c", "git diff --binary HEAD | sha256sum"]).cwd(self.runtime());
        self.project.run(sum).stdout.text().split(' ').next().map(str::to_owned)
    }

    /// Patches the runtime, and records that as a build with `--patches` does.
    fn patch(&self) {
        self.edit_header("SLOTS 8", "SLOTS 32");
        let state = DistState {
            runtime_sha: Some(self.head(&self.runtime())),
            diff_sha256: self.diff_sha(),
            patch_sha256: Some("ab".repeat(32)),
            extension_sha256: Some("cd".repeat(32)),
            notes: Vec::new(),
        };
        self.write(&self.project.home().join("dist-state.json"), &serde_json::to_string(&state).unwrap());
    }

    fn recorded(&self) -> DistState {
        parse_dist_state(&fs_err::read_to_string(self.project.home().join("dist-state.json")).unwrap())
    }
}

#[test]
fn they_go_where_the_runtime_goes() {
    let world = World::new();
    world.patch();
    let (own, runtime) = world.push_both();
    let planned = world.plan().unwrap();
    assert_eq!(world.pull().unwrap(), planned);
    assert_eq!((world.head(&world.src()), world.head(&world.runtime())), (own, runtime.clone()));
    assert!(world.header().contains("SLOTS 32"));
    let state = world.recorded();
    assert_eq!((state.runtime_sha, state.diff_sha256), (Some(runtime), world.diff_sha()));
    // The installed extension is not of this runtime.
    assert_eq!((state.patch_sha256, state.extension_sha256), (Some("ab".repeat(32)), None));
    // Again, from there.
    let (_, runtime) = {
        let runtime = world.project.push("runtime", "src/news.txt", "newer\n");
        (world.project.push_submodule("runtime", &runtime), runtime)
    };
    world.pull().unwrap();
    assert_eq!(world.recorded().runtime_sha, Some(runtime));
    assert!(world.header().contains("SLOTS 32") && !world.taken_off().exists());
}

#[test]
fn other_edits_and_patches_that_do_not_fit_stop_it() {
    let world = World::new();
    world.patch();
    world.push_both();
    world.edit_header("SLOTS 32", "SLOTS 33");
    let error = world.pull().unwrap_err();
    assert!(error.to_string().contains("changes that are in no commit: `src/common/ring.h`"), "{error}");
    world.edit_header("SLOTS 33", "SLOTS 32");
    world.write(&world.runtime().join("mine.txt"), "mine");
    let error = world.pull().unwrap_err();
    assert!(matches!(error, Error::Update(UpdateError::Blocked(_))), "{error}");
    fs_err::remove_file(world.runtime().join("mine.txt")).unwrap();

    let text = world.header().replace("SLOTS 32", "SLOTS 16");
    let runtime = world.project.push("runtime", HEADER, &text);
    world.project.push_submodule("runtime", &runtime);
    let (head, diff) = (world.head(&world.runtime()), world.diff_sha());
    let error = world.pull().unwrap_err();
    assert!(error.to_string().contains("has managed patches that do not fit"), "{error}");
    assert!(error.hint().unwrap().contains("runtime stash`"), "{:?}", error.hint());
    assert_eq!((world.head(&world.runtime()), world.diff_sha()), (head, diff), "nothing was changed");

    // Upstream has taken the change in: nothing is left of the patch.
    let runtime = world.project.push("runtime", HEADER, &world.header());
    world.project.push_submodule("runtime", &runtime);
    world.pull().unwrap();
    assert_eq!(world.git(&world.runtime(), &["status", "--porcelain"]), "");
}

impl World {
    fn taken_off(&self) -> std::path::PathBuf {
        self.src().join(".git/modules/runtime/ptokit-managed.patch")
    }
}

/// Killed between taking them off and applying them again.
#[test]
fn the_next_update_applies_what_was_taken_off() {
    for moved in [false, true] {
        let world = World::new();
        world.patch();
        let (_, runtime) = world.push_both();
        let planned = world.plan().unwrap();
        world.write_journal(&planned);
        let diff = Invocation::new("git").args(["diff", "--binary", "HEAD"]).cwd(world.runtime());
        let diff = world.project.run(diff).stdout.text().into_owned();
        world.write(&world.taken_off(), &diff);
        world.git(&world.runtime(), &["checkout", "--quiet", "."]);
        if moved {
            world.git(&world.runtime(), &["fetch", "--quiet"]);
            world.git(&world.runtime(), &["checkout", "--quiet", &runtime]);
        }
        world.edit_header("SLOTS 8", "SLOTS 9");
        let error = world.pull().unwrap_err();
        assert!(matches!(&error, Error::Update(UpdateError::TakenOff { .. })), "{error}");
        assert!(error.hint().unwrap().contains("runtime stash`") && world.taken_off().exists());
        world.git(&world.runtime(), &["stash", "--quiet"]);
        pull(&world.project.cx(), &world.options())
            .unwrap_or_else(|error| panic!("{}", pto_context::with_causes(&error)));
        assert!(world.header().contains("SLOTS 32") && !world.taken_off().exists());
        assert_eq!((world.recorded().runtime_sha, world.head(&world.runtime())), (Some(runtime.clone()), runtime));
    }
}
