//! What is asked of Docker, word by word.

mod support;

use std::sync::Arc;

use std::path::Path;

use pto_checkout::JobLimits;
use pto_container::{Access, BuildPlan, BuildRequest, CheckId, Error, Plan, Request, Series, container_name};
use pto_context::{Event, Recorder};
use pto_process::Invocation;
use support::{Fake, checkouts, git, repository, values, words};

fn privileged(series: Series, cards: &[u32]) -> Request {
    Request { access: Some(Access::Privileged), ..Request::new(series, cards.to_vec()) }
}

fn has(words: &[String], wanted: &[&str]) -> bool {
    words.windows(wanted.len()).any(|found| found == wanted)
}

#[test]
fn the_runtime_numbers_cards_from_zero() {
    let fake = Fake::new(&["runc", "ascend"]);
    let words = fake.create(&Request::new(Series::A3, vec![2, 3]));
    assert!(words.contains(&"--runtime=ascend".to_owned()) && !words.contains(&"--privileged".to_owned()));
    assert_eq!(
        values(&words, "--env"),
        [
            "ASCEND_VISIBLE_DEVICES=2,3",
            "PYPTO_PLATFORM=a2a3",
            "PYPTO_DEVICE=0",
            "PYPTO_SRC=/workspace/pypto",
            "PYPTO_LIB_SRC=/workspace/pypto-lib"
        ]
    );
    assert_eq!(
        values(&words, "--mount"),
        [
            "type=volume,source=pypto-a3-src,target=/workspace/pypto",
            "type=volume,source=pypto-a3-lib-src,target=/workspace/pypto-lib",
            "type=volume,source=pypto-a3-cache,target=/opt/pypto/cache"
        ]
    );
    assert!(words.contains(&"--shm-size=16g".to_owned()) && words.contains(&"--workdir=/workspace/pypto".to_owned()));
    assert_eq!(words[words.len() - 2..], ["--", "pypto-dev:a3-sim"]);
    let told = fake.plan(&Request::new(Series::A3, vec![2, 3])).announcement();
    assert!(told.contains("physical card 2,3 is device 0,1 inside (PYPTO_DEVICE=0)"), "{told}");
}

#[test]
fn a_disk_without_room_is_refused_with_both_figures() {
    let mut fake = Fake::new(&["ascend"]);
    let here = r#"[{"Id":"sha256:1111","RepoTags":["pypto-dev:a3-sim"],"Architecture":"arm64","Size":16700000000000000,
                    "Config":{"Env":["PYPTO_CANN_TAG=9.2.0-a3"]}}]"#;
    fake.host.file("/said/image", here);
    let request = Request::new(Series::A3, vec![1]);
    let refusals = fake.plan(&request).refusals();
    let [finding] = refusals.as_slice() else { panic!("{refusals:?}") };
    assert_eq!(finding.check, CheckId::Disk);
    assert!(
        finding.found.contains("GB are free in") && finding.found.contains("16700000.0 GB as the image"),
        "{finding:?}"
    );
    let skipped = fake.plan(&Request { skip: vec![CheckId::Disk], ..request });
    assert!(skipped.refusals().is_empty() && skipped.findings.len() == 1);
}

#[test]
fn a_series_is_the_container_that_the_environment_names() {
    let mut fake = Fake::new(&["ascend"]);
    assert_eq!(container_name(&fake.cx(), Series::A5), "pypto-a5-dev");
    fake.host.var("PYPTO_CONTAINER_NAME", "mine");
    assert_eq!(container_name(&fake.cx(), Series::A5), "mine");
    assert_eq!(fake.plan(&Request::new(Series::A5, vec![1])).name, "mine");
    for access in [Access::Auto, Access::Privileged] {
        let none = Plan::make(&fake.cx(), &Request { access: Some(access), ..Request::new(Series::A5, Vec::new()) });
        assert!(matches!(none, Err(Error::NoCards)), "card 0 of nothing: {none:?}");
    }
}

#[test]
fn without_the_runtime_auto_is_privileged_and_says_so() {
    let fake = Fake::new(&["runc"]);
    let words = fake.create(&Request::new(Series::A3, vec![1]));
    assert!(words.contains(&"--privileged".to_owned()));
    assert!(has(&words, &["--env", "PYPTO_DEVICE=1"]) && !words.join(" ").contains("ASCEND_VISIBLE_DEVICES"));
    let mounts = values(&words, "--mount");
    assert_eq!(
        mounts[3..],
        [
            "type=bind,source=/usr/local/Ascend/driver,target=/usr/local/Ascend/driver,readonly",
            "type=bind,source=/usr/local/bin/npu-smi,target=/usr/local/bin/npu-smi,readonly",
            "type=bind,source=/etc/ascend_install.info,target=/etc/ascend_install.info,readonly"
        ]
    );
    let told = fake.plan(&Request::new(Series::A3, vec![1])).announcement();
    for words in ["privileged", "knows no `ascend` runtime", "all devices and cards of this host", "PYPTO_DEVICE=1"] {
        assert!(told.contains(words), "{told}");
    }
    let ascend = Request { access: Some(Access::Ascend), ..Request::new(Series::A3, vec![1]) };
    let error = Plan::make(&fake.cx(), &ascend).unwrap_err();
    assert!(matches!(error, Error::NoAscendRuntime { .. }) && error.hint().unwrap().contains("privileged"), "{error}");
}

