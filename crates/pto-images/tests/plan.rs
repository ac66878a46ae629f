//! A plan of real repositories and a real registry: what moves afterwards does not move the plan.

use std::path::{Path, PathBuf};

use pto_context::Context;
use pto_images::Error;
use pto_images::config::Config;
use pto_images::plan::{Lock, PlanRequest, missing_patch};
use pto_images::registry::Options;
use pto_process::Invocation;
use pto_test::registry::{Registry, push_list, quick_dir};

const ISA: &str = "0123456789abcdef0123456789abcdef01234567";

struct World {
    dir: tempfile::TempDir,
    registry: Registry,
}

impl World {
    fn new() -> Option<Self> {
        let world = Self { registry: Registry::start()?, dir: quick_dir() };
        let runtime = world.commit("simpler", &format!("echo {ISA} > pto_isa.pin"));
        world.commit("pypto-lib", "echo 1 > model.py");
        let module = r#"printf '[submodule "simpler"]\n\tpath = runtime\n\turl = ../simpler\n' > .gitmodules"#;
        let pins = "mkdir -p toolchain && echo PTOAS_VERSION=v0.61 > toolchain/versions.env";
        let link = format!("git update-index --add --cacheinfo 160000,{runtime},runtime");
        world.commit("pypto", &format!("{module} && {pins} && {link}"));
        Some(world)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn cx(&self) -> Context {
        pto_test::machine()
    }

    /// Makes a commit after a script was run, and gives it.
    fn commit(&self, repository: &str, script: &str) -> String {
        let whole = format!(
            "mkdir -p \"$0\" && cd \"$0\" && git init -q -b main && {script} && git add -A -- ':!runtime' && \
             git -c user.name=a -c user.email=a@b commit -q --allow-empty -m 1 && git rev-parse HEAD"
        );
        let made = Invocation::new("sh").args(["-c", &whole]).arg(self.path(repository)).run(&self.cx()).unwrap();
        made.require_success().unwrap().stdout.text().trim().to_owned()
    }

    /// The configuration of this workspace, with everything here.
    fn config(&self, change: impl FnOnce(&mut serde_json::Value)) -> Config {
        let text =
            fs_err::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docker/images.json")).unwrap();
        let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
        value["pypto"]["repository"] = self.path("pypto").display().to_string().into();
        value["pypto_lib"]["repository"] = self.path("pypto-lib").display().to_string().into();
        value["images"].as_array_mut().unwrap().retain(|image| image["name"] == "arm-a5");
        value["images"][0]["cann_repository"] = format!("{}/ascend/cann", self.registry.address()).into();
        change(&mut value);
        Config::parse(Path::new("images.json"), &value.to_string()).unwrap().0
    }

    fn plan(&self, config: &Config) -> Result<Lock, Error> {
        self.request().lock(&self.cx(), config, &config.images.iter().collect::<Vec<_>>())
    }

    fn request(&self) -> PlanRequest {
        PlanRequest { checkout: self.path("pypto"), source: None, registry: Options::default(), proxy: None }
    }

    /// Runs the command that an error advises.
    fn do_as_told(&self, error: &Error) {
        let hint = error.hint().unwrap();
        let command = hint.split('`').nth(1).unwrap();
        let git = Invocation::new("sh").args(["-c", &command.replace("git ", "git -c user.name=a -c user.email=a@b ")]);
        git.run(&self.cx()).unwrap().require_success().unwrap();
    }

    fn git(&self, repository: &str, args: &[&str]) {
        let git = Invocation::new("git").args(args.iter().copied()).cwd(self.path(repository));
        git.run(&self.cx()).unwrap().require_success().unwrap();
    }
}

#[test]
fn everything_is_frozen_and_comes_back_from_its_file() {
    let Some(world) = World::new() else { return };
    let tag = "9.2.0-950-ubuntu22.04-py3.11-devel";
    let arm = world.registry.push("ascend/cann", "arm", "arm64", "arm");
    let x86 = world.registry.push("ascend/cann", "x86", "amd64", "x86");
    push_list(&world.registry, "ascend/cann", tag, &[(&x86, "amd64"), (&arm, "arm64")]);
    let config = world.config(|_| {});
    let lock = world.plan(&config).unwrap();
    assert_eq!(lock.image("arm-a5").unwrap().base.digest.as_str(), arm.manifest, "the manifest of its platform");
    assert!(!lock.images[0].base.pinned);
    assert_eq!((lock.pto_isa.as_str(), lock.ptoas.version.as_str()), (ISA, "v0.61"));
    assert_eq!(lock.recipe.commit, lock.pypto.commit, "`main` is the commit that is checked out");
    assert_eq!(lock.runtime.repository, world.path("simpler").display().to_string());
    assert_eq!(lock.images[0].build_args["PYPTO_REF"], lock.pypto.commit);
    assert_eq!(lock.images[0].build_args["CANN_DIGEST"], arm.manifest);
    let dockerfile = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docker/pypto_dev.Dockerfile");
    let dockerfile = fs_err::read_to_string(dockerfile).unwrap();
    let declared: Vec<_> = dockerfile.lines().filter_map(|line| line.strip_prefix("ARG ")?.split('=').next()).collect();
    for name in lock.images[0].build_args.keys() {
        assert!(declared.contains(&name.as_str()), "the Dockerfile does not take `{name}`");
    }

    let labels = lock.labels("arm-a5").unwrap();
    assert_eq!(labels["ptokit.images.recipe"], lock.recipe.commit);
    assert!(labels["ptokit.images.base"].ends_with(&arm.manifest), "{labels:?}");
    assert_eq!(lock.labels("x86-a5"), None);

    let file = world.path("lock.json");
    lock.save(&file).unwrap();
    assert_eq!(Lock::load(&file).unwrap(), lock);
    fs_err::write(&file, fs_err::read_to_string(&file).unwrap().replace("\"pto_isa\"", "\"pto_isb\"")).unwrap();
    assert!(matches!(Lock::load(&file), Err(Error::Document { .. })));
    lock.save(&file).unwrap();
    let text = fs_err::read_to_string(&file).unwrap();
    fs_err::write(&file, text.replacen('{', "{ \"schema\": \"x\",", 1)).unwrap();
    let twice = Lock::load(&file).unwrap_err().to_string();
    assert!(twice.contains("`/schema` is there twice"), "{twice}");
    let mut both = lock.clone();
    both.images.push(lock.images[0].clone());
    both.save(&file).unwrap();
    assert!(Lock::load(&file).unwrap_err().to_string().contains("`arm-a5` is there twice"));

    // What moves is in the next plan, and not in this one.
    let newer = world.commit("pypto-lib", "echo 2 > model.py");
    let next = world.plan(&config).unwrap();
    assert_eq!(next.pypto_lib.commit, newer);
    assert_ne!(next.pypto_lib.commit, lock.pypto_lib.commit);
    // A commit that is asked for stays what it is.
    let pinned = world.config(|value| value["pypto_lib"]["ref"] = lock.pypto_lib.commit.clone().into());
    assert_eq!(world.plan(&pinned).unwrap().pypto_lib.commit, lock.pypto_lib.commit);
    let nowhere = world.config(|value| value["pypto_lib"]["ref"] = "0".repeat(40).into());
    assert!(matches!(world.plan(&nowhere), Err(Error::NotFetched { .. })), "and has to be there");
}

#[test]
fn only_a_checkout_of_pypto_is_taken_for_one() {
    let Some(world) = World::new() else { return };
    let request =
        PlanRequest { checkout: world.path("pypto-lib"), source: None, registry: Options::default(), proxy: None };
    let config = world.config(|_| {});
    let error = request.lock(&world.cx(), &config, &[]).unwrap_err();
    let told = error.to_string();
    assert!(told.contains("pypto-lib`") && told.contains("no `runtime` and no `toolchain/versions.env`"), "{told}");
    assert!(matches!(error, Error::NotPypto { .. }));
    // Where a commit of PyPTO is named, the recipe may be anywhere.
    let commit = world.commit("pypto", "true");
    let lock =
        request.lock(&world.cx(), &world.config(|value| value["pypto"]["ref"] = commit.clone().into()), &[]).unwrap();
    assert_eq!(lock.pypto.commit, commit);
    lock.require_recipe(&world.cx(), &world.path("pypto-lib")).unwrap();
    assert!(matches!(lock.require_recipe(&world.cx(), &world.path("pypto")), Err(Error::OtherRecipe { .. })));
}

#[test]
fn a_recipe_that_is_in_no_commit_is_not_planned() {
    let Some(world) = World::new() else { return };
    world.commit("pypto", "mkdir docker && echo FROM scratch > docker/pypto_dev.Dockerfile");
    // Sources are cloned: what is changed of them is in no image.
    fs_err::write(world.path("pypto/notes.txt"), "mine").unwrap();
    for file in ["docker/pypto_dev.Dockerfile", "docker/new.sh", "Cargo.toml"] {
        let path = world.path("pypto").join(file);
        let before = fs_err::read(&path).ok();
        fs_err::write(&path, "changed").unwrap();
        let error = world.plan(&world.config(|_| {})).unwrap_err();
        assert!(matches!(&error, Error::ChangedRecipe { changed, .. } if changed == &[file]), "{error}");
        world.do_as_told(&error);
        assert_eq!(fs_err::read(&path).ok(), before, "it is put aside");
        assert!(!matches!(world.plan(&world.config(|_| {})), Err(Error::ChangedRecipe { .. })));
    }
    // What git was told to overlook, and what it ignores: the engine does neither.
    let file = "docker/pypto_dev.Dockerfile";
    for tell in ["--assume-unchanged", "--skip-worktree"] {
        world.git("pypto", &["update-index", tell, file]);
        let error = world.plan(&world.config(|_| {})).unwrap_err();
        assert!(matches!(&error, Error::ChangedRecipe { changed, .. } if changed.is_empty()), "{error}");
        assert!(error.to_string().contains(&format!("`{file}` (overlooked by git)")), "{error}");
        world.do_as_told(&error);
        assert!(!matches!(world.plan(&world.config(|_| {})), Err(Error::ChangedRecipe { .. })), "{tell}");
    }
    fs_err::write(world.path("pypto/.git/info/exclude"), "*.log\n").unwrap();
    fs_err::write(world.path("pypto/docker/a.log"), "").unwrap();
    let error = world.plan(&world.config(|_| {})).unwrap_err();
    assert!(matches!(&error, Error::ChangedRecipe { changed, .. } if changed == &["docker/a.log"]), "{error}");
    world.do_as_told(&error);
    assert!(!world.path("pypto/docker/a.log").exists());
    // Below the top the paths of the recipe are others.
    let inside = PlanRequest { checkout: world.path("pypto/docker"), ..world.request() };
    let error = inside.lock(&world.cx(), &world.config(|_| {}), &[]).unwrap_err();
    assert!(matches!(&error, Error::NotTop { .. }), "{error}");
    assert!(error.hint().unwrap().contains("--checkout"), "{:?}", error.hint());
}

#[test]
fn a_plan_holds_no_password() {
    let Some(world) = World::new() else { return };
    for source in ["https://me:s3cret@h.example/x", "https://h.example/x?token=s3cret", "--upload-pack=s3cret", ""] {
        let request = PlanRequest { source: Some(source.to_owned()), ..world.request() };
        let error = request.lock(&world.cx(), &world.config(|_| {}), &[]).unwrap_err();
        assert!(matches!(error, Error::BadSource { .. }), "{source}: {error}");
    }
    let fork = PlanRequest { source: Some(world.path("pypto").display().to_string()), ..world.request() };
    fork.lock(&world.cx(), &world.config(|_| {}), &[]).unwrap();
    // The address of the runtime is PyPTO's.
    for url in ["https://me:s3cret@h.example/x", "https://h.example/x?private_token=s3cret"] {
        world.commit("pypto", &format!("git config -f .gitmodules submodule.simpler.url '{url}'"));
        let error = world.plan(&world.config(|_| {})).unwrap_err();
        assert!(matches!(error, Error::BadSource { .. }) && !error.to_string().contains("s3cret"), "{url}: {error}");
    }
}

#[test]
fn a_commit_that_was_not_pushed_is_named_with_what_git_says() {
    let Some(world) = World::new() else { return };
    let clone = Invocation::new("git").args(["clone", "--quiet", "pypto", "mine"]).cwd(world.path(""));
    clone.run(&world.cx()).unwrap().require_success().unwrap();
    let commit = world.commit("mine", "echo 1 > unpushed");
    let request = PlanRequest { checkout: world.path("mine"), source: None, registry: Options::default(), proxy: None };
    let config = world.config(|_| {});
    let error = request.lock(&world.cx(), &config, &config.images.iter().collect::<Vec<_>>()).unwrap_err();
    assert!(matches!(&error, Error::NotFetched { commit: named, .. } if *named == commit), "{error}");
    assert!(error.said().unwrap().contains(&commit), "{:?}", error.said());
    assert!(error.hint().unwrap().contains("push that commit"), "{:?}", error.hint());
}

#[test]
fn a_base_has_to_exist_and_to_be_for_the_platform() {
    let Some(world) = World::new() else { return };
    let tag = "9.2.0-950-ubuntu22.04-py3.11-devel";
    let config = world.config(|_| {});
    let refused = |config: &Config, words: &str| {
        let error = world.plan(config).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(&config, "there is no");
    let x86 = world.registry.push("ascend/cann", tag, "amd64", "x86");
    refused(&config, "it is for linux/amd64, expected linux/arm64");
    let arm = world.registry.push("ascend/cann", "other", "arm64", "arm");
    let pin = |digest: &str| world.config(|value| value["images"][0]["cann_digest"] = digest.into());
    assert!(world.plan(&pin(&arm.manifest)).unwrap().images[0].base.pinned);
    refused(&pin(&x86.manifest), "expected linux/arm64");
    refused(&pin(&format!("sha256:{}", "0".repeat(64))), "there is no");
}

#[test]
fn a_commit_without_its_pins_is_not_planned() {
    let Some(world) = World::new() else { return };
    let refused = |words: &str| {
        let error = world.plan(&world.config(|_| {})).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    world.registry.push("ascend/cann", "9.2.0-950-ubuntu22.04-py3.11-devel", "arm64", "arm");
    world.commit("pypto", "echo > toolchain/versions.env");
    refused("the version of PTOAS");
    world.commit("pypto", "echo PTOAS_VERSION=newest > toolchain/versions.env");
    refused("line 1: `newest`: expected a version");
    world.commit("pypto", "printf 'PTOAS_VERSION=v0.61\\nPTOAS_SHA256_X86_64=abc\\n' > toolchain/versions.env");
    refused("line 2: `abc`: expected 64 hexadecimal digits");
    let runtime = world.commit("simpler", "echo main > pto_isa.pin");
    let good = "mkdir -p toolchain && echo PTOAS_VERSION=v0.61 > toolchain/versions.env";
    world.commit("pypto", &format!("{good} && git update-index --cacheinfo 160000,{runtime},runtime"));
    refused("line 1: `main`: expected a commit of 40 hexadecimal digits");
    let two = world.commit("simpler", &format!("printf '{ISA}\\n{ISA}\\n' > pto_isa.pin"));
    world.commit("pypto", &format!("git update-index --cacheinfo 160000,{two},runtime"));
    refused("a second commit");
    let none = world.commit("simpler", "git rm -q pto_isa.pin");
    world.commit("pypto", &format!("git update-index --cacheinfo 160000,{none},runtime"));
    refused("there is no `pto_isa.pin`");
    world.commit("pypto", "git rm -q --cached runtime");
    refused("runtime");
}

#[test]
fn git_goes_through_the_proxy_of_the_plan() {
    let Some(world) = World::new() else { return };
    let proxy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let heard = std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        let (mut stream, _) = proxy.accept().unwrap();
        let mut text = [0; 4096];
        let length = stream.read(&mut text).unwrap();
        stream.write_all(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        // Whoever tries again is refused.
        drop(proxy);
        String::from_utf8_lossy(&text[..length]).into_owned()
    });
    let config = world.config(|value| value["pypto_lib"]["repository"] = "http://git.invalid/pypto-lib.git".into());
    let request =
        PlanRequest { checkout: world.path("pypto"), source: None, registry: Options::default(), proxy: Some(address) };
    let images: Vec<_> = config.images.iter().collect();
    assert!(request.lock(&world.cx(), &config, &images).is_err());
    assert!(heard.join().unwrap().starts_with("GET http://git.invalid/pypto-lib.git/info/refs"));
}

#[test]
fn what_a_base_needs_of_the_recipe_is_said_at_once() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docker/images.json");
    let config = Config::load(&file).unwrap().0;
    let dir = tempfile::tempdir().unwrap();
    let said = |name: &str| missing_patch(config.image(name).unwrap(), dir.path()).unwrap_or_default();
    for (name, patch) in [
        ("arm-a2a3", "a2a3/cann92-a2a3-aicpu-class-memaccess.patch"),
        ("x86-a5", "a5/cann92-a5-aicpu-class-memaccess.patch"),
    ] {
        assert!(said(name).contains(patch), "{}", said(name));
        fs_err::create_dir_all(dir.path().join(patch).parent().unwrap()).unwrap();
        fs_err::write(dir.path().join(patch), "").unwrap();
        assert_eq!(said(name), "");
    }
}
