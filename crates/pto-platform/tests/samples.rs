//! The parsers over a folder of real outputs beside the repository, where there is one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use pto_platform::files::{
    parse_cann_file, parse_driver_info, parse_install_info, parse_platform_ini, parse_versions_env,
};
use pto_platform::npu_smi::{
    FailureKind, NpuSmiInfo, error_of_exit_status, parse_board, parse_failures, parse_health, parse_info, parse_list,
    parse_map, parse_memory,
};
use pto_platform::{Arch, Soc, Target, Version, cann_release};

/// Beside the repository, or beside the checkout's parent.
fn samples() -> Option<BTreeMap<String, String>> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let places = ["../../../shared/samples", "../../../../shared/samples"].map(|place| manifest.join(place));
    let Some(folder) = places.into_iter().find(|place| place.is_dir()) else {
        pto_test::absent("there is no folder of samples beside the repository");
        return None;
    };
    let files = fs::read_dir(folder).expect("the folder can be read").map(|entry| entry.expect("an entry").path());
    Some(files.map(|path| (name(&path), fs::read_to_string(&path).expect("a sample is text"))).collect())
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The samples whose names begin so; there must be some.
fn beginning<'a>(samples: &'a BTreeMap<String, String>, prefix: &str) -> Vec<(&'a str, &'a str)> {
    let found: Vec<_> = samples
        .iter()
        .filter(|(name, _)| name.starts_with(prefix))
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    assert!(!found.is_empty(), "no sample begins with `{prefix}`");
    found
}

fn one<'a>(samples: &'a BTreeMap<String, String>, prefix: &str) -> &'a str {
    beginning(samples, prefix)[0].1
}

fn indices(info: &NpuSmiInfo) -> Vec<u32> {
    info.devices.iter().map(|device| device.index.expect("the index is known")).collect()
}

fn used(info: &NpuSmiInfo) -> Vec<(u64, u64)> {
    info.devices.iter().map(|device| device.main_memory().map(|memory| (memory.used, memory.total)).unwrap()).collect()
}

#[test]
fn a2() {
    let Some(samples) = samples() else { return };
    let gap = parse_info(one(&samples, "E01-npusmi-910B3"));
    assert_eq!((indices(&gap), used(&gap)), (vec![0, 5], vec![(3445, 65536), (60156, 65536)]));
    let processes: Vec<_> = gap.processes.iter().map(|process| (process.npu, process.pid)).collect();
    assert_eq!(processes, [(5, 2_290_156)]);
    assert_eq!(indices(&parse_info(one(&samples, "E01-npusmi-910B4-25.5.2"))), [5]);
    assert_eq!(used(&parse_info(one(&samples, "E02-"))), [(2871, 32768)]);
    for (name, text) in beginning(&samples, "E01-").into_iter().chain(beginning(&samples, "E02-")) {
        let info = parse_info(text);
        assert_eq!(info.notes, [], "{name}");
        assert!(info.devices.iter().all(|device| device.identity().target == Some(Target::A2a3)), "{name}");
        assert!(info.devices.iter().all(|device| device.power_w.is_some() && device.hbm.is_some()), "{name}");
    }
}

#[test]
fn a3() {
    let Some(samples) = samples() else { return };
    let busy = parse_info(one(&samples, "E03-npusmi-A3-25.2.0"));
    assert_eq!((indices(&busy), used(&busy)[0]), (vec![0, 1, 2], (61609, 65536)));
    let second = parse_info(one(&samples, "E03-npusmi-A3-25.5.1"));
    assert_eq!(indices(&second), [8, 9]);
    assert_eq!(second.devices.iter().map(|die| (die.npu, die.chip)).collect::<Vec<_>>(), [(4, Some(0)), (4, Some(1))]);
    for info in [busy, second] {
        assert_eq!(info.notes, []);
        for die in &info.devices {
            assert_eq!(die.power_w.is_some(), die.chip == Some(0));
            assert_eq!((die.identity().target, die.identity().generation), (None, None), "this table does not decide");
        }
    }
}

