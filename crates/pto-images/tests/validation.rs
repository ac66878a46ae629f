//! A validation in real containers: a stand-in for `task-submit` that writes down how it was called and runs the task here, and
//! one for the Docker client that takes away the runtime that only a host with cards has.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_images::Error;
use pto_images::config::{Config, Source};
use pto_images::plan::Lock;
use pto_images::validation::{CaseStatus, Results, Run, Validation, clean_up, preflight};
use pto_test::engine::{Engine, engine};

const TAG: &str = "ptokit-test/validation:1";

struct Bench {
    dir: tempfile::TempDir,
    engine: Engine,
}

impl Bench {
    fn new(engine: Engine) -> Self {
        let bench = Self { dir: tempfile::tempdir().unwrap(), engine };
        let docker = pto_process::find_program(bench.engine.cx(), "docker").unwrap();
        bench.program(
            "docker",
            &format!(
                "for a do shift; case \"$a\" in --runtime=ascend) ;; *) set -- \"$@\" \"$a\";; esac; done\n\
                 exec {} \"$@\"",
                docker.display()
            ),
        );
        // It writes each argument down, gives out cards 3 or 2 and 5, and ends with another code than the task, as the real one may.
        bench.program(
            "task-submit",
            "printf '%s\\n' \"$@\" -- >>\"$BENCH/calls\"\n\
             case \"$1\" in --find) cat \"$BENCH/tasks\" 2>/dev/null; exit 0;; \
                --kill) sed -i \"/^$2/d\" \"$BENCH/tasks\"; exit 0;; esac\n\
             [ -e \"$BENCH/stuck\" ] && { echo 'the queue is full'; exit 1; }\n\
             case \"$8\" in 1) TASK_DEVICE=3;; 2) TASK_DEVICE=2,5;; esac\n\
             [ -e \"$BENCH/few\" ] && TASK_DEVICE=3\n\
             export TASK_DEVICE; printf '%s' \"${10}\" >\"$BENCH/task-$8\"; sh -c \"${10}\"\n\
             [ -e \"$BENCH/survivor\" ] && sh \"$BENCH/survivor\"; exit 0",
        );
        fs_err::write(bench.path("version.info"), "Version=25.7.rc1.12\n").unwrap();
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        fs_err::create_dir_all(self.path("bin")).unwrap();
        fs_err::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn cx(&self) -> Context {
        let path = format!("{}:{}", self.path("bin").display(), self.engine.cx().var("PATH").unwrap());
        let cx = self.engine.cx().clone().with_var("PATH", path);
        let cx = cx.with_var("BENCH", self.dir.path()).with_var("ASCEND_DRIVER_ROOT", self.dir.path());
        cx.with_var("PTOKIT_QUARANTINE", self.path("claims"))
    }

    fn config(&self) -> Config {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docker/images.json");
        let mut value: serde_json::Value = serde_json::from_str(&fs_err::read_to_string(&file).unwrap()).unwrap();
        value["images"].as_array_mut().unwrap().retain(|image| image["name"] == "x86-a5");
        value["images"][0]["devices"] = serde_json::json!(["/dev/null"]);
        Config::parse(&file, &value.to_string()).unwrap().0
    }

    fn run() -> Run {
        Run { run: "77".to_owned(), attempt: 2, image: "x86-a5".to_owned() }
    }

    fn lock(&self) -> Lock {
        let commit = "0".repeat(40);
        let mut config = self.config();
        let source = |source: &Source| serde_json::json!({ "repository": source.repository, "ref": source.reference, "commit": commit });
        let (pypto, pypto_lib) = (source(&config.pypto), source(&config.pypto_lib));
        let image = config.images.remove(0);
        let digest = format!("sha256:{}", "1".repeat(64));
        let base = serde_json::json!({ "repository": image.cann_repository, "tag": image.cann_tag, "digest": digest, "pinned": true });
        let lock = serde_json::json!({
            "schema": "ptokit.images-lock/1", "created": "", "recipe": { "repository": config.recipe.repository, "branch": config.recipe.branch, "commit": commit },
            "pypto": pypto, "pypto_lib": pypto_lib, "runtime": pypto, "pto_isa": commit,
            "ptoas": { "version": "v0.61", "sha256": {} },
            "images": [{ "name": "x86-a5", "platform": { "os": "linux", "architecture": "amd64" }, "validation_platform": "a5",
                         "tag": image.tag, "base": base, "build_args": {
                             "CANN_REPOSITORY": image.cann_repository, "CANN_DIGEST": digest, "CANN_TAG": image.cann_tag, "PYPTO_PLATFORM": "a5",
                             "PYPTO_REPOSITORY": config.pypto.repository, "PYPTO_REF": commit,
                             "PYPTO_LIB_REPOSITORY": config.pypto_lib.repository, "PYPTO_LIB_REF": commit,
                             "DIST_BUILD_JOBS": config.build_jobs.to_string(),
                             "DIST_RUNTIME_TARGETS": "build_package_a5 build_package_sim" } }],
        });
        fs_err::write(self.path("lock.json"), lock.to_string()).unwrap();
        Lock::load(&self.path("lock.json")).unwrap()
    }

    fn validate(&self, cx: &Context) -> Result<Results, Error> {
        self.validate_image(cx, TAG)
    }

    fn validate_image(&self, cx: &Context, local: &str) -> Result<Results, Error> {
        let config = self.config();
        let validation = Validation {
            config: &config,
            image: &config.images[0],
            local: local.to_owned(),
            lock: self.path("lock.json"),
            run: Self::run(),
            output: self.path("output"),
        };
        let _ = std::fs::remove_file(self.path("calls"));
        validation.run(cx).map(|validated| validated.results)
    }

    /// An image whose programs say what they were called with, and do as told.
    fn image(&self, doctor: &str, single: &str, distributed: &str) {
        let script = |text: &str| format!("printf '%s' '{}'", text.replace('\'', "'\\''"));
        let put = |path: &str, text: &str| format!("{} >{path} && chmod 755 {path}", script(text));
        let python = "#!/bin/bash\necho \"python $* cards=$ASCEND_VISIBLE_DEVICES bench=$PYPTO_BENCH path=$PYTHONPATH\"\n\
                      [ -r /usr/local/Ascend/driver/version.info ] && ! : 2>/dev/null >/usr/local/Ascend/driver/version.info && echo driver-read-only\n\
                      exec bash \"/workspace/$(basename \"$1\")\"\n";
        let doctor = format!("#!/bin/bash\n[ \"$1\" = --help ] && {{ echo --strict; exit; }}\n{doctor}\n");
        let files = [
            put("/usr/bin/pypto-doctor", &doctor.replace('\n', "\\n")),
            put("/usr/bin/python", &python.replace('\n', "\\n")),
            put("/workspace/decode_swa.py", single),
            put("/workspace/decode_moe.py", distributed),
        ];
        let labels = self.lock().labels("x86-a5").unwrap();
        let labels: Vec<_> = labels.iter().map(|(label, value)| format!("{label}={value}")).collect();
        let labels = labels.join(" ");
        let lines = format!(
            "ENV PYPTO_LIB_SRC=/workspace\nLABEL {labels}\nRUN {}",
            files.join(" && ").replace("printf '%s'", "printf")
        );
        self.engine.image_of(TAG, &["chmod", "grep", "basename"], &lines);
    }

    fn statuses(results: &Results) -> Vec<CaseStatus> {
        results.cases.iter().map(|case| case.status).collect()
    }
}

#[test]
fn a_validation_runs_in_reservations_and_only_a_pass_is_one() {
    use CaseStatus::{Failed, NotRun, Passed};
    let Some(engine) = engine() else { return };
    let bench = Bench::new(engine);
    let _removed = bench.engine.image(TAG);
    let cx = bench.cx();

    bench.image("echo strict $1", "echo [RUN] PASS", "echo ok; echo [RUN] PASS \\(12 ms\\)");
    let results = bench.validate(&cx).unwrap();
    let log = |name: &str| fs_err::read_to_string(bench.path("output").join(name)).unwrap();
    assert!(results.passed(), "{results:?} {} {} {}", log("doctor.log"), log("single.log"), log("distributed.log"));
    assert_eq!(Results::load(&bench.path("output/results.json")).unwrap(), results);
    assert_eq!(log("doctor.log"), "strict --strict\n");
    let single = log("single.log");
    assert!(
        single.contains("models/deepseek_v4_1_flash/decode_swa.py -p a5 -d 0 cards=3 bench=0 path=/workspace"),
        "{single}"
    );
    assert!(single.contains("driver-read-only"), "{single}");
    let distributed = log("distributed.log");
    assert!(distributed.contains("decode_moe.py -p a5 -d 0,1 --ep 2 cards=2,5 bench=0"), "{distributed}");

    let calls = fs_err::read_to_string(bench.path("calls")).unwrap();
    let of_queue =
        |cards: u32| format!("--timeout\n3600\n--max-time\n1800\n--device\nauto\n--device-num\n{cards}\n--run\n");
    // First what a killed attempt may have left, then the reservations.
    let calls = calls.strip_prefix("--find\nptokit-images-x86-a5-r77-a2-x\n--\n").unwrap_or_default();
    assert!(calls.starts_with(&of_queue(1)) && calls.matches(&of_queue(2)).count() == 1, "{calls}");
    assert!(calls.contains("--device /dev/null") && calls.contains("version.info:ro"), "{calls}");
    assert_eq!(calls.matches("docker run").count(), 3);
    assert_eq!(calls.matches("--volume").count(), 3, "the driver's version and nothing else is mounted: {calls}");
    assert!(calls.ends_with("--find\nptokit-images-x86-a5-r77-a2-x\n--\n"), "{calls}");

    bench.image("echo [RUN] PASS; exit 4", "echo [RUN] PASS", "echo [RUN] PASS");
    let results = bench.validate(&cx).unwrap();
    assert_eq!(Bench::statuses(&results), [Failed, NotRun, NotRun]);
    assert_eq!(results.cases[0].problem.as_deref(), Some("it ended with code 4; its log ends with: [RUN] PASS"));
    bench.image("true", "echo [RUN] FAIL", "echo [RUN] PASS");
    let results = bench.validate(&cx).unwrap();
    assert_eq!(Bench::statuses(&results), [Passed, Failed, NotRun]);
    assert!(results.cases[1].problem.as_ref().unwrap().contains("never said"));
    bench.image("true", "echo [RUN] PASS", "echo [RUN] PASS; exit 1");
    let results = bench.validate(&cx).unwrap();
    assert_eq!(Bench::statuses(&results), [Passed, Passed, Failed], "{results:?} {}", log("single.log"));

    // A task outlives the process that asked for it, and ends well while another image is tried in the same directory.
    bench.image("true", "echo [RUN] PASS", "echo [RUN] PASS");
    assert!(bench.validate(&cx).unwrap().passed());
    fs_err::rename(bench.path("task-1"), bench.path("survivor")).unwrap();
    bench.image("true", "echo [RUN] FAIL", "echo [RUN] PASS");
    let results = bench.validate(&cx).unwrap();
    assert_eq!(Bench::statuses(&results), [Passed, Failed, NotRun], "{results:?}");
    assert_eq!(log("single.log").lines().last(), Some("[RUN] FAIL"), "{}", log("single.log"));
    fs_err::remove_file(bench.path("survivor")).unwrap();
    bench.image("true", "echo [RUN] PASS", "echo [RUN] PASS; exit 1");
    let left: Vec<_> =
        fs_err::read_dir(bench.path("output")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(".ptokit-validation-")), "{left:?}");

