//! A place to publish to, and the real program.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pto_loopback::{Act, Gate, Reply, Request};
use pto_process::{Invocation, Output, Status, Stdin};
use pto_test::engine::{Engine, engine};
use pto_test::registry::{PASSWORD, Registry, USER, quick_dir};
use serde_json::{Value, json};

pub const TAG: &str = "x86-a5-cann9.2-dist";
pub const PREVIOUS: &str = "x86-a5-cann9.2-dist-previous";
/// In the environment of the program; whoever shows it shows a secret.
const PROXY_USER: &str = "pl4nted-pr0xy-user";
/// User and password of the registry in base64, as they stand in a header and in Docker's configuration.
const BASIC: &str = "cGxhbnRlZC11c2VyOnBsNG50ZWQtcGFzc3cwcmQ=";
const LIMIT: Duration = Duration::from_secs(120);

/// Everything around a publication.
pub struct Publishing {
    pub registry: Arc<Registry>,
    pub gate: Gate,
    pub pid: Arc<AtomicU32>,
    engine: Engine,
    dir: tempfile::TempDir,
    name: String,
    images: Mutex<BTreeMap<String, String>>,
    password: Mutex<String>,
    written: Mutex<Vec<String>>,
}

/// An image of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    pub id: String,
}

/// What a run gave.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// A command that can be run from another thread.
pub struct Second(Invocation);

/// What was seen of the command lines of this machine.
#[derive(Debug, Clone, Default)]
pub struct Found(Arc<(AtomicUsize, Mutex<Vec<String>>)>);

impl Found {
    pub fn looks(&self) -> usize {
        self.0.0.load(Ordering::SeqCst)
    }

    pub fn hits(&self) -> Vec<String> {
        self.0.1.lock().unwrap().clone()
    }