#[test]
fn a5() {
    let Some(samples) = samples() else { return };
    let pr = parse_info(one(&samples, "E04-npusmi-950PR"));
    assert_eq!(indices(&pr), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(pr.processes.iter().map(|process| process.pid).collect::<Vec<_>>(), [846_718, 2_430_352]);
    assert!(pr.processes.iter().all(|process| process.name.is_none()));
    assert_eq!(pr.without_processes, [2]);
    let doc = parse_info(one(&samples, "E04-npusmi-950-official"));
    assert_eq!((indices(&doc), doc.processes.len()), (vec![0], 0));
    let dt = parse_info(one(&samples, "E05-"));
    assert_eq!((indices(&dt), dt.processes.len()), (vec![0, 1, 6, 7], 3));
    assert!(dt.devices.iter().all(|device| device.bus_id.is_none()));
    for info in [&pr, &dt] {
        assert!(info.devices.iter().all(|device| device.identity().target == Some(Target::A5)));
    }
    assert_eq!([pr.notes, doc.notes, dt.notes].concat(), []);
}

#[test]
fn generations_without_pto() {
    let Some(samples) = samples() else { return };
    let big = parse_info(one(&samples, "E06-npusmi-310P3-25.2.1"));
    assert_eq!(big.devices.iter().map(|device| device.npu).collect::<Vec<_>>(), [0, 32, 32768]);
    assert_eq!((indices(&big), used(&big)[0]), (vec![0, 1, 2], (19435, 21527)));
    let others = beginning(&samples, "E06-").into_iter().chain(beginning(&samples, "E07-"));
    for (name, text) in others {
        for device in parse_info(text).devices {
            let identity = device.identity();
            assert!(
                identity.target.is_none() && identity.generation.is_some() && identity.no_target.is_some(),
                "{name}"
            );
        }
    }
    assert_eq!(parse_info(one(&samples, "E07-npusmi-910A")).devices.len(), 2);
    let versions = parse_info(one(&samples, "E07-npusmi-910B-gen1"));
    assert_eq!(
        (versions.tool_version.as_deref(), versions.driver_version.as_deref()),
        (Some("23.0.rc2.2"), Some("23.0.0"))
    );
    assert_eq!(versions.notes.len(), 1);
}

#[test]
fn maps_boards_and_the_rest() {
    let Some(samples) = samples() else { return };
    let map = parse_map(one(&samples, "E09-npusmi-map-910B3"));
    assert_eq!(
        map.chips.iter().map(|chip| (chip.npu, chip.name.as_str())).collect::<Vec<_>>(),
        [(0, "Ascend 910B3"), (1, "Ascend 910B3")]
    );
    let map = parse_map(one(&samples, "E09-npusmi-map-950"));
    assert_eq!((map.chips[0].phy_id, map.chips[0].slot, map.notes.len()), (Some(0), Some(0), 0));

    for (prefix, soc, arch) in [
        ("E10-npusmi-board-910B4", "Ascend910B4", Arch::DAV_2201),
        ("E10-npusmi-board-A3", "Ascend910_9392", Arch::DAV_2201),
    ] {
        let name = parse_board(one(&samples, prefix)).entries[0].soc_name().unwrap();
        assert_eq!((name.as_str(), Soc::by_name(&name).map(|soc| soc.arch)), (soc, Ok(arch)));
    }
    assert!(parse_health(one(&samples, "E10-npusmi-health")).entries[0].health.is_ok());
    assert_eq!(parse_memory(one(&samples, "E10-npusmi-memory")).entries[0].hbm_mb, Some(65536));
    let list = parse_list(one(&samples, "E10-npusmi-list-910"));
    assert_eq!((list.total, list.cards.len(), list.notes.len()), (Some(16), 3, 1));
    let list = parse_list(one(&samples, "E10-npusmi-list-950PR"));
    assert_eq!(list.cards.iter().map(|card| card.npu).collect::<Vec<_>>(), [0, 3]);
}

#[test]
fn failures_and_exit_codes() {
    let Some(samples) = samples() else { return };
    let codes = |prefix| -> Vec<i32> {
        let failures = parse_failures(one(&samples, prefix));
        failures.iter().filter_map(|failure| failure.code().map(|code| code.code)).collect()
    };
    assert_eq!(codes("E11-container"), [-8020, -9005]);
    assert_eq!(codes("E11-npusmi-fail-8020-con"), [-8020]);
    assert_eq!(codes("E11-npusmi-fail-8020-ret4"), [-8020]);
    assert_eq!(codes("E12-"), [-8005]);
    assert_eq!(codes("E15-"), [-8020]);
    let kind = |prefix| parse_failures(one(&samples, prefix)).remove(0).kind;
    assert_eq!(kind("E13-"), FailureKind::MissingLibrary("libdrvdsmi_host.so".into()));
    assert_eq!(kind("E14-npusmi-no-card"), FailureKind::NoCard);
    for line in one(&samples, "E14-exit-codes").lines().filter(|line| line.starts_with('-')) {
        let mut words = line.split_whitespace();
        let code: i32 = words.next().unwrap().parse().unwrap();
        let status: u8 = words.next().unwrap().parse().unwrap();
        assert_eq!(error_of_exit_status(status).map(|known| known.code), Some(code), "{line}");
    }
}

#[test]
fn version_files() {
    let Some(samples) = samples() else { return };
    for (name, text) in beginning(&samples, "E18-driver-version.info-") {
        let info = parse_driver_info(text);
        let expected = name.trim_start_matches("E18-driver-version.info-");
        assert_eq!((info.version, info.notes), (Version::parse(expected), vec![]), "{name}");
        assert!(info.firmware.is_some() && !info.compatible_with.is_empty(), "{name}");
    }
    for (name, text) in beginning(&samples, "E19-") {
        let file = parse_cann_file(text);
        let expected = name.rsplit('-').next().unwrap();
        assert_eq!((file.release, file.notes), (Version::parse(expected), vec![]), "{name}");
        assert_eq!(cann_release(text), Some(expected), "{name}");
    }
    assert_eq!(parse_cann_file(one(&samples, "E22-")).release, Version::parse("9.0.0"));
    for (name, text) in beginning(&samples, "E20-") {
        let info = parse_install_info(text);
        assert_eq!((info.driver.path.as_deref(), info.notes), (Some("/usr/local/Ascend"), vec![]), "{name}");
        assert!(info.driver.for_all.is_some(), "{name}");
    }
    for (name, text) in beginning(&samples, "I02-versions.env-") {
        let env = parse_versions_env(text);
        assert!(name.ends_with(env.ptoas.unwrap().as_str()) && env.sha256.len() == 2 && env.notes.is_empty(), "{name}");
    }
}

#[test]
fn platform_files() {
    let Some(samples) = samples() else { return };
    for (name, text) in beginning(&samples, "P01-") {
        let ini = parse_platform_ini(text);
        let soc = name.trim_start_matches("P01-").trim_end_matches(".ini");
        assert_eq!(
            (ini.soc_version(), ini.compare_with_table(), &ini.notes),
            (Some(soc), Ok(vec![]), &vec![]),
            "{name}"
        );
    }
}
