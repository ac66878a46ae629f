//! The workflow of the images, its configuration, its Dockerfile and the documentation say the same.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use pto_images::config::{Config, Image};
use pto_process::Invocation;
use saphyr::{LoadableYamlNode as _, Yaml};

const WORKFLOW: &str = ".github/workflows/images.yml";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn read(path: &str) -> String {
    fs_err::read_to_string(root().join(path)).unwrap()
}

/// All of them, below the root.
fn workflows() -> Vec<String> {
    let dir = Path::new(WORKFLOW).parent().unwrap();
    let files = fs_err::read_dir(root().join(dir)).unwrap().map(|entry| entry.unwrap().file_name());
    let files: Vec<_> = files.map(|name| dir.join(name).display().to_string()).collect();
    assert!(files.len() >= 2 && files.contains(&WORKFLOW.to_owned()), "{files:?}");
    files
}

fn config() -> Config {
    Config::load(&root().join("docker/images.json")).unwrap().0
}

fn workflow(text: &str) -> Yaml<'_> {
    Yaml::load_from_str(text).unwrap().remove(0)
}

fn steps<'a>(workflow: &'a Yaml<'_>, job: &str) -> Vec<&'a Yaml<'a>> {
    workflow["jobs"][job]["steps"].as_sequence().unwrap().iter().collect()
}

fn text<'a>(node: &'a Yaml<'_>, key: &str) -> &'a str {
    node.as_mapping_get(key).and_then(Yaml::as_str).unwrap_or_default()
}

#[test]
fn it_starts_when_it_should() {
    let source = read(WORKFLOW);
    let workflow = workflow(&source);
    let on = &workflow["on"];
    assert_eq!(text(&on["schedule"][0], "cron"), "37 19 * * *");
    assert_eq!(on["push"]["branches"][0].as_str(), Some("main"));
    for event in ["push", "pull_request"] {
        let paths: Vec<_> = on[event]["paths"].as_sequence().unwrap().iter().filter_map(Yaml::as_str).collect();
        let ours = ["crates/**", "xtask/**", "Cargo.toml", "Cargo.lock", ".dockerignore"];
        for path in ["docker/**", "toolchain/**", "build-constraints.txt", WORKFLOW].into_iter().chain(ours) {
            assert!(paths.contains(&path), "{event} is not started by {path}");
        }
    }
    let publish = &on["workflow_dispatch"]["inputs"]["publish"];
    assert_eq!((text(publish, "type"), publish["default"].as_bool()), ("boolean", Some(false)));
    let permissions = workflow["permissions"].as_mapping().unwrap();
    assert_eq!((permissions.len(), text(&workflow["permissions"], "contents")), (1, "read"));
}

#[test]
fn who_may_run_code_on_a_host_is_a_list_of_two() {
    let source = read(WORKFLOW);
    let workflow = workflow(&source);
    let image = &workflow["jobs"]["image"];
    let condition = text(image, "if");
    assert!(condition.contains("github.repository == 'hw-native-sys/pypto'"), "{condition}");
    assert!(condition.contains(r#"fromJSON('["hw-native-sys/pypto", "luohuan19/pypto"]')"#), "{condition}");
    assert!(condition.contains("github.event.pull_request.head.repo.full_name"), "{condition}");
    let concurrency = &image["concurrency"];
    // Of those that wait in a group only the newest is kept: a change must not push a publication out.
    let group = text(concurrency, "group");
    assert!(group.starts_with("images-${{ matrix.image.name }}-${{ github.event.pull_request.number ||"), "{group}");
    assert!(group.contains("(github.event_name != 'workflow_dispatch' || inputs.publish) && 'main'"), "{group}");
    assert_eq!(concurrency["cancel-in-progress"].as_bool(), Some(false));
    assert_eq!(text(image, "runs-on"), "${{ matrix.image.runners }}");
}

/// The step of that name in the job that runs on hosts with cards.
fn step<'a>(workflow: &'a Yaml<'_>, name: &str) -> (usize, &'a Yaml<'a>) {
    let steps = steps(workflow, "image");
    let at = steps.iter().position(|step| text(step, "name") == name).unwrap_or_else(|| panic!("no step `{name}`"));
    (at, steps[at])
}

#[test]
fn a_host_needs_no_rust_and_is_looked_at_before_the_build() {
    let source = read(WORKFLOW);
    let workflow = workflow(&source);
    let rows = workflow["jobs"]["program"]["strategy"]["matrix"]["include"].as_sequence().unwrap();
    let machines: BTreeSet<_> = rows.iter().map(|row| (text(row, "architecture"), text(row, "machine"))).collect();
    // With the C library of the bases.
    assert_eq!(machines, [("amd64", "ubuntu-22.04"), ("arm64", "ubuntu-22.04-arm")].into());
    for image in config().images {
        assert!(machines.iter().any(|(architecture, _)| *architecture == image.architecture), "{}", image.name);
    }
    let image = steps(&workflow, "image");
    for step in &image {
        let script = text(step, "run");
        for program in ["cargo", "jq", "python"] {
            assert!(!script.split(|c: char| !c.is_alphanumeric()).any(|word| word == program), "{script}");
        }
    }
    let (preflight, step_of_it) = step(&workflow, "Preflight");
    assert!(text(step_of_it, "run").contains("images test \"$IMAGE\" --preflight"));
    let order = [step(&workflow, "Our program").0, preflight, step(&workflow, "Build").0];
    assert!(order.is_sorted(), "{order:?}");
}

#[test]
fn each_part_of_the_clean_up_is_tried_and_a_failure_is_one() {
    let source = read(WORKFLOW);
    let workflow = workflow(&source);
    let script = text(step(&workflow, "End what is left of this run").1, "run");
    let dir = tempfile::tempdir().unwrap();
    let program = |name: &str, text: &str| {
        use std::os::unix::fs::PermissionsExt as _;
        let path = dir.path().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(&path, format!("#!/bin/sh\necho \"${{0##*/}} $*\" >> calls\n{text}\n")).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    let run = || {
        let _ = std::fs::remove_file(dir.path().join("calls"));
        let shell = Invocation::new("bash").args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]);
        let shell =
            ["IMAGE", "GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT"].iter().fold(shell, |shell, name| shell.env(*name, "1"));
        let path = format!("{}:/usr/bin:/bin", dir.path().display());
        let ended = shell.env("LOCAL", "local").env("PATH", path).cwd(dir.path()).run(&pto_test::machine()).unwrap();
        (ended.success(), fs_err::read_to_string(dir.path().join("calls")).unwrap())
    };
    program("docker", "");
    program("target/release/xtask", "");
    let (passed, calls) = run();
    assert!(passed && calls.contains("--clean-up\n") && calls.ends_with("docker rmi local\n"), "{calls}");
    program("target/release/xtask", "exit 3");
    let (passed, calls) = run();
    assert!(!passed && calls.ends_with("docker rmi local\n"), "{calls}");
    program("target/release/xtask", "");
    program("docker", "[ $1 != rmi ]");
    assert!(!run().0, "an image that stays is a failure");
    program("docker", "exit 1");
    assert!(run().0, "one that was never built is none");
}

