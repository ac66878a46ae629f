//! Managed patches: applied where they fit, skipped where their change is there, refused otherwise; and the record of what
//! was built with them.

mod support;

use std::path::PathBuf;

use pto_build::patches::{Outcome, Patch, Standing, apply, examine, managed_diff, patches_in, patches_sha256};
use pto_build::{BuildOptions, Error, PullOptions, SourceError, build, pull};
use pto_checkout::Checkout;
use pto_platform::files::parse_dist_state;
use pto_test::pypto::{Binding, Project};
use support::{Site, edit};

const RING: &str = "src/common/ring.cpp";
const HEADER: &str = "src/common/ring.h";

/// A runtime, and a place for patches.
struct Bench {
    project: Project,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { project: Project::new(Binding::Plain) };
        fs_err::create_dir(bench.dir()).unwrap();
        bench
    }

    fn dir(&self) -> PathBuf {
        self.project.dir().join("patches")
    }

    fn runtime(&self) -> Checkout {
        Checkout::open(&self.project.cx(), self.project.checkout().join("runtime")).unwrap()
    }

    /// Makes a patch of an edit, which is taken back.
    fn patch(&self, name: &str, edits: &[(&str, &str, &str)]) {
        let root = self.project.checkout().join("runtime");
        for (file, from, to) in edits {
            edit(&root.join(file), from, to);
        }
        let diff = self.project.git(&root, &["diff", "--binary"]) + "\n";
        fs_err::write(self.dir().join(format!("{name}.patch")), diff).unwrap();
        self.project.git(&root, &["checkout", "--quiet", "."]);
    }

    fn patches(&self) -> Vec<Patch> {
        patches_in(&self.dir()).unwrap()
    }

    fn standings(&self) -> Vec<Standing> {
        let outcomes = examine(&self.project.cx(), &self.runtime(), &self.patches()).unwrap();
        outcomes.into_iter().map(|outcome| outcome.standing).collect()
    }

    fn text(&self, file: &str) -> String {
        fs_err::read_to_string(self.project.checkout().join("runtime").join(file)).unwrap()
    }
}

#[test]
fn a_patch_is_applied_once() {
    let bench = Bench::new();
    bench.patch("more", &[(HEADER, "SLOTS 8", "SLOTS 32")]);
    let apply = || apply(&bench.project.cx(), &bench.runtime(), &bench.patches()).unwrap();
    assert_eq!(apply(), [Outcome { patch: "more".into(), standing: Standing::Applies }]);
    let patched = bench.text(HEADER);
    assert!(patched.contains("SLOTS 32"));
    assert_eq!(apply(), [Outcome { patch: "more".into(), standing: Standing::Present }]);
    assert_eq!(bench.text(HEADER), patched);
}

#[test]
fn what_upstream_has_is_skipped_and_lines_may_have_moved() {
    let bench = Bench::new();
    let root = bench.project.checkout().join("runtime");
    // With fewer lines before it than a patch shows, a change is bound to the beginning of its file.
    edit(&root.join(HEADER), "#pragma once", "// 1\n// 2\n// 3\n#pragma once");
    bench.project.commit(&root, "Number it");
    bench.patch("more", &[(HEADER, "SLOTS 8", "SLOTS 32")]);
    // Something else came before it: the context is the same, some lines further down.
    edit(&root.join(HEADER), "// 1\n", "// Of rings.\n//\n// 1\n");
    assert_eq!(bench.standings(), [Standing::Applies]);
    edit(&root.join(HEADER), "SLOTS 8", "SLOTS 32");
    bench.project.commit(&root, "Upstream has it");
    assert_eq!(bench.standings(), [Standing::Present]);
    assert_eq!(managed_diff(&bench.project.cx(), &bench.runtime(), &bench.patches()).unwrap(), Some(Vec::new()));
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_half_applied() {
    let bench = Bench::new();
    bench.patch("a-first", &[(RING, "return RING_SLOTS", "return 1 + RING_SLOTS")]);
    bench.patch(
        "b-second",
        &[(HEADER, "SLOTS 8", "SLOTS 32"), (RING, "#include \"ring.h\"", "#include \"ring.h\" // of rings")],
    );
    let root = bench.project.checkout().join("runtime");
    edit(&root.join(HEADER), "SLOTS 8", "SLOTS 9");
    let before = (bench.text(RING), bench.text(HEADER));
    let error = apply(&bench.project.cx(), &bench.runtime(), &bench.patches()).unwrap_err();
    assert!(
        matches!(&error, Error::Sources(SourceError::PatchRejected { patch, .. }) if patch.ends_with("b-second.patch")),
        "{error:?}"
    );
    let head = bench.runtime().head.unwrap();
    let expected = format!(
        "the patch `{}` does not fit `{}` at {head}, which has changes in `{HEADER}`; nothing was changed",
        bench.dir().join("b-second.patch").display(),
        root.display()
    );
    assert_eq!(error.to_string(), expected);
    assert!(error.hint().unwrap().contains("apply --check -v") && error.said(9).unwrap().contains(HEADER));
    assert_eq!((bench.text(RING), bench.text(HEADER)), before);
}

#[test]
fn a_patch_may_build_on_the_one_before() {
    let bench = Bench::new();
    bench.patch("a", &[(HEADER, "SLOTS 8", "SLOTS 32")]);
    let root = bench.project.checkout().join("runtime");
    edit(&root.join(HEADER), "SLOTS 8", "SLOTS 32");
    bench.project.git(&root, &["add", "."]);
    edit(&root.join(HEADER), "SLOTS 32", "SLOTS 64");
    let diff = bench.project.git(&root, &["diff", "--binary"]) + "\n";
    fs_err::write(bench.dir().join("b.patch"), diff).unwrap();
    bench.project.git(&root, &["reset", "--quiet", "--hard"]);
    assert_eq!(bench.standings(), [Standing::Applies, Standing::Applies]);
    apply(&bench.project.cx(), &bench.runtime(), &bench.patches()).unwrap();
    assert!(bench.text(HEADER).contains("SLOTS 64"));
}

#[test]
fn other_edits_are_told_from_managed_ones() {
    let bench = Bench::new();
    bench.patch("more", &[(HEADER, "SLOTS 8", "SLOTS 32")]);
    let (cx, root) = (bench.project.cx(), bench.project.checkout().join("runtime"));
    let is_managed = || managed_diff(&cx, &bench.runtime(), &bench.patches()).unwrap().is_some();
    let index = fs_err::read(bench.runtime().dirs.git_dir.join("index")).unwrap();
    assert!(!is_managed(), "the patch is not applied");
    apply(&cx, &bench.runtime(), &bench.patches()).unwrap();
    assert!(is_managed());
    for (file, text) in [("new.txt", ""), ("README", "x")] {
        fs_err::write(root.join(file), text).unwrap();
        assert!(!is_managed(), "{file}");
        fs_err::remove_file(root.join(file)).unwrap();
    }
    edit(&root.join(RING), "return RING_SLOTS", "return 2 * RING_SLOTS");
    assert!(!is_managed());
    bench.project.git(&root, &["add", RING]);
    assert!(!is_managed(), "staged");
    bench.project.git(&root, &["reset", "--quiet"]);
    bench.project.git(&root, &["checkout", "--quiet", RING]);
    assert!(is_managed());
    let left = fs_err::read_dir(bench.runtime().dirs.git_dir).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).filter(|name| name == "ptokit-index").collect();
    assert!(left.is_empty() && !index.is_empty());
}

