//! Every check, seen well and seen not well.

mod pypto;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::SystemTime;

use pto_doctor::acl_probe::{AclAnswer, AclFailure, AclProbe};
use pto_doctor::{Answer, Probes, Room, Said, Status, User, checks};
use pto_quarantine::{DEFAULT_TERM, Quarantine};
use pto_test::npu_smi::{A2, A5};

use crate::support::{Examined as _, Host, bare, python_facts};
use crate::text::{COMMIT, DOCKER, DOCKER_PLAIN, MANAGERS};
use Status::{Fail, Ok, Skip, Warn};

/// A check, a machine, what else is known, and what is to come of it.
struct Case {
    id: &'static str,
    machine: fn(&mut Host),
    known: fn(&mut Probes),
    status: Status,
    says: &'static str,
}

fn case(id: &'static str, status: Status, says: &'static str, machine: fn(&mut Host)) -> Case {
    Case { id, machine, known: |_| {}, status, says }
}

fn knowing(case: Case, known: fn(&mut Probes)) -> Case {
    Case { known, ..case }
}

fn opened(probes: &mut Probes, soc: &str) {
    probes.acl = AclProbe::Answered(AclAnswer {
        step: "done".into(),
        soc: Some(soc.into()),
        memory_mb: Some((62_748, 65_536)),
        ..AclAnswer::default()
    });
}

fn said(stdout: &str) -> Answer {
    Answer::Said(Said {
        success: true,
        status: "exited with code 0".into(),
        stdout: stdout.into(),
        stderr: String::new(),
    })
}

fn checkout(host: &mut Host) {
    host.var("PYPTO_SRC", "/src/pypto").file("/src/pypto/toolchain/versions.env", "PTOAS_VERSION=v0.61\n");
    host.file("/src/pypto/runtime/pto_isa.pin", &format!("{COMMIT}\n"));
}

fn cann(host: &mut Host) {
    host.var("ASCEND_HOME_PATH", "/opt/cann").file("/opt/cann/version.cfg", "toolkit_running_version=[7.8:9.0.0]\n");
}

fn driver(host: &mut Host, version: &str) {
    host.file("/usr/local/Ascend/driver/version.info", &format!("Version={version}\n"));
    host.file("/usr/local/Ascend/driver/lib64/driver/libascend_hal.so", "");
}

fn in_container(host: &mut Host) {
    host.file("/.dockerenv", "").var("ASCEND_VISIBLE_DEVICES", "6");
}

const SIMPLER: &str = r#""simpler":{"origin":"/venv/simpler/__init__.py","namespace":false,"places":[]}"#;

/// What a Python says of its modules and of simpler's stamp.
fn python_of(modules: &str, stamp: &str) -> Answer {
    said(&python_facts(modules, stamp))
}

fn bound(host: &mut Host, stamp: &str) {
    host.python(SIMPLER, stamp);
}

/// What `docker inspect` says of running containers that were all given NPU 6.
fn containers(names: &[&str]) -> String {
    let one = |name: &&str| {
        format!(
            r#"{{"Name":"/{name}","State":{{"Status":"running"}},"Config":{{"Env":["ASCEND_VISIBLE_DEVICES=6"]}},"HostConfig":{{}}}}"#
        )
    };
    format!("[{}]", names.iter().map(one).collect::<Vec<_>>().join(","))
}

fn stamped(commit: &str) -> String {
    format!("{{\"state\":\"stamped\",\"commit\":\"{commit}\",\"file\":\"/venv/ext.so\"}}")
}

fn at_commit(probes: &mut Probes, status: &str) {
    probes.runtime.head = said(COMMIT);
    probes.runtime.status = said(status);
    probes.runtime.diff_sha256 = Some(pypto::sha256("the diff"));
}