#[test]
fn git_reads_a_checkout_of_another_user() {
    let source = read(".github/workflows/ci.yml");
    let workflow = workflow(&source);
    let steps = steps(&workflow, "ci");
    let at = |words: &str| steps.iter().position(|step| text(step, "run").contains(words)).unwrap();
    assert!(at("--add safe.directory \"$GITHUB_WORKSPACE\"") < at(".ci/run"));

    let dir = tempfile::tempdir().unwrap();
    let run = |program: &str, args: &[&str]| {
        let command = Invocation::new(program).args(args.iter().copied()).cwd(dir.path());
        let command = command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        command.run(&pto_test::machine()).unwrap()
    };
    fs_err::create_dir(dir.path().join(".ci")).unwrap();
    fs_err::copy(root().join(".ci/run"), dir.path().join(".ci/run")).unwrap();
    assert!(run("git", &["init", "--quiet"]).success() && run("git", &["add", "."]).success());
    if !run("chown", &["-R", "12345", "."]).success() {
        return pto_test::skip("only root gives files away");
    }
    assert!(!run("git", &["status"]).success(), "git trusts it unasked");
    let left = run(&dir.path().join(".ci/run").display().to_string(), &["clean"]);
    assert!(left.stderr.text().contains("A  .ci/run"), "{}", left.last_words(5));
}

#[test]
fn an_engine_of_the_suite_has_its_data_on_no_overlay() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["checkout", "home"] {
        fs_err::create_dir(dir.path().join(name)).unwrap();
    }
    let place = |overlays: &str| {
        let stat = dir.path().join("stat");
        let script = format!("#!/bin/sh\ncase \"$4\" in {overlays}) echo overlayfs ;; *) echo ext2/ext3 ;; esac\n");
        fs_err::write(&stat, script).unwrap();
        fs_err::set_permissions(&stat, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        // The path goes below what is there: `.ci/run` puts Cargo's first.
        let run = Invocation::new(root().join(".ci/run")).arg("engine_place").env("HOME", dir.path().join("home"));
        let run = run.env("GITHUB_WORKSPACE", dir.path().join("checkout"));
        let output =
            run.env("PATH", format!("{}:/usr/bin:/bin", dir.path().display())).run(&pto_test::machine()).unwrap();
        output.stdout.text().trim().replace(&dir.path().display().to_string(), "@")
    };
    assert_eq!(place("none"), "@");
    assert_eq!(place("*checkout*"), "@/home");
    assert_eq!(place("*"), "/tmp");
}

