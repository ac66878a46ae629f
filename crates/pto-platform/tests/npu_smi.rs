//! What each output of `npu-smi` must give, as a table of models over the fixtures.

mod support;

use pto_platform::npu_smi::{
    Activity, Device, Health, NpuSmiInfo, Process, Usage, parse_board, parse_health, parse_info, parse_list, parse_map,
    parse_memory, parse_usages,
};
use pto_platform::{Generation, Target};
use support::fixture;

/// What is asked of a device: index, card, chip, name, health, power, temperature, utilisation, main memory.
type Row<'a> =
    (Option<u32>, u32, Option<u32>, &'a str, Health, Option<f64>, Option<f64>, Option<u32>, Option<(u64, u64)>);

/// Card, chip, process id, name, memory, process id in the container.
type ProcessRow<'a> = (u32, Option<u32>, u32, Option<&'a str>, Option<u64>, Option<u32>);

struct Model<'a> {
    fixture: &'a str,
    versions: (&'a str, &'a str),
    devices: &'a [Row<'a>],
    processes: &'a [ProcessRow<'a>],
    without_processes: &'a [u32],
    activities: &'a [Activity],
    failures: usize,
    /// Lines with notes.
    notes: &'a [usize],
}

const MODELS: [Model<'static>; 7] = [
    Model {
        fixture: "info-a2.txt",
        versions: ("25.4.1", "25.4.1"),
        devices: &[
            (Some(2), 2, Some(0), "910B2", Health::Ok, Some(98.3), Some(41.0), Some(0), Some((3390, 65536))),
            (Some(6), 6, Some(0), "910B2", Health::Alarm, Some(301.7), Some(77.0), Some(100), Some((61234, 65536))),
        ],
        processes: &[(6, Some(0), 81234, Some("python3.11"), Some(57801), None)],
        without_processes: &[2],
        activities: &[Activity::Idle, Activity::Processes(1)],
        failures: 0,
        notes: &[1, 21],
    },
    Model {
        fixture: "info-a2-wide.txt",
        versions: ("26.1.rc2", "26.1.rc2"),
        devices: &[(Some(3), 3, Some(0), "910B4", Health::Ok, Some(80.9), Some(35.0), Some(0), Some((2899, 32768)))],
        processes: &[],
        without_processes: &[],
        activities: &[Activity::Idle],
        failures: 0,
        notes: &[],
    },
    Model {
        fixture: "info-a3.txt",
        versions: ("25.3.0", "25.3.0"),
        devices: &[
            (Some(6), 3, Some(0), "Ascend910", Health::Ok, Some(168.4), Some(40.0), Some(0), Some((3105, 65536))),
            (Some(7), 3, Some(1), "Ascend910", Health::Ok, None, Some(42.0), Some(55), Some((42007, 65536))),
        ],
        processes: &[(3, Some(1), 4242, Some("decode | worker"), Some(38900), None)],
        without_processes: &[],
        activities: &[Activity::Idle, Activity::Processes(1)],
        failures: 0,
        notes: &[],
    },
    Model {
        fixture: "info-950.txt",
        versions: ("25.7.rc2", "25.7.rc2"),
        devices: &[
            (Some(0), 0, None, "Ascend950PR", Health::Ok, Some(190.5), Some(47.0), Some(0), Some((5399, 114_688))),
            (
                Some(1),
                1,
                None,
                "Ascend950PR",
                Health::Critical,
                Some(199.9),
                Some(88.0),
                Some(100),
                Some((99123, 131_072)),
            ),
            (Some(4), 4, None, "Ascend950DT", Health::Ok, Some(377.0), Some(49.0), Some(0), Some((6598, 86016))),
        ],
        processes: &[(0, None, 900_001, None, Some(301), None)],
        without_processes: &[4],
        activities: &[Activity::Processes(1), Activity::Utilised(100), Activity::Idle],
        failures: 1,
        notes: &[],
    },
    Model {
        fixture: "info-950-container-pids.txt",
        versions: ("25.6.rc2.b023", "25.6.rc2.b023"),
        devices: &[(
            Some(7),
            7,
            None,
            "Ascend950DT",
            Health::Ok,
            Some(379.2),
            Some(45.0),
            Some(3),
            Some((70001, 86016)),
        )],
        processes: &[
            (7, None, 710_001, Some("/srv/app/long-path/serve.py"), Some(50000), Some(17)),
            (7, None, 710_002, Some("/srv/app/long-path/helper.py"), Some(13000), None),
        ],
        without_processes: &[],
        activities: &[Activity::Processes(2)],
        failures: 0,
        notes: &[],
    },
    Model {
        fixture: "info-310p.txt",
        versions: ("24.1.0", "24.1.0"),
        devices: &[
            (Some(0), 224, Some(0), "310P3", Health::Ok, None, Some(51.0), Some(0), Some((1888, 44280))),
            (Some(1), 224, Some(1), "310P3", Health::Ok, None, Some(50.0), Some(0), Some((1720, 43693))),
            (Some(2), 32800, Some(0), "310P3", Health::Ok, None, Some(48.0), Some(17), Some((20111, 21527))),
        ],
        processes: &[],
        without_processes: &[],
        activities: &[Activity::Idle, Activity::Idle, Activity::Utilised(17)],
        failures: 0,
        notes: &[],
    },
    Model {
        fixture: "info-first-generation.txt",
        versions: ("22.0.3", "22.0.2"),
        devices: &[(Some(1), 1, Some(0), "910B", Health::Ok, Some(69.1), Some(40.0), Some(0), Some((1, 32768)))],
        processes: &[],
        without_processes: &[],
        activities: &[Activity::Idle],
        failures: 0,
        notes: &[2],
    },
];

