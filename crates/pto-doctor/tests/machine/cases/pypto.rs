//! PyPTO's home, its checkout, and what was built from it.

use std::path::Path;

use pto_build::{Blocked, Decision, HelpersStep, PackagesStep, Plan, Reason, State, UvStep, VenvStep};
use pto_checkout::{Checkout, GitDirs, Operation, Owner, Submodule, Tracking, Upstream};
use pto_doctor::NextBuild;

use super::*;

pub(super) fn pypto_cases() -> Vec<Case> {
    vec![
        case("ptoas", Ok, "0.61", |host| {
            checkout(host);
            host.program("ptoas", "ptoas 0.61\n", 0);
        }),
        case("ptoas", Fail, "0.57 in", |host| {
            checkout(host);
            host.program("ptoas", "ptoas version v0.57 (build 3)\n", 0);
        }),
        case("ptoas", Fail, "`PTOAS_ROOT` is `/gone`", |host| {
            host.var("PTOAS_ROOT", "/gone").program("ptoas", "ptoas 0.61\n", 0);
        }),
        case("ptoas", Warn, "not installed, the checkout pins", checkout),
        case("checkout", Ok, "pins PTOAS v0.61 and PTO-ISA 0123456789ab", checkout),
        case("checkout", Fail, "not a directory", |host| {
            host.var("PYPTO_SRC", "/gone");
        }),
        case("checkout", Warn, "no PTO-ISA", |host| {
            host.var("PYPTO_SRC", "/src").file("/src/toolchain/versions.env", "PTOAS_VERSION=v0.61\n");
        }),
        knowing(
            case("simpler-binding", Ok, "matches its source tree", |host| bound(host, &stamped(COMMIT))),
            |probes| {
                at_commit(probes, "");
            },
        ),
        knowing(case("simpler-binding", Warn, "uncommitted changes", |host| bound(host, &stamped(COMMIT))), |probes| {
            at_commit(probes, " M src/a.cpp\n");
        }),
        knowing(
            case("simpler-binding", Ok, "the image's managed patch", |host| {
                patched(host, true, None);
            }),
            |probes| at_commit(probes, " M src/a.cpp\n"),
        ),
        knowing(
            case("simpler-binding", Ok, "the image's managed patch", |host| {
                patched(host, true, Some("the patch"));
            }),
            |probes| at_commit(probes, " M src/a.cpp\n"),
        ),
        knowing(case("simpler-binding", Warn, "uncommitted changes", |host| patched(host, false, None)), |probes| {
            at_commit(probes, " M src/a.cpp\n")
        }),
        knowing(
            case("simpler-binding", Warn, "uncommitted changes", |host| patched(host, true, Some("another patch"))),
            |probes| at_commit(probes, " M src/a.cpp\n"),
        ),
        knowing(
            case("simpler-binding", Fail, "was built from fedcba, `runtime/` is at 0123456789ab", |host| {
                host.var("PYPTO_SKIP_RUNTIME_PIN_CHECK", "1");
                bound(host, &stamped("fedcba"));
            }),
            |probes| at_commit(probes, ""),
        ),
        knowing(case("simpler-binding", Warn, "may lack: `src/b.cpp`", |host| patched(host, true, None)), |probes| {
            at_commit(probes, "?? src/b.cpp\n M src/a.cpp\n")
        }),
        knowing(
            case("simpler-binding", Warn, "may lack: `src/b.cpp`", |host| bound(host, &stamped(COMMIT))),
            |probes| {
                at_commit(probes, "?? src/b.cpp\n");
            },
        ),
        knowing(
            case("simpler-binding", Warn, "managed patch, which `runtime/` does not have any more", |host| {
                patched(host, true, None);
            }),
            |probes| at_commit(probes, ""),
        ),
        knowing(
            case("simpler-binding", Ok, "matches its source tree", |host| {
                patched(host, true, None);
                host.file("/venv/ext.so", "an extension of a later build, without patches");
            }),
            |probes| at_commit(probes, ""),
        ),
        knowing(case("simpler-binding", Ok, "matches its source tree", |host| recorded(host, "", true)), |probes| {
            at_commit(probes, "")
        }),
        knowing(
            case(
                "simpler-binding",
                Warn,
                "is not there: simpler is not installed (in `/opt/pypto/venv/bin/python`)",
                home,
            ),
            |probes| {
                probes.home_python = python_of("\"simpler\":null", "{\"state\":\"not-asked\"}");
            },
        ),
        knowing(case("simpler-binding", Warn, "cannot be looked at: `python3` is not there", home), |_| {}),
        knowing(case("simpler-binding", Skip, "cannot be looked at: `python3` is not there", checkout), |_| {}),
        knowing(
            case("simpler-binding", Warn, "cannot be looked at: `/opt/pypto/venv/bin/python` hangs", home),
            |probes| {
                probes.home_python = Answer::Broken("hangs".into());
            },
        ),
        // The one on `PATH` is not asked where the home has one.
        knowing(
            case("simpler-binding", Ok, "matches its source tree (in `/opt/pypto/venv/bin/python`)", |host| {
                home(host);
                host.python("\"simpler\":null", "{\"state\":\"not-asked\"}");
            }),
            |probes| {
                at_commit(probes, "");
                probes.home_python = python_of(SIMPLER, &stamped(COMMIT));
            },
        ),
        knowing(
            case("simpler-binding", Warn, "is not known: fatal: dubious", |host| bound(host, &stamped(COMMIT))),
            |probes| {
                probes.runtime.head = Answer::Broken("fatal: dubious".into());
            },
        ),
        case("simpler-binding", Fail, "predates revision stamping", |host| bound(host, "{\"state\":\"unstamped\"}")),
        case("simpler-binding", Warn, "its stamp is empty", |host| bound(host, &stamped(""))),
        case("dist-manifest", Ok, "pypto 0123456789ab, ptoas v0.61, built 2026-01-02T03:04:05Z", |host| {
            host.file(
                "/opt/pypto/dist-manifest",
                &format!("pypto     {COMMIT}\nptoas     v0.61\nbuilt     2026-01-02T03:04:05Z\n"),
            );
        }),
        case("dist-manifest", Warn, "line 1", |host| {
            host.file("/opt/pypto/dist-manifest", "pypto main\n");
        }),
        case("dist-manifest", Skip, "there is no `/opt/pypto/dist-manifest`", |_| {}),
    ]
}

