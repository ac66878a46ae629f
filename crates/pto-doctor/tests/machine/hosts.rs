//! Whole machines: a laptop, hosts with NPUs, a container, a box with simulators.

use std::time::{Duration, Instant};

use pto_doctor::acl_probe::{AclAnswer, AclProbe};
use pto_doctor::{Answer, Probes, Report, Source, Status};
use pto_test::npu_smi::{A2, A5};

use crate::support::{Examined as _, Host, bare};
use crate::text::{A3, A3_BOARD, DOCKER, MANAGERS};

fn status(report: &Report, id: &str) -> Status {
    report.checks.iter().find(|check| check.id == id).unwrap_or_else(|| panic!("no check `{id}`")).status
}

fn clang(host: &mut Host) {
    host.program("clang++", "clang version 19.1.7\n", 0);
}

fn cann(host: &mut Host, release: &str) {
    let root = format!("/usr/local/Ascend/cann-{release}");
    host.file(&format!("{root}/version.cfg"), &format!("toolkit_running_version=[7.9:{release}]\n"));
    host.file(&format!("{root}/include/pto/pto-inst.hpp"), "").executable(&format!("{root}/bin/bisheng"));
}

fn driver(host: &mut Host, version: &str) {
    host.file("/usr/local/Ascend/driver/version.info", &format!("Version={version}\n"));
    host.file("/usr/local/Ascend/driver/lib64/driver/libascend_hal.so", "");
}

fn opened(soc: &'static str) -> impl FnOnce(&mut Probes) {
    move |probes| {
        probes.acl = AclProbe::Answered(AclAnswer {
            step: "done".into(),
            soc: Some(soc.into()),
            memory_mb: Some((62_748, 65_536)),
            ..AclAnswer::default()
        });
    }
}

#[test]
fn a_laptop_is_healthy_for_what_it_can_do() {
    let mut host = bare();
    clang(&mut host);
    let report = host.report(|_| {});
    assert!(report.passed(), "{report:#?}");
    assert_eq!((report.closing().as_str(), report.ready().as_str()), ("environment looks good.", "ready for: cpu"));
}

#[test]
fn an_a2_host_runs_its_kernels() {
    let mut host = bare();
    clang(&mut host);
    cann(&mut host, "9.0.0");
    driver(&mut host, "26.0.rc1");
    host.nodes(&MANAGERS).nodes(&["davinci1", "davinci6"]).program("npu-smi", A2, 0).program("docker", DOCKER, 0);
    let report = host.report(opened("Ascend910B2"));
    assert!(report.passed(), "{report:#?}");
    assert_eq!(report.ready(), "ready for: cpu, a2a3 (compile and run), a5 (compile)");
    let line = &report.checks.iter().find(|check| check.id == "device-access").unwrap().line;
    assert_eq!(line, "device access: aclrtSetDevice(0) ok, 62748MB HBM visible");
}

#[test]
fn an_a3_hosts_soc_is_asked_of_the_board() {
    let mut host = bare();
    host.script(
        "npu-smi",
        &format!("case \"$*\" in *board*) /bin/cat <<'E'\n{A3_BOARD}E\n;; *) /bin/cat <<'E'\n{A3}E\n;; esac"),
    );
    let probes = host.probes(&[Source::NpuSmi]);
    assert_eq!(probes.boards[0].1.soc_name().as_deref(), Some("Ascend910_9392"));
    assert_eq!(host.calls(), "npu-smi info\nnpu-smi info -t board -i 2 -c 0\n", "one question for both dies");
}

#[test]
fn an_a5_host_needs_no_devmm_and_its_own_driver() {
    let mut host = bare();
    cann(&mut host, "9.2.0");
    driver(&mut host, "25.7.rc1.12");
    host.nodes(&["davinci0", "davinci1", "davinci_manager", "hisi_hdc"]).program("npu-smi", A5, 0);
    let report = host.report(opened("Ascend950PR_9579"));
    assert!(report.passed(), "{report:#?}");
    assert_eq!((status(&report, "npu-smi"), status(&report, "driver-cann-pair")), (Status::Warn, Status::Ok));
    assert!(report.ready().ends_with("a5 (compile and run)"), "{}", report.ready());
}

#[test]
fn the_two_warnings_of_a_container_do_no_harm() {
    let mut host = bare();
    cann(&mut host, "9.0.0");
    host.file("/.dockerenv", "").var("ASCEND_VISIBLE_DEVICES", "1");
    host.file("/usr/local/Ascend/driver/lib64/driver/libascend_hal.so", "");
    host.nodes(&MANAGERS).nodes(&["davinci0"]).program("npu-smi", "npu get board type failed. ret is -9005\n", 1);
    let report = host.report(opened("Ascend910_9392"));
    assert!(report.passed(), "{report:#?}");
    let line = |id: &str| report.checks.iter().find(|check| check.id == id).map(|check| check.line.as_str()).unwrap();
    assert_eq!(line("driver"), "driver libs present but version.info is not exposed (normal under --runtime=ascend)");
    assert_eq!(line("npu-smi"), "npu-smi: npu get board type failed. ret is -9005 — expected under --runtime=ascend");
    assert!(report.ready().contains("a2a3 (compile and run)"));
}

#[test]
fn a_simulator_box_compiles() {
    let mut host = bare();
    cann(&mut host, "9.2.0");
    host.file("/usr/local/Ascend/cann-9.2.0/x86_64-linux/simulator/dav_3510/lib/libruntime_camodel.so", "");
    host.executable("/usr/local/Ascend/cann-9.2.0/bin/cannsim");
    let report = host.report(|_| {});
    assert!(report.passed(), "{report:#?}");
    assert_eq!(status(&report, "simulator"), Status::Ok);
    assert!(report.ready().contains("a2a3 (compile), a5 (compile)"), "{}", report.ready());
}

#[test]
fn a_shell_that_is_not_set_up_is_not_a_machine_without_npus() {
    let mut host = bare();
    host.script("npu-smi", &format!(
        "case \"$LD_LIBRARY_PATH\" in */driver/lib64/common*) /bin/cat <<'E'\n{A2}E\n;; *) echo 'npu-smi: error while loading \
         shared libraries: libdrvdsmi_host.so: cannot open shared object file' >&2; exit 127;; esac"
    ));
    let found = host.judge("npu-smi", |_| {});
    assert_eq!(found.status, Status::Warn);
    assert!(
        found.evidence.contains("this shell is not set up") && found.evidence.contains("davinci1"),
        "{}",
        found.evidence
    );
    assert!(found.remedy.unwrap().starts_with("export LD_LIBRARY_PATH=\"/usr/local/Ascend/driver/lib64/common:"));
}

#[test]
fn a_program_that_hangs_costs_its_own_check_alone() {
    let mut host = bare();
    host.script("npu-smi", "exec /bin/sleep 60").program("docker", DOCKER, 0);
    let started = Instant::now();
    let probes = host.probes_within(&[Source::NpuSmi, Source::Docker], Duration::from_secs(2));
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    assert!(
        matches!(&probes.npu_smi, Answer::Broken(why) if why.contains("did not answer within 2s")),
        "{:?}",
        probes.npu_smi
    );
    assert!(probes.docker.stdout().is_some());
}

#[test]
fn only_who_is_wanted_is_asked() {
    let mut host = bare();
    host.program("npu-smi", A2, 0).program("docker", DOCKER, 0).python("", "{\"state\":\"not-asked\"}");
    assert_eq!(host.judge("docker", |_| {}).status, Status::Ok);
    assert_eq!(host.calls(), "docker info --format {{json .}}\n");
}
