//! `setup` and `update` as they are typed, on a real project with real remotes.

mod scratch;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use assert_cmd::Command;
use pto_loopback::{Reply, Server};
use pto_process::Invocation;
use pto_test::pypto::{Binding, Project, Python};
use scratch::Ran;

/// This program, or a link to it, with the project's home and checkout.
fn run(project: &Project, program: &Path, args: &[&str]) -> Ran {
    command(project, program).args(args).output().unwrap().into()
}

fn command(project: &Project, program: &Path) -> Command {
    let mut command = Command::new(program);
    for name in ["PTOAS_ROOT", "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "PYTHONPATH", "PTOKIT_UPDATE_CONTINUES"] {
        command.env_remove(name);
    }
    let cx = project.cx();
    for name in ["PYPTO_HOME", "PYPTO_SRC", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "CCACHE_DIR"] {
        command.env(name, cx.var(name).unwrap());
    }
    command.env("PTOKIT_HOME", project.dir().join("store"));
    command.current_dir(project.dir());
    command
}

fn xtask(project: &Project, args: &[&str]) -> Ran {
    run(project, Path::new(env!("CARGO_BIN_EXE_xtask")), args)
}

fn write(path: &Path, text: &str, mode: u32) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// The pinned assembler, as far as its installer looks.
fn install_ptoas(project: &Project) {
    let at = |name: &str| project.home().join("ptoas").join(name);
    write(&at("pyvenv.cfg"), "", 0o644);
    write(&at("bin/activate"), "", 0o644);
    write(&at("bin/python"), "#!/bin/sh\n", 0o755);
    write(&at("bin/ptoas"), "#!/bin/sh\necho ptoas 0.61\n", 0o755);
}

/// Has git take the project's own remote for PTO-ISA's.
fn fetch_pto_isa_from_here(project: &Project) {
    let config = project.cx().var("GIT_CONFIG_GLOBAL").unwrap();
    let real = pto_build::PtoIsaSources::default().url;
    let lines = format!("[url \"{}\"]\n    insteadOf = {real}\n", project.remote("pto-isa").display());
    let text = fs_err::read_to_string(&config).unwrap();
    fs_err::write(config, text + &lines).unwrap();
}

#[test]
fn a_checkout_that_cannot_move_is_named_with_the_command_that_helps() {
    let project = Project::new(Binding::Plain);
    project.git(&project.checkout(), &["checkout", "--quiet", "--detach"]);
    for args in [&["update", "--dry-run"][..], &["update"][..]] {
        let ran = xtask(&project, args).expect(2);
        let checkout = project.checkout().display().to_string();
        assert!(ran.stderr.contains(&format!("`{checkout}` has no branch checked out")), "{ran}");
        assert!(ran.stderr.contains(&format!("`git -C {checkout} switch main`")), "{ran}");
    }
    let json = xtask(&project, &["update", "--json"]).expect(2).json();
    assert_eq!((&json["schema"], &json["error"]["code"]), (&"ptokit.update/1".into(), &2.into()));
}

#[test]
fn the_checkouts_own_updater_goes_on_with_what_was_pulled() {
    let project = Project::new(Binding::Plain);
    let script = "echo \"theirs: $* ($PTOKIT_UPDATE_CONTINUES) in $PYPTO_HOME\"\nexit 7\n";
    let commit = project.push("pypto", "docker/scripts/pypto-update.sh", script);
    let plan = xtask(&project, &["update", "--dry-run", "--json"]).expect(0).json();
    assert_eq!(plan["pull"]["repositories"][0]["moves"][0]["to"], commit.as_str());
    // It is not here yet.
    let continues_with = plan["continues_with"].as_str().unwrap();
    assert!(continues_with.contains("docker/scripts/pypto-update.sh --no-pull"), "{plan}");
    let ran = xtask(&project, &["update", "--jobs", "2", "--skip-doctor"]).expect(7);
    let theirs = format!("theirs: --no-pull --jobs 2 --skip-doctor (1) in {}", project.home().display());
    assert_eq!(ran.stdout.lines().last().unwrap(), theirs, "{ran}");
    assert_eq!(project.git(&project.checkout(), &["rev-parse", "HEAD"]), commit);
    // It is the one of the checkout also when nothing is pulled.
    assert!(xtask(&project, &["update", "--no-pull"]).expect(7).stdout.starts_with("theirs: --no-pull (1)"));
    let planned = xtask(&project, &["update", "--no-pull", "--dry-run"]).expect(0);
    assert!(planned.stdout.contains("docker/scripts/pypto-update.sh --no-pull"), "{planned}");

    fs_err::remove_file(project.checkout().join("docker/scripts/pypto-update.sh")).unwrap();
    let ran = xtask(&project, &["update", "--no-pull"]).expect(2);
    assert!(ran.stderr.contains("has `docker/`, and no updater in it"), "{ran}");
}