/// A record of `the diff`, `the patch` where it is named, and `the extension`; and the patch as it lies in the home.
fn patched(host: &mut Host, is_named: bool, patch: Option<&str>) {
    recorded(host, "the diff", is_named);
    if let Some(patch) = patch {
        host.file("/opt/pypto/dist-state.patch", patch);
    }
}

fn recorded(host: &mut Host, diff: &str, is_named: bool) {
    bound(host, &stamped(COMMIT));
    let named = if is_named { format!("\"patch_sha256\":\"{}\",", sha256("the patch")) } else { String::new() };
    let (diff, extension) = (sha256(diff), sha256("the extension"));
    let state = format!(
        "{{\"runtime_sha\":\"{COMMIT}\",\"diff_sha256\":\"{diff}\",{named}\"extension_sha256\":\"{extension}\"}}"
    );
    host.file("/venv/ext.so", "the extension").file("/opt/pypto/dist-state.json", &state);
}

pub(super) fn sha256(text: &str) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A home with an environment and helpers.
fn home(host: &mut Host) {
    checkout(host);
    for part in ["pyvenv.cfg", "bin/activate", "bin/python"] {
        host.file(&format!("/opt/pypto/venv/{part}"), "");
    }
    host.file("/opt/pypto/bin/uv", "").executable("/opt/pypto/bin/ptokit");
    link(host, "ptokit", "/opt/pypto/bin/pypto-doctor");
}

fn link(host: &Host, target: &str, path: &str) {
    fs_err::os::unix::fs::symlink(target, host.place(path)).unwrap();
}

fn planned(probes: &mut Probes, set: impl FnOnce(&mut Plan)) {
    let mut plan = Plan {
        uv: Some(UvStep::Keep { version: "0.9.2".into() }),
        venv: Some(VenvStep::Keep { python: "3.10.12".into() }),
        packages: Some(PackagesStep::Keep),
        helpers: HelpersStep { refresh: Vec::new() },
    };
    set(&mut plan);
    probes.setup = Some(Result::Ok(plan));
}

fn unfit(plan: &mut Plan) {
    plan.venv = Some(VenvStep::Build { with: None, why: Some("it has no `bin/activate`".into()) });
}