#[test]
fn secrets_are_in_the_publishing_step_alone() {
    let source = read(WORKFLOW);
    let workflow = workflow(&source);
    let steps = steps(&workflow, "image");
    let publish = steps.iter().find(|step| text(step, "name") == "Publish").unwrap();
    for secret in ["SWR_USERNAME", "SWR_PASSWORD"] {
        assert_eq!(text(&publish["env"], secret), format!("${{{{ secrets.{secret} }}}}"));
        let script = text(publish, "run");
        assert_eq!(script.matches(&format!("${secret}")).count(), 1, "{script}");
    }
    assert_eq!(source.matches("secrets.").count(), 2);
    let script = text(publish, "run");
    assert!(script.starts_with("printf") && script.contains("--password-stdin"), "{script}");
    let condition = text(publish, "if");
    assert!(
        condition.contains("github.ref == 'refs/heads/main'") && condition.contains("inputs.publish"),
        "{condition}"
    );
    assert!(!condition.contains("pull_request"), "{condition}");
}

#[test]
fn whatever_happens_is_cleaned_up_and_kept() {
    let source = read(WORKFLOW);
    let workflow = workflow(&source);
    let steps = steps(&workflow, "image");
    let always = |words: &str| {
        let found = steps.iter().find(|step| text(step, "run").contains(words) || text(step, "uses").contains(words));
        let step = found.unwrap_or_else(|| panic!("no step has `{words}`"));
        assert_eq!(text(step, "if"), "always()", "{words}");
        *step
    };
    always("--clean-up");
    always("rm -rf -- \"$DOCKER_CONFIG\"");
    always("GITHUB_STEP_SUMMARY");
    let kept = always("actions/upload-artifact");
    assert_eq!(kept["with"]["retention-days"].as_integer(), Some(14));
    assert!(!source.contains("prune"), "caches are everybody's");
    assert_eq!(text(&workflow["defaults"]["run"], "shell"), "bash", "without it a pipe hides failures");
    assert!(!workflow["jobs"]["image"]["env"].as_mapping().unwrap().is_empty());
}

#[test]
fn actions_are_pinned_to_commits() {
    let mut seen = 0;
    for workflow in workflows() {
        let source = read(&workflow);
        for action in source.lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("uses: ")) {
            let (_, commit) = action.split_once('@').unwrap();
            let (commit, version) = commit
                .split_once(" # v")
                .unwrap_or_else(|| panic!("{workflow}: no comment with the version of {action}"));
            let is_commit = commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit());
            assert!(is_commit && !version.is_empty(), "{workflow}: {action}");
            seen += 1;
        }
    }
    assert!(seen >= 6, "{seen}");
}

#[test]
fn commands_and_options_exist() {
    let source = read(WORKFLOW).replace("\\\n", " ");
    let mut seen = BTreeSet::new();
    let calls = source.lines().flat_map(|line| {
        let called = |family: &'static str| Some((family, line.split_once(&format!("xtask {family} "))?.1));
        ["images", "container"].into_iter().filter_map(called)
    });
    for (family, rest) in calls {
        let words: Vec<_> = rest.split_whitespace().collect();
        let help = Command::new(env!("CARGO_BIN_EXE_xtask")).args([family, words[0], "--help"]).output().unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        for option in words.iter().filter_map(|word| word.trim_matches(['"', ')', '}']).strip_prefix("--")) {
            assert!(help.contains(&format!("--{option}")), "`{family} {}` has no `--{option}`", words[0]);
        }
        seen.insert(words[0]);
    }
    assert_eq!(seen, ["build", "plan", "publish", "test", "validate"].into());
}

#[test]
fn the_documentation_has_the_images_as_they_are() {
    let page = read("docs/src/images.md");
    let config = config();
    let row = |image: &Image| {
        let labels: Vec<_> = image.runners.iter().map(|label| format!("`{label}`")).collect();
        let driver = image.driver.as_deref().unwrap();
        format!("| `{}` | {} | `{driver}` | `{}` |", image.name, labels.join(", "), image.tag)
    };
    for image in &config.images {
        if image.enabled {
            assert!(page.contains(&row(image)), "the page lacks {}", row(image));
        } else {
            assert!(page.contains(&format!("`{}` is configured and disabled", image.name)));
        }
    }
    let limits = [config.task_timeout_seconds, config.task_max_seconds].map(|seconds| format!("{seconds} s"));
    assert!(limits.iter().all(|limit| page.contains(limit)), "{limits:?}");
    assert!(page.contains("19:37 UTC") && page.contains("14 days"));
}

#[test]
fn a_proxy_that_is_required_has_to_be_named() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let command = command.args(["images", "plan", "arm-a5"]).current_dir(root()).env_remove("PYPTO_DOCKER_PROXY");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("`PYPTO_DOCKER_PROXY` is not set"));
}

#[test]
fn actionlint_finds_nothing() {
    let cx = pto_test::machine();
    if pto_process::find_program(&cx, "actionlint").is_err() {
        return pto_test::skip("no `actionlint` is here");
    }
    let output = Invocation::new("actionlint").args(workflows().iter().map(|file| root().join(file))).run(&cx).unwrap();
    assert!(output.success(), "{}", output.stdout.text());
}
