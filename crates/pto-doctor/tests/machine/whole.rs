//! Reports as a whole: strictness, secrets, snapshots, differences, devices.

use pto_context::Context;
use pto_doctor::devices::Devices;
use pto_doctor::diff::diff;
use pto_doctor::{DoctorError, Examination, Snapshot, Status, check, examine, judge};
use pto_test::npu_smi::{A2, A5};

use crate::support::{Examined as _, bare};
use crate::text::DOCKER;

#[test]
fn strict_takes_what_is_unverified_for_a_failure() {
    let mut host = bare();
    let module = r#""simpler":{"origin":"/venv/simpler/__init__.py","namespace":false,"places":[]}"#;
    host.python(module, "{\"state\":\"stamped\",\"commit\":\"\"}");
    let chosen = [check("simpler-binding").unwrap(), check("docker").unwrap()];
    let probes = host.probes(chosen[0].needs);
    let status = |strict| judge(&host.cx(), &probes, &chosen, strict).checks[0].status;
    assert_eq!((status(false), status(true)), (Status::Warn, Status::Fail));
}

#[test]
fn secrets_appear_nowhere() {
    let mut host = bare();
    host.var("HTTPS_PROXY", "http://me:planted-one@proxy:80").var("GH_TOKEN", "planted-two");
    host.var("ALL_PROXY", "me:planted@other:80");
    host.var("PTOAS_ROOT", "/x/planted-two/y").var("PYPTO_INDEX", "https://u:planted-three@index/simple");
    host.program("docker", DOCKER, 0);
    let report = host.report(|_| {});
    let file = host.root().join("snapshot.json");
    Snapshot::of(&report).write(&file).unwrap();
    let everything = format!("{}{report:?}", fs_err::read_to_string(file).unwrap());
    assert!(!everything.contains("planted"), "{everything}");
    assert!(everything.contains("***@proxy:80"), "what is no secret is shown");
}

#[test]
fn an_unreadable_file_is_skipped_with_the_reason() {
    let mut host = bare();
    // A directory in place of the file: unreadable for root as well.
    host.file("/usr/local/Ascend/driver/version.info/x", "").file("/usr/local/Ascend/driver/lib64/x", "");
    let found = host.judge("driver", |_| {});
    assert_eq!(found.status, Status::Skip);
    assert!(found.evidence.contains("cannot read `/usr/local/Ascend/driver/version.info`"), "{}", found.evidence);
}

#[test]
fn works_there_not_here() {
    let snapshot = |driver: &str, kernel: &str| {
        let mut host = bare();
        host.file("/usr/local/Ascend/driver/version.info", &format!("Version={driver}\n"));
        host.file("/usr/local/Ascend/driver/lib64/x", "").file("/proc/sys/kernel/osrelease", kernel);
        host.file("/usr/local/Ascend/cann-9.0.0/version.cfg", "toolkit_running_version=[1:9.0.0]\n");
        let report = host.report(|_| {});
        let file = host.root().join("s.json");
        Snapshot::of(&report).write(&file).unwrap();
        Snapshot::read(&file).unwrap()
    };
    let (there, here) = (snapshot("26.0.rc1", "6.1"), snapshot("25.5.1", "5.10"));
    let names: Vec<String> = diff(&there, &here).into_iter().map(|one| one.name).collect();
    // `PATH` names the temporary directory, which differs each time.
    assert_eq!(names, ["check.driver-cann-pair", "driver.version", "variable.PATH", "host.kernel"]);
    assert!(diff(&here, &here).is_empty());
}

#[test]
fn what_is_no_snapshot_is_refused() {
    let mut host = bare();
    host.file("/a.json", "{}").file("/b.json", "{\"schema\":\"other/9\",\"checks\":[],\"facts\":{}}");
    let read = |name: &str| Snapshot::read(&host.root().join(name)).unwrap_err();
    assert!(matches!(read("a.json"), DoctorError::NotASnapshot { .. }));
    assert!(read("b.json").to_string().contains("has the schema `other/9`, expected `ptokit.doctor-snapshot/1`"));
    assert!(matches!(read("gone.json"), DoctorError::Read(_)));
}

#[test]
fn an_unknown_check_is_refused() {
    let cx = Context::fake("/", [("PATH", "/bin")]);
    let examination = Examination { only: vec!["cuda".to_owned()], ..Examination::new(&cx) };
    assert_eq!(examine(&cx, &examination).unwrap_err().to_string(), "no check has the id `cuda`");
}

#[test]
fn an_idle_device_is_free_and_well() {
    let devices = Devices::of_text(A2);
    assert_eq!(devices.idle().and_then(|npu| npu.index), Some(1));
    let busy = &devices.devices[1];
    assert_eq!((busy.node.as_deref(), busy.processes[0].pid, busy.idle), (Some("/dev/davinci6"), 4711, false));
    let a5 = Devices::of_text(A5);
    assert_eq!(a5.devices[1].health, "Alarm");
    assert_eq!(a5.idle().and_then(|npu| npu.index), Some(0), "the other one has less in use, and is sick");
    assert!(Devices::of_text("nothing").unavailable.is_some());
    let occupied = "DrvMngGetConsoleLogLevel failed. (ret=4)\n\
                    dcmi model initialized failed, because the device is used. ret is -8020\n";
    let occupied = Devices::of_text(occupied);
    assert!(occupied.npu_smi_failed && occupied.unavailable.unwrap().ends_with("-8020"));
    for without in ["There is no NPU card on this server.\n", "bash: npu-smi: command not found\n", "nothing"] {
        assert!(!Devices::of_text(without).npu_smi_failed, "{without}");
    }
}
