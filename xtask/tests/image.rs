//! The recipe of the development image: linted, read, and built for real on a base that stands in for CANN.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pto_container::{BuildPlan, BuildRequest, CheckId, Series, Stage};
use pto_docker::PROXY_VARIABLES;
use pto_process::{Invocation, Output};
use pto_test::engine::{Engine, NAMESPACE, engine};
use pto_test::registry::Registry;

/// What a proxy's address must not show up as.
const PLANTED: &str = "plantedproxypass";

/// Programs of the base that note how they are called.
const STAND_INS: [(&str, &str); 4] = [
    ("apt-get", ""),
    ("add-apt-repository", "echo \"paths=${PYTHONPATH-unset},${LD_LIBRARY_PATH-unset}\" >> /calls"),
    ("g++-15", "echo 15.1.0"),
    (
        "git",
        r#"case "$*" in
    *ls-remote*pypto-lib*) exit 2 ;;
    *"rev-parse --quiet"*) ;;
    *rev-parse*) echo 1111111111111111111111111111111111111111 ;;
    clone*pypto.git*)
        mkdir -p /workspace/pypto/toolchain /workspace/pypto/runtime
        echo PTOAS_VERSION=v0.61 > /workspace/pypto/toolchain/versions.env
        : > /workspace/pypto/build-constraints.txt
        echo 2222222222222222222222222222222222222222 > /workspace/pypto/runtime/pto_isa.pin ;;
esac"#,
    ),
];

/// What the vendor's images have, and programs of the system are not for.
const CANN_ENVIRONMENT: &str = "ENV PYTHONPATH=/usr/local/Ascend/python: LD_LIBRARY_PATH=/usr/local/Ascend/lib64\n";

/// Our program, as far as the recipe uses it.
const PROGRAM: &str = r#"#!/bin/bash
echo "${0##*/} $*" >> /calls
# As the real one keeps what it fetches.
if [ "${0##*/}" = pypto-install-ptoas ]; then
    home=${PTOKIT_HOME:-$HOME/.cache/ptokit}; mkdir -p "$home"; echo fetched > "$home/wheel"; echo "$home" > /fetched-to
fi
if [ "$1 $2" = "setup --helpers-only" ]; then
    for name in pypto-setup pypto-install-ptoas pypto-build; do ln -s ptokit "/opt/pypto/bin/$name"; done
    echo 'export ACTIVE=yes' > /opt/pypto/bin/pypto-activate.sh
fi
"#;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn recipe() -> String {
    fs_err::read_to_string(root().join("docker/pypto_dev.Dockerfile")).unwrap()
}

/// Instructions with their continued lines, comments left out.
fn instructions() -> Vec<(String, String)> {
    let text = recipe();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let joined = lines.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
    let all = joined.lines().filter_map(|line| line.trim().split_once(' '));
    all.map(|(word, rest)| (word.to_owned(), rest.trim().to_owned())).collect()
}

fn args() -> BTreeSet<String> {
    let args = instructions().into_iter().filter(|(word, _)| word == "ARG");
    args.map(|(_, rest)| rest.split('=').next().unwrap().to_owned()).collect()
}

/// A linter of the CI, on these files.
fn lint(program: &str, files: &[PathBuf]) {
    match Invocation::new(program).args(files).cwd(root()).run(&pto_test::machine()) {
        Ok(output) => assert!(output.success(), "{}", output.stdout.text()),
        Err(error) => pto_test::skip(&format!("{error}")),
    }
}

#[test]
fn linters_find_nothing() {
    lint("hadolint", &[root().join("docker/pypto_dev.Dockerfile")]);
    let scripts = fs_err::read_dir(root().join("docker/scripts")).unwrap();
    let mut scripts: Vec<PathBuf> = scripts.map(|entry| entry.unwrap().path()).collect();
    scripts.push(root().join(".ci/run"));
    lint("shellcheck", &scripts);
}