    fn look(&self) {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        for process in processes {
            let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            if secrets().iter().any(|secret| line.contains(secret)) {
                self.0.1.lock().unwrap().push(line);
            }
        }
        self.0.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// What must not be seen, as it is and as it stands in a header.
fn secrets() -> Vec<String> {
    [PASSWORD, PROXY_USER, BASIC].map(str::to_owned).to_vec()
}

impl Ran {
    #[track_caller]
    pub fn passed(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.stdout
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let code = match output.status {
            Status::Exited(code) => Some(code),
            _ => None,
        };
        Self { code, stdout: output.stdout.text().into_owned(), stderr: output.stderr.text().into_owned() }
    }
}

impl Second {
    pub fn run(&self) -> Ran {
        self.0.run(&pto_test::machine()).unwrap().into()
    }
}

impl Publishing {
    pub fn start(name: &str) -> Option<Self> {
        let (engine, registry) = (engine()?, Arc::new(Registry::with_password()?));
        if pto_process::find_program(engine.cx(), "skopeo").is_err() {
            pto_test::skip("no `skopeo` is here");
            return None;
        }
        let (gate, dir) = (Gate::before(registry.address()).unwrap(), quick_dir());
        fs_err::create_dir(dir.path().join("tmp")).unwrap();
        let it = Self {
            registry,
            gate,
            pid: Arc::default(),
            engine,
            dir,
            name: format!("ptokit-test/{name}"),
            images: Mutex::default(),
            password: Mutex::new(PASSWORD.to_owned()),
            written: Mutex::default(),
        };
        it.commit();
        it.config_file();
        it.pass();
        Some(it)
    }

    pub fn name(&self) -> String {
        self.name.clone()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn commit(&self) -> String {
        let script = "git init -q -b main \"$0\" && cd \"$0\" && git -c user.name=a -c user.email=a@b commit -q \
                      --allow-empty -m 1 && git rev-parse HEAD";
        let made = Invocation::new("sh").args(["-c", script]).arg(self.path("upstream")).run(self.engine.cx()).unwrap();
        let commit = made.require_success().unwrap().stdout.text().trim().to_owned();
        fs_err::write(self.path("commit"), &commit).unwrap();
        commit
    }

    /// Upstream goes on; what was tested is of the recipe before.
    pub fn newer_recipe(&self) {
        let before = fs_err::read_to_string(self.path("commit")).unwrap();
        self.commit();
        fs_err::write(self.path("commit"), before).unwrap();
    }

    pub fn no_upstream(&self) {
        fs_err::rename(self.path("upstream"), self.path("gone")).unwrap();
    }

    /// The configuration of the workspace, with one image, for this machine.
    fn config_file(&self) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docker/images.json");
        let mut config: Value = serde_json::from_str(&fs_err::read_to_string(file).unwrap()).unwrap();
        config["recipe"]["repository"] = self.path("upstream").display().to_string().into();
        config["repository"] = format!("{}/{}", self.gate.address(), self.name).into();
        fs_err::write(self.path("images.json"), config.to_string()).unwrap();
    }

    /// An image of one small file; its name here goes with the test.
    pub fn image(&self, content: &str) -> Built {
        self.image_of(content, &fs_err::read_to_string(self.path("commit")).unwrap())
    }

    /// The same, built from another recipe than its results say.
    pub fn image_of(&self, content: &str, recipe: &str) -> Built {
        let dir = quick_dir();
        fs_err::write(dir.path().join("content"), format!("{} {content}", self.name)).unwrap();
        fs_err::write(dir.path().join("Dockerfile"), "FROM scratch\nCOPY content /content\n").unwrap();
        let tag = format!("{}:{content}", self.name);
        let recipe = format!("ptokit.images.recipe={recipe}");
        self.engine.build(dir.path(), &tag, &["--label", &recipe, "--label", "ptokit.images.name=x86-a5"]);
        let id = self.engine.ok(&["image", "inspect", &tag, "--format", "{{.Id}}"]);
        self.images.lock().unwrap().insert(tag, id.clone());
        let built = Built { id };
        self.results(&built, |_| {});
        built
    }

    /// Gives an image another name here in the repository that is published to.
    pub fn name_here(&self, image: &Built, tag: &str) {
        self.engine.ok(&["tag", &image.id, &format!("{}/{}:{tag}", self.gate.address(), self.name)]);
    }

    /// The tags of that repository that images have here.
    pub fn names_here(&self) -> Vec<String> {
        let filter = format!("reference={}/{}", self.gate.address(), self.name);
        let listed = self.engine.ok(&["image", "ls", "--format", "{{.Tag}}", "--filter", &filter]);
        listed.lines().map(str::to_owned).collect()
    }

    /// Takes such a name away.
    pub fn forget_here(&self, tag: &str) {
        self.engine.ok(&["rmi", &format!("{}/{}:{tag}", self.gate.address(), self.name)]);
    }

    fn results_file(&self, image: &Built) -> PathBuf {
        self.path(&format!("results-{}.json", &image.id[7..19]))
    }

    pub fn results(&self, image: &Built, change: impl FnOnce(&mut Value)) {
        let case = |name: &str| json!({ "name": name, "status": "passed", "problem": null, "log": null, "seconds": 1 });
        let config: Value = serde_json::from_str(&fs_err::read_to_string(self.path("images.json")).unwrap()).unwrap();
        let x86 = config["images"].as_array().unwrap().iter().find(|image| image["name"] == "x86-a5").unwrap();
        let words = |kind: &str| {
            let args = x86[format!("{kind}_args")].as_array().unwrap().iter().cloned();
            [x86[format!("{kind}_script")].clone()].into_iter().chain(args).collect::<Vec<_>>()
        };
        let settings =
            json!({ "single": words("single"), "distributed": words("distributed"), "devices": x86["devices"] });
        let mut results = json!({
            "schema": "ptokit.images-results/1", "image": "x86-a5", "id": image.id, "driver": "25.7.rc1.12",
            "recipe": fs_err::read_to_string(self.path("commit")).unwrap(),
            "settings": settings, "cases": [case("doctor"), case("single"), case("distributed")],
        });
        change(&mut results);
        fs_err::write(self.results_file(image), results.to_string()).unwrap();
    }

    fn invocation(&self, args: &[&str], records: &str) -> Invocation {
        let proxy = format!("http://{PROXY_USER}:x@127.0.0.1:1");
        let input = format!("{USER}\n{}\n", self.password.lock().unwrap());
        let mut command = Invocation::new(env!("CARGO_BIN_EXE_xtask")).args(["images", "--json", "--verbose"]);
        command =
            command.args(args.iter().copied()).args(["--password-stdin", "--config"]).arg(self.path("images.json"));
        // Without a name they are in their usual place.
        command = match records {
            "" => command.env("XDG_STATE_HOME", self.path("state")),
            named => command.arg("--records").arg(self.path(&format!("records-{named}"))),
        };
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "PYPTO_DOCKER_PROXY"] {
            command = command.env(name, &proxy);
        }
        command
            .stdin(Stdin::Bytes(input.into_bytes()))
            .env("TMPDIR", self.path("tmp"))
            .env("PTOKIT_HOME", self.path("home"))
            .deadline(LIMIT)
    }

    pub fn run(&self, args: &[&str], records: &str) -> Ran {
        let running = self.invocation(args, records).start(self.engine.cx()).unwrap();
        self.pid.store(running.pid(), Ordering::SeqCst);
        let ran = Ran::from(running.wait().unwrap());
        self.written.lock().unwrap().extend([ran.stdout.clone(), ran.stderr.clone()]);
        ran
    }

    /// What was written down under a name.
    pub fn record(&self, records: &str) -> PathBuf {
        self.path(&format!("records-{records}")).join("record.json")
    }

    pub fn second(&self, args: [&str; 2], records: &str) -> Second {
        Second(self.invocation(&args, records))
    }

    fn publish_args(&self, image: &Built, run: u32, more: &[&str]) -> Ran {
        let (file, number) = (self.results_file(image).display().to_string(), run.to_string());
        let args = [&["publish", "x86-a5", "--results", &file, "--run", &number], more].concat();
        self.run(&args, &number)
    }

    /// The same with the usual place of records.
    pub fn publish_as_usual(&self, image: &Built, run: u32) -> Ran {
        let (file, number) = (self.results_file(image).display().to_string(), run.to_string());
        self.run(&["publish", "x86-a5", "--results", &file, "--run", &number], "")
    }

    pub fn publish(&self, image: &Built, run: u32) -> Ran {
        self.publish_args(image, run, &[])
    }

    pub fn upload_only(&self, image: &Built, run: u32) -> Ran {
        self.publish_args(image, run, &["--upload-only"])
    }

    /// What a person would do after an interruption: go on if it was begun, else publish again.
    pub fn go_on(&self, image: &Built, run: u32) -> Ran {
        let record = fs_err::read_to_string(self.path(&format!("records-{run}/record.json"))).unwrap_or_default();
        let begun = serde_json::from_str::<Value>(&record).is_ok_and(|record| !record["before"].is_null());
        if begun { self.run(&["promote", "x86-a5", "--resume"], &run.to_string()) } else { self.publish(image, run) }
    }

    /// Remembers what the registry has now, and what is recorded of the run 2.
    pub fn remember(&self) {
        self.copy(&self.repository_dir(), &self.path("remembered"));
        self.copy(&self.path("records-2"), &self.path("remembered-records"));
    }

    /// Puts back what was remembered: tags, which layers are there at all, and records.
    pub fn reset(&self) {
        self.gate.settle();
        self.copy(&self.path("remembered"), &self.repository_dir());
        self.copy(&self.path("remembered-records"), &self.path("records-2"));
    }

    fn repository_dir(&self) -> PathBuf {
        self.registry.storage().join("docker/registry/v2/repositories").join(&self.name)
    }

    fn copy(&self, from: &Path, to: &Path) {
        let _ = std::fs::remove_dir_all(to);
        if !from.exists() {
            return;
        }
        let copy = Invocation::new("cp").arg("-a").arg(from).arg(to);
        copy.run(self.engine.cx()).unwrap().require_success().unwrap();
    }

    /// Decides what happens to requests, and does what the registry cannot do: let everybody read and some write, and delete a
    /// tag by its name.
    pub fn decide(&self, decide: impl Fn(usize, &Request) -> Option<Act> + Send + Sync + 'static) {
        let (registry, name) = (self.registry.clone(), self.name.clone());
        self.gate.decide(move |number, request| {
            let act = decide(number, request);
            let anonymous = request.header("authorization").is_none();
            if request.method == "GET" && anonymous && !request.path.ends_with("/v2/") {
                return act.unwrap_or_else(|| Act::PassWith("authorization", format!("Basic {BASIC}")));
            }
            if request.method != "DELETE" {
                return act.unwrap_or(Act::Pass);
            }
            let tag = request.path.rsplit('/').next().unwrap();
            assert!(!tag.contains(':'), "a deletion by digest takes other tags along: {tag}");
            match act {
                Some(Act::Cut) => Act::Cut,
                // Whoever is not known is refused by the registry itself.
                _ if anonymous => Act::Pass,
                act => {
                    registry.delete_tag(&name, tag);
                    if act.is_some() { Act::Cut } else { Act::Answer(Reply::status(202)) }
                }
            }
        });
    }

    pub fn pass(&self) {
        self.decide(|_, _| None);
    }

    /// The registry as it is: it removes no tag by its name.
    pub fn delete_nothing(&self) {
        self.gate.decide(|_, request| {
            let is_anonymous = request.method == "GET" && request.header("authorization").is_none();
            match is_anonymous && !request.path.ends_with("/v2/") {
                true => Act::PassWith("authorization", format!("Basic {BASIC}")),
                false => Act::Pass,
            }
        });
    }

    /// Looks at the command lines of all processes whenever a request arrives.
    pub fn watch(&self, found: &Found) {
        let found = found.clone();
        self.decide(move |_, _| {
            found.look();
            None
        });
    }

    pub fn wrong_password(&self, work: impl FnOnce()) {
        let right = std::mem::replace(&mut *self.password.lock().unwrap(), format!("{PASSWORD}-wrong"));
        work();
        *self.password.lock().unwrap() = right;
    }

    /// The configuration of a tag's image, by the registry's storage.
    pub fn config(&self, tag: &str) -> Option<String> {
        let manifest: Value = serde_json::from_slice(&self.blob(&self.manifest(tag)?)).unwrap();
        Some(manifest["config"]["digest"].as_str().unwrap().to_owned())
    }

    pub fn manifest(&self, tag: &str) -> Option<String> {
        self.registry.digest_of(&self.name, tag)
    }

    fn blob(&self, digest: &str) -> Vec<u8> {
        let hex = digest.strip_prefix("sha256:").unwrap();
        let blobs = self.registry.storage().join("docker/registry/v2/blobs/sha256");
        fs_err::read(blobs.join(&hex[..2]).join(hex).join("data")).unwrap()
    }

    pub fn tags(&self) -> Vec<String> {
        self.registry.tags(&self.name)
    }

    /// The configuration of a tag's image, by a program that knows nothing of us.
    pub fn witness(&self, tag: &str) -> Option<String> {
        let reference = format!("docker://{}/{}:{tag}", self.registry.address(), self.name);
        let credentials = format!("{USER}:{PASSWORD}");
        let raw = Invocation::new("skopeo").args(["inspect", "--raw", "--tls-verify=false", "--creds", &credentials]);
        let output = raw.arg(&reference).run(self.engine.cx()).unwrap();
        if !output.success() {
            let words = output.last_words(3);
            assert!(words.contains("manifest unknown") || words.contains("name unknown"), "{words}");
            return None;
        }
        let manifest: Value = serde_json::from_str(&output.stdout.text()).unwrap();
        Some(manifest["config"]["digest"].as_str().unwrap().to_owned())
    }

    /// What is left in the temporary directory that could hold a password: a private directory that its maker left is removed
    /// by the next run, which has been by now.
    pub fn leftovers(&self) -> Vec<String> {
        files(&self.path("tmp")).into_iter().map(|file| file.display().to_string()).collect()
    }

    /// Looks for the secrets in all that was written: outputs, records, the registry's storage and log, the engine's images.
    pub fn search_everything(&self) {
        let mut searched = 0;
        let mut search = |what: String, bytes: &[u8]| {
            searched += 1;
            for secret in secrets() {
                let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
                assert!(!found, "{what} holds a secret");
            }
        };
        for text in self.written.lock().unwrap().iter() {
            search("an output".to_owned(), text.as_bytes());
        }
        let records =
            ["records-1", "records-2", "records-3", "records-rollback", "home", "tmp"].map(|name| self.path(name));
        for file in records.iter().chain([&self.registry.storage()]).flat_map(|dir| files(dir)) {
            search(file.display().to_string(), &fs_err::read(&file).unwrap());
        }
        search("the registry's log".to_owned(), self.registry.log().as_bytes());
        for tag in self.images.lock().unwrap().keys() {
            search(tag.clone(), self.engine.ok(&["image", "inspect", tag]).as_bytes());
            search(tag.clone(), self.engine.ok(&["history", "--no-trunc", tag]).as_bytes());
        }
        assert!(searched > 30, "only {searched} places were searched");
    }
}

impl Drop for Publishing {
    fn drop(&mut self) {
        for tag in self.images.lock().unwrap().keys() {
            self.engine.docker(&["rmi", "--force", tag]);
        }
    }
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}