pub(super) fn home_cases() -> Vec<Case> {
    vec![
        case("venv", Ok, "`/opt/pypto/venv` has its parts", home),
        case("venv", Warn, "there is no `/opt/pypto/venv`", checkout),
        case("venv", Fail, "has no `bin/activate`", |host| {
            home(host);
            fs_err::remove_file(host.place("/opt/pypto/venv/bin/activate")).unwrap();
        }),
        knowing(case("venv", Ok, "is complete, with CPython 3.10.12", home), |probes| planned(probes, |_| {})),
        knowing(case("venv", Fail, "is not complete: it has no `bin/activate`", home), |probes| planned(probes, unfit)),
        knowing(case("venv", Warn, "not all packages: `build-constraints.txt` has changed", home), |probes| {
            planned(probes, |plan| {
                let why = "`build-constraints.txt` has changed".to_owned();
                plan.packages = Some(PackagesStep::Install { why, packages: Vec::new(), constraints: None });
            });
        }),
        knowing(case("venv", Skip, "cannot be told: torn", home), |probes| probes.setup = Some(Err("torn".into()))),
        case("venv", Skip, "there is no PyPTO here", |_| {}),
        case("uv", Ok, "`/opt/pypto/bin/uv`", home),
        case("uv", Warn, "there is no `/opt/pypto/bin/uv`", checkout),
        knowing(case("uv", Ok, "0.9.2 in", home), |probes| planned(probes, |_| {})),
        knowing(case("uv", Warn, "0.9.2 in `/root/uv`, and not in", home), |probes| {
            planned(probes, |plan| plan.uv = Some(UvStep::Copy { from: "/root/uv".into(), version: "0.9.2".into() }));
        }),
        knowing(case("uv", Fail, "is not here", home), |probes| {
            planned(probes, |plan| plan.uv = Some(UvStep::Fetch { version: None }));
        }),
        case("uv", Skip, "there is no PyPTO here", |_| {}),
        case("helpers", Ok, "lead to `ptokit`", home),
        case("helpers", Skip, "are not installed", checkout),
        case("helpers", Warn, "of an older setup are in `/opt/pypto/bin`: `pypto-build`", |host| {
            home(host);
            host.executable("/opt/pypto/bin/pypto-build").file("/opt/pypto/bin/pypto-activate.sh", "");
        }),
        case("helpers", Ok, "lead to `ptokit`", |host| {
            home(host);
            host.executable("/opt/pypto/bin/pypto-welcome");
        }),
        case("helpers", Fail, "lead nowhere", |host| {
            home(host);
            fs_err::remove_file(host.place("/opt/pypto/bin/ptokit")).unwrap();
        }),
        knowing(case("helpers", Ok, "are this program", home), |probes| planned(probes, |_| {})),
        knowing(case("helpers", Warn, "are not as this program has them: `ptokit`", home), |probes| {
            planned(probes, |plan| plan.helpers.refresh = vec!["/opt/pypto/bin/ptokit".into()]);
        }),
        knowing(case("helpers", Ok, "are this program", home), |probes| {
            let of_another_checkout = ["bin/pypto-activate.sh", "toolchain/versions.env"];
            planned(probes, |plan| {
                plan.helpers.refresh = of_another_checkout.map(|file| Path::new("/opt/pypto").join(file)).to_vec();
            });
        }),
    ]
}

/// A checkout on `main` that follows `origin/main`.
fn followed(probes: &mut Probes, set: impl FnOnce(&mut Checkout)) {
    let mut checkout = plain_checkout("/src/pypto");
    checkout.branch = Some("main".into());
    checkout.upstream = Some(Upstream { name: "origin/main".into(), tracking: Tracking::Same });
    set(&mut checkout);
    probes.checkout = Some(Result::Ok(checkout));
    probes.branch = Some(Result::Ok(None));
}

fn plain_checkout(root: &str) -> Checkout {
    Checkout {
        dirs: GitDirs { root: root.into(), git_dir: root.into(), common_dir: root.into() },
        primary: None,
        owner: Owner { uid: 0, gid: 0 },
        head: Some(COMMIT.into()),
        branch: None,
        upstream: None,
        operation: None,
        staged: Vec::new(),
        modified: Vec::new(),
        untracked: Vec::new(),
        conflicted: Vec::new(),
        submodules: Vec::new(),
    }
}

fn tracking(probes: &mut Probes, tracking: Tracking) {
    followed(probes, |checkout| checkout.upstream = Some(Upstream { name: "origin/main".into(), tracking }));
}

fn blocked(probes: &mut Probes, state: State) {
    followed(probes, |_| {});
    probes.branch = Some(Result::Ok(Some(Blocked { repository: "/src/pypto".into(), state })));
}

fn submodule(recorded: &str, inside: Option<Checkout>) -> Submodule {
    Submodule { path: "runtime".into(), recorded: recorded.into(), checkout: inside }
}

/// An extension, and a source that was changed so many seconds after it.
fn built(host: &mut Host, after: i64) {
    checkout(host);
    host.file("/src/pypto/python/pypto/core.so", "").file("/src/pypto/src/a.cpp", "");
    let at = |path: &str, seconds: i64| {
        let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs((1_700_000_000 + seconds).unsigned_abs());
        fs_err::File::options().write(true).open(host.place(path)).unwrap().set_modified(time).unwrap();
    };
    at("/src/pypto/python/pypto/core.so", 0);
    at("/src/pypto/src/a.cpp", after);
}