#[test]
fn it_has_the_stages_and_keeps_no_proxy() {
    let all = instructions();
    let stages: Vec<&str> = all.iter().filter(|(word, _)| word == "FROM").map(|(_, rest)| rest.as_str()).collect();
    assert_eq!(stages, ["${CANN_REPOSITORY}@${CANN_DIGEST} AS deps", "deps AS sim", "sim AS dist"]);
    for (word, rest) in &all {
        let upper = rest.to_uppercase();
        assert!(!PROXY_VARIABLES.iter().any(|proxy| upper.contains(&proxy.to_uppercase())), "{word} {rest}");
        let secret = ["PASSWORD", "TOKEN", "SECRET", "CREDENTIAL"].iter().any(|secret| upper.contains(secret));
        assert!(!secret, "{word} {rest}");
    }
}

#[test]
fn its_arguments_are_explained() {
    let args = args();
    for name in ["PYPTO_REF", "PYPTO_LIB_REF", "DIST_BUILD_JOBS", "DIST_RUNTIME_TARGETS", "CANN_TAG", "CANN_DIGEST"] {
        assert!(args.contains(name), "{name}");
    }
    let page = fs_err::read_to_string(root().join("docs/src/verbs/container-build.md")).unwrap();
    let unexplained: Vec<_> = args.iter().filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(unexplained.is_empty(), "{unexplained:?}");
}

/// A directory as it is sent to the engine, with a stand-in for our program, and patches for A2/A3 alone.
fn context() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let copy = Invocation::new("cp").args(["-r", "docker"]).arg(dir.path()).cwd(root());
    copy.run(&pto_test::machine()).unwrap().require_success().unwrap();
    fs_err::write(dir.path().join("docker/patches/a2a3/one.patch"), "").unwrap();
    executable(&dir.path().join("program"), PROGRAM);
    dir
}

fn executable(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    fs_err::write(path, text).unwrap();
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A base in a registry: the recipe takes one by its digest alone.
fn push_base(engine: &Engine, base: &str, more: &str) {
    let mut programs =
        vec!["mkdir", "ln", "rm", "cat", "cut", "grep", "head", "date", "dirname", "env", "readlink", "mktemp"];
    programs.extend(Some(more).filter(|more| !more.is_empty()));
    let shell = format!("{NAMESPACE}/recipe-shell:{}", programs.len());
    let _shell = engine.image(&shell);
    engine.image_of(&shell, &programs, "");
    let dir = tempfile::tempdir().unwrap();
    for (name, script) in STAND_INS {
        executable(&dir.path().join(name), &format!("#!/bin/bash\necho \"{name} $*\" >> /calls\n{script}\n"));
    }
    let names = STAND_INS.map(|(name, _)| name).join(" ");
    fs_err::write(dir.path().join("Dockerfile"), format!("FROM {shell}\nCOPY {names} /usr/bin/\n{CANN_ENVIRONMENT}"))
        .unwrap();
    engine.build(dir.path(), base, &[]);
    engine.ok(&["push", "--quiet", base]);
    engine.ok(&["rmi", base]);
}

/// The base as it was pulled: its digest is a name that outlives its tag.
fn pulled<'a>(engine: &'a Engine, base: &str) -> pto_test::engine::Removed<'a> {
    engine.image(&engine.ok(&["image", "inspect", "--format", "{{index .RepoDigests 0}}", base]))
}

fn inside(engine: &Engine, image: &str, script: &str) -> String {
    engine.ok(&["run", "--rm", image, "-c", script])
}