#[test]
fn a_container_without_npus_needs_neither_cards_nor_a_driver() {
    let mut fake = Fake::new(&["runc", "ascend"]);
    let none = |cards: &[u32]| Request { access: Some(Access::None), ..Request::new(Series::A5, cards.to_vec()) };
    fake.host.var("ASCEND_DRIVER_ROOT", "/gone");
    let words = fake.create(&none(&[])).join(" ");
    for word in ["--privileged", "--runtime", "ASCEND_VISIBLE_DEVICES", "PYPTO_DEVICE=", "/dev/", "npu-smi"] {
        assert!(!words.replace("PYPTO_DEVICE_", "").contains(word), "{word}: {words}");
    }
    assert!(words.contains("PYPTO_PLATFORM=a5"), "{words}");
    let plan = fake.plan(&none(&[]));
    assert_eq!(plan.findings, []);
    assert!(plan.announcement().contains("has no NPU"), "{}", plan.announcement());
    let error = Plan::make(&fake.cx(), &none(&[1, 2])).unwrap_err();
    assert_eq!(error.to_string(), "device access is `none`, and 2 cards named as well");
    // Where the environment says so, cards on the command line are a contradiction too.
    fake.host.var("PYPTO_DEVICE_ACCESS", "none");
    assert_eq!(fake.plan(&Request::new(Series::A3, Vec::new())).access.device, None);
    assert!(matches!(
        Plan::make(&fake.cx(), &Request::new(Series::A3, vec![0])),
        Err(Error::CardsWithoutAccess { .. })
    ));
    // The same name with and without NPUs is another container.
    fake.container("pypto-a5-dev", "exited", Some(&plan));
    fake.host.var("PYPTO_DEVICE_ACCESS", "ascend");
    let other = fake.plan(&Request::new(Series::A5, vec![1])).steps().unwrap_err().to_string();
    assert!(other.contains("access: the container has `none`, asked for is `ascend`"), "{other}");
}

#[test]
fn access_that_is_asked_for_counts_whatever_the_engine_knows() {
    let mut fake = Fake::new(&["runc", "ascend"]);
    assert!(fake.create(&privileged(Series::A3, &[1])).contains(&"--privileged".to_owned()));
    fake.host.var("PYPTO_DEVICE_ACCESS", "privileged");
    assert!(fake.create(&Request::new(Series::A3, vec![1])).contains(&"--privileged".to_owned()));
    fake.host.var("PYPTO_DEVICE_ACCESS", "everything");
    let error = Plan::make(&fake.cx(), &Request::new(Series::A3, vec![1])).unwrap_err().to_string();
    assert_eq!(error, "`PYPTO_DEVICE_ACCESS` is `everything`; expected `auto`, `ascend`, `privileged` or `none`");
}

#[test]
fn the_driver_may_lie_elsewhere_and_has_to_be_there() {
    let mut fake = Fake::new(&["runc"]);
    fake.host.file("/data/driver/version.info", "").var("ASCEND_DRIVER_ROOT", "/data/driver");
    let words = fake.create(&privileged(Series::A3, &[1]));
    let mount = "type=bind,source=/data/driver,target=/usr/local/Ascend/driver,readonly";
    assert!(has(&words, &["--mount", mount]), "{words:?}");
    fake.host.var("ASCEND_DRIVER_ROOT", "/gone");
    let refusals = fake.plan(&privileged(Series::A3, &[1])).refusals();
    assert!(refusals.len() == 1 && refusals[0].found.contains("no driver in `/gone`"), "{refusals:?}");
    // One that runs without is entered as it is.
    let skipping = Request { skip: vec![CheckId::Card], ..privileged(Series::A3, &[1]) };
    let plan = fake.plan(&skipping);
    fake.container("pypto-a3-dev", "running", Some(&plan));
    assert_eq!(fake.plan(&privileged(Series::A3, &[1])).steps().unwrap().len(), 1);
}

#[test]
fn an_image_of_another_series_is_refused() {
    let mut fake = Fake::new(&["runc", "ascend"]);
    let image = |platform: &str| {
        format!(
            r#"[{{"Id":"sha256:1111","RepoTags":["x:1"],"Architecture":"arm64","Size":1000,
                "Config":{{"Env":["PYPTO_CANN_TAG=9.2.0-a3","PYPTO_PLATFORM={platform}"]}}}}]"#
        )
    };
    for (platform, refused) in [("a2a3", false), ("", false), ("a5", true)] {
        fake.host.file("/said/image", &image(platform));
        let findings = fake.plan(&Request::new(Series::A3, vec![0])).findings;
        assert_eq!(
            findings.iter().any(|finding| finding.check == CheckId::Series),
            refused,
            "{platform}: {findings:?}"
        );
    }
    let skipping = Request { skip: vec![CheckId::Series], ..Request::new(Series::A3, vec![0]) };
    assert!(fake.plan(&skipping).refusals().is_empty());
}

#[test]
fn a5_gets_what_its_cards_talk_through_where_it_is() {
    let mut fake = Fake::new(&["runc", "ascend"]);
    assert!(values(&fake.create(&Request::new(Series::A5, vec![0])), "--device").is_empty());
    fake.host.nodes(&["ummu", "uburma"]);
    for request in [Request::new(Series::A5, vec![0]), privileged(Series::A5, &[0])] {
        let words = fake.create(&request);
        assert_eq!(values(&words, "--device"), ["/dev/ummu", "/dev/uburma"]);
        assert!(has(&words, &["--env", "PYPTO_PLATFORM=a5"]));
    }
    assert!(values(&fake.create(&Request::new(Series::A3, vec![0])), "--device").is_empty());
}

