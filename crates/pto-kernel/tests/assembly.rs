//! `.pto` sources: assembled by a recording stand-in that writes what the real assembler would, and by a real one where
//! `PTOKIT_TEST_PTOAS` names its launcher.
#![expect(clippy::disallowed_methods, reason = "a test is the caller whom the rules are for")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use pto_context::{Context, Event, Recorder};
use pto_kernel::Manifest;
use pto_kernel::run::{Fault, Fetching, RunError, Setup, plan_kernel};
use pto_launch::Worker;
use pto_platform::Target;
use pto_store::Store;

/// y = x + 1 on one core.
const ASSEMBLY: &str = include_str!("assembly/add_one.pto");
/// The same as an assembler writes it.
const GENERATED: &str = include_str!("assembly/add_one.cpp");

const MANIFEST: &str = r#"
[kernel]
name = "add_one"
core = "vec"
sources = ["add_one.pto"]
global = "add_one"
targets = ["a2a3", "a5", "cpu"]

[[arg]]
name = "x"
dir = "in"
dtype = "f32"
shape = ["32", "32"]

[[arg]]
name = "y"
dir = "out"
dtype = "f32"
shape = ["32", "32"]

[launch]
block_dim = 1

[golden]
expr = { y = "x + 1" }

[cases]
"#;

/// A kernel, an assembler and a store in a directory of their own.
struct World {
    scratch: tempfile::TempDir,
}

impl World {
    /// `behaviour` is what the stand-in does with `$out`; it says its version before.
    fn new(behaviour: &str) -> Self {
        let world = Self { scratch: tempfile::tempdir().unwrap() };
        fs::write(world.path("add_one.pto"), ASSEMBLY).unwrap();
        fs::write(world.path("kernel.toml"), MANIFEST).unwrap();
        fs::write(world.path("generated.cpp"), GENERATED).unwrap();
        fs::create_dir(world.path("ptoas")).unwrap();
        let (log, generated) = (world.path("log"), world.path("generated.cpp"));
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'ptoas 0.57'; exit 0; fi\necho \"$@\" >> {}\n\
             for word; do out=$word; done\ngenerated={}\n{behaviour}\n",
            log.display(),
            generated.display()
        );
        fs::write(world.path("ptoas/ptoas"), script).unwrap();
        fs::set_permissions(world.path("ptoas/ptoas"), fs::Permissions::from_mode(0o755)).unwrap();
        world
    }

    fn writing() -> Self {
        Self::new("cp $generated $out")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn change(&self, file: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(file)).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(self.path(file), text.replacen(from, to, 1)).unwrap();
    }

    fn cx(&self) -> Context {
        let root = self.path("ptoas");
        Context::fake("/", [("PATH", "/usr/bin:/bin"), ("PTOAS_ROOT", root.to_str().unwrap())])
    }

    /// What a dry run says, which assembles and compiles nothing.
    fn plan(&self, cx: &Context, target: Target) -> Result<pto_kernel::run::KernelPlan, RunError> {
        let manifest = Manifest::load(&self.path("kernel.toml")).unwrap();
        let setup = Setup {
            pto_isa: None,
            cxx: None,
            fetching: Fetching::Offline,
            opt_level: 1,
            shared: Store::open(self.path("shared")),
            artifacts: Store::open(self.path("store")),
            worker: Worker::at("/nonesuch"),
        };
        plan_kernel(cx, &setup, &manifest, target)
    }

    fn refused(&self, target: Target) -> (Fault, String) {
        let error = self.plan(&self.cx(), target).unwrap_err();
        (error.fault(), error.to_string().replace(&self.scratch.path().display().to_string(), "DIR"))
    }

    /// The assembler's command lines, one each time it was run.
    fn runs(&self) -> Vec<String> {
        let log = fs::read_to_string(self.path("log")).unwrap_or_default();
        log.lines().map(|line| line.replace(&self.scratch.path().display().to_string(), "DIR")).collect()
    }
}

#[test]
fn the_target_decides_the_generation_and_the_manifest_the_rest() {
    let world = World::writing();
    world.change("kernel.toml", "[launch]", "[ptoas]\nlevel = \"level3\"\ninsert_sync = true\n\n[launch]");
    for target in [Target::A2a3, Target::A5] {
        let plan = world.plan(&world.cx(), target).unwrap();
        let [launcher] = &plan.plan.generated[..] else { panic!("{plan:?}") };
        assert!(launcher.text.contains("add_one.cpp\"") && launcher.text.contains("add_one<<<"), "{}", launcher.text);
        assert!(plan.plan.notes.iter().any(|note| note.contains("--pto-arch=")), "{:?}", plan.plan.notes);
    }
    let runs = world.runs();
    let rest = "--pto-level=level3 --enable-insert-sync DIR/add_one.pto -o DIR/store/ptoas/";
    assert!(runs[0].starts_with(&format!("--pto-arch=a3 {rest}")), "{runs:?}");
    assert!(runs[1].starts_with(&format!("--pto-arch=a5 {rest}")), "{runs:?}");
}