fn row(device: &Device) -> Row<'_> {
    let memory = device.main_memory().map(|memory| (memory.used, memory.total));
    let Device { index, npu, chip, name, health, power_w, temperature_c, utilisation, .. } = device;
    (*index, *npu, *chip, name, health.clone(), *power_w, *temperature_c, *utilisation, memory)
}

fn process(process: &Process) -> ProcessRow<'_> {
    let Process { line: _, npu, chip, pid, name, memory_mb, container_pid } = process;
    (*npu, *chip, *pid, name.as_deref(), *memory_mb, *container_pid)
}

fn versions(info: &NpuSmiInfo) -> (&str, &str) {
    (info.tool_version.as_deref().unwrap_or_default(), info.driver_version.as_deref().unwrap_or_default())
}

#[test]
fn every_table_gives_its_model() {
    for model in MODELS {
        let info = parse_info(&fixture(model.fixture));
        let name = model.fixture;
        assert_eq!(versions(&info), model.versions, "{name}");
        assert_eq!(info.devices.iter().map(row).collect::<Vec<_>>(), model.devices, "{name}");
        assert_eq!(info.processes.iter().map(process).collect::<Vec<_>>(), model.processes, "{name}");
        assert_eq!(info.without_processes, model.without_processes, "{name}");
        let activities: Vec<_> = info.devices.iter().map(|device| info.activity(device)).collect();
        assert_eq!(activities, model.activities, "{name}");
        assert_eq!(info.failures.len(), model.failures, "{name}");
        assert_eq!(
            info.notes.iter().map(|note| note.line).collect::<Vec<_>>(),
            model.notes,
            "{name}: {:?}",
            info.notes
        );
    }
}

#[test]
fn widths_and_spaces_change_nothing() {
    for model in MODELS {
        let text = fixture(model.fixture);
        let expected = parse_info(&text);
        let wider = text.replace('|', "   |   ").replace("+-", "+----------").replace("+=", "+==========");
        // Blanks inside a cell are part of nothing but multi-word names, of which the fixtures have none.
        let narrower: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        for (kind, text) in [("wider", wider), ("narrower", narrower.join("\r\n"))] {
            let info = parse_info(&text);
            assert_eq!(info.devices, expected.devices, "{} {kind}", model.fixture);
            assert_eq!(info.processes, expected.processes, "{} {kind}", model.fixture);
        }
    }
}