#[test]
fn a_project_is_pulled_built_and_examined() {
    let Some(python) = Python::find() else { return };
    let project = Project::new(Binding::Plain);
    project.install(&python);
    install_ptoas(&project);
    fetch_pto_isa_from_here(&project);
    // A build that cannot be yet is no reason not to say what comes before it.
    let versions = fs_err::read_to_string(project.checkout().join("toolchain/versions.env")).unwrap();
    project.push("pypto", "toolchain/versions.env", &versions.replace("v0.61", "v0.62"));
    project.git(&project.checkout(), &["submodule", "--quiet", "deinit", "--all"]);
    let early = xtask(&project, &["update", "--dry-run"]).expect(0);
    for text in ["`runtime` would go to ", "  ptoas     v0.62\n", "  build     of what arrives\n"] {
        assert!(early.stdout.contains(text), "{text}: {early}");
    }
    project.git(&project.checkout(), &["submodule", "--quiet", "update", "--init"]);
    project.push("pypto", "toolchain/versions.env", &versions);

    let commit = project.push("pypto", "docs/news.md", "new\n");
    let plan = xtask(&project, &["update", "--dry-run", "--json"]).expect(0).json();
    assert_eq!((&plan["done"], &plan["ptoas"]["verdict"]), (&false.into(), &"as-pinned".into()));
    assert_eq!(plan["build"]["decision"]["kind"], "fresh");

    // Everything that is fetched goes through the proxy, PTO-ISA as well.
    let (git, asked) = (project.home().join("bin/git"), project.dir().join("asked"));
    let script = format!("#!/bin/sh\necho \"$HTTPS_PROXY $*\" >>{}\nexec /usr/bin/git \"$@\"\n", asked.display());
    write(&git, &script, 0o755);
    let proxy = "http://127.0.0.1:9";
    let done = xtask(&project, &["update", "--skip-doctor", "--json", "--proxy", proxy]).expect(0).json();
    fs_err::remove_file(git).unwrap();
    let asked = fs_err::read_to_string(asked).unwrap();
    let clone = asked.lines().find(|line| line.contains("clone ")).expect("PTO-ISA is cloned");
    assert!(clone.starts_with(proxy) && clone.contains("pto-isa"), "{clone}");
    assert_eq!((&done["done"], &done["ptoas"]["action"]), (&true.into(), &"nothing".into()));
    assert_eq!(done["pull"]["repositories"][0]["moves"][0]["to"], commit.as_str());
    assert_eq!(project.git(&project.checkout(), &["rev-parse", "HEAD"]), commit);
    let helpers = done["setup"]["plan"]["helpers"]["refresh"].as_array().unwrap();
    assert!(helpers.iter().any(|path| path.as_str().unwrap().ends_with("bin/ptokit")), "{helpers:?}");

    // From the home, under its own name, by the activation that was printed; nothing moves, and what is there is built upon.
    let own = project.home().join("bin/pypto-update");
    let again = run(&project, &own, &[]);
    assert!(matches!(again.code, Some(0 | 1)), "{again}");
    assert!(again.stdout.contains("is up to date with origin/main"), "{again}");
    assert!(again.stdout.contains("with what was there"), "{again}");
    assert!(again.stdout.contains("ready for:"), "{again}");
    let activation = again.stdout.lines().last().unwrap().split_once("do: ").unwrap().1.to_owned();
    let script =
        format!("{activation} && command -v python pypto-doctor && python -c 'import pypto; print(pypto.__file__)'");
    let shell = run(&project, Path::new("/bin/bash"), &["--noprofile", "--norc", "-euc", &script]).expect(0);
    let expected = [
        project.home().join("venv/bin/python"),
        project.home().join("bin/pypto-doctor"),
        project.checkout().join("python/pypto/__init__.py"),
    ];
    assert_eq!(shell.stdout.lines().collect::<Vec<_>>(), expected.map(|path| path.display().to_string()), "{shell}");
}

/// Makes a wheel of PTOAS as its releases have them, and prints its digest.
const WHEEL: &str = r##"
import base64, hashlib, sys, zipfile
path, version = sys.argv[1:]
info = f"ptoas-{version}.dist-info"
files = {
    "ptoas/__init__.py": (0o644, f"version = '{version}'\n"),
    f"ptoas-{version}.data/scripts/ptoas": (0o755, f"#!/bin/sh\necho ptoas {version}\n"),
    f"{info}/METADATA": (0o644, f"Metadata-Version: 2.1\nName: ptoas\nVersion: {version}\n"),
    f"{info}/WHEEL": (0o644, "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-any\n"),
}
digest = lambda text: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
record = "".join(f"{name},sha256={digest(text)},{len(text)}\n" for name, (_, text) in files.items())
files[f"{info}/RECORD"] = (0o644, record + f"{info}/RECORD,,\n")
with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
    for name, (mode, text) in files.items():
        entry = zipfile.ZipInfo(name)
        entry.external_attr = (0o100000 | mode) << 16
        wheel.writestr(entry, text)