#[test]
fn what_was_assembled_is_kept_and_used_again() {
    let world = World::writing();
    let events = Arc::new(Recorder::default());
    let cx = world.cx().with_events(events.clone());
    world.plan(&cx, Target::A5).unwrap();
    world.plan(&cx, Target::A5).unwrap();
    assert_eq!(world.runs().len(), 1);
    let started = |event: &Event| matches!(event, Event::Started { task, .. } if task == "assemble:add_one.cpp");
    assert_eq!(events.events().iter().filter(|event| started(event)).count(), 1);

    let entries: Vec<_> = fs::read_dir(world.path("store/ptoas")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let kept = entries.iter().find(|entry| entry.join("add_one.cpp").is_file()).unwrap();
    assert!(fs::read_to_string(kept.join("command.txt")).unwrap().contains("--pto-arch=a5"));

    world.change("add_one.pto", "1.0", "2.0");
    world.plan(&cx, Target::A5).unwrap();
    assert_eq!(world.runs().len(), 2);
}

#[test]
fn a_source_for_the_other_generation_is_refused_before_anything_runs() {
    let world = World::writing();
    world.change("add_one.pto", "module {", "module attributes {pto.target_arch = \"a5\"} {");
    let (fault, message) = world.refused(Target::A2a3);
    assert_eq!(fault, Fault::Input);
    assert!(message.starts_with("DIR/add_one.pto:"), "{message}");
    assert!(message.ends_with("`pto.target_arch` is `a5`, and the source is assembled for `a3`"), "{message}");
    assert_eq!(world.runs(), [""; 0]);
    world.plan(&world.cx(), Target::A5).unwrap();
}

#[test]
fn code_of_the_other_generation_is_refused() {
    let world = World::new("sed 's/pipe_barrier(PIPE_ALL)/pipe_barrier(PIPE_V)/' $generated > $out");
    world.plan(&world.cx(), Target::A2a3).unwrap();
    let (fault, message) = world.refused(Target::A5);
    assert_eq!(fault, Fault::Verdict);
    let start = "ptoas 0.57 (`DIR/ptoas/ptoas`) wrote code for A3, `pipe_barrier(PIPE_V)` in line ";
    assert!(message.starts_with(start) && message.contains("asked for `a5`\n$ "), "{message}");
}

#[test]
fn a_failing_assembler_is_reported_with_version_end_and_command() {
    for (behaviour, expected) in [
        ("echo 'k.pto:3:5: error: expected type' >&2; exit 1", "exited with code 1"),
        ("kill -SEGV $$", "was ended by signal 11 (SIGSEGV)"),
    ] {
        let world = World::new(behaviour);
        let (fault, message) = world.refused(Target::A2a3);
        assert_eq!(fault, Fault::Verdict);
        let start = format!("ptoas 0.57 (`DIR/ptoas/ptoas`) {expected} for `DIR/add_one.pto`\n$ ");
        assert!(message.starts_with(&start) && message.contains("--pto-arch=a3"), "{message}");
    }
    let world = World::new("echo 'k.pto:3:5: error: expected type' >&2; exit 1");
    assert!(world.refused(Target::A2a3).1.ends_with("k.pto:3:5: error: expected type"));
}

const UNREAD: &str = "no regular file, or far more than a source";

#[test]
fn an_assembler_that_writes_no_kernel_is_reported() {
    for (behaviour, found) in [
        ("true", "nothing"),
        (": > $out", "nothing"),
        ("echo '#include <x>' > $out", "no kernel"),
        ("printf '\\177ELF\\377' > $out", "an object file"),
        ("truncate -s 1T $out", UNREAD),
        ("mkfifo $out", UNREAD),
        ("ln -s /dev/zero $out", UNREAD),
        ("mkdir $out", UNREAD),
    ] {
        let (fault, message) = World::new(behaviour).refused(Target::A2a3);
        assert_eq!(fault, Fault::Verdict);
        let expected = format!("wrote {found} for `DIR/add_one.pto`, expected C++ with a `__global__` function\n$ ");
        assert!(message.contains(&expected), "{message}");
    }
}

#[test]
fn an_assembler_that_floods_or_hangs_ends_and_what_is_shown_is_read() {
    let world = World::new("head -c 20000000 /dev/zero | tr '\\0' x >&2; echo late >&2; cp $generated $out; exit 1");
    let (fault, message) = world.refused(Target::A2a3);
    assert_eq!(fault, Fault::Verdict);
    assert!(message.len() < 100_000 && message.contains("bytes left out ...]"), "{} bytes", message.len());
    let world = World::new("trap '' TERM; while :; do sleep 0.1; done");
    let cx = world.cx().with_var("PTO_COMPILE_TIMEOUT_S", "1");
    let refused = world.plan(&cx, Target::A2a3).unwrap_err().to_string();
    assert!(refused.contains("was still running at its deadline"), "{refused}");
    // A process that it leaves behind holds its pipes.
    let world = World::new("setsid sleep 20 & cp $generated $out");
    let start = std::time::Instant::now();
    world.plan(&world.cx(), Target::A2a3).unwrap();
    assert!(start.elapsed() < std::time::Duration::from_secs(15), "{:?}", start.elapsed());
}

#[test]
fn without_an_assembler_it_is_the_machine_that_lacks_something() {
    let world = World::writing();
    fs::remove_file(world.path("ptoas/ptoas")).unwrap();
    let error = world.plan(&world.cx(), Target::A2a3).unwrap_err();
    assert_eq!(error.fault(), Fault::Machine);
    assert!(error.to_string().starts_with("no PTOAS to assemble with: "), "{error}");
    assert!(error.hint().unwrap().contains("ptoas install"));
}

#[test]
fn a_pipe_as_a_macro_in_generated_code_is_warned_of() {
    let hiding = "{ echo '#ifndef PIPE_FIX'; echo '#define PIPE_FIX PIPE_M'; echo '#endif'; cat $generated; } > $out";
    let world = World::new(hiding);
    let events = Arc::new(Recorder::default());
    world.plan(&world.cx().with_events(events.clone()), Target::A2a3).unwrap();
    let events = events.events();
    let warned = events.iter().any(
        |event| matches!(event, Event::Warning { message } if message.contains("add_one.cpp:2: generated code: `PIPE_FIX`")),
    );
    assert!(warned, "{events:?}");
}

#[test]
fn a_level_that_does_not_exist_is_refused() {
    let world = World::writing();
    world.change("kernel.toml", "[launch]", "[ptoas]\nlevel = \"level4\"\ninsert_sync = \"yes\"\n\n[launch]");
    let text = fs::read_to_string(world.path("kernel.toml")).unwrap();
    let errors = Manifest::parse(&world.path("kernel.toml"), &text).unwrap_err();
    let messages: Vec<_> = errors.diagnostics.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "`level` is `level4`, expected `level1`, `level2` or `level3`",
            "`insert_sync` of [ptoas] is a string, expected a boolean"
        ]
    );
}

