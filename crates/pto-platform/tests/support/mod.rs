//! Fixtures: texts in the structure of real ones, with values of our own.
#![allow(dead_code, reason = "each test binary uses a part of this")]

use std::fs;
use std::path::Path;

/// One fixture.
pub(crate) fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every fixture, by name.
pub(crate) fn fixtures() -> Vec<(String, String)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut names: Vec<String> = fs::read_dir(directory)
        .expect("the fixtures are part of the crate")
        .map(|entry| entry.expect("a directory entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names.into_iter().map(|name| (name.clone(), fixture(&name))).collect()
}

/// Every parser of the crate over one text. None of them may panic, whatever the text is.
pub(crate) fn parse_with_everything(text: &str) {
    use pto_platform::{docker, files, npu_smi};
    let info = npu_smi::parse_info(text);
    for device in &info.devices {
        let _ = (info.activity(device), device.identity(), device.node(), device.query_options());
    }
    for board in npu_smi::parse_board(text).entries {
        let _ = board.identity();
    }
    for chip in npu_smi::parse_map(text).chips {
        let _ = chip.index();
    }
    npu_smi::parse_list(text);
    npu_smi::parse_health(text);
    npu_smi::parse_memory(text);
    npu_smi::parse_usages(text);
    npu_smi::parse_failures(text);
    files::parse_driver_info(text);
    files::parse_firmware_info(text);
    files::parse_cann_file(text);
    files::parse_install_info(text);
    files::parse_versions_env(text);
    files::parse_pto_isa_pin(text);
    files::parse_dist_manifest(text);
    files::parse_dist_state(text);
    let _ = files::parse_platform_ini(text).compare_with_table();
    docker::parse_docker_info(text);
    let inspection = docker::parse_docker_inspect(text);
    inspection.shared_npus();
    docker::parse_visible_devices(text);
    docker::mask_proxy(text);
}