#[test]
fn what_is_no_patch_is_said() {
    let bench = Bench::new();
    assert!(matches!(patches_in(&bench.dir()), Err(Error::Sources(SourceError::NoPatches { .. }))));
    fs_err::write(bench.dir().join("x.patch"), "no patch\n").unwrap();
    let error = examine(&bench.project.cx(), &bench.runtime(), &bench.patches()).unwrap_err();
    assert!(matches!(error, Error::Sources(SourceError::NotAPatch { .. })), "{error:?}");
}

#[test]
fn the_state_is_written_as_doctor_compares_it() {
    let Some(site) = Site::new(Binding::Plain) else { return };
    let bench = Bench { project: site.project };
    fs_err::create_dir(bench.dir()).unwrap();
    bench.patch("more", &[(HEADER, "SLOTS 8", "SLOTS 32")]);
    let site = Site::of(bench.project);
    let (cx, root) = (site.cx(), site.runtime());
    let file = site.project.home().join("dist-state.json");
    let read = || parse_dist_state(&fs_err::read_to_string(&file).unwrap());
    let sha = |path: &std::path::Path| {
        let sum = site.project.run(pto_process::Invocation::new("sha256sum").arg(path)).stdout.text().into_owned();
        Some(sum.split(' ').next().unwrap().to_owned())
    };
    let patches = site.project.dir().join("patches");
    let options = BuildOptions { patches: Some(patches.clone()), ..site.options() };
    let built = build(&cx, &options).unwrap();
    assert!(built.recorded_state);
    assert_eq!(site.project.python("import simpler; print(simpler.slots)"), "32");
    let state = read();
    assert_eq!(state.runtime_sha, Some(site.project.git(&root, &["rev-parse", "HEAD"])));
    let diff = site.project.dir().join("diff");
    let text = site.project.run(pto_process::Invocation::new("git").args(["diff", "--binary", "HEAD"]).cwd(&root));
    fs_err::write(&diff, text.stdout.text().as_bytes()).unwrap();
    assert_eq!(state.diff_sha256, sha(&diff));
    assert_eq!(state.patch_sha256, sha(&patches.join("more.patch")));
    assert_eq!(state.patch_sha256, Some(patches_sha256(&patches_in(&patches).unwrap())));
    assert_eq!(state.extension_sha256, sha(&built.extension.unwrap()));

    // A build without the option keeps the record of the patch, with the extension that is installed now.
    fs_err::write(
        &file,
        fs_err::read_to_string(&file).unwrap().replace(&state.extension_sha256.clone().unwrap(), &"0".repeat(64)),
    )
    .unwrap();
    assert!(build(&cx, &site.options()).unwrap().recorded_state);
    assert_eq!((read().patch_sha256, read().extension_sha256 == Some("0".repeat(64))), (state.patch_sha256, false));

    // An update takes the patch along, and the build after it, which names none, has it.
    let runtime = site.project.push("runtime", "src/news.txt", "new\n");
    site.project.push_submodule("runtime", &runtime);
    let options_of_pull = PullOptions { home: Some(site.project.home()), ..PullOptions::default() };
    pull(&cx, &options_of_pull).unwrap_or_else(|error| panic!("{}", pto_context::with_causes(&error)));
    assert_eq!(read().extension_sha256, None);
    let built = build(&cx, &site.options()).unwrap();
    assert!(built.recorded_state);
    assert_eq!(site.project.python("import simpler; print(simpler.slots)"), "32");
    assert_eq!((read().runtime_sha, read().extension_sha256), (Some(runtime), sha(&built.extension.unwrap())));

    // Another edit is not recorded as the image's: the record says what it said.
    let before = fs_err::read(&file).unwrap();
    edit(&root.join(RING), "return RING_SLOTS", "return 2 * RING_SLOTS");
    assert!(!build(&cx, &options).unwrap().recorded_state);
    assert!(!build(&cx, &site.options()).unwrap().recorded_state);
    assert_eq!(fs_err::read(&file).unwrap(), before);
}