fn host_cases() -> Vec<Case> {
    vec![
        case("host", Ok, "x86_64, Linux 6.1.0-test", |_| {}),
        case("host", Ok, "aarch64", |host| {
            host.libc(183, "GLIBC_2.35");
        }),
        case("host", Skip, "no C library", |host| {
            host.libc(0, "");
        }),
        case("glibc", Ok, "GLIBC_2.35", |_| {}),
        case("glibc", Warn, "up to `GLIBC_2.28`", |host| {
            host.libc(62, "GLIBC_2.28");
        }),
        case("glibcxx", Ok, "GLIBCXX_3.4.30", |_| {}),
        case("glibcxx", Warn, "up to `GLIBCXX_3.4.28`, PTOAS needs `GLIBCXX_3.4.29`", |host| {
            host.file("/usr/lib64/libstdc++.so.6", "\0GLIBCXX_3.4.9\0GLIBCXX_3.4.28\0");
        }),
        case("disk", Ok, "100.0 GB free", |_| {}),
        knowing(case("disk", Warn, "1.0 GB free", |_| {}), |probes| {
            probes.room = Room { disk_free: Some(1 << 30), shm: None, docker_free: None };
        }),
        case("memory", Ok, "of 30.5 GB", |_| {}),
        case("memory", Warn, "0.1 of 30.5 GB", |host| {
            host.file("/proc/meminfo", "MemTotal: 32000000 kB\nMemAvailable: 100000 kB\n");
        }),
        case("shm", Ok, "16.0 GB", |_| {}),
        knowing(case("shm", Warn, "64 MB", |_| {}), |probes| probes.room.shm = Some(64 << 20)),
    ]
}

fn tool_cases() -> Vec<Case> {
    vec![
        case("cpu-compiler", Ok, "clang version 19.1.7", |host| {
            host.program("clang++", "Debian clang version 19.1.7 (3)\n", 0);
        }),
        case("cpu-compiler", Warn, "no clang++ or g++", |_| {}),
        case("cpu-compiler", Fail, "my-icc", |host| {
            host.var("CXX", "my-icc").program("my-icc", "icc 1.0\n", 0);
        }),
        case("pto-isa-headers", Ok, "fetched on first use", |_| {}),
        case("pto-isa-headers", Ok, "from `PTO_LIB_PATH`", |host| {
            host.var("PTO_LIB_PATH", "/isa").file("/isa/include/pto/pto-inst.hpp", "");
        }),
        case("pto-isa-headers", Fail, "pto-inst.hpp", |host| {
            host.var("PTO_LIB_PATH", "/isa");
        }),
        case("cann", Ok, "9.0.0 in `/opt/cann` (from `ASCEND_HOME_PATH`)", cann),
        case("cann", Ok, "also 8.5.0 in `/usr/local/Ascend/cann-8.5.0`", |host| {
            cann(host);
            host.file("/usr/local/Ascend/cann-8.5.0/opp/version.info", "Version=8.5.0.2.220\nversion_dir=8.5.0\n");
        }),
        case("cann", Ok, "; release by `version.cfg`", cann),
        case("cann", Warn, "`version.cfg` says 9.0.0, `compiler/version.info` says 8.5.0", |host| {
            cann(host);
            host.file("/opt/cann/compiler/version.info", "Version=8.5.0\n");
        }),
        case("cann", Skip, "not installed", |_| {}),
        case("cann", Warn, "of unknown release", |host| {
            host.var("ASCEND_HOME_PATH", "/opt/cann").file("/opt/cann/bin/x", "");
        }),
        case("cann", Fail, "/gone", |host| {
            host.var("ASCEND_HOME_PATH", "/gone");
        }),
        case("bisheng", Ok, "`/opt/cann/bin/bisheng` (inside CANN)", |host| {
            cann(host);
            host.executable("/opt/cann/bin/bisheng");
        }),
        case("bisheng", Fail, "no `bin/bisheng`", cann),
        case("bisheng", Warn, "is of another CANN than the one in use: 8.5.0", |host| {
            cann(host);
            let other = "/usr/local/Ascend/cann-8.5.0";
            host.executable(&format!("{other}/bin/bisheng")).var("PATH", &format!("{other}/bin"));
        }),
        case("bisheng", Skip, "not installed", |_| {}),
        case("simulator", Ok, "tools/simulator/Ascend910B1/lib`; `msprof`", |host| {
            cann(host);
            host.file("/opt/cann/tools/simulator/Ascend910B1/lib/libruntime_camodel.so", "");
            host.executable("/opt/cann/tools/profiler/bin/msprof");
        }),
        case("simulator", Ok, "aarch64-linux/simulator/dav_3510/lib`; `cannsim`", |host| {
            cann(host);
            host.file("/opt/cann/aarch64-linux/simulator/dav_3510/lib/libruntime_camodel.so", "");
            host.executable("/opt/cann/bin/cannsim");
        }),
        case("simulator", Warn, "msprof`) is of another CANN than the one in use: 8.5.0", |host| {
            cann(host);
            let other = "/usr/local/Ascend/cann-8.5.0";
            host.executable(&format!("{other}/bin/msprof"));
            let path = host.root().join(&other[1..]).join("bin").display().to_string();
            host.var("PATH", &path);
        }),
        case("simulator", Warn, "no simulator in `/opt/cann`", cann),
    ]
}