print(hashlib.sha256(open(path, "rb").read()).hexdigest())
"##;

/// The release is for CPython 3.10, which need not be here: one that says that it is, and a `uv` that puts the wheel into an
/// environment as far as it is looked at.
const PYTHON: &str = r##"#!/bin/sh
machine=$(uname -m)
echo "ptokit:{\"version\": [3, 10], \"text\": \"3.10.1\", \"implementation\": \"cpython\", \"platform\": \"linux-$machine\", \"soabi\": \"cpython-310-$machine-linux-gnu\"}"
"##;
const UV: &str = r##"#!/bin/sh
for word; do [ "${last:-}" = --python ] && python=$word; last=$word; done
case $1 in
venv) mkdir "$last/bin" && touch "$last/pyvenv.cfg" "$last/bin/activate" && ln -s /bin/sh "$last/bin/python" ;;
pip)
    root=${python%/bin/python}
    python3 -m zipfile -e "$last" "$root/x" && mv "$root"/x/*.data/scripts/ptoas "$root/bin/" || exit
    chmod +x "$root/bin/ptoas" && rm -r "$root/x"
    ;;
esac
"##;

#[test]
fn the_release_of_ptoas_that_was_pulled_is_fetched_and_installed() {
    let Some(python) = Python::find() else { return };
    let project = Project::new(Binding::Plain);
    project.install(&python);
    install_ptoas(&project);
    fetch_pto_isa_from_here(&project);
    let machine = std::env::consts::ARCH;
    let asset = format!("ptoas-0.62-cp310-cp310-manylinux_2_34_{machine}.whl");
    let wheel = project.dir().join(&asset);
    let make = Invocation::new(project.home().join("venv/bin/python")).args(["-c", WHEEL]).arg(&wheel).arg("0.62");
    let digest = project.run(make).stdout.text().trim().to_owned();
    let pins = format!("PTOAS_VERSION=v0.62\nPTOAS_SHA256_{}={digest}\n", machine.to_uppercase());
    project.push("pypto", "toolchain/versions.env", &pins);
    let tools = project.dir().join("tools");
    write(&tools.join("python3.10"), PYTHON, 0o755);
    write(&tools.join("uv"), UV, 0o755);

    let server = Server::start().unwrap();
    let path = format!("/releases/v0.62/{asset}");
    server.script(&path, [Reply::body(fs_err::read(&wheel).unwrap())]);
    let update = || -> serde_json::Value {
        let mut update = command(&project, Path::new(env!("CARGO_BIN_EXE_xtask")));
        let variable = project.cx().var("PATH").unwrap();
        update.env("PATH", format!("{}:{variable}", tools.display())).env("PTOKIT_PTOAS_URL", server.url("/releases"));
        Ran::from(update.args(["update", "--skip-doctor", "--json"]).output().unwrap()).expect(0).json()
    };
    let ptoas = &update()["ptoas"];
    assert_eq!((&ptoas["action"], &ptoas["origin"]), (&"installed".into(), &server.url(&path).into()), "{ptoas}");
    let assembler = Invocation::new(project.home().join("ptoas/bin/ptoas")).arg("--version");
    assert_eq!(project.run(assembler).stdout.text(), "ptoas 0.62\n");
    assert_eq!(update()["ptoas"]["action"], "nothing");
    assert_eq!(server.requests().len(), 1, "{:?}", server.requests());
}

#[test]
fn setup_says_what_it_would_do_and_for_whom() {
    let project = Project::new(Binding::Plain);
    let plan = xtask(&project, &["setup", "--dry-run"]).expect(0);
    assert!(plan.stdout.starts_with(&format!("`{}` would be set up:\n", project.home().display())), "{plan}");
    assert!(plan.stdout.contains("build-constraints.txt`; the environment is new"), "{plan}");
    let only = xtask(&project, &["setup", "--helpers-only", "--json"]).expect(0).json();
    assert_eq!((&only["done"], &only["plan"]["venv"]), (&true.into(), &serde_json::Value::Null));
    let name = project.home().join("bin/pypto-setup");
    assert!(run(&project, &name, &["--helpers-only"]).expect(0).stdout.starts_with("ok `"));
    let bad = xtask(&project, &["setup", "--uv-version", "newest"]).expect(2);
    assert!(bad.stderr.contains("`newest` is no version of `uv`"), "{bad}");
}