    // Logs are put whole where people look for them, or the validation says why not.
    fs_err::remove_file(bench.path("output/doctor.log")).unwrap();
    fs_err::create_dir_all(bench.path("output/doctor.log/x")).unwrap();
    let error = bench.validate(&cx).unwrap_err();
    assert!(matches!(&error, Error::Io { .. }), "{error}");
    assert!(!bench.path("output/results.json").exists());
    fs_err::remove_dir_all(bench.path("output/doctor.log")).unwrap();

    fs_err::write(bench.path("few"), "").unwrap();
    let results = bench.validate(&cx).unwrap();
    assert_eq!(Bench::statuses(&results), [Passed, Passed, Failed]);
    assert!(results.cases[2].problem.as_ref().unwrap().contains("expected 2 cards"), "{results:?}");
    fs_err::write(bench.path("stuck"), "").unwrap();
    let results = bench.validate(&cx).unwrap();
    assert_eq!(Bench::statuses(&results), [Failed, NotRun, NotRun]);
    assert!(results.cases[0].problem.as_ref().unwrap().contains("the queue is full"), "{results:?}");

    // An image of another recipe, and one that does not say what it was built from.
    for labels in ["LABEL ptokit.images.recipe=other", ""] {
        let tag = "ptokit-test/validation:other";
        let _removed = bench.engine.image(tag);
        let dir = tempfile::tempdir().unwrap();
        let from = if labels.is_empty() { "scratch" } else { TAG };
        fs_err::write(dir.path().join("x"), "").unwrap();
        fs_err::write(dir.path().join("Dockerfile"), format!("FROM {from}\nCOPY x /x\n{labels}\n")).unwrap();
        bench.engine.build(dir.path(), tag, &[]);
        let error = bench.validate_image(&cx, tag).unwrap_err();
        assert!(matches!(error, Error::OtherPlan { .. }), "{error}");
    }