#[test]
fn all_stages_are_built_on_a_base_that_stands_in() {
    let (Some(engine), Some(registry)) = (engine(), Registry::start()) else { return };
    let base = format!("{}/ascend/cann:9.2.0-a3-made-up", registry.address());
    push_base(&engine, &base, "");
    let _base = engine.image(&base);
    let context = context();
    let proxy = format!("http://user:{PLANTED}@127.0.0.1:9");
    let names = ["HTTPS_PROXY", "http_proxy", "ALL_PROXY", "ftp_proxy"];
    let cx =
        names.iter().fold(engine.cx().clone(), |cx, name| cx.with_var(*name, &proxy)).with_var("DOCKER_BUILDKIT", "0");
    let tag = format!("{NAMESPACE}/recipe:dist");
    let _image = engine.image(&tag);
    let request = BuildRequest {
        stage: Stage::Dist,
        tag: Some(tag.clone()),
        binary: Some("program".into()),
        cann_repository: Some(format!("{}/ascend/cann", registry.address())),
        cann_tag: Some("9.2.0-a3-made-up".to_owned()),
        args: ["PYPTO_LIB_REF=v1", "DIST_BUILD_JOBS=3", "DIST_RUNTIME_TARGETS=one two"].map(str::to_owned).to_vec(),
        skip: vec![CheckId::Disk],
        ..BuildRequest::new(Series::A3, context.path().to_owned())
    };
    let plan = BuildPlan::make(&cx, &request).unwrap();
    let mut log = String::new();
    let built = plan.run(|_, line| log.push_str(&format!("{line}\n"))).unwrap_or_else(|error| panic!("{error}\n{log}"));
    let _pulled = pulled(&engine, &base);

    assert_eq!((built.env("PYPTO_CANN_TAG"), built.env("PYPTO_PLATFORM")), (Some("9.2.0-a3-made-up"), Some("a2a3")));
    assert_eq!(built.env("PYPTO_RUNTIME_BUILD_TARGETS"), Some("one two"));
    let calls = inside(&engine, &tag, "cat /calls");
    let expected = [
        "apt-get update",
        "ptokit --version",
        "ptokit setup --helpers-only --pypto-home /opt/pypto",
        "apt-get install --yes --no-install-recommends dirmngr gpg gpg-agent software-properties-common",
        "add-apt-repository --yes ppa:ubuntu-toolchain-r/test\npaths=unset,unset",
        "apt-get install --yes --no-install-recommends gcc-15 g++-15",
        "git clone --branch main https://github.com/hw-native-sys/pypto.git /workspace/pypto",
        "git -C /workspace/pypto submodule update --init --recursive",
        "git clone --no-checkout https://github.com/hw-native-sys/pypto-lib.git /workspace/pypto-lib",
        "git -C /workspace/pypto-lib checkout --detach v1",
        "pypto-setup ",
        "pypto-install-ptoas --checkout /workspace/pypto",
        "pypto-build --jobs 3 --patches /opt/pypto/image/patches/a2a3",
    ];
    let mut rest = calls.as_str();
    for call in expected {
        rest = rest.split_once(call).unwrap_or_else(|| panic!("`{call}` is not in its place:\n{calls}")).1;
    }
    let kept = "test ! -e /root/.cache/ptokit && test ! -e \"$(cat /fetched-to)\" && echo none";
    assert_eq!(inside(&engine, &tag, kept).trim(), "none", "what was fetched is in a layer");
    let manifest = pto_platform::files::parse_dist_manifest(&inside(&engine, &tag, "cat /opt/pypto/dist-manifest"));
    assert!(manifest.notes.is_empty() && manifest.built.is_some(), "{manifest:?}");
    assert_eq!(manifest.ptoas.as_ref().map(|version| version.as_str()), Some("v0.61"));
    assert_eq!(inside(&engine, &tag, "echo $ACTIVE $PWD"), "yes /workspace");
    // What is run in it has CANN's paths, in an environment that is activated.
    let paths = inside(&engine, &tag, "echo $PYTHONPATH $LD_LIBRARY_PATH");
    assert_eq!(paths, "/usr/local/Ascend/python: /usr/local/Ascend/lib64");

    let said = format!("{log}{}{:?}", plan.command("sha256:0").to_shell_line(), plan);
    let history = engine.ok(&["history", "--no-trunc", &tag]);
    let config = engine.ok(&["image", "inspect", &tag]);
    let files =
        inside(&engine, &tag, &format!("grep -rlI {PLANTED} /opt /etc /root /workspace /usr/bin /tmp /calls || true"));
    for text in [said, history, config, files] {
        assert!(!text.contains(PLANTED), "{text}");
    }
}