#[test]
fn a_checkout_is_mounted_where_images_have_theirs() {
    let fake = Fake::new(&["runc", "ascend"]);
    let pypto = checkouts(fake.host.root());
    let request = Request { pypto_src: Some(pypto.clone()), ..Request::new(Series::A3, vec![0]) };
    let words = fake.create(&request);
    let root = fake.host.root().canonicalize().unwrap();
    assert_eq!(
        values(&words, "--mount")[..2],
        [
            format!("type=bind,source={},target=/workspace/pypto", pypto.display()),
            format!("type=bind,source={},target=/workspace/pypto-lib", root.join("src/pypto-lib").display()),
        ]
    );
    let env = values(&words, "--env");
    let git: Vec<&String> = env.iter().filter(|pair| pair.starts_with("GIT_CONFIG")).collect();
    assert_eq!(
        git,
        [
            "GIT_CONFIG_SYSTEM=/etc/ptokit-gitconfig",
            "GIT_CONFIG_COUNT=5",
            "GIT_CONFIG_KEY_0=safe.directory",
            "GIT_CONFIG_VALUE_0=/workspace/pypto",
            "GIT_CONFIG_KEY_1=safe.directory",
            "GIT_CONFIG_VALUE_1=/workspace/pypto/runtime",
            "GIT_CONFIG_KEY_2=safe.directory",
            "GIT_CONFIG_VALUE_2=/workspace/pypto/runtime/third/inner",
            "GIT_CONFIG_KEY_3=safe.directory",
            "GIT_CONFIG_VALUE_3=/workspace/pypto-lib",
            "GIT_CONFIG_KEY_4=gc.worktreePruneExpire",
            "GIT_CONFIG_VALUE_4=never",
        ]
    );
    let lines = fake.plan(&request).lines().unwrap();
    assert_eq!(lines[2], "docker start --attach --interactive -- pypto-a3-dev");
    // What the line sends is the archive that the client would have got.
    let (make, copy) = lines[1].split_once(" | ").unwrap();
    assert_eq!(copy, "docker cp - pypto-a3-dev:/etc; rm -r \"$d\"");
    let listed = Invocation::new("sh").args(["-c", &format!("{make} | tar -xOf -; rm -r \"$d\"")]);
    let text = listed.run(&pto_test::machine()).unwrap().stdout.text().into_owned();
    assert!(
        text.starts_with("[include]\n\tpath = /etc/gitconfig\n[gc]\n\tworktreePruneExpire = never\n[safe]\n"),
        "{text}"
    );
}

#[test]
fn a_linked_worktree_keeps_its_path_and_so_does_its_repository() {
    let fake = Fake::new(&["runc", "ascend"]);
    let pypto = checkouts(fake.host.root());
    let limits = pypto.join(JobLimits::FILE);
    fs_err::create_dir_all(limits.parent().unwrap()).unwrap();
    fs_err::write(&limits, "export PYPTO_BUILD_JOBS=4\n").unwrap();
    let tree = fake.host.root().canonicalize().unwrap().join("trees/feature, one");
    git(&pypto, &["worktree", "add", "--quiet", "-b", "feature", &tree.display().to_string()]);
    let request = Request { pypto_src: Some(tree.clone()), ..Request::new(Series::A3, vec![0]) };
    let words = fake.create(&request);
    let (tree, pypto) = (tree.display().to_string(), pypto.display().to_string());
    assert_eq!(
        values(&words, "--mount")[..3],
        [
            format!("type=bind,\"source={tree}\",\"target={tree}\""),
            format!("type=bind,source={pypto}/.git,target={pypto}/.git"),
            format!("type=bind,source={0},target={0},readonly", limits.display()),
        ]
    );
    assert!(values(&words, "--mount")[3].ends_with("target=/workspace/pypto-lib"), "found beside the primary checkout");
    let env = values(&words, "--env");
    assert!(
        env.contains(&format!("PYPTO_SRC={tree}")) && env.contains(&format!("GIT_CONFIG_VALUE_0={tree}")),
        "{env:?}"
    );
    assert!(words.contains(&format!("--workdir={tree}")));
}

#[test]
fn what_a_checkout_names_outside_of_itself_is_mounted_too() {
    let fake = Fake::new(&["runc", "ascend"]);
    let root = fake.host.root().canonicalize().unwrap();
    let origin = repository(&root.join("origin"), &[]);
    let shared = root.join("shared");
    git(&root, &["clone", "--quiet", "--shared", &origin.display().to_string(), &shared.display().to_string()]);
    let mounts = |dir: &Path| {
        let request = Request { pypto_src: Some(dir.to_owned()), ..Request::new(Series::A3, vec![0]) };
        values(&fake.create(&request), "--mount")
    };
    let own = |path: &Path| format!("type=bind,source={0},target={0}", path.display());
    assert_eq!(mounts(&shared)[1], own(&origin.join(".git/objects")), "its objects are there");
    // A submodule that is a worktree of another checkout.
    let pypto = checkouts(&root);
    let runtime = repository(&root.join("other"), &[]);
    git(&pypto, &["submodule", "--quiet", "deinit", "--force", "runtime"]);
    fs_err::remove_dir_all(pypto.join("runtime")).unwrap();
    git(&runtime, &["worktree", "add", "--quiet", "-b", "w", &pypto.join("runtime").display().to_string()]);
    assert!(mounts(&pypto).contains(&own(&runtime.join(".git"))), "{:?}", mounts(&pypto));
}