    fs_err::remove_file(bench.path("stuck")).unwrap();
    // What another validation writes into the same directory would be taken for what this one found.
    let other = pto_store::Lock::try_acquire(&bench.path("output/.ptokit-validation.lock")).unwrap().unwrap();
    assert!(matches!(bench.validate(&cx), Err(Error::BusyOutput { .. })));
    drop(other);
    // Nothing was used where what is found could not be written down.
    for blocked in ["results.json", "single.log"] {
        let _ = std::fs::remove_file(bench.path("output").join(blocked));
        fs_err::create_dir(bench.path("output").join(blocked)).unwrap();
        assert!(matches!(bench.validate(&cx), Err(Error::Io { .. })), "{blocked}");
        assert!(!bench.path("calls").exists(), "{blocked}");
        fs_err::remove_dir(bench.path("output").join(blocked)).unwrap();
    }
    // What the same attempt left when it was killed.
    let left = format!("{}-doctor", Bench::run().mark());
    let label = format!("ptokit.images.run={}", Bench::run().mark());
    bench.engine.ok(&["create", "--name", &left, "--label", &label, TAG, "true"]);
    bench.image("exit 0", "echo [RUN] PASS", "echo [RUN] PASS");
    fs_err::remove_file(bench.path("few")).unwrap();
    let results = bench.validate(&cx).unwrap();
    assert!(results.passed(), "{results:?}");
    a_doctor_that_takes_strict_for_nothing_is_no_witness(&bench);