#[test]
fn a_plan_is_built_as_it_is() {
    let Some(engine) = engine() else { return };
    let context = context();
    git(context.path(), &["init", "--quiet"]);
    git(context.path(), &["add", "docker"]);
    git(context.path(), &["commit", "--quiet", "-m", "one"]);
    let head = git(context.path(), &["rev-parse", "HEAD"]).stdout.text().trim().to_owned();
    let digest = format!("sha256:{}", "1".repeat(64));
    let write = |recipe: &str| {
        let source = serde_json::json!({ "repository": "https://h/r", "ref": "main", "commit": "2".repeat(40) });
        let image = |name: &str| {
            let architecture = if name == "arm" { "arm64" } else { "amd64" };
            serde_json::json!({
                "name": name, "platform": { "os": "linux", "architecture": architecture }, "validation_platform": "a5", "tag": "t",
                "base": { "repository": "h/cann", "tag": "9.2.0-950", "digest": digest, "pinned": false },
                "build_args": { "CANN_DIGEST": digest, "PYPTO_PLATFORM": "a5", "PYPTO_REF": "2".repeat(40), "DIST_BUILD_JOBS": "8" },
            })
        };
        let lock = serde_json::json!({
            "schema": "ptokit.images-lock/1", "created": "",
            "recipe": { "repository": "https://h/r", "branch": "main", "commit": recipe },
            "pypto": source, "pypto_lib": source, "runtime": source, "pto_isa": "3".repeat(40),
            "ptoas": { "version": "v0.61", "sha256": {} }, "images": [image("one"), image("two"), image("arm")],
        });
        fs_err::write(context.path().join("lock.json"), lock.to_string()).unwrap();
    };
    let build = |args: &[&str]| {
        let words = ["container", "build", "--dry-run", "--skip-check", "disk", "--binary", "program", "--context"];
        let command = Invocation::new(env!("CARGO_BIN_EXE_xtask")).args(words).arg(context.path());
        let output = command.arg("--lock").arg(context.path().join("lock.json")).args(args.iter().copied());
        output.run(engine.cx()).unwrap()
    };
    write(&head);
    let planned = build(&["--image", "two", "--network", "host"]);
    assert!(planned.success(), "{}", planned.last_words(5));
    let command = planned.stdout.text().replace('\'', "");
    assert_eq!(command.lines().count(), 1, "the digest is known, so nothing is pulled: {command}");
    for word in
        ["--target dist", "--network host", "--tag pypto-dev:two", "CANN_REPOSITORY=h/cann", "CANN_TAG=9.2.0-950"]
    {
        assert!(command.contains(word), "`{word}` is not in {command}");
    }
    let reference = format!("PYPTO_REF={}", "2".repeat(40));
    let recipe = format!("--label ptokit.images.recipe={head}");
    let base = format!("--label ptokit.images.base=h/cann@{digest}");
    for word in [reference, recipe, base, format!("CANN_DIGEST={digest}")] {
        assert_eq!(command.matches(&word).count(), 1, "`{word}` is not once in {command}");
    }
    let refused = |args: &[&str], words: &str| {
        let output = build(args);
        assert!(!output.success() && output.stderr.text().contains(words), "{}", output.last_words(5));
    };
    refused(&[], "the plan has `one`, `two`, `arm`");
    refused(&["--image", "three"], "the plan does not have `three`");
    refused(&["a5", "--image", "two"], "cannot be used with");
    refused(&["--image", "arm"], "the plan's image is for `arm64`, this host is `");
    fs_err::write(context.path().join("docker/mine.sh"), "").unwrap();
    refused(
        &["--image", "two"],
        "has changes that are in no commit, and an image says which commit it is of: `docker/mine.sh`",
    );
    fs_err::remove_file(context.path().join("docker/mine.sh")).unwrap();
    write(&"4".repeat(40));
    refused(&["--image", "two"], "the plan is of the recipe 4444");
}