#[test]
fn a_checkout_that_is_named_counts_more_than_the_shells_workspace() {
    let mut fake = Fake::new(&["runc", "ascend"]);
    let pypto = checkouts(fake.host.root());
    let workspace = pypto.parent().unwrap().display().to_string();
    fake.host.var("PYPTO_HOST_WORKSPACE", &workspace);
    let of_shell = fake.create(&Request::new(Series::A3, vec![0]));
    assert!(values(&of_shell, "--mount")[0].ends_with("target=/workspace"));
    let named = fake.create(&Request { pypto_src: Some(pypto), ..Request::new(Series::A3, vec![0]) });
    assert!(values(&named, "--mount")[0].ends_with("target=/workspace/pypto"));
}

#[test]
fn limits_of_the_primary_checkout_are_at_their_own_path() {
    let fake = Fake::new(&["runc", "ascend"]);
    let pypto = repository(&fake.host.root().join("pypto"), &[JobLimits::FILE]);
    let words = fake.create(&Request { pypto_src: Some(pypto.clone()), ..Request::new(Series::A3, vec![0]) });
    let file = pypto.join(JobLimits::FILE);
    assert_eq!(values(&words, "--mount")[1], format!("type=bind,source={0},target={0},readonly", file.display()));
}

#[test]
fn a_workspace_is_one_mount() {
    let fake = Fake::new(&["runc", "ascend"]);
    let pypto = checkouts(fake.host.root());
    let workspace = pypto.parent().unwrap().to_owned();
    let with = |dir: std::path::PathBuf| Request { workspace: Some(dir), ..Request::new(Series::A3, vec![0]) };
    let words = fake.create(&with(workspace.clone()));
    assert_eq!(values(&words, "--mount")[0], format!("type=bind,source={},target=/workspace", workspace.display()));
    assert!(values(&words, "--mount")[1].contains("pypto-a3-cache"));
    let linked = fake.host.root().canonicalize().unwrap().join("linked");
    fs_err::create_dir_all(linked.join("pypto-lib")).unwrap();
    fs_err::os::unix::fs::symlink(&pypto, linked.join("pypto")).unwrap();
    let words = fake.create(&with(linked));
    let own = format!("type=bind,source={0},target={0}", pypto.display());
    assert_eq!(values(&words, "--mount")[1], own, "a link out of the workspace leads nowhere inside");
    assert!(values(&words, "--env").contains(&format!("PYPTO_SRC={}", pypto.display())));
    let wrong = Plan::make(&fake.cx(), &with(pypto)).unwrap_err();
    assert!(matches!(&wrong, Error::NotAWorkspace { instead: Some(dir), .. } if *dir == workspace), "{wrong}");
    let wrong = Plan::make(&fake.cx(), &with(fake.host.root().to_owned())).unwrap_err();
    assert!(wrong.hint().unwrap().contains("neither its parent"), "{wrong}");
    // A link out of it to something that is no checkout would lead nowhere inside.
    let links = fake.host.root().canonicalize().unwrap().join("links");
    fs_err::create_dir_all(links.join("pypto")).unwrap();
    fs_err::os::unix::fs::symlink("/usr", links.join("pypto-lib")).unwrap();
    let wrong = Plan::make(&fake.cx(), &with(links)).unwrap_err();
    assert!(matches!(&wrong, Error::LeadsOut { target, .. } if target == Path::new("/usr")), "{wrong}");
}

#[test]
fn everything_can_be_said_otherwise() {
    let mut fake = Fake::new(&["runc", "ascend"]);
    for (name, value) in [
        ("PYPTO_IMAGE", "registry.example/pypto:1"),
        ("PYPTO_CACHE_VOLUME", "my-cache"),
        ("PYPTO_CONTAINER_NAME", "mine"),
        ("PYPTO_SHM_SIZE", "32g"),
    ] {
        fake.host.var(name, value);
    }
    let words = fake.create(&Request::new(Series::A3, vec![0]));
    for expected in [&["--name", "mine"][..], &["--shm-size=32g"], &["--", "registry.example/pypto:1"]] {
        assert!(has(&words, expected), "{words:?}");
    }
    assert!(words.join(" ").contains("source=my-cache,"));
    let options = Request {
        image: Some("other:2".to_owned()),
        cache_volume: Some("c2".to_owned()),
        name: Some("n2".to_owned()),
        shm_size: Some("1g".to_owned()),
        ..Request::new(Series::A3, vec![0])
    };
    let words = fake.create(&options);
    for expected in [&["--name", "n2"][..], &["--shm-size=1g"], &["--", "other:2"]] {
        assert!(has(&words, expected), "{words:?}");
    }
    fake.host.var("PYPTO_IMAGE", "");
    let tagged = Request { cann_tag: Some("9.1.0".to_owned()), ..Request::new(Series::A5, vec![0]) };
    assert!(has(&fake.create(&tagged), &["--", "pypto-dev:a5-sim-9.1.0"]));
}