#[test]
fn a_table_without_its_headers_is_still_read() {
    for model in MODELS {
        let text = fixture(model.fixture);
        let headers = ["Health  ", "Bus-Id  ", "Process id"];
        let without: Vec<&str> =
            text.lines().filter(|line| !headers.iter().any(|header| line.contains(header))).collect();
        assert!(without.len() < text.lines().count(), "{}", model.fixture);
        let info = parse_info(&without.join("\n"));
        assert_eq!(info.devices.iter().map(row).collect::<Vec<_>>(), model.devices, "{}", model.fixture);
        assert_eq!(info.processes.len(), model.processes.len(), "{}", model.fixture);
    }
}

#[test]
fn a_damaged_table_loses_only_what_is_damaged() {
    let info = parse_info(&fixture("info-damaged.txt"));
    let known: Vec<_> = info.devices.iter().map(|device| (device.npu, device.index, device.hbm)).collect();
    let usage = |used| Some(Usage { used, total: 65536 });
    assert_eq!(known, [(1, Some(1), usage(3391)), (2, None, None), (4, Some(4), None)]);
    assert_eq!((info.devices[0].temperature_c, info.devices[0].power_w), (Some(41.0), None));
    assert_eq!(info.activity(&info.devices[1]), Activity::Unknown);
    assert_eq!(info.processes.iter().map(|process| process.pid).collect::<Vec<_>>(), [4711]);
    let notes: Vec<_> = info.notes.iter().map(|note| (note.line, note.why.as_ref())).collect();
    assert_eq!(
        notes,
        [
            (6, "second row of a device whose first row is missing"),
            (8, "expected a number"),
            (11, "the second row of this device is missing"),
            (13, "neither a device nor a process"),
            (16, "expected `used / total`"),
        ]
    );
}

#[test]
fn of_several_tables_the_last_counts() {
    let (old, new) = (fixture("info-a3.txt"), fixture("info-a2-wide.txt"));
    let info = parse_info(&format!("{old}\n{new}"));
    assert_eq!(info.devices.iter().map(|device| device.npu).collect::<Vec<_>>(), [3]);
    assert_eq!((info.processes.len(), info.driver_version.as_deref()), (0, Some("26.1.rc2")));
    assert_eq!(info.notes.len(), 1);
}

#[test]
fn an_a3_table_does_not_decide_the_target_and_the_board_does() {
    let info = parse_info(&fixture("info-a3.txt"));
    assert_eq!(info.devices[0].identity().target, None);
    assert_eq!(info.devices[1].node().as_deref(), Some("/dev/davinci7"));
    assert_eq!(info.devices[1].query_options(), ["-i", "3", "-c", "1"]);
    assert_eq!(parse_info(&fixture("info-950.txt")).devices[2].query_options(), ["-i", "4"]);

    let boards = [
        ("board-a2.txt", vec![(2, Some(0), "Ascend910B2")], Generation::A2, Target::A2a3),
        (
            "board-a3.txt",
            vec![(3, Some(0), "Ascend910_9391"), (3, Some(1), "Ascend910_9391")],
            Generation::A3,
            Target::A2a3,
        ),
        ("board-950.txt", vec![(1, None, "Ascend950PR_958b")], Generation::A5, Target::A5),
    ];
    for (name, chips, generation, target) in boards {
        let report = parse_board(&fixture(name));
        let found: Vec<_> =
            report.entries.iter().map(|board| (board.npu.unwrap(), board.chip, board.soc_name().unwrap())).collect();
        let expected: Vec<_> = chips.into_iter().map(|(npu, chip, soc)| (npu, chip, soc.to_owned())).collect();
        assert_eq!(found, expected, "{name}");
        let identity = report.entries[0].identity().unwrap();
        assert_eq!((identity.generation, identity.target), (Some(generation), Some(target)), "{name}");
        assert_eq!(report.notes, [], "{name}");
    }
}