#[test]
fn a_stage_can_be_built_by_itself_with_our_own_program() {
    let (Some(engine), Some(registry)) = (engine(), Registry::start()) else { return };
    let base = format!("{}/ascend/cann:9.2.0-950-made-up", registry.address());
    let context = context();
    // Without what only a debugger wants: it is pushed and pulled.
    let program = context.path().join("program");
    let strip = Invocation::new("strip").arg("-o").arg(&program).arg(env!("CARGO_BIN_EXE_xtask"));
    strip.run(engine.cx()).unwrap().require_success().unwrap();
    push_base(&engine, &base, &program.display().to_string());
    let tag = format!("{NAMESPACE}/recipe:deps");
    let (_base, _image) = (engine.image(&base), engine.image(&tag));
    let request = BuildRequest {
        stage: Stage::Deps,
        tag: Some(tag.clone()),
        binary: Some("program".into()),
        cann_repository: Some(format!("{}/ascend/cann", registry.address())),
        cann_tag: Some("9.2.0-950-made-up".to_owned()),
        skip: vec![CheckId::Disk],
        ..BuildRequest::new(Series::A5, context.path().to_owned())
    };
    let cx = engine.cx().clone().with_var("DOCKER_BUILDKIT", "0");
    BuildPlan::make(&cx, &request).unwrap().run(|_, _| {}).unwrap();
    let _pulled = pulled(&engine, &base);
    let calls = inside(&engine, &tag, "cat /calls; echo $PYPTO_PLATFORM");
    assert!(!calls.contains("gcc-15") && calls.ends_with("\na5"), "{calls}");
    for name in ["build", "dev", "doctor", "install-ptoas", "setup", "update"] {
        let found =
            inside(&engine, &tag, &format!("readlink /opt/pypto/bin/pypto-{name}; pypto-{name} --help | head -n 1"));
        assert!(found.starts_with("ptokit\n") && found.lines().count() == 2, "pypto-{name}: {found}");
    }
    let shell = engine.ok(&["run", "--rm", &tag, "-c", "echo ${PATH%%:*} $PTOAS_ROOT"]);
    assert_eq!(shell, "/opt/pypto/bin /opt/pypto/ptoas");
    let interactive = |device: &str| engine.ok(&["run", "--rm", "--env", device, &tag, "-i", "-c", "echo ready"]);
    for (device, said) in [("PYPTO_DEVICE=0", "DeepSeek SWA"), ("PYPTO_DEVICE=", "-p a5sim")] {
        let text = interactive(device);
        assert!(text.contains(said) && text.ends_with("ready"), "{text}");
    }
}

#[test]
fn patches_are_those_of_the_platform() {
    let dir = tempfile::tempdir().unwrap();
    let place = |name: &str| dir.path().join(name);
    for name in ["patches/a2a3", "patches/a5", "src/toolchain"] {
        fs_err::create_dir_all(place(name)).unwrap();
    }
    for script in ["build-dist.sh", "platform.sh"] {
        fs_err::copy(root().join("docker/scripts").join(script), place(script)).unwrap();
    }
    for name in ["pypto-setup", "pypto-install-ptoas", "pypto-build"] {
        executable(&place(name), "#!/bin/bash\necho \"${0##*/} $*\"\n");
    }
    fs_err::write(place("patches/a5/one.patch"), "").unwrap();
    let build = |platform: &str, cann_tag: &str| {
        let script = Invocation::new(place("build-dist.sh")).arg("2").env("PYPTO_SRC", place("src"));
        let script = script.env("PATH", format!("{}:/usr/bin:/bin", dir.path().display()));
        script.env("PYPTO_PLATFORM", platform).env("PYPTO_CANN_TAG", cann_tag).run(&pto_test::machine()).unwrap()
    };
    let refused = build("a5", "");
    assert!(refused.stderr.text().contains("has no toolchain/versions.env"), "{}", refused.last_words(3));
    fs_err::write(place("src/toolchain/versions.env"), "").unwrap();
    fs_err::write(place("src/build-constraints.txt"), "").unwrap();
    let before = format!("pypto-setup \npypto-install-ptoas --checkout {}\n", place("src").display());
    let with = format!("{before}pypto-build --jobs 2 --patches {}/patches/a5\n", dir.path().display());
    let without = format!("{before}pypto-build --jobs 2\n");
    for (platform, cann_tag, expected) in [
        ("a5", "", with.as_str()),
        ("", "9.2.0-950-ubuntu22.04-py3.11-devel", &with),
        ("a2a3", "9.2.0-950-ubuntu22.04", &without),
        ("", "9.2.0-a3-ubuntu22.04", &without),
    ] {
        let output = build(platform, cann_tag);
        assert!(output.success() && output.stderr.text().is_empty(), "{}", output.last_words(3));
        assert_eq!(output.stdout.text(), expected, "{platform} {cann_tag}");
    }
    let unknown = build("", "9.2.0");
    assert_eq!(unknown.stdout.text(), without);
    assert!(unknown.stderr.text().contains("no patches are applied"));
}