#[test]
fn proxies_go_by_name_and_no_word_holds_their_value() {
    let mut fake = Fake::new(&["runc", "ascend"]);
    fake.host.var("https_proxy", "http://planted:secret@proxy:1").var("NO_PROXY", "localhost,.example");
    let request = Request::new(Series::A3, vec![0]);
    let plan = fake.plan(&request);
    let steps = plan.steps().unwrap();
    let words = words(&steps[0]);
    assert!(has(&words, &["--env", "https_proxy", "--env", "NO_PROXY"]));
    let shown = format!("{words:?} {steps:?} {plan:?} {}", steps[0].to_shell_line());
    assert!(!shown.contains("planted") && !shown.contains("secret@"), "{shown}");
    let given = Request { proxy: Some("http://planted:secret@proxy:2".to_owned()), ..request };
    let line = fake.plan(&given).lines().unwrap().remove(0);
    assert!(line.contains("HTTPS_PROXY=\"$PYPTO_DOCKER_PROXY\" ") && !line.contains("***"), "{line}");
}

/// What is said besides, while a plan is made.
fn warnings(fake: &Fake, request: &Request) -> Vec<String> {
    let recorder = Arc::new(Recorder::default());
    Plan::make(&fake.cx().with_events(recorder.clone()), request).unwrap();
    let warning = |event| if let Event::Warning { message } = event { Some(message) } else { None };
    recorder.events().into_iter().filter_map(warning).collect()
}

#[test]
fn a_pair_that_cannot_be_compared_is_said() {
    let request = Request::new(Series::A3, vec![0]);
    let mut fake = Fake::new(&["runc", "ascend"]);
    assert_eq!(warnings(&fake, &request), Vec::<String>::new());
    fake.host.file("/usr/local/Ascend/driver/version.info", "nothing\n");
    let said = warnings(&fake, &request);
    assert!(
        said.len() == 1 && said[0].contains("not checked") && said[0].contains("version.info` holds no version"),
        "{said:?}"
    );
    fake.host.var("ASCEND_DRIVER_ROOT", "/nowhere");
    assert!(warnings(&fake, &request)[0].contains("`/nowhere/version.info` cannot be read"));
    drop(fake);

    let mut fake = Fake::new(&["runc", "ascend"]);
    let image = |tag: &str| {
        format!(
            r#"[{{"Id":"sha256:1","RepoTags":["h/pypto-dev:{tag}"],"Architecture":"arm64","Size":1,"Config":{{"Env":[]}}}}]"#
        )
    };
    fake.host.file("/said/image", &image("mine"));
    assert!(warnings(&fake, &request)[0].contains("does not say its CANN"));
    // Images of before the variable have CANN 9.0.0, which goes with one driver.
    for tag in ["a3-dist", "a3-dist-20260918"] {
        fake.host.file("/said/image", &image(tag)).file("/usr/local/Ascend/driver/version.info", "Version=26.0.rc1\n");
        assert_eq!(warnings(&fake, &request), Vec::<String>::new());
        assert_eq!(fake.plan(&request).findings, []);
        fake.host.file("/usr/local/Ascend/driver/version.info", "Version=25.6.rc2.b023\n");
        let findings = fake.plan(&request).findings;
        assert!(findings[0].check == CheckId::DriverPair && findings[0].found.contains("CANN 9.0.0"), "{findings:?}");
    }
}

#[test]
fn a_missing_device_of_a_link_is_said_where_hosts_have_it() {
    let said = |fake: &Fake, series| warnings(fake, &Request::new(series, vec![0])).join("\n");
    let mut fake = Fake::new(&["runc", "ascend"]);
    assert!(said(&fake, Series::A5).contains("no `/dev/ummu` and `/dev/uburma`"));
    assert!(!said(&fake, Series::A3).contains("ummu"));
    fake.host.nodes(&["ummu"]);
    assert!(said(&fake, Series::A5).contains("no `/dev/uburma`:"));
    let info =
        r#"{"ServerVersion":"27","Architecture":"x86_64","DockerRootDir":"/","Runtimes":{"ascend":{"path":"a"}}}"#;
    fake.host.file("/said/info", info);
    assert!(!said(&fake, Series::A5).contains("uburma"), "hosts with x86-64 have none");
}

#[test]
fn the_other_die_of_a_chip_is_said_on_a3_alone() {
    let mut fake = Fake::new(&["runc", "ascend"]);
    let other = fake.plan(&Request { name: Some("other".to_owned()), ..Request::new(Series::A3, vec![3]) });
    fake.container("other", "running", Some(&other)).listed("other");
    let said = |series, card| warnings(&fake, &Request::new(series, vec![card])).join("\n");
    assert!(said(Series::A3, 2).contains("`other` has card 3, which on A3 is the other die of card 2's chip"));
    assert!(!said(Series::A3, 1).contains("die"));
    assert!(!said(Series::A5, 2).contains("die"));
}