fn environment_cases() -> Vec<Case> {
    vec![
        case("ascend-variables", Ok, "not set", |_| {}),
        case("ascend-variables", Fail, "not bash", |host| {
            host.var("ASCEND_HOME_PATH", ".");
        }),
        case("ascend-variables", Fail, "not a directory", |host| {
            host.var("ASCEND_TOOLKIT_HOME", "/gone");
        }),
        case("ascend-variables", Warn, "takes the first", |host| {
            cann(host);
            host.var("ASCEND_TOOLKIT_HOME", "/opt/other").file("/opt/other/x", "");
        }),
        case("library-path", Ok, "1 directory", |host| {
            host.var("LD_LIBRARY_PATH", "/opt/lib");
        }),
        case("library-path", Warn, "empty element", |host| {
            host.var("LD_LIBRARY_PATH", "/opt/lib:");
        }),
        case("library-path", Warn, "stub libraries in `/opt/cann/devlib`", |host| {
            host.var("LD_LIBRARY_PATH", "/opt/lib:/opt/cann/devlib");
        }),
        case("python-path", Ok, "not set", |_| {}),
        case("python-path", Warn, "working directory", |host| {
            host.var("PYTHONPATH", "/opt/cann/python:");
        }),
        case("locale", Ok, "LANG=de_DE.UTF-8", |host| {
            host.var("LANG", "de_DE.UTF-8");
        }),
        case("locale", Warn, "not UTF-8", |host| {
            host.var("LC_ALL", "zh_CN.GBK");
        }),
        case("paths", Ok, "ASCII only", |_| {}),
        case("paths", Warn, "PTOKIT_HOME is `/my cache`", |host| {
            host.var("PTOKIT_HOME", "/my cache");
        }),
        case("paths", Warn, "/工具", |host| {
            host.var("PYPTO_HOME", "/工具");
        }),
        case("proxy", Ok, "http_proxy=http://***@proxy:80", |host| {
            host.var("http_proxy", "http://me:planted@proxy:80");
        }),
        case("proxy", Ok, "docker daemon http=http://***@proxy:80", |host| {
            host.program("docker", DOCKER, 0);
        }),
        case("proxy", Warn, "`http_proxy` and `HTTP_PROXY` differ", |host| {
            host.var("http_proxy", "http://a:1").var("HTTP_PROXY", "http://b:2");
        }),
    ]
}

