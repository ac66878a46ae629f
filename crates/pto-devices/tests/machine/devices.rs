//! Devices: what ACL and the quarantine add to the table, and which one is handed out.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use pto_context::Context;
use pto_devices::{Devices, Look, ProbeOptions, Seen, SocSource};
use pto_platform::Target;
use pto_quarantine::Quarantine;
use pto_test::host::{Host, PATIENCE};
use pto_test::npu_smi::{A2, A5};

// The library is built because this crate depends on it for its tests.
use ascendcl as _;

/// A host whose CANN has the library that plays devices.
fn host(nodes: &[&str]) -> Host {
    let mut host = Host::empty();
    host.nodes(nodes);
    let none: [(&str, &str); 0] = [];
    let acl = pto_launch::host_acl(&Context::fake("/", none), &std::env::current_exe().unwrap()).unwrap();
    let lib = host.root().join("opt/cann/lib64");
    fs_err::create_dir_all(&lib).unwrap();
    fs_err::os::unix::fs::symlink(acl, lib.join("libascendcl.so")).unwrap();
    host.var("ASCEND_HOME_PATH", "/opt/cann");
    host
}

fn ask(host: &Host, acl: bool) -> Devices {
    let worker = Some(PathBuf::from(env!("CARGO_BIN_EXE_pto-devices-worker")));
    Devices::ask(&host.cx(), &Look { probes: ProbeOptions { worker, deadline: PATIENCE }, acl })
}

#[test]
fn acl_is_believed_before_npu_smi() {
    let mut host = host(&["davinci1", "davinci6"]);
    host.program("npu-smi", A2, 0).var("PTO_ACLSIM_SOC", "Ascend910B4").var("PTO_ACLSIM_DEVICES", "2");
    // What this process may see is not what the machine has.
    host.var("ASCEND_RT_VISIBLE_DEVICES", "7");
    let ini = "[version]\nSoC_version=Ascend910B4\nShort_SoC_version=Ascend910B\nNpuArch=2201\n\
               [SoCInfo]\ncube_core_cnt=20\nvector_core_cnt=40\n";
    host.file("/opt/cann/x86_64-linux/data/platform_config/Ascend910B4.ini", ini);
    let devices = ask(&host, true).devices;
    let first = devices[0].probed.as_ref().unwrap();
    assert_eq!((devices[0].soc.as_deref(), devices[0].soc_from), (Some("Ascend910B4"), Some(SocSource::Acl)));
    assert_eq!(first.disagreements, ["`npu-smi` says `Ascend910B2`, ACL says `Ascend910B4`"]);
    let platform = first.platform.as_ref().unwrap();
    assert_eq!((platform.arch, platform.cube_cores), (Some(2201), Some(20)));
    // Node 6 is device 1 to ACL.
    assert!(devices.iter().all(|npu| npu.probed.as_ref().is_some_and(|probed| probed.opened)), "{devices:#?}");
    let plain = ask(&host, false).devices;
    assert_eq!((plain[0].soc_from, plain[0].probed.as_ref()), (Some(SocSource::Table), None));
}

#[test]
fn a_device_that_acl_cannot_open_is_not_handed_out() {
    let mut host = host(&["davinci1", "davinci6"]);
    host.program("npu-smi", A2, 0).var("PTO_ACLSIM_DEVICES", "2").var("PTO_ACLSIM_FAULT", "aclrtSetDevice=507899");
    assert_eq!(ask(&host, false).idle().and_then(|npu| npu.index), Some(1));
    let devices = ask(&host, true);
    assert!(devices.idle().is_none());
    let error = devices.devices[0].probed.as_ref().and_then(|probed| probed.error.clone()).unwrap();
    assert!(error.starts_with("aclrtSetDevice: ") && error.contains("507899"), "{error}");
}

#[test]
fn where_npu_smi_fails_the_nodes_and_acl_say_it_all() {
    let mut host = host(&["davinci0", "davinci1"]);
    host.program("npu-smi", "npu get board type failed. ret is -9005\n", 211);
    host.var("PTO_ACLSIM_SOC", "Ascend950PR_9599").var("PTO_ACLSIM_DEVICES", "2");
    let plain = ask(&host, false);
    assert!(plain.unavailable.as_ref().is_some_and(|why| why.contains("-9005")), "{plain:?}");
    assert_eq!((plain.devices.len(), plain.idle()), (2, None), "nothing is known of them");
    let asked = ask(&host, true);
    assert_eq!((asked.devices[1].node.as_deref(), asked.devices[1].target), (Some("/dev/davinci1"), Some(Target::A5)));
    assert_eq!(asked.idle().and_then(|npu| npu.index), Some(0));
}

#[test]
fn what_is_set_aside_is_not_handed_out() {
    let mut host = Host::empty();
    host.program("npu-smi", A5, 0).var("PTOKIT_QUARANTINE", "quarantine");
    assert_eq!(ask(&host, false).idle().and_then(|npu| npu.index), Some(0));
    let quarantine = Quarantine::of(&host.cx());
    let now = SystemTime::now();
    quarantine.put(0, "`softmax` did not end within 60 s", Duration::from_secs(3600), now).unwrap();
    let devices = ask(&host, false);
    assert!(devices.idle().is_none(), "the other one is sick");
    let npu = &devices.devices[0];
    assert_eq!((npu.quarantined, npu.idle), (true, false));
    assert_eq!(npu.quarantine[0].why, "`softmax` did not end within 60 s");
    quarantine.release(0).unwrap();
    fs_err::write(quarantine.dir().join("davinci0-x.json"), "garbage").unwrap();
    assert!(ask(&host, false).idle().is_none(), "in doubt it is not handed out");
}

fn seen(host: &Host) -> Seen {
    let worker = Some(PathBuf::from(env!("CARGO_BIN_EXE_pto-devices-worker")));
    Seen::ask(&host.cx(), &ProbeOptions { worker, deadline: PATIENCE })
}

#[test]
fn a_process_counts_the_devices_that_it_sees() {
    let mut host = host(&["davinci1", "davinci6"]);
    host.program("npu-smi", A2, 0).var("PTO_ACLSIM_DEVICES", "2");
    let numbers = |seen: &Seen| seen.devices.iter().map(|(device, npu)| (*device, npu.index)).collect::<Vec<_>>();
    assert_eq!(numbers(&seen(&host)), [(0, Some(1)), (1, Some(6))]);
    host.var("ASCEND_RT_VISIBLE_DEVICES", "1");
    assert_eq!(numbers(&seen(&host)), [(0, Some(6))]);
}

#[test]
fn acl_opens_devices_that_nothing_else_shows() {
    let mut host = host(&[]);
    host.var("PTO_ACLSIM_SOC", "Ascend910_9392").var("PTO_ACLSIM_DEVICES", "2");
    let seen = seen(&host);
    assert_eq!(seen.devices.len(), 2, "{seen:?}");
    let (number, npu) = &seen.devices[1];
    assert_eq!((*number, npu.target, npu.node.as_ref(), npu.idle), (1, Some(Target::A2a3), None, true));
    assert_eq!(seen.model, None);
}

#[test]
fn without_cann_nothing_is_asked() {
    let seen = seen(&Host::empty());
    assert!(seen.devices.is_empty() && seen.unavailable.is_some(), "{seen:?}");
}