#[test]
fn the_first_model_is_that_of_the_platform_and_never_guessed() {
    let said = |platform: &str, cann_tag: &str| {
        let script = Invocation::new(root().join("docker/scripts/welcome.sh")).env("PYPTO_PLATFORM", platform);
        let script = script.env("PYPTO_CANN_TAG", cann_tag).env("PYPTO_DEVICE", "3").env("PYPTO_SRC", "/my/pypto");
        let output = script.run(&pto_test::machine()).unwrap();
        assert!(output.success() && output.stderr.text().is_empty(), "{}", output.last_words(5));
        output.stdout.text().into_owned()
    };
    let (swa, qwen) = ("decode_swa.py -p a5 -d 3", "qwen3_14b/decode_fwd.py -p a2a3 -d 3");
    for (platform, cann_tag, model, other) in [
        ("a5", "", swa, "Qwen3"),
        ("a2a3", "", qwen, "DeepSeek"),
        ("", "9.2.0-950-ubuntu22.04-py3.11-devel", swa, "Qwen3"),
        ("", "9.2.0-a3-ubuntu22.04-py3.11-devel", qwen, "DeepSeek"),
        ("a5", "9.2.0-a3-ubuntu22.04", swa, "Qwen3"),
        ("", "9.2.0", "export PYPTO_PLATFORM=a2a3", "models/"),
        ("a7", "9.2.0-a3-ubuntu22.04", "PYPTO_PLATFORM is a7", "models/"),
    ] {
        let text = said(platform, cann_tag);
        assert!(text.contains(model) && !text.contains(other), "{platform} {cann_tag}: {text}");
        assert!(text.contains("checkout at /my/pypto") && text.contains("pypto-doctor"), "{text}");
    }
    // The scripts that are validated are those that are suggested.
    let config = fs_err::read_to_string(root().join("docker/images.json")).unwrap();
    for model in ["models/deepseek_v4_1_flash/decode_swa.py", "models/qwen3_14b/decode_fwd.py"] {
        assert!(config.contains(model), "{model}");
    }
}

#[test]
fn an_update_is_suggested_where_it_would_pull() {
    let dir = tempfile::tempdir().unwrap();
    let said = || {
        let script = Invocation::new(root().join("docker/scripts/welcome.sh")).env("PYPTO_SRC", dir.path());
        let output = script.env("PYPTO_PLATFORM", "a5").run(&pto_test::machine()).unwrap();
        assert!(output.success(), "{}", output.last_words(5));
        output.stdout.text().into_owned()
    };
    let empty = said();
    assert!(!empty.contains("pypto-update") && empty.contains("There is none yet: git clone"), "{empty}");
    // What is cloned is what images are made of.
    let config: serde_json::Value =
        serde_json::from_str(&fs_err::read_to_string(root().join("docker/images.json")).unwrap()).unwrap();
    assert!(empty.contains(config["pypto"]["repository"].as_str().unwrap()), "{empty}");
    if !std::path::Path::new("/dev/davinci_manager").exists() {
        assert!(empty.contains("hello_world.py -p a5sim") && !empty.contains("models/"), "no NPU: {empty}");
    }
    git(dir.path(), &["init", "--quiet"]);
    git(dir.path(), &["commit", "--quiet", "--allow-empty", "-m", "one"]);
    assert!(said().contains("bring it up to date: pypto-update"));
    git(dir.path(), &["checkout", "--quiet", "--detach"]);
    let detached = said();
    assert!(detached.contains("newer image") && detached.contains("fresh volume"), "{detached}");
    assert!(!detached.contains("up to date"), "{detached}");
}

