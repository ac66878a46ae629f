//! The development container on a real engine, with images made on this machine.
//!
//! What this machine has not got is left out by a client in front of the real one: it drops `--privileged` and
//! `--runtime=ascend`, notes every command line, and says in `docker info` that the runtime is there.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use pto_process::{Invocation, Output, Status, Stdin};
use pto_test::engine::{Engine, NAMESPACE, engine};

/// What a proxy's address must not show up as.
const PLANTED: &str = "plantedproxypass";

/// The client in front of the real one. What it notes of itself is what the kernel shows of it to everybody.
const FRONT: &str = r#"#!/bin/bash
/usr/bin/tr '\0' ' ' < /proc/$$/cmdline >> "$NOTES/cmdlines"; echo >> "$NOTES/cmdlines"
args=()
for arg in "$@"; do
    case $arg in --privileged | --runtime=ascend) ;; *) args+=("$arg") ;; esac
done
if [ "$1" = info ]; then
    "$REAL" "${args[@]}" | /usr/bin/sed 's/"Runtimes":{/"Runtimes":{"ascend":{"path":"ascend"},/'
else
    exec "$REAL" "${args[@]}"
fi
"#;

/// A place for one test, with a container of its own.
struct Place<'a> {
    engine: &'a Engine,
    dir: tempfile::TempDir,
    name: String,
    image: String,
    /// Tests run at the same time, and a card is in one container.
    card: String,
}

impl<'a> Place<'a> {
    fn new(engine: &'a Engine, name: &str, card: u32) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let front = dir.path().join("docker");
        fs_err::write(&front, FRONT).unwrap();
        fs_err::set_permissions(&front, std::fs::Permissions::from_mode(0o755)).unwrap();
        let (name, image) = (format!("ptokit-test-{name}"), format!("{NAMESPACE}/{name}:1"));
        Self { engine, dir, name, image, card: card.to_string() }
    }