/// The whole loop, through the example, which is its own worker.
fn verify(world: &World, root: &Path) -> Option<Output> {
    let here = std::env::current_exe().unwrap();
    let example = here.parent()?.parent()?.join("examples/verify");
    if !example.is_file() {
        pto_test::skip("the example is not built; `cargo test -p pto-kernel` builds it");
        return None;
    }
    let mut command = Command::new(example);
    command.env("PTO_LIB_PATH", pto_test::headers()?).env_remove("CXX").env("PTOAS_ROOT", root);
    Some(command.arg(world.path("kernel.toml")).output().unwrap())
}

#[test]
fn what_is_assembled_runs_on_the_cpu() {
    let world = World::writing();
    let Some(output) = verify(&world, &world.path("ptoas")) else { return };
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(world.runs()[0].starts_with("--pto-arch=a3 "), "{:?}", world.runs());

    let wrong = World::new("sed 's/TADDS(/TMULS(/' $generated > $out");
    let output = verify(&wrong, &wrong.path("ptoas")).unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

#[test]
fn a_real_assembler_does_the_same() {
    let Some(launcher) = pto_test::ptoas() else { return };
    let world = World::writing();
    world.change("kernel.toml", "[launch]", "[ptoas]\ninsert_sync = true\n\n[launch]");
    fs::remove_file(world.path("ptoas/ptoas")).unwrap();
    std::os::unix::fs::symlink(&launcher, world.path("ptoas/ptoas")).unwrap();
    for target in [Target::A2a3, Target::A5] {
        world.plan(&world.cx(), target).unwrap();
    }
    let Some(output) = verify(&world, &world.path("ptoas")) else { return };
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}