fn npu_cases() -> Vec<Case> {
    vec![
        case("driver", Ok, "26.0.rc1 in", |host| driver(host, "26.0.rc1")),
        case("driver", Skip, "not installed", |_| {}),
        case("driver", Fail, "older than 25.2.0", |host| driver(host, "24.1.rc3")),
        case("driver", Fail, "`ASCEND_DRIVER_ROOT` names", |host| {
            host.var("ASCEND_DRIVER_ROOT", "/gone");
        }),
        case("driver", Warn, "version.info is not exposed (normal under --runtime=ascend)", |host| {
            in_container(host);
            host.file("/usr/local/Ascend/driver/lib64/driver/libascend_hal.so", "");
        }),
        case("driver-cann-pair", Ok, "driver 26.0.rc1 with CANN 9.0.0 on x86_64 is a supported pair", |host| {
            cann(host);
            driver(host, "26.0.rc1");
        }),
        case("driver-cann-pair", Fail, "not a supported pair; supported: driver 26.0.rc1 with CANN 9.0.0", |host| {
            cann(host);
            driver(host, "25.5.1");
        }),
        case("driver-cann-pair", Fail, "on x86_64 is not a supported pair", |host| {
            cann(host);
            host.file("/opt/cann/version.cfg", "toolkit_running_version=[7.9:9.2.0]\n");
            driver(host, "26.0.rc1");
        }),
        knowing(
            case("driver-cann-pair", Fail, "was tested with `a2a3`, and the NPU here is `a5`", |host| {
                cann(host);
                host.libc(183, "GLIBC_2.35");
                host.file("/opt/cann/version.cfg", "toolkit_running_version=[7.9:9.2.0]\n");
                driver(host, "26.0.rc1");
            }),
            |probes| opened(probes, "Ascend950PR_9579"),
        ),
        case("device-nodes", Ok, "davinci6, davinci_manager", |host| {
            host.nodes(&MANAGERS).nodes(&["davinci6"]);
        }),
        case("device-nodes", Fail, "`devmm_svm`, `hisi_hdc` missing", |host| {
            host.nodes(&["davinci0", "davinci_manager"]);
        }),
        knowing(
            case("device-nodes", Ok, "davinci0", |host| {
                host.nodes(&["davinci0", "davinci_manager", "hisi_hdc"]);
            }),
            |probes| opened(probes, "Ascend950PR_9579"),
        ),
        knowing(
            case("device-nodes", Fail, "user 65534 may not open `/dev/davinci0` (mode 0660", |host| {
                host.nodes(&MANAGERS).nodes(&["davinci0"]);
            }),
            |probes| probes.user = User { uid: 65_534, gids: vec![65_534] },
        ),
        case("device-nodes", Fail, "although `ASCEND_VISIBLE_DEVICES` asks for `6`", in_container),
        case("device-nodes", Skip, "no NPU on this machine", |_| {}),
        case("visible-devices", Ok, "not restricted", |_| {}),
        case("visible-devices", Fail, "asks for device 4, and this process has 1, counted from 0", |host| {
            host.var("ASCEND_RT_VISIBLE_DEVICES", "4").nodes(&["davinci6"]);
        }),
        case("visible-devices", Fail, "`PYPTO_DEVICE=1`", |host| {
            host.var("PYPTO_DEVICE", "1").nodes(&["davinci6"]);
        }),
        case("npu-smi", Ok, "davinci1 910B2 OK, davinci6 910B2 OK", |host| {
            host.program("npu-smi", A2, 0);
        }),
        case("npu-smi", Warn, "1 of 2 NPUs are not well: davinci1 Ascend950PR Alarm", |host| {
            host.program("npu-smi", A5, 0);
        }),
        case("npu-smi", Warn, "npu get board type failed. ret is -9005 — expected under --runtime=ascend", |host| {
            in_container(host);
            host.program("npu-smi", "npu get board type failed. ret is -9005\n", 1);
        }),
        case("npu-smi", Fail, "another container was given the same card", |host| {
            in_container(host);
            host.program("npu-smi", "DrvMngGetConsoleLogLevel failed. (ret=4)\ndcmi model initialized failed, because the device is used. ret is -8020\n", 1);
        }),
        case("npu-smi", Warn, "not found, although there are device nodes", |host| {
            host.nodes(&["davinci0"]);
        }),
        case("npu-smi", Skip, "no NPU card", |host| {
            host.program("npu-smi", "There is no NPU card on this server.\n", 1);
        }),
        case("npu-idle", Ok, "1; 6 held by 4711 (trainer)", |host| {
            host.program("npu-smi", A2, 0);
        }),
        case("npu-idle", Skip, "no table", |_| {}),
        // Utilisation without a process: docker knows which container has the card.
        case("npu-idle", Ok, "6 works at 35 %, no process is listed; the container `trainer` has it", |host| {
            host.program("npu-smi", &A2.replace("| 6       0                 | 4711 ", "| x"), 0).nodes(&["davinci6"]);
            host.script(
                "docker",
                &format!("case $1 in ps) echo a;; inspect) echo '{}';; esac", containers(&["trainer"])),
            );
        }),
        case("npu-idle", Warn, "NPU 6 was given to the containers `one`, `two`", |host| {
            host.program("npu-smi", A2, 0).nodes(&["davinci6"]);
            host.script(
                "docker",
                &format!("case $1 in ps) echo a b;; inspect) echo '{}';; esac", containers(&["one", "two"])),
            );
        }),
        case("npu-smi", Fail, "(resource occupied); NPU 6 was given to the containers `one`, `two`", |host| {
            let text = "dcmi model initialized failed, because the device is used. ret is -8020\n";
            host.program("npu-smi", text, 172).nodes(&["davinci6"]);
            host.script(
                "docker",
                &format!("case $1 in ps) echo a b;; inspect) echo '{}';; esac", containers(&["one", "two"])),
            );
        }),
        case("quarantine", Ok, "no device is set aside", |host| {
            host.nodes(&["davinci6"]);
        }),
        case("quarantine", Skip, "no device", |_| {}),
        case("quarantine", Warn, "davinci6 for 60 min more: `softmax` hung", |host| {
            host.nodes(&["davinci6"]).var("PTOKIT_QUARANTINE", "quarantine");
            let quarantine = Quarantine::of(&host.cx());
            quarantine.put(6, "`softmax` hung", DEFAULT_TERM, SystemTime::now()).unwrap();
        }),
        knowing(case("device-access", Ok, "aclrtSetDevice(0) ok, 62748MB HBM visible", |_| {}), |probes| {
            opened(probes, "Ascend910B2");
        }),
        knowing(case("device-access", Warn, "`Ascend310P3` is no target", |_| {}), |probes| {
            opened(probes, "Ascend310P3")
        }),
        knowing(case("device-access", Fail, "aclrtSetDevice(0) failed: it said 507899", |_| {}), |probes| {
            let error = AclFailure { message: "it said 507899".into(), code: Some(507_899), hint: None };
            probes.acl = AclProbe::Answered(AclAnswer {
                step: "aclrtSetDevice".into(),
                error: Some(error),
                ..AclAnswer::default()
            });
        }),
        knowing(case("device-access", Fail, "aclrtSetDevice(0) was ended by signal 11", |_| {}), |probes| {
            let answer = AclAnswer { step: "aclrtSetDevice".into(), ..AclAnswer::default() };
            probes.acl = AclProbe::Died("was ended by signal 11".into(), answer);
        }),
        case("device-access", Skip, "no `/dev/davinciN`", |_| {}),
    ]
}