    let other = cx.clone().with_var("ASCEND_DRIVER_ROOT", bench.path("nowhere"));
    assert!(matches!(bench.validate(&other), Err(Error::DriverUnknown { .. })));
    fs_err::write(bench.path("version.info"), "Version=26.0.rc1\n").unwrap();
    assert!(matches!(bench.validate(&cx), Err(Error::OtherHost { .. })));
    fs_err::write(bench.path("version.info"), "nothing that is known\n").unwrap();
    assert!(matches!(bench.validate(&cx), Err(Error::DriverUnknown { .. })));
}

/// Containers are named by their run, so this is not a test beside the other.
fn a_doctor_that_takes_strict_for_nothing_is_no_witness(bench: &Bench) {
    let tag = "ptokit-test/validation:old-doctor";
    let _removed = bench.engine.image(tag);
    let labels = bench.lock().labels("x86-a5").unwrap();
    let labels: Vec<_> = labels.iter().map(|(label, value)| format!("{label}={value}")).collect();
    let doctor =
        "printf '#!/bin/bash\\necho all is well\\n' > /usr/bin/pypto-doctor && chmod 755 /usr/bin/pypto-doctor";
    bench.engine.image_of(tag, &["chmod", "grep"], &format!("LABEL {}\nRUN {doctor}", labels.join(" ")));
    let results = bench.validate_image(&bench.cx(), tag).unwrap();
    assert_eq!(
        results.cases[0].problem.as_deref(),
        Some("it ended with code 96; its log ends with: this pypto-doctor does not know --strict"),
        "{results:?}"
    );
    let log = fs_err::read_to_string(bench.path("output/doctor.log")).unwrap();
    assert!(log.contains("does not know --strict"), "{log}");
}