#[test]
fn a_build_makes_no_attestation_where_the_builder_would() {
    let mut fake = Fake::new(&["runc"]);
    let context = fake.host.place("/context");
    fake.host.file("/context/docker/pypto_dev.Dockerfile", "").file("/context/target/release/xtask", "#!/bin/sh\n");
    let mut build = |version: &str, help: &str| {
        fake.host.script("docker", &format!("case \"$*\" in info*) /bin/cat \"$SAID/info\";; 'buildx version') {version};; *--help) echo '{help}';; esac"));
        let request = BuildRequest { skip: vec![CheckId::Disk], ..BuildRequest::new(Series::A3, context.clone()) };
        words(&BuildPlan::make(&fake.cx(), &request).unwrap().command("sha256:0"))
    };
    let buildx = ["buildx", "build", "--load"];
    let new = build("true", "--provenance string --sbom string");
    assert!(has(&new, &[&buildx[..], &["--provenance=false", "--sbom=false"]].concat()), "{new:?}");
    let old = build("true", "--load");
    assert!(has(&old, &buildx) && !old.iter().any(|word| word.starts_with("--provenance")), "{old:?}");
    let classic = build("exit 1", "--provenance");
    assert!(!classic.iter().any(|word| word.starts_with("--provenance") || word == "buildx"), "{classic:?}");
}

#[test]
fn a_build_argument_that_has_an_option_is_not_given_twice() {
    let mut fake = Fake::new(&["runc"]);
    let context = fake.host.place("/context");
    fake.host.file("/context/target/release/xtask", "#!/bin/sh\n");
    fake.host.file(
        "/context/docker/pypto_dev.Dockerfile",
        "ARG CANN_DIGEST\nFROM x\nARG X=2\nARG CANN_TAG PYPTO_PLATFORM\n",
    );
    let build = |args: &[&str], digest: Option<&str>| {
        let args = args.iter().map(|&arg| arg.to_owned()).collect();
        let cann_digest = digest.map(str::to_owned);
        let request = BuildRequest {
            args,
            cann_digest,
            skip: vec![CheckId::Disk],
            ..BuildRequest::new(Series::A3, context.clone())
        };
        BuildPlan::make(&fake.cx(), &request).map(|plan| words(&plan.command("sha256:0")))
    };
    let digest = format!("sha256:{}", "0a".repeat(32));
    let good = build(&["X=1", "PYPTO_PLATFORM=a2a3"], None).unwrap();
    assert_eq!(good.iter().filter(|word| word.starts_with("PYPTO_PLATFORM=")).count(), 1, "{good:?}");
    assert!(has(&good, &["--build-arg", "X=1"]));
    assert!(build(&["http_proxy=http://h:1", "BUILDKIT_INLINE_CACHE=1"], None).is_ok(), "Docker knows these");
    for secret in ["X=https://u:pw@h/r.git", "HTTP_PROXY=u:pw@h:1"] {
        let refused = build(&[secret], None).unwrap_err();
        assert!(
            matches!(refused, Error::SecretArgument { .. }) && !format!("{refused:?}").contains("pw"),
            "{refused:?}"
        );
    }
    let unknown = build(&["PYPTO_REV=main"], None).unwrap_err();
    assert!(
        unknown.to_string().contains("no build argument `PYPTO_REV`") && unknown.hint().unwrap().contains("CANN_TAG")
    );
    assert!(build(&[&format!("CANN_DIGEST={digest}")], Some(&digest)).is_ok());
    for (args, asked) in
        [("PYPTO_PLATFORM=a5", None), ("CANN_DIGEST=x", None), ("CANN_DIGEST=x", Some(&*digest)), ("CANN_TAG", None)]
    {
        assert!(matches!(build(&[args], asked), Err(Error::OtherArgument { .. })), "{args}");
    }
    assert!(matches!(build(&[], Some("banana")), Err(Error::BadDigest { .. })));
}

#[test]
fn the_host_is_looked_at_before() {
    let checks = |fake: &Fake, request: &Request| {
        let plan = fake.plan(request);
        plan.findings.iter().map(|finding| (finding.check, finding.found.clone())).collect::<Vec<_>>()
    };
    let mut fake = Fake::new(&["runc", "ascend"]);
    assert_eq!(checks(&fake, &Request::new(Series::A3, vec![0])), []);

    let absent = checks(&fake, &Request::new(Series::A3, vec![0, 7]));
    assert!(
        absent[0].0 == CheckId::Card && absent[0].1.contains("`/dev/davinci7`") && absent[0].1.contains("davinci3")
    );

    fake.image("amd64", "9.2.0-a3-ubuntu22.04");
    let other = checks(&fake, &Request::new(Series::A3, vec![0]));
    assert!(other[0].0 == CheckId::Architecture && other[0].1.contains("`exec format error`"), "{other:?}");

    fake.image("arm64", "9.0.0-a3");
    assert_eq!(checks(&fake, &Request::new(Series::A3, vec![0])), []);
    fake.image("arm64", "9.2.0-950-ubuntu22.04");
    let pair = checks(&fake, &Request::new(Series::A5, vec![0]));
    assert!(pair[0].0 == CheckId::DriverPair && pair[0].1.contains("driver 26.0.rc1"), "{pair:?}");
    fake.image("arm64", "8.0.0");
    let pair = checks(&fake, &Request::new(Series::A3, vec![0]));
    assert!(pair[0].0 == CheckId::DriverPair, "{pair:?}");
}

