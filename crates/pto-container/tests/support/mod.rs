//! A made-up host with a client that answers from files and notes how it was called, and checkouts made by git.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::path::{Path, PathBuf};

use pto_container::{Plan, Request};
use pto_context::Context;
use pto_process::Invocation;
use pto_test::host::Host;

/// Answers from the files in `$SAID`.
const CLIENT: &str = r#"
for last in "$@"; do :; done
said() { /bin/cat "$SAID/$1" 2>/dev/null || { echo "Error: No such $2: $last" >&2; exit 1; }; }
case "$1 $2" in
    "info "*) said info object ;;
    "ps "*) /bin/cat "$SAID/ps" 2>/dev/null ;;
    "image inspect") said image image ;;
    "container inspect") said "container.$last" container ;;
    "buildx version") exit 1 ;;
esac
exit 0
"#;

/// The host, and where its client's answers are.
pub(crate) struct Fake {
    pub(crate) host: Host,
}

impl Fake {
    /// With an image for this processor, cards 0 to 3, a driver, and an engine that knows these runtimes.
    pub(crate) fn new(runtimes: &[&str]) -> Self {
        let mut host = Host::empty();
        let said = host.place("/said");
        host.script("docker", CLIENT);
        let path = format!("{}:/usr/bin:/bin", host.place("/stand-ins").display());
        for (name, value) in [("PATH", path), ("SAID", said.display().to_string()), ("TMPDIR", tmp(&host))] {
            host.var(name, &value);
        }
        host.nodes(&["davinci0", "davinci1", "davinci2", "davinci3", "davinci_manager"]);
        host.file("/usr/local/Ascend/driver/version.info", "Version=26.0.rc1\n");
        host.file("/usr/local/bin/npu-smi", "").file("/etc/ascend_install.info", "");
        let runtimes: Vec<String> = runtimes.iter().map(|name| format!("\"{name}\":{{\"path\":\"{name}\"}}")).collect();
        host.file(
            "/said/info",
            &format!(
                r#"{{"ServerVersion":"27.2.0","Architecture":"aarch64","DockerRootDir":"/","Runtimes":{{{}}}}}"#,
                runtimes.join(",")
            ),
        );
        let mut fake = Self { host };
        fake.image("arm64", "9.2.0-a3-ubuntu22.04-py3.11-devel");
        fake
    }

    pub(crate) fn image(&mut self, architecture: &str, cann_tag: &str) -> &mut Self {
        let text = format!(
            r#"[{{"Id":"sha256:1111","RepoTags":["pypto-dev:a3-sim"],"Architecture":"{architecture}","Size":1000,
                "Config":{{"Env":["PYPTO_CANN_TAG={cann_tag}"]}}}}]"#
        );
        self.host.file("/said/image", &text);
        self
    }

    /// A container of that name, in that state, made by a plan or by somebody else.
    pub(crate) fn container(&mut self, name: &str, status: &str, plan: Option<&Plan>) -> &mut Self {
        let labels = plan.map(labels).unwrap_or_default();
        let text = format!(
            r#"[{{"Id":"c1","Name":"/{name}","Image":"sha256:1111","State":{{"Status":"{status}"}},"HostConfig":{{}},
                "Config":{{"Labels":{{{labels}}}}}}}]"#
        );
        self.host.file(&format!("/said/container.{name}"), &text);
        self
    }

    /// The container runs, for `docker ps` as well.
    pub(crate) fn listed(&mut self, name: &str) -> &mut Self {
        self.host.file("/said/ps", &format!("{name}\n"));
        self
    }

    pub(crate) fn cx(&self) -> Context {
        self.host.cx()
    }

    pub(crate) fn plan(&self, request: &Request) -> Plan {
        Plan::make(&self.cx(), request).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The words of the command that makes the container.
    pub(crate) fn create(&self, request: &Request) -> Vec<String> {
        words(self.plan(request).create())
    }
}

fn tmp(host: &Host) -> String {
    let tmp = host.place("/tmp");
    fs_err::create_dir_all(&tmp).unwrap();
    tmp.display().to_string()
}

fn labels(plan: &Plan) -> String {
    let labels = values(&words(plan.create()), "--label");
    let pair = |label: &String| label.split_once('=').map(|(name, value)| format!("\"{name}\":\"{value}\"")).unwrap();
    labels.iter().map(pair).collect::<Vec<_>>().join(",")
}

pub(crate) fn words(command: &Invocation) -> Vec<String> {
    command.argv().iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// The values of an option that is a word of its own.
pub(crate) fn values(words: &[String], option: &str) -> Vec<String> {
    words.windows(2).filter(|pair| pair[0] == option).map(|pair| pair[1].clone()).collect()
}

/// Git with nobody's configuration.
pub(crate) fn git(dir: &Path, args: &[&str]) {
    let command =
        Invocation::new("git").args(["-c", "protocol.file.allow=always", "-c", "user.name=t", "-c", "user.email=t@t"]);
    let command =
        command.args(["-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"]).args(args.iter().copied());
    let command = command.cwd(dir).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.run(&pto_test::machine()).unwrap().require_success().unwrap_or_else(|error| panic!("{error:?}"));
}

/// A repository with one commit.
pub(crate) fn repository(dir: &Path, files: &[&str]) -> PathBuf {
    fs_err::create_dir_all(dir).unwrap();
    git(dir, &["init", "--quiet"]);
    for file in files.iter().chain(&["README"]) {
        let path = dir.join(file);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, "text\n").unwrap();
    }
    git(dir, &["add", "."]);
    git(dir, &["commit", "--quiet", "-m", "one"]);
    dir.canonicalize().unwrap()
}

/// A checkout of PyPTO with a submodule, which has one itself, and pypto-lib beside it.
pub(crate) fn checkouts(dir: &Path) -> PathBuf {
    let inner = repository(&dir.join("origin/inner"), &[]);
    let runtime = repository(&dir.join("origin/runtime"), &[]);
    git(&runtime, &["submodule", "--quiet", "add", &inner.display().to_string(), "third/inner"]);
    git(&runtime, &["commit", "--quiet", "-m", "two"]);
    let pypto = repository(&dir.join("src/pypto"), &["toolchain/versions.env"]);
    git(&pypto, &["submodule", "--quiet", "add", &runtime.display().to_string(), "runtime"]);
    git(&pypto, &["submodule", "--quiet", "update", "--init", "--recursive"]);
    git(&pypto, &["commit", "--quiet", "-m", "two"]);
    repository(&dir.join("src/pypto-lib"), &[]);
    pypto
}