fn python_cases() -> Vec<Case> {
    vec![
        case("docker", Ok, "engine 27.2.0, runtime `ascend` registered", |host| {
            host.program("docker", DOCKER, 0);
        }),
        case("docker", Warn, "has no `ascend` runtime", |host| {
            host.program("docker", DOCKER_PLAIN, 0).nodes(&["davinci0"]);
        }),
        case("docker", Skip, "not installed", |_| {}),
        knowing(
            case("docker", Warn, "has 12.0 GB free in `/var/lib/docker`", |host| {
                host.program("docker", DOCKER, 0).nodes(&["davinci0"]);
            }),
            |probes| probes.room.docker_free = Some(12 << 30),
        ),
        case("docker", Warn, "the engine does not answer: Cannot connect", |host| {
            host.program("docker", r#"{"ServerErrors":["Cannot connect to the Docker daemon"]}"#, 1)
                .nodes(&["davinci0"]);
        }),
        case("container", Ok, "cards count from 0: host 6 is 0", |host| {
            in_container(host);
            host.nodes(&["davinci0"]);
        }),
        case("container", Warn, "names 1 card, `/dev` has 2", |host| {
            in_container(host);
            host.nodes(&["davinci0", "davinci1"]);
        }),
        case("container", Skip, "not a container", |_| {}),
        case("python", Ok, "CPython 3.10.12", |host| {
            host.python("", "{\"state\":\"not-asked\"}");
        }),
        case("python", Warn, "said `Segmentation fault`", |host| {
            host.program("python3", "Segmentation fault\n", 139);
        }),
        case("import-pypto", Ok, "-> /venv/pypto/__init__.py", |host| {
            let module = r#""pypto":{"origin":"/venv/pypto/__init__.py","namespace":false,"places":[]}"#;
            host.python(module, "{\"state\":\"not-asked\"}");
        }),
        case("import-pypto", Warn, "in the working directory", |host| {
            let module = r#""pypto":{"origin":"/home/me/pypto/__init__.py","namespace":false,"places":[]}"#;
            host.python(module, "{\"state\":\"not-asked\"}");
        }),
        case("import-pypto", Ok, "-> /src/pypto/python/pypto/__init__.py", |host| {
            checkout(host);
            let module = r#""pypto":{"origin":"/src/pypto/python/pypto/__init__.py","namespace":false,"places":[]}"#;
            host.python(module, "{\"state\":\"not-asked\"}");
        }),
        case("import-pypto", Warn, "and not `/src/pypto/python/pypto/__init__.py` of the checkout", |host| {
            checkout(host);
            let module = r#""pypto":{"origin":"/venv/pypto/__init__.py","namespace":false,"places":[]}"#;
            host.python(module, "{\"state\":\"not-asked\"}");
        }),
        case("import-simpler", Ok, "-> /venv/simpler/__init__.py", |host| bound(host, "{\"state\":\"no-extension\"}")),
        case("import-simpler", Fail, "-> OSError: boom", |host| {
            host.python(r#""simpler":{"error":"OSError: boom"}"#, "{\"state\":\"not-asked\"}");
        }),
        case("import-ptoas", Ok, "-> /venv/ptoas.py", |host| {
            let module = r#""ptoas":{"origin":"/venv/ptoas.py","namespace":false,"places":[]}"#;
            host.python(module, "{\"state\":\"not-asked\"}");
        }),
        case("import-ptoas", Warn, "without `__init__.py`", |host| {
            let module = r#""ptoas":{"origin":null,"namespace":true,"places":["/home/me/ptoas"]}"#;
            host.python(module, "{\"state\":\"not-asked\"}");
        }),
    ]
}

fn all() -> Vec<Case> {
    [
        host_cases(),
        tool_cases(),
        environment_cases(),
        npu_cases(),
        python_cases(),
        pypto::pypto_cases(),
        pypto::home_cases(),
        pypto::source_cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn every_case_ends_as_it_should() {
    let mut wrong = Vec::new();
    for case in all() {
        let mut host = bare();
        (case.machine)(&mut host);
        let found = host.judge(case.id, case.known);
        if found.status != case.status || !found.evidence.contains(case.says) {
            wrong.push(format!(
                "{}: expected {} `{}`, found {} `{}`",
                case.id, case.status, case.says, found.status, found.evidence
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_failure_says_what_to_do() {
    for case in all().into_iter().filter(|case| case.status == Fail && case.id != "import-simpler") {
        let mut host = bare();
        (case.machine)(&mut host);
        let found = host.judge(case.id, case.known);
        assert!(found.remedy.is_some(), "{}: `{}` has no remedy", case.id, found.evidence);
    }
}

#[test]
fn every_check_is_seen_well_and_not_well() {
    let mut seen: BTreeMap<&str, (bool, bool)> = checks().map(|check| (check.id, (false, false))).collect();
    for case in all() {
        let seen = seen.get_mut(case.id).unwrap_or_else(|| panic!("no check `{}`", case.id));
        if case.status == Ok { seen.0 = true } else { seen.1 = true }
    }
    let lacking: Vec<_> = seen.iter().filter(|(_, seen)| **seen != (true, true)).collect();
    assert!(lacking.is_empty(), "without an ok or without a not ok: {lacking:?}");
}

#[test]
fn ids_are_kebab_case_and_documented() {
    for check in checks() {
        assert!(check.id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", check.id);
        assert!(check.docs.len() > 60 && check.docs.ends_with('.'), "{}", check.id);
        assert_eq!(checks().filter(|other| other.id == check.id).count(), 1, "{}", check.id);
    }
}

/// The book has a page for each check, with the text that `doctor --list` shows, a row for each status that was seen, what
/// to do, and where the rule comes from; and no other page.
#[test]
fn every_check_has_its_page() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/doctor");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut wrong = Vec::new();
    for check in checks() {
        let Result::Ok(page) = fs_err::read_to_string(dir.join(format!("{}.md", check.id))) else {
            wrong.push(format!("`{}` has no page", check.id));
            continue;
        };
        let seen = all().into_iter().filter(|case| case.id == check.id).map(|case| format!("| `{}` | ", case.status));
        let demanded = seen.chain([format!("# {}\n", check.id), "\n## Remedy\n\n".into(), "\n## Source\n\n".into()]);
        for part in demanded.collect::<BTreeSet<_>>().into_iter().filter(|part| !page.contains(part)) {
            wrong.push(format!("the page of `{}` has no `{}`", check.id, part.trim()));
        }
        if !words(&page).contains(&words(check.docs)) {
            wrong.push(format!("the page of `{}` does not say what `doctor --list` says", check.id));
        }
    }
    for entry in fs_err::read_dir(dir).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !name.strip_suffix(".md").is_some_and(|id| checks().any(|check| check.id == id)) {
            wrong.push(format!("{name} is the page of no check"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