#[test]
fn a_card_of_another_container_is_refused_and_its_own_is_not() {
    let mut fake = Fake::new(&["runc", "ascend"]);
    let other = Request { name: Some("other".to_owned()), ..Request::new(Series::A3, vec![1, 2]) };
    let plan = fake.plan(&other);
    fake.container("other", "running", Some(&plan)).listed("other");
    let request = |cards: &[u32]| Request::new(Series::A3, cards.to_vec());
    let found = fake.plan(&request(&[2, 3])).refusals();
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].check, found[0].found.as_str()),
        (CheckId::CardInUse, "the running container `other` has card 2")
    );
    assert_eq!(fake.plan(&request(&[3])).refusals(), []);
    assert_eq!(fake.plan(&other).refusals(), []);
    assert!("card-in-use".parse::<CheckId>().is_err(), "two containers on one card fail both");
}

#[test]
fn a_check_can_be_skipped_where_that_makes_sense() {
    let fake = Fake::new(&["runc", "ascend"]);
    let request = Request { skip: vec![CheckId::Card], ..Request::new(Series::A3, vec![9]) };
    let plan = fake.plan(&request);
    assert_eq!((plan.findings.len(), plan.refusals().len()), (1, 0));
    let refused = fake.plan(&Request::new(Series::A3, vec![9])).enter(|_, _| {}).unwrap_err();
    let hint = refused.hint().unwrap();
    assert!(matches!(refused, Error::Unfit { .. }) && hint.contains("`--skip-check card`"), "{hint}");
    assert!(!fake.host.calls().contains("docker create"));
}

#[test]
fn nonsense_is_refused_before_docker_is_asked() {
    let fake = Fake::new(&["runc"]);
    let refused = |request: Request| Plan::make(&fake.cx(), &request).unwrap_err().to_string();
    let request = || Request::new(Series::A3, vec![0]);
    assert_eq!(
        refused(Request::new(Series::A3, vec![])),
        "no card is named; expected at least one physical card of this host"
    );
    assert_eq!(refused(Request::new(Series::A3, vec![1, 1])), "card 1 is named twice");
    assert_eq!(refused(Request { name: Some("-v".to_owned()), ..request() }), "`-v` is not a name for a container");
    assert_eq!(refused(Request { image: Some("--rm".to_owned()), ..request() }), "`--rm` is not a name for an image");
    assert_eq!(
        refused(Request { cache_volume: Some("/host".to_owned()), ..request() }),
        "`/host` is not a name for a volume"
    );
    let size = Request { shm_size: Some("lots".to_owned()), ..request() };
    assert_eq!(refused(size), "`lots` is not a size for `/dev/shm`; expected a number above 0 and a unit, as in `16g`");
    let proxy = refused(Request { proxy: Some("me:pw@".to_owned()), ..request() });
    assert_eq!(proxy, "the proxy that was given is not an address; expected `http://HOST:PORT`");
    assert!(refused(Request { name: Some("x".repeat(300)), ..request() }).ends_with("is not a name for a container"));
    assert_eq!(fake.host.calls(), "");
}

#[test]
fn an_image_that_is_not_here_is_fetched_from_a_registry_alone() {
    let fake = Fake::new(&["runc", "ascend"]);
    fs_err::remove_file(fake.host.place("/said/image")).unwrap();
    let registry = Request { image: Some("r.example/pypto:1".to_owned()), ..Request::new(Series::A3, vec![0]) };
    let steps = fake.plan(&registry).steps().unwrap();
    assert_eq!(steps[0].to_shell_line(), "docker pull -- r.example/pypto:1");
    assert_eq!(steps.len(), 3);
    let local = fake.plan(&Request::new(Series::A3, vec![0])).steps().unwrap_err();
    assert!(matches!(local, Error::NoImage { .. }), "{local}");
}

#[test]
fn what_is_there_is_entered_as_it_stands() {
    let mut fake = Fake::new(&["runc", "ascend"]);
    let request = Request::new(Series::A3, vec![0]);
    let plan = fake.plan(&request);
    let lines = |fake: &Fake, request: &Request| -> Vec<String> {
        fake.plan(request).steps().unwrap().iter().map(Invocation::to_shell_line).collect()
    };
    fake.container("pypto-a3-dev", "exited", Some(&plan));
    assert_eq!(lines(&fake, &request), ["docker start --attach --interactive -- pypto-a3-dev"]);
    fake.container("pypto-a3-dev", "running", Some(&plan));
    let bash = "docker exec --interactive pypto-a3-dev bash --rcfile /opt/pypto/bin/pypto-activate.sh";
    assert_eq!(lines(&fake, &request), [bash]);
    let terminal = Request { terminal: true, ..request.clone() };
    assert_eq!(lines(&fake, &terminal), [bash.replace("--interactive", "--interactive --tty")]);
    let command = Request { command: ["ls", "a b"].map(Into::into).to_vec(), ..request };
    let exec = "docker exec --interactive pypto-a3-dev bash -c 'exec -- \"$@\"' bash ls 'a b'";
    assert_eq!(lines(&fake, &command), [exec]);
    fake.container("pypto-a3-dev", "exited", Some(&plan));
    assert_eq!(lines(&fake, &command), ["docker start -- pypto-a3-dev", exec]);
    assert_eq!(lines(&fake, &terminal).len(), 2, "the main shell has no terminal");
}