#[test]
fn helpers_have_the_names_they_had_as_scripts() {
    let home = tempfile::tempdir().unwrap();
    let scripts = root().join("docker/scripts");
    let call = |name: &str, more: &[&str]| {
        let helper = Invocation::new(scripts.join(name)).args(more.iter().copied()).env("PYPTO_HOME", home.path());
        helper.env("PTOKIT_UPDATE_CONTINUES", "1").env("PATH", "/usr/bin:/bin").run(&pto_test::machine()).unwrap()
    };
    let missing = call("pypto-dev.sh", &["run"]);
    assert!(missing.stderr.text().contains("PYPTO_HOME names where"), "{}", missing.last_words(3));
    let bin = home.path().join("bin");
    fs_err::create_dir(&bin).unwrap();
    fs_err::os::unix::fs::symlink(env!("CARGO_BIN_EXE_xtask"), bin.join("ptokit")).unwrap();
    for (name, option) in [
        ("pypto-build", "--build-type"),
        ("pypto-dev", "shell "),
        ("pypto-doctor", "--strict"),
        ("pypto-install-ptoas", "--wheel"),
        ("pypto-setup", "--helpers-only"),
        ("pypto-update", "--no-pull"),
    ] {
        let help = call(&format!("{name}.sh"), &["--help"]);
        let text = help.stdout.text();
        let is_its = text.contains(&format!("Usage: {name} ")) && text.contains(option);
        assert!(help.success() && is_its, "{name}: {}", help.last_words(20));
    }
    // What hands an update over says so to whoever goes on.
    fs_err::remove_file(bin.join("ptokit")).unwrap();
    executable(&bin.join("ptokit"), "#!/bin/bash\necho \"$PTOKIT_UPDATE_CONTINUES $*\"\n");
    assert_eq!(call("pypto-update.sh", &["--no-pull", "a b"]).stdout.text(), "1 --no-pull a b\n");
    fs_err::write(bin.join("pypto-activate.sh"), "ACTIVE=yes\n").unwrap();
    let shell = Invocation::new("bash").args(["-c", ". \"$0\"; echo $ACTIVE"]).arg(scripts.join("pypto-activate.sh"));
    assert_eq!(shell.env("PYPTO_HOME", home.path()).run(&pto_test::machine()).unwrap().stdout.text(), "yes\n");
}

fn git(dir: &Path, args: &[&str]) -> Output {
    let fixed =
        ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main"];
    let command = Invocation::new("git").args(fixed).args(args.iter().copied()).cwd(dir);
    let command = command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.run(&pto_test::machine()).unwrap().require_success().unwrap_or_else(|error| panic!("{error:?}"))
}

#[test]
fn sources_are_cloned_at_branches_tags_and_commits() {
    let dir = tempfile::tempdir().unwrap();
    let origin = dir.path().join("origin");
    fs_err::create_dir(&origin).unwrap();
    git(&origin, &["init", "--quiet"]);
    git(&origin, &["commit", "--quiet", "--allow-empty", "-m", "one"]);
    git(&origin, &["tag", "v1"]);
    git(&origin, &["commit", "--quiet", "--allow-empty", "-m", "two"]);
    let commit = git(&origin, &["rev-parse", "HEAD"]).stdout.text().trim().to_owned();
    // No branch holds it any more, and a remote gives it only if it is told to.
    git(&origin, &["reset", "--quiet", "--hard", "v1"]);
    git(&origin, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let clone = |name: &str, reference: &str| {
        let into = dir.path().join(name);
        let script = Invocation::new(root().join("docker/scripts/clone-source.sh"));
        let script =
            script.args(["file://".to_owned() + &origin.display().to_string(), reference.to_owned()]).arg(&into);
        let output = script.env("GIT_CONFIG_GLOBAL", "/dev/null").run(&pto_test::machine()).unwrap();
        (output, into)
    };
    let head = |dir: &Path| git(dir, &["rev-parse", "--abbrev-ref", "HEAD"]).stdout.text().trim().to_owned();
    let (branch, at) = clone("branch", "main");
    assert!(branch.success(), "{}", branch.last_words(9));
    assert_eq!(head(&at), "main");
    git(&at, &["rev-parse", "@{upstream}"]);
    for (name, reference) in [("tag", "v1"), ("commit", commit.as_str())] {
        let (output, at) = clone(name, reference);
        assert!(output.success(), "{}", output.last_words(9));
        assert_eq!(head(&at), "HEAD", "{reference} is detached");
    }
    assert_eq!(git(&dir.path().join("commit"), &["rev-parse", "HEAD"]).stdout.text().trim(), commit);
    assert!(!clone("none", "no-such-ref").0.success());
}