#[test]
fn maps_are_read_by_their_titles() {
    type Chip<'a> = (u32, Option<u32>, Option<u32>, Option<u32>, Option<u32>, &'a str, Option<u32>);
    let models: [(&str, &[Chip<'_>], usize); 4] = [
        (
            "map-a2.txt",
            &[
                (0, None, Some(0), Some(0), None, "Ascend 910B2", Some(0)),
                (5, None, Some(0), Some(1), None, "Ascend 910B2", Some(5)),
            ],
            0,
        ),
        (
            "map-a3.txt",
            &[
                (2, None, Some(0), Some(0), Some(4), "Ascend910", Some(4)),
                (2, None, Some(1), Some(1), Some(5), "Ascend910", Some(5)),
            ],
            0,
        ),
        ("map-950.txt", &[(3, Some(19), Some(0), None, Some(3), "Ascend950PR", Some(3))], 0),
        ("map-old.txt", &[(8, None, Some(0), Some(0), None, "Ascend 310P3", Some(8))], 2),
    ];
    for (name, chips, notes) in models {
        let map = parse_map(&fixture(name));
        let found: Vec<_> = map
            .chips
            .iter()
            .map(|chip| (chip.npu, chip.slot, chip.chip, chip.logic_id, chip.phy_id, chip.name.as_str(), chip.index()))
            .collect();
        assert_eq!(found, chips, "{name}");
        assert_eq!(map.notes.len(), notes, "{name}: {:?}", map.notes);
    }
}

#[test]
fn lists_count_their_cards_and_keep_no_serial_number() {
    let list = parse_list(&fixture("list-a2.txt"));
    assert_eq!((list.total, list.notes.len()), (Some(2), 0));
    assert_eq!(list.cards.iter().map(|card| (card.npu, card.chips)).collect::<Vec<_>>(), [(2, Some(1)), (6, Some(1))]);

    let list = parse_list(&fixture("list-950.txt"));
    assert_eq!(list.cards.iter().map(|card| card.npu).collect::<Vec<_>>(), [0, 4]);
    assert_eq!(list.cards[1].product.as_deref(), Some("A310-50-TYPE1"));
    assert!(list.notes[0].why.contains("4") && list.notes[0].why.contains("2"), "{:?}", list.notes);
    assert!(!serde_json::to_string(&list).unwrap().contains("NOT-TO-BE-KEPT"));
}

#[test]
fn health_memory_and_usages() {
    let health = parse_health(&fixture("health.txt"));
    let found: Vec<_> =
        health.entries.iter().map(|entry| (entry.npu, &entry.health, entry.error_codes.len())).collect();
    assert_eq!(found, [(Some(6), &Health::Alarm, 2), (Some(7), &Health::Ok, 0)]);
    assert!(health.entries[0].error_information.is_some() && health.entries[1].error_information.is_none());

    let memory = &parse_memory(&fixture("memory.txt")).entries[0];
    assert_eq!((memory.npu, memory.chip, memory.ddr_mb, memory.hbm_mb), (Some(6), Some(0), Some(0), Some(32768)));
    assert_eq!((memory.hbm_clock_mhz, memory.hbm_temperature_c), (Some(1200), Some(51.0)));

    let usages = parse_usages(&fixture("usages.txt"));
    let found: Vec<_> = usages
        .entries
        .iter()
        .map(|entry| (entry.npu, entry.chip, entry.hbm_rate, entry.aicore_rate, entry.aivector_rate, entry.npu_rate))
        .collect();
    assert_eq!(
        found,
        [
            (Some(3), Some(0), Some(5), Some(0), Some(0), None),
            (Some(3), Some(1), Some(64), Some(57), Some(31), Some(54)),
        ]
    );
    assert_eq!(usages.notes.iter().map(|note| note.text.as_str()).collect::<Vec<_>>(), ["lots"]);
}

#[test]
fn a_failure_instead_of_an_output_is_a_failure() {
    let text = "dcmi model initialized failed, because the device is used. ret is -8020\n";
    assert_eq!(parse_info(text).failures[0].code().map(|code| code.exit_status()), Some(172));
    assert_eq!(parse_board(text).failures.len(), 1);
    assert_eq!(parse_list(text).failures.len(), 1);
    assert_eq!(parse_map(text).failures.len(), 1);
    assert!(parse_info(text).notes.is_empty());
}