#[test]
fn what_is_made_of_something_else_is_not_entered() {
    let mut fake = Fake::new(&["runc", "ascend"]);
    let request = Request::new(Series::A3, vec![0]);
    let plan = fake.plan(&request);
    fake.container("pypto-a3-dev", "running", Some(&plan));
    let refused = |fake: &Fake, request: &Request| fake.plan(request).enter(|_, _| {}).unwrap_err();
    let differs = |fake: &Fake, request: &Request| match refused(fake, request) {
        Error::Differs { differences, .. } => differences.into_iter().map(|one| one.what).collect::<Vec<_>>(),
        other => panic!("{other}"),
    };
    assert_eq!(differs(&fake, &Request::new(Series::A3, vec![1])), ["cards"]);
    // Where no other container could be made, none is to be removed.
    let image = fs_err::read_to_string(fake.host.place("/said/image")).unwrap();
    fs_err::remove_file(fake.host.place("/said/image")).unwrap();
    let absent = refused(&fake, &Request { image: Some("other:1".into()), ..request.clone() });
    assert!(absent.removal().is_none() && absent.hint().unwrap().contains("`--image pypto-dev:a3-sim`"), "{absent}");
    fake.host.file("/said/image", &image);
    assert_eq!(differs(&fake, &privileged(Series::A3, &[0])), ["access", "driver"]);
    assert_eq!(differs(&fake, &Request { cache_volume: Some("c2".into()), ..request.clone() }), ["cache"]);
    let pypto = checkouts(fake.host.root());
    let with_source = Request { pypto_src: Some(pypto.clone()), ..request.clone() };
    assert_eq!(differs(&fake, &with_source), ["checkouts", "sources"]);

    let other = fake.plan(&with_source);
    fake.container("pypto-a3-dev", "exited", None);
    let error = refused(&fake, &with_source);
    assert!(matches!(error, Error::NoRecord { .. }), "{error}");
    assert!(error.hint().unwrap().ends_with("docker rm pypto-a3-dev"));

    // The plan asks for it while there is no such container.
    fs_err::remove_file(fake.host.place("/said/container.pypto-a3-dev")).unwrap();
    fake.container("pypto-a3-dev", "exited", Some(&other));
    let more = repository(&fake.host.root().join("origin/more"), &[]);
    git(&pypto, &["submodule", "--quiet", "add", &more.display().to_string(), "more"]);
    assert_eq!(differs(&fake, &with_source), ["checkouts"], "a submodule was initialised since");

    fake.image("arm64", "9.2.0-a3");
    let rebuilt = fs_err::read_to_string(fake.host.place("/said/image")).unwrap().replace("1111", "2222");
    fake.host.file("/said/image", &rebuilt);
    let error = refused(&fake, &with_source);
    assert!(error.to_string().contains("its tag stands for another image now"), "{error}");
    let (keep, remove) = error.removal().unwrap();
    assert!(keep.contains("docker cp pypto-a3-dev:PATH") && remove == "docker rm pypto-a3-dev");
}

#[test]
fn a_path_that_is_no_text_is_refused_with_words() {
    use std::os::unix::ffi::OsStrExt as _;
    let fake = Fake::new(&["runc", "ascend"]);
    let odd = repository(&fake.host.root().join(std::ffi::OsStr::from_bytes(b"odd\xff")), &[]);
    let request = Request { pypto_src: Some(odd), ..Request::new(Series::A3, vec![0]) };
    let error = Plan::make(&fake.cx(), &request).unwrap_err();
    assert!(matches!(error, Error::NotText { .. }), "{error}");
}

#[test]
fn what_is_paused_is_removed_by_force() {
    let mut fake = Fake::new(&["runc", "ascend"]);
    let request = Request::new(Series::A3, vec![0]);
    fake.container("pypto-a3-dev", "paused", None);
    let error = fake.plan(&request).enter(|_, _| {}).unwrap_err();
    assert_eq!(error.removal().unwrap().1, "docker rm --force pypto-a3-dev");
}

#[test]
fn a_container_on_its_way_is_left_alone() {
    let mut fake = Fake::new(&["runc", "ascend"]);
    let request = Request::new(Series::A3, vec![0]);
    let plan = fake.plan(&request);
    fake.container("pypto-a3-dev", "paused", Some(&plan));
    let error = fake.plan(&request).enter(|_, _| {}).unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.hint().as_deref()),
        ("container `pypto-a3-dev` is paused", Some("`docker unpause pypto-a3-dev`"))
    );
}

#[test]
fn a_card_that_somebody_is_starting_a_container_on_is_waited_for_and_then_refused() {
    let mut fake = Fake::new(&["runc", "ascend"]);
    let named = |name: &str, skip: Vec<CheckId>| Request {
        name: Some(name.to_owned()),
        skip,
        ..Request::new(Series::A3, vec![3, 1])
    };
    let (first, second) = (fake.plan(&named("first", vec![])), fake.plan(&named("second", vec![CheckId::Card])));
    fake.container("first", "created", Some(&first)).container("second", "created", Some(&second));
    // Both were thought through while no container had the cards.
    assert!(first.refusals().is_empty() && second.refusals().is_empty());
    let session = first.enter(|_, _| {}).unwrap();
    let waiting = std::thread::spawn(move || second.enter(|_, _| {}).map(drop));
    fake.container("first", "running", Some(&first)).listed("first");
    let refused = waiting.join().unwrap().unwrap_err();
    assert!(refused.to_string().contains("the running container `first` has card 3, 1"), "{refused}");
    drop(session);
}