#[test]
fn a_host_is_looked_at_before_anything_is_built() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let program = |name: &str, script: &str| {
        let path = root.join("bin").join(name);
        fs_err::create_dir_all(root.join("bin")).unwrap();
        fs_err::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    let engine = |machine: &str, runtime: &str| {
        let answer =
            format!(r#"{{"ServerVersion":"27","Architecture":"{machine}","Runtimes":{{"{runtime}":{{"path":"x"}}}}}}"#);
        program("docker", &format!("echo '{answer}'"));
    };
    let docker = |runtime: &str| {
        engine("aarch64", runtime);
    };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docker/images.json");
    let config = Config::load(&file).unwrap().0;
    let image = config.image("arm-a2a3").unwrap();
    let cx = pto_test::machine().with_var("PATH", format!("{}:/usr/bin:/bin", root.join("bin").display()));
    let cx = cx.with_var("ASCEND_DRIVER_ROOT", root).with_var("TMPDIR", root);
    let cx = cx.with_var("RUNNER_NAME", "227-npu-a2a3-XP-1").with_var("DOCKER_HOST", "unix:///nowhere");
    let cx = cx.with_var("PYPTO_DOCKER_PROXY", "http://127.0.0.1:7892");
    let says = |cx: &Context, words: &str| {
        let obstacles = preflight(cx, &config, image).unwrap().obstacles;
        let said: Vec<_> = obstacles.iter().map(|error| pto_context::with_causes(error)).collect();
        assert!(said.len() == 1 && said[0].contains(words), "`{words}` is not in {said:?}");
    };
    docker("ascend");
    program("task-submit", "echo 'usage: --find MARK --kill TASK'");
    fs_err::write(root.join("version.info"), "Version=26.0.rc1\n").unwrap();
    let here = preflight(&cx, &config, image).unwrap();
    assert!(here.obstacles.is_empty() && here.driver.as_deref() == Some("26.0.rc1"), "{here:?}");
    // Where nobody says which runner this is, the driver alone counts.
    assert!(preflight(&cx.clone().with_var("RUNNER_NAME", ""), &config, image).unwrap().obstacles.is_empty());
    says(&cx.clone().with_var("PYPTO_DOCKER_PROXY", ""), "requires a proxy");
    engine("x86_64", "ascend");
    says(&cx, "the processor is `x86_64`, expected `arm64`");
    docker("ascend");
    says(&cx.clone().with_var("RUNNER_NAME", "228-npu-a2a3-XP-1"), "227-npu-a2a3-XP-1");
    docker("runc");
    says(&cx, "ascend");
    docker("ascend");
    program("task-submit", "echo 'usage: --find MARK' >&2");
    says(&cx, "`--kill`");
    program("task-submit", "echo '--find --kill'");
    fs_err::write(root.join("version.info"), "Version=25.6.rc2.b023\n").unwrap();
    says(&cx, "25.6.rc2.b023");
    // A pipe in its place is nothing to wait for.
    fs_err::remove_file(root.join("version.info")).unwrap();
    let pipe = pto_process::Invocation::new("mkfifo").arg(root.join("version.info")).run(&pto_test::machine());
    pipe.unwrap().require_success().unwrap();
    says(&cx, "not a regular file");
    fs_err::remove_file(root.join("version.info")).unwrap();
    fs_err::write(root.join("version.info"), "Version=26.0.rc1\n").unwrap();
    fs_err::remove_file(root.join("bin/task-submit")).unwrap();
    says(&cx, "task-submit");
    // All at once.
    engine("x86_64", "runc");
    fs_err::write(root.join("version.info"), "Version=1.2.3\n").unwrap();
    assert_eq!(preflight(&cx, &config, image).unwrap().obstacles.len(), 3);
    docker("ascend");
    // Links between cards of A5 are devices of the host.
    program("task-submit", "echo '--find --kill'");
    fs_err::write(root.join("version.info"), "Version=25.6.rc2.b023\n").unwrap();
    let obstacles = preflight(&cx, &config, config.image("arm-a5").unwrap()).unwrap().obstacles;
    assert!(obstacles.len() == 1 && obstacles[0].to_string().contains("`/dev/ummu`"), "{obstacles:?}");
}

#[test]
fn cleaning_up_takes_what_is_of_this_run_and_nothing_else() {
    let Some(engine) = engine() else { return };
    let tag = "ptokit-test/clean-up:1";
    let bench = Bench::new(engine);
    let _removed = bench.engine.image(tag);
    bench.engine.image_of(tag, &["sleep"], "");
    // Of its own: a validation beside it has containers too.
    let run = Run { run: "78".to_owned(), ..Bench::run() };
    let other = Run { attempt: 22, ..run.clone() };
    let start = |run: &Run| {
        let label = format!("ptokit.images.run={}", run.mark());
        bench.engine.ok(&["run", "--detach", "--label", &label, "--entrypoint", "sleep", tag, "1000"])
    };
    let (ours, others) = (start(&run), start(&other));
    fs_err::write(bench.path("tasks"), "task-1\ntask-2\n").unwrap();
    // As a process leaves it that was killed during a login.
    let cx = bench.cx().with_var("TMPDIR", bench.dir.path());
    let login = pto_docker::private_home(&cx).unwrap().join("config.dead");
    fs_err::create_dir(&login).unwrap();
    let cleaned = clean_up(&cx, &run).unwrap();
    assert!(cleaned.private_directories == 1 && !login.exists(), "{cleaned:?}");
    assert_eq!((cleaned.containers, cleaned.tasks), (vec![ours], vec!["task-1".to_owned(), "task-2".to_owned()]));
    let calls = fs_err::read_to_string(bench.path("calls")).unwrap();
    assert!(calls.contains("--kill\ntask-1\n") && calls.contains("--kill\ntask-2\n"), "{calls}");
    assert!(bench.engine.ok(&["ps", "--quiet", "--no-trunc"]).contains(&others), "another run's container lives on");
    bench.engine.ok(&["rm", "--force", &others]);

    // Words are no tasks, and a queue that refuses is no queue that has ended something.
    fs_err::remove_file(bench.path("calls")).unwrap();
    let prose = format!("0 tasks match {}; 3 tasks of other users are running\n0\n", run.mark());
    fs_err::write(bench.path("tasks"), prose).unwrap();
    assert_eq!(clean_up(&cx, &run).unwrap().tasks, Vec::<String>::new());
    let refused = || match clean_up(&cx, &run) {
        Err(Error::Tasks { command, problem }) => format!("{command}: {problem}"),
        other => panic!("{other:?}"),
    };
    // A number and the mark: a task of this run, or how many there are. Not ended, and not passed over either.
    for line in [format!("ID STATE COMMAND\n4711 running : {}", run.mark()), format!("3 tasks match {}", run.mark())] {
        fs_err::write(bench.path("tasks"), &line).unwrap();
        assert!(refused().contains(line.lines().last().unwrap()), "{line}");
    }
    let calls = fs_err::read_to_string(bench.path("calls")).unwrap();
    assert!(!calls.contains("--kill"), "{calls}");
    bench.program("task-submit", "case \"$1\" in --find) echo 4711;; --kill) echo 'not yours' >&2; exit 5;; esac");
    let said = refused();
    assert!(said.contains("--kill 4711") && said.contains("not yours"), "{said}");
    bench.program("task-submit", "echo 'usage: task-submit'; exit 2");
    let said = refused();
    assert!(said.contains("--find ptokit-images-x86-a5-r78-a2-x") && said.contains("usage"), "{said}");
    // It had ended before it could be killed.
    let gone = "case \"$1\" in --find) [ -e \"$BENCH/gone\" ] || echo 4711;; --kill) : >\"$BENCH/gone\"; exit 5;; esac";
    bench.program("task-submit", gone);
    assert_eq!(clean_up(&cx, &run).unwrap().tasks, ["4711"]);
}

#[test]
fn a_plan_of_another_configuration_is_not_validated() {
    let Some(engine) = pto_test::engine::engine() else { return };
    let bench = Bench::new(engine);
    let tag = "ptokit-test/validation:configuration";
    let _removed = bench.engine.image(tag);
    let labels = bench.lock().labels("x86-a5").unwrap();
    let labels: Vec<_> = labels.iter().map(|(label, value)| format!("{label}={value}")).collect();
    bench.engine.image_of(tag, &["true"], &format!("LABEL {}", labels.join(" ")));
    bench.lock();
    type Change = fn(&mut Config);
    let changes: [(&str, Change); 6] = [
        ("cann_digest", |it| it.images[0].cann_digest = Some(format!("sha256:{}", "9".repeat(64)).parse().unwrap())),
        ("recipe's branch", |it| it.recipe.branch = "other".to_owned()),
        ("ref of pypto", |it| it.pypto.reference = "v9".to_owned()),
        ("repository of pypto_lib", |it| it.pypto_lib.repository = "elsewhere".to_owned()),
        ("build argument DIST_BUILD_JOBS", |it| it.build_jobs += 1),
        ("tag", |it| it.images[0].tag = "other".to_owned()),
    ];
    for (what, change) in changes {
        let mut config = bench.config();
        change(&mut config);
        // What an earlier validation found must not pass for what this one did, even though it is refused.
        fs_err::create_dir_all(bench.path("output")).unwrap();
        fs_err::write(bench.path("output/results.json"), "{}").unwrap();
        let validation = Validation {
            config: &config,
            image: &config.images[0],
            local: tag.to_owned(),
            lock: bench.path("lock.json"),
            run: Bench::run(),
            output: bench.path("output"),
        };
        let refused = validation.run(&bench.cx()).unwrap_err();
        assert!(
            matches!(&refused, Error::OtherConfiguration { found, .. } if found.contains(what)),
            "{what}: {refused}"
        );
        assert!(!bench.path("output/results.json").exists(), "{what}");
    }

    let cx = bench.cx();
    let held = pto_quarantine::Quarantine::of(&cx).try_claim(&Bench::run().mark()).unwrap().unwrap();
    // Another user has other directories of their own, and the same cards.
    let other = cx.clone().with_var("HOME", bench.path("home")).with_var("TMPDIR", bench.path("output"));
    assert!(matches!(bench.validate_image(&other, tag), Err(Error::BusyRun { .. })));
    drop(held);
}

#[test]
fn a_task_that_goes_on_was_not_ended() {
    let Some(engine) = pto_test::engine::engine() else { return };
    let bench = Bench::new(engine);
    let run = Run { run: "79".to_owned(), attempt: 1, image: "x86-a5".to_owned() };
    // It takes a moment, or never goes.
    let going = "case \"$1\" in --find) echo looked >>\"$BENCH/looks\"; [ $(wc -l <\"$BENCH/looks\") -gt 3 ] || echo 4711;; esac";
    bench.program("task-submit", going);
    assert_eq!(clean_up(&bench.cx(), &run).unwrap().tasks, ["4711"]);
    bench.program("task-submit", "case \"$1\" in --find) echo 4711;; esac");
    match clean_up(&bench.cx(), &run) {
        Err(Error::Tasks { command, problem }) => {
            assert!(command.ends_with("--kill 4711") && problem.contains("is there after"), "{command}: {problem}");
        }
        other => panic!("{other:?}"),
    }
}