    /// A shell with git, and what the image's own would have: an environment for every shell.
    fn build(&self, line: &str) {
        let lines = format!(
            "RUN mkdir -p /opt/pypto/bin /workspace/pypto && echo 'export ACTIVE=yes' > /opt/pypto/bin/pypto-activate.sh \
             && echo of-the-image > /workspace/pypto/file\n\
             ENV BASH_ENV=/opt/pypto/bin/pypto-activate.sh PYPTO_CANN_TAG=9.2.0-a3\n{line}\nENTRYPOINT [\"/usr/bin/bash\"]"
        );
        self.engine.image_of(&self.image, &["mkdir", "git", "cat", "env", "sleep", "stat", "tty", "id"], &lines);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// `pypto-dev ARGS`, with this input.
    fn command(&self, args: &[&str], stdin: &str) -> Invocation {
        let program = self.path("pypto-dev");
        if !program.exists() {
            fs_err::os::unix::fs::symlink(env!("CARGO_BIN_EXE_xtask"), &program).unwrap();
        }
        let command = Invocation::new(program).args(args.iter().copied()).stdin(Stdin::Bytes(stdin.into()));
        self.here(command)
    }

    /// A command as if it were typed in this place.
    fn here(&self, command: Invocation) -> Invocation {
        let real = pto_process::find_program(self.engine.cx(), "docker").unwrap();
        command
            .cwd(self.dir.path())
            .env("REAL", real)
            .env("NOTES", self.dir.path())
            .env("TMPDIR", self.dir.path())
            .env("PTOKIT_QUARANTINE", self.path("claims"))
            .env("PATH", format!("{}:/usr/bin:/bin", self.dir.path().display()))
            .env("PYPTO_CONTAINER_NAME", &self.name)
            .env("PYPTO_IMAGE", &self.image)
            .env("HTTPS_PROXY", format!("http://user:{PLANTED}@127.0.0.1:9"))
    }

    fn run(&self, args: &[&str], stdin: &str) -> Output {
        let words = ["run", "a3", &self.card, "--skip-check", "card"];
        let words: Vec<&str> = words.into_iter().chain(args.iter().copied()).collect();
        self.command(&words, stdin).run(self.engine.cx()).unwrap()
    }

    fn cmdlines(&self) -> String {
        fs_err::read_to_string(self.path("cmdlines")).unwrap_or_default()
    }
}

/// What is left over is removed: the container, then its volumes.
macro_rules! tidy {
    ($place:ident) => {
        let _image = $place.engine.image(&$place.image);
        let _volumes = ["cache", "src", "lib-src"].map(|what| $place.engine.volume(&format!("{}-{what}", $place.name)));
        let _container = $place.engine.container(&$place.name);
    };
}

fn said(output: &Output) -> String {
    output.stdout.text().into_owned()
}

#[track_caller]
fn succeeds(output: &Output) -> String {
    assert!(output.success(), "{}: {}", output.status, output.last_words(10));
    said(output)
}

/// A command as one line, for a program that takes such.
fn line(command: &Invocation) -> String {
    command.argv().iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_container_is_made_left_and_entered_again() {
    let Some(engine) = engine() else { return };
    let place = Place::new(&engine, "again", 100);
    place.build("");
    tidy!(place);

    let first = place.run(
        &[],
        "echo $PYPTO_PLATFORM $PYPTO_DEVICE $ACTIVE; cat /workspace/pypto/file; touch=1; echo x > /kept; exit 7",
    );
    assert_eq!(first.status, Status::Exited(7), "the exit code is the shell's: {}", first.last_words(5));
    assert_eq!(said(&first), "a2a3 0 yes\nof-the-image\n", "the volume was filled from the image");
    assert!(first.stderr.text().contains("Ascend Docker Runtime"), "{}", first.stderr.text());

    let second = place.run(&[], "cat /kept");
    assert_eq!(succeeds(&second), "x\n", "the same container");
    assert_eq!(place.cmdlines().matches(" create ").count(), 1);

    let command = place.run(&["--", "bash", "-c", "echo $ACTIVE; exit 9"], "");
    assert_eq!((command.status, said(&command).as_str()), (Status::Exited(9), "yes\n"));
    let joined = place.run(&["--", "cat", "/kept"], "");
    assert_eq!(succeeds(&joined), "x\n", "it runs by now, and a second session is beside the first");
    let dies = place.command(&["run", "a3", &place.card, "--name", "ptokit-test-other", "--skip-check", "card"], "");
    let refused = dies.run(engine.cx()).unwrap();
    assert_eq!(refused.status, Status::Exited(3));
    let text = refused.stderr.text();
    assert!(text.contains(&format!("the running container `{}` has card {}", place.name, place.card)), "{text}");
    let shell = place.command(&["shell", &place.name, "--", "id", "-u"], "").run(engine.cx()).unwrap();
    assert_eq!(succeeds(&shell), "0\n");
}

#[test]
fn a_machine_without_npus_has_a_container_too() {
    let Some(engine) = engine() else { return };
    let place = Place::new(&engine, "without", 123);
    place.build("");
    tidy!(place);
    let none = |words: &[&str], stdin| {
        let words = [&["run", "a3", "--device-access", "none"][..], words].concat();
        place.command(&words, stdin).run(engine.cx()).unwrap()
    };
    let made = none(&[], "echo $PYPTO_PLATFORM ${PYPTO_DEVICE:-none}");
    assert_eq!(succeeds(&made), "a2a3 none\n");
    assert!(made.stderr.text().contains("device access: none"), "{}", made.stderr.text());
    succeeds(&none(&["--", "id"], ""));
    let shell = place.command(&["shell", &place.name, "--", "id"], "").run(engine.cx()).unwrap();
    assert!(shell.success() && shell.stderr.text().contains("device access: none, as it was made\n"), "{shell:?}");
    let lines = place.cmdlines();
    assert!(!lines.contains("--privileged") && !lines.contains("--runtime"), "{lines}");
    for (words, expected) in [
        (&["run", "a3", "0", "--device-access", "none"][..], "`none`, and 1 card named as well"),
        (&["run", "a3"], "--device-access none"),
    ] {
        let refused = place.command(words, "").run(engine.cx()).unwrap();
        assert_eq!(refused.status, Status::Exited(2), "{refused:?}");
        assert!(refused.stderr.text().contains(expected), "{}", refused.stderr.text());
    }
}

#[test]
fn help_and_mistakes_are_of_the_name_that_was_typed() {
    let dir = tempfile::tempdir().unwrap();
    for (name, usage) in [("pypto-dev", "Usage: pypto-dev run"), ("pypto-dev.sh", "pypto-dev run a3 0")] {
        let program = dir.path().join(name);
        fs_err::os::unix::fs::symlink(env!("CARGO_BIN_EXE_xtask"), &program).unwrap();
        let said = |args: &[&str]| {
            let ran = Invocation::new(&program).args(args.iter().copied()).run(&pto_test::machine()).unwrap();
            format!("{}{}", ran.stdout.text(), ran.stderr.text())
        };
        for text in [said(&["run", "--help"]), said(&["run"]), said(&["--nonsense"]), said(&["--version"])] {
            assert!(!text.contains("cargo"), "{text}");
        }
        assert!(said(&["run", "--help"]).contains(usage), "{name}");
    }
}

#[test]
fn what_differs_is_said_with_the_way_to_make_it_anew() {
    let Some(engine) = engine() else { return };
    let place = Place::new(&engine, "differs", 102);
    place.build("");
    tidy!(place);
    succeeds(&place.run(&[], ""));

    let other = place.run(&["--shm-size", "1g"], "");
    assert_eq!(other.status, Status::Exited(1));
    let text = other.stderr.text();
    for part in [
        "shm-size: the container has `16g`, asked for is `1g`",
        &format!("docker cp {}:PATH DIR", place.name),
        &format!(
            "docker rm {0} && PYPTO_CONTAINER_NAME={0} PYPTO_IMAGE={1} {2} run a3 {3} --skip-check card --shm-size 1g",
            place.name,
            place.image,
            place.path("pypto-dev").display(),
            place.card
        ),
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let old = format!("{NAMESPACE}/differs:old");
    let _old = engine.image(&old);
    engine.ok(&["tag", &place.image, &old]);
    fs_err::write(place.path("Dockerfile"), format!("FROM {old}\nLABEL rebuilt=yes\n")).unwrap();
    engine.build(place.dir.path(), &place.image, &[]);
    let rebuilt = place.run(&[], "");
    assert!(rebuilt.stderr.text().contains("stands for another image now"), "{}", rebuilt.stderr.text());
    let dry = place.run(&["--dry-run"], "");
    assert_eq!(dry.status, Status::Exited(1), "a dry run says so as well");

    engine.ok(&["rm", &place.name]);
    engine.ok(&["create", "--name", &place.name, &place.image]);
    let foreign = place.run(&[], "");
    assert!(foreign.stderr.text().contains("has no record of its configuration"), "{}", foreign.stderr.text());
}

#[test]
fn git_works_inside_on_trees_of_the_host() {
    let Some(engine) = engine() else { return };
    let place = Place::new(&engine, "trees", 104);
    place.build("");
    tidy!(place);
    let (pypto, tree) = (place.path("src/pypto"), place.path("trees/one"));
    let sub = repository(&place.path("origin/sub"));
    repository(&pypto);
    git(&pypto, &["submodule", "--quiet", "add", &sub.display().to_string(), "runtime"]);
    git(&pypto, &["commit", "--quiet", "-m", "two"]);
    git(&pypto, &["worktree", "add", "--quiet", "-b", "one", &tree.display().to_string()]);
    git(&tree, &["submodule", "--quiet", "update", "--init"]);
    // As they are on a host: nobody's whom the container knows.
    for dir in ["src", "trees"] {
        let chown = Invocation::new("chown").args(["-R", "4321:4321"]).arg(place.path(dir));
        if !chown.run(engine.cx()).unwrap().success() {
            return pto_test::absent("files cannot be given to another user");
        }
    }
    let source = tree.display().to_string();
    let script = "pwd; git status --short --branch; git -C runtime log --oneline | cat; git worktree list | cat; \
                  unset GIT_CONFIG_COUNT; git -C runtime rev-parse --show-toplevel; stat -c %u .";
    let output = place.run(&["--pypto-src", &source], script);
    let text = succeeds(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines[1]), (source.as_str(), "## one"), "{text}{}", output.stderr.text());
    assert!(lines[2].ends_with("one"), "{text}");
    assert!(lines[4].starts_with(&source), "back-references hold: {text}");
    assert_eq!(lines[5], format!("{source}/runtime"), "older versions of git go by a file: {text}");
    assert_eq!(lines.last(), Some(&"4321"));
}

#[test]
fn a_proxy_is_inside_and_in_nothing_that_others_see() {
    let Some(engine) = engine() else { return };
    let place = Place::new(&engine, "proxy", 106);
    place.build("");
    tidy!(place);
    let output = place.run(&["--verbose"], "echo ${HTTPS_PROXY#*user:}");
    assert_eq!(succeeds(&output), format!("{PLANTED}@127.0.0.1:9\n"));
    let labels =
        engine.ok(&["inspect", "--format", "{{json .Config.Labels}}{{json .Config.Cmd}}{{json .Args}}", &place.name]);
    let history = engine.ok(&["history", "--no-trunc", &place.image]);
    let dry = place.run(&["--dry-run", "--json"], "");
    for text in [place.cmdlines(), labels, history, output.stderr.text().into_owned(), succeeds(&dry)] {
        assert!(!text.contains(PLANTED), "{text}");
    }
    assert!(place.cmdlines().contains("--env HTTPS_PROXY "), "{}", place.cmdlines());
}

#[test]
fn two_at_once_make_one_container() {
    let Some(engine) = engine() else { return };
    let place = Place::new(&engine, "two", 108);
    place.build("");
    tidy!(place);
    let run = || {
        let words = ["run", "a3", &place.card, "--skip-check", "card"];
        place.command(
            &words,
            "echo shell $$; : > /shell-$$; set -- /shell-*; while [ $# -lt 2 ]; do sleep 0.1; set -- /shell-*; done",
        )
    };
    let started = [run(), run()].map(|command| command.start(engine.cx()).unwrap());
    let outputs = started.map(|running| running.wait().unwrap());
    let shells: Vec<String> = outputs.iter().map(succeeds).collect();
    assert_eq!(place.cmdlines().matches(" create ").count(), 1, "{}", place.cmdlines());
    assert!(shells.contains(&"shell 1\n".to_owned()), "one has the main shell: {shells:?}");
    assert_ne!(shells[0], shells[1], "and the other one of its own");
}

/// Users have nothing in common but the engine and the claims: neither home nor directory of temporary files.
#[test]
fn a_card_is_in_one_container_whoever_asks() {
    let Some(engine) = engine() else { return };
    let place = Place::new(&engine, "cards", 117);
    place.build("");
    tidy!(place);
    let other = format!("{}-other", place.name);
    let _container = engine.container(&other);
    let _volumes = ["cache", "src", "lib-src"].map(|what| engine.volume(&format!("{other}-{what}")));
    let temporary = [place.path("one"), place.path("two")];
    temporary.iter().for_each(|dir| fs_err::create_dir(dir).unwrap());
    let run = |name: &str, temporary: &Path| {
        let words = ["run", "a3", &place.card, "--skip-check", "card", "--name", name, "--", "id"];
        place.command(&words, "").env("TMPDIR", temporary)
    };
    let both = [(&place.name, &temporary[0]), (&other, &temporary[1])].map(|(name, dir)| run(name, dir));
    let ended: Vec<Status> = std::thread::scope(|scope| {
        let cx = engine.cx();
        let running = both.map(|command| scope.spawn(move || command.run(cx).unwrap().status));
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(ended.contains(&Status::Exited(0)) && ended.contains(&Status::Exited(3)), "{ended:?}");

    // Nor is one that stopped started beside the one that runs now.
    engine.ok(&["rm", "--force", &place.name]);
    succeeds(&run(&other, &temporary[0]).run(engine.cx()).unwrap());
    engine.ok(&["stop", "--time", "0", &other]);
    succeeds(&run(&place.name, &temporary[0]).run(engine.cx()).unwrap());
    let shell = place.command(&["shell", &other, "--", "id"], "").run(engine.cx()).unwrap();
    let text = shell.stderr.text();
    assert!(shell.status == Status::Exited(3) && text.contains(&format!("`{}` has card", place.name)), "{text}");
}

#[test]
fn what_a_container_is_called_is_not_the_beginning_of_anothers_id() {
    let Some(engine) = engine() else { return };
    let place = Place::new(&engine, "prefix", 121);
    place.build("");
    tidy!(place);
    succeeds(&place.run(&["--", "id"], ""));
    let id = engine.ok(&["container", "inspect", &place.name, "--format", "{{.Id}}"]);
    let shell = place.command(&["shell", &id[..12], "--", "id"], "").run(engine.cx()).unwrap();
    assert_eq!(shell.status, Status::Exited(2), "{}", shell.stderr.text());
    assert!(shell.stderr.text().contains("there is no container"), "{}", shell.stderr.text());

    // A series is a part of what a container is.
    let other =
        place.command(&["run", "a5", &place.card, "--skip-check", "card", "--", "id"], "").run(engine.cx()).unwrap();
    assert_eq!(other.status, Status::Exited(1));
    let text = other.stderr.text();
    assert!(text.contains("series: the container has `a3`, asked for is `a5`"), "{text}");
    // One that is paused is said to be, at once, whoever has its main shell.
    engine.ok(&["pause", &place.name]);
    let paused = place.run(&["--", "id"], "");
    engine.ok(&["unpause", &place.name]);
    assert!(paused.stderr.text().contains(&format!("docker unpause {}", place.name)), "{}", paused.stderr.text());
}

#[test]
fn a_container_is_kept_without_the_passwords_of_its_proxies() {
    let Some(engine) = engine() else { return };
    let place = Place::new(&engine, "kept", 119);
    place.build("");
    tidy!(place);
    succeeds(&place.run(&["--", "id"], ""));
    let differs = place.run(&["--shm-size", "1g", "--dry-run"], "");
    let text = differs.stderr.text().into_owned();
    assert_eq!(differs.status, Status::Exited(1), "{text}");
    assert!(
        !text.contains("--dry-run") && text.contains("PYPTO_CONTAINER_NAME="),
        "it is typed again as it was: {text}"
    );
    let (_, keep) = text.split_once("or `").unwrap();
    let keep = keep.split('`').next().unwrap();
    let kept = keep.rsplit(' ').next().unwrap();
    let _image = engine.image(kept);
    let ran = place.here(Invocation::new("sh").args(["-c", keep])).run(engine.cx()).unwrap();
    succeeds(&ran);
    let inspected = engine.ok(&["image", "inspect", kept]);
    assert!(!inspected.contains(PLANTED) && !inspected.contains("ptokit.container"), "{inspected}");
    let files = engine.ok(&["run", "--rm", "--entrypoint", "/usr/bin/cat", kept, "/workspace/pypto/file"]);
    assert!(files.is_empty() || files == "of-the-image", "{files}");
}

#[test]
fn a_terminal_is_there_where_standard_input_is_one() {
    let Some(engine) = engine() else { return };
    let place = Place::new(&engine, "terminal", 110);
    place.build("");
    tidy!(place);
    let typed = line(&place.command(&["run", "a3", &place.card, "--skip-check", "card", "--", "tty"], ""));
    let script = place.here(Invocation::new("script").args(["-qec", &typed, "/dev/null"]));
    let output = script.run(engine.cx()).unwrap();
    assert!(said(&output).contains("/dev/pts/"), "{} {}", said(&output), output.last_words(5));
    let tty = engine.ok(&["inspect", "--format", "{{.Config.Tty}}", &place.name]);
    assert_eq!(tty, "true");
    let without = place.run(&["--", "tty"], "");
    assert_eq!((without.status, said(&without).as_str()), (Status::Exited(1), "not a tty\n"));
}

#[test]
fn a_shell_goes_where_run_would_go() {
    let Some(engine) = engine() else { return };
    let shell = |args: &[&str]| {
        let command = Invocation::new(env!("CARGO_BIN_EXE_xtask")).args(["container", "shell", "a3"]);
        command
            .args(args.iter().copied())
            .env("PYPTO_CONTAINER_NAME", "ptokit-test-not-there")
            .run(engine.cx())
            .unwrap()
    };
    let output = shell(&[]);
    assert!(output.stderr.text().contains("no container `ptokit-test-not-there`"), "{}", output.last_words(3));
    let refused = shell(&["--json"]);
    let words = refused.last_words(9);
    assert!(!refused.success() && words.contains("leave `--json` out") && !words.contains("container run"), "{words}");
}

#[test]
fn a_container_without_an_input_is_entered_beside_its_main_program_or_said_to_end() {
    let Some(engine) = engine() else { return };
    let place = Place::new(&engine, "deaf", 114);
    place.build("");
    tidy!(place);
    let enter = || place.command(&["shell", &place.name], "echo typed; exit 5").run(engine.cx()).unwrap();
    let makes = |args: &[&str]| {
        engine.docker(&["rm", "--force", &place.name]);
        let words = [&["create", "--name", &place.name], args].concat();
        engine.ok(&words);
    };

    makes(&["--entrypoint", "sleep", &place.image, "1000"]);
    let beside = enter();
    assert_eq!((beside.status, said(&beside).as_str()), (Status::Exited(5), "typed\n"), "{}", beside.last_words(5));

    // Its shell waits for an input that nothing can give it, and a client that is attached to it waits with it.
    makes(&["--tty", &place.image]);
    let typed = line(&place.command(&["shell", &place.name], ""));
    let terminal = place.here(Invocation::new("script").args(["-qec", &typed, "/dev/null"]));
    let output = terminal.stdin(Stdin::Bytes(b"echo ty''ped; exit 5\n".to_vec())).run(engine.cx()).unwrap();
    assert_eq!(output.status, Status::Exited(5), "{}", output.last_words(5));
    assert!(said(&output).contains("\ntyped"), "{}", said(&output));

    makes(&[&place.image]);
    for words in [vec!["shell", &place.name], vec!["shell", &place.name, "--", "id"]] {
        let ended = place.command(&words, "echo typed").run(engine.cx()).unwrap();
        let text = ended.stderr.text().into_owned();
        assert_eq!((ended.status, said(&ended).as_str()), (Status::Exited(3), ""), "{text}");
        for part in ["has ended at once with exit code 0", "without `--interactive`", "docker export ptokit-test-deaf"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    let kept = format!("{}:kept", place.name);
    let _kept = engine.image(&kept);
    let keep = format!("docker export {} | docker import - {kept}", place.name);
    succeeds(&Invocation::new("sh").args(["-c", &keep]).run(engine.cx()).unwrap());
    let again = Invocation::new("docker").args(["run", "--rm", "--interactive", &kept, "/usr/bin/bash"]);
    let again = again.stdin(Stdin::Bytes(b"echo typed".to_vec())).run(engine.cx()).unwrap();
    assert_eq!(succeeds(&again), "typed\n", "what the hint says works");
}

#[test]
fn a_container_of_ours_that_lost_its_input_is_said_to_end() {
    let Some(engine) = engine() else { return };
    let place = Place::new(&engine, "lost", 116);
    place.build("");
    tidy!(place);
    let lines = succeeds(&place.run(&["--dry-run"], ""));
    let mut words = shlex::split(lines.lines().next().unwrap()).unwrap();
    words.retain(|word| word != "--runtime=ascend" && word != "--interactive");
    engine.ok(&words[1..].iter().map(String::as_str).collect::<Vec<_>>());
    let dry = succeeds(&place.run(&["--dry-run"], ""));
    assert!(dry.contains("docker exec --interactive") && !dry.contains("--attach"), "{dry}");
    let ended = place.run(&[], "echo typed");
    assert_eq!(ended.status, Status::Exited(3));
    assert!(ended.stderr.text().contains("without `--interactive`"), "{}", ended.stderr.text());
}

#[test]
fn a_dry_run_can_be_pasted_and_changes_nothing() {
    let Some(engine) = engine() else { return };
    let place = Place::new(&engine, "dry", 112);
    place.build("");
    tidy!(place);
    let text = succeeds(&place.run(&["--dry-run"], ""));
    assert_eq!(engine.ok(&["ps", "--all", "--quiet", "--filter", &format!("name={}", place.name)]), "");
    let create = text.lines().next().unwrap();
    let mut words = shlex::split(create).unwrap();
    assert_eq!(words[..4], ["docker", "create", "--name", place.name.as_str()]);
    words.retain(|word| word != "--runtime=ascend");
    let pasted: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    engine.ok(&pasted);
    succeeds(&place.run(&[], ""));

    let session = place.run(&["--json"], "");
    assert_eq!(session.status, Status::Exited(2), "a session is no document");
}

fn git(dir: &Path, args: &[&str]) {
    let fixed =
        ["-c", "protocol.file.allow=always", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"];
    let command = Invocation::new("git").args(fixed).args(args.iter().copied()).cwd(dir);
    let command = command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.run(&pto_test::machine()).unwrap().require_success().unwrap_or_else(|error| panic!("{error:?}"));
}

fn repository(dir: &Path) -> PathBuf {
    fs_err::create_dir_all(dir).unwrap();
    git(dir, &["init", "--quiet"]);
    fs_err::write(dir.join("file"), "text\n").unwrap();
    git(dir, &["add", "."]);
    git(dir, &["commit", "--quiet", "-m", "one"]);
    dir.to_owned()
}

#[test]
fn an_exposed_host_is_announced_to_those_who_want_quiet_too() {
    let Some(engine) = engine() else { return };
    let place = Place::new(&engine, "exposed", 120);
    tidy!(place);
    place.build("");
    let exposed = "the container sees all devices and cards of this host";
    let quiet = place.run(&["--quiet", "--device-access", "privileged", "--", "env"], "");
    assert!(quiet.success() && quiet.stderr.text().contains(exposed), "{}", quiet.last_words(5));
    let shell = place.command(&["shell", "a3", "--quiet", "--", "env"], "").run(engine.cx()).unwrap();
    assert!(shell.success() && shell.stderr.text().contains(exposed), "{}", shell.last_words(5));
}

#[test]
fn a_build_without_room_is_refused_and_its_dry_run_says_so() {
    let Some(engine) = engine() else { return };
    let place = Place::new(&engine, "room", 122);
    for file in ["docker/pypto_dev.Dockerfile", "target/release/xtask"] {
        let file = place.path(&format!("context/{file}"));
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(file, "#!/bin/sh\n").unwrap();
    }
    // No block of this file system is ever free.
    let front = FRONT
        .replace("/usr/bin/sed", "/usr/bin/sed -e 's@\"DockerRootDir\":\"[^\"]*\"@\"DockerRootDir\":\"/proc\"@' -e");
    fs_err::create_dir(place.path("bin")).unwrap();
    fs_err::write(place.path("bin/docker"), front).unwrap();
    fs_err::set_permissions(place.path("bin/docker"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let build = |args: &[&str]| {
        let words = [&["build", "a3", "--context", "context"], args].concat();
        let path = format!("{}:/usr/bin:/bin", place.path("bin").display());
        place.command(&words, "").env("PATH", path).run(engine.cx()).unwrap()
    };
    let refused = build(&[]);
    let text = refused.stderr.text();
    assert_eq!(refused.status, Status::Exited(3), "{text}");
    assert!(text.contains("--skip-check disk"), "{text}");
    let dry = build(&["--dry-run"]);
    let (plan, text) = (succeeds(&dry), dry.stderr.text());
    assert!(text.contains("would be refused:") && text.contains("disk"), "{text}");
    assert!(plan.contains("docker build") || plan.contains("buildx build"), "{plan}");
    let document: serde_json::Value = serde_json::from_str(&succeeds(&build(&["--dry-run", "--json"]))).unwrap();
    assert_eq!(document["findings"][0]["check"], "disk");
    let skipped = build(&["--dry-run", "--skip-check", "disk"]);
    assert!(skipped.success() && !skipped.stderr.text().contains("refused"), "{}", skipped.stderr.text());
    // What is built from what is no longer there is not put into an image.
    fs_err::write(place.path("context/target/release/xtask.d"), "xtask: /gone.rs\n").unwrap();
    let old = build(&["--dry-run", "--skip-check", "disk"]);
    assert_eq!(old.status, Status::Exited(2));
    assert!(old.stderr.text().contains("cargo build --release -p xtask"), "{}", old.stderr.text());
}