fn next(probes: &mut Probes, decision: Decision) {
    probes.build = Some(Result::Ok(NextBuild { decision, last_begun: None }));
}

pub(super) fn source_cases() -> Vec<Case> {
    vec![
        knowing(case("tracking-branch", Ok, "`main` follows origin/main, at 0123456789ab", checkout), |probes| {
            followed(probes, |_| {});
        }),
        knowing(case("tracking-branch", Ok, "2 commits ahead", checkout), |probes| {
            tracking(probes, Tracking::Ahead { commits: 2 });
        }),
        knowing(case("tracking-branch", Warn, "3 commits behind", checkout), |probes| {
            tracking(probes, Tracking::Behind { commits: 3 });
        }),
        knowing(case("tracking-branch", Warn, "which has commits that `origin/main` lacks", checkout), |probes| {
            blocked(probes, State::Diverged { branch: "main".into(), upstream: "origin/main".into() });
        }),
        knowing(case("tracking-branch", Warn, "`main`, which follows no branch of a remote", checkout), |probes| {
            blocked(probes, State::NoUpstream { branch: "main".into(), offered: None });
        }),
        knowing(case("tracking-branch", Warn, "in the middle of a rebase", checkout), |probes| {
            blocked(probes, State::Unfinished { operation: Operation::Rebase });
        }),
        knowing(case("tracking-branch", Ok, "none, at 0123456789ab", checkout), |probes| {
            blocked(probes, State::Detached { head: COMMIT.into(), switch: String::new() });
        }),
        knowing(case("tracking-branch", Skip, "cannot be told: no ways", checkout), |probes| {
            followed(probes, |_| {});
            probes.branch = Some(Err("no ways".into()));
        }),
        knowing(case("tracking-branch", Skip, "cannot be told: no git", checkout), |probes| {
            probes.checkout = Some(Err("no git".into()));
        }),
        knowing(case("submodules", Ok, "1 at what the checkout records", checkout), |probes| {
            followed(probes, |checkout| {
                checkout.submodules = vec![submodule(COMMIT, Some(plain_checkout("/src/pypto/runtime")))];
            });
        }),
        knowing(case("submodules", Fail, "not there: `runtime`", checkout), |probes| {
            followed(probes, |checkout| checkout.submodules = vec![submodule(COMMIT, None)]);
        }),
        knowing(case("submodules", Warn, "`runtime` is at 0123456789ab, recorded is feed", checkout), |probes| {
            followed(probes, |checkout| {
                checkout.submodules = vec![submodule("feed", Some(plain_checkout("/src/pypto/runtime")))];
            });
        }),
        case("submodules", Skip, "was not asked", checkout),
        case("native-build", Ok, "is newer than its sources", |host| built(host, -5)),
        case("native-build", Warn, "core.so` is older than `/src/pypto/src/a.cpp`", |host| built(host, 5)),
        case("native-build", Warn, "core.so` is older than `/src/pypto/3rdparty/new.h`", |host| {
            built(host, -5);
            host.file("/src/pypto/3rdparty/new.h", "");
        }),
        case("native-build", Warn, "core.so` is older than `/src/pypto/runtime/src/common/new.h`", |host| {
            built(host, -5);
            host.file("/src/pypto/runtime/src/common/new.h", "");
        }),
        case("native-build", Warn, "core.so` is older than `/src/pypto/cmake/new.cmake`", |host| {
            built(host, -5);
            host.file("/src/pypto/cmake/new.cmake", "");
        }),
        case("native-build", Ok, "is newer than its sources", |host| {
            built(host, -5);
            host.file("/src/pypto/3rdparty/.git", "");
        }),
        // What a build has looked at and found in no object is not built again.
        knowing(case("native-build", Ok, "is as the last build left it", |host| built(host, 5)), |probes| {
            let last_begun = Some(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_006));
            probes.build = Some(Result::Ok(NextBuild { decision: Decision::Incremental, last_begun }));
        }),
        case("native-build", Warn, "there is no extension in", checkout),
        knowing(case("native-build", Ok, "is newer", |host| built(host, -5)), |probes| {
            next(probes, Decision::Incremental);
        }),
        knowing(case("native-build", Warn, "there is no build yet", |host| built(host, -5)), |probes| {
            next(probes, Decision::Fresh { reason: Reason::NoBuild });
        }),
        knowing(case("native-build", Warn, "no record of the build", |host| built(host, -5)), |probes| {
            next(probes, Decision::Fresh { reason: Reason::Unrecorded });
        }),
        knowing(case("native-build", Skip, "cannot be told: no CMake", checkout), |probes| {
            probes.build = Some(Err("no CMake".into()));
        }),
    ]
}
