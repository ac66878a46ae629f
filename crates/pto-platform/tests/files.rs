//! What each small file must give.

mod support;

use pto_platform::files::{
    CannFileKind, parse_cann_file, parse_dist_manifest, parse_dist_state, parse_driver_info, parse_firmware_info,
    parse_install_info, parse_platform_ini, parse_pto_isa_pin, parse_versions_env,
};
use pto_platform::{Machine, Version, cann_release};
use support::fixture;

fn version(text: &str) -> Option<Version> {
    Version::parse(text)
}

#[test]
fn drivers_of_every_age() {
    let old = parse_driver_info(&fixture("driver-old.txt"));
    assert_eq!((old.version, old.version_key), (version("23.0.rc3"), Some("Version")));
    assert_eq!(old.inner_version.as_deref(), Some("V100R001C13SPC005B249"));
    assert_eq!(old.compatible_with, ["V100R001C29", "V100R001C30", "V100R001C13"]);
    assert_eq!(old.notes, []);

    let new = parse_driver_info(&fixture("driver-new.txt"));
    assert_eq!((new.version.clone(), new.version_key), (version("26.0.rc1"), Some("package_version")));
    assert_eq!(new.notes, []);
    let firmware = parse_firmware_info(&fixture("firmware.txt"));
    assert_eq!((firmware.version.clone(), firmware.package_version), (version("7.7.0.6.236"), version("25.4.1")));
    assert!(new.firmware.unwrap().contains(&firmware.version.clone().unwrap()));
    assert!(!old.firmware.unwrap().contains(&firmware.version.unwrap()));
}

#[test]
fn cann_releases_wherever_they_stand() {
    use CannFileKind::*;
    let models = [
        ("cann-version.cfg.txt", VersionCfg, "8.1.RC1", Some("7.7.0.1.238"), 5),
        ("cann-toolkit_install.info.txt", ToolkitInstallInfo, "8.3.RC1", Some("V100R001C23SPC001B235"), 0),
        ("cann-package-version.info.txt", PackageInfo, "8.5.1", Some("8.5.1.1.210"), 0),
        ("cann-package-9.txt", PackageInfo, "9.0.0", None, 0),
        ("cann-install.info.txt", CannInstallInfo, "9.0.0", None, 0),
    ];
    for (name, kind, release, inner, packages) in models {
        let text = fixture(name);
        let file = parse_cann_file(&text);
        assert_eq!((file.kind, &file.release, file.inner.as_deref()), (kind, &version(release), inner), "{name}");
        assert_eq!((file.packages.len(), file.notes), (packages, vec![]), "{name}");
        if kind != CannInstallInfo {
            assert_eq!(cann_release(&text), Some(release), "{name}");
        }
    }
    let toolkit = parse_cann_file(&fixture("cann-toolkit_install.info.txt"));
    assert_eq!(
        (toolkit.arch.as_deref(), toolkit.package_name.as_deref()),
        (Some("x86_64"), Some("Ascend-cann-toolkit"))
    );
}

#[test]
fn who_installed_the_driver() {
    let info = parse_install_info(&fixture("ascend_install.info.txt"));
    assert_eq!((info.user.as_deref(), info.group.as_deref()), (Some("HwHiAiUser"), Some("HwHiAiUser")));
    assert_eq!((info.driver.path.as_deref(), info.driver.for_all), (Some("/opt/ascend"), Some(true)));
    assert_eq!(
        (info.driver.status.as_deref(), info.firmware.install_type.as_deref()),
        (Some("complete"), Some("full"))
    );
    assert_eq!(info.notes, []);
}

#[test]
fn a_platform_file_agrees_with_the_table() {
    let ini = parse_platform_ini(&fixture("platform-a2.ini.txt"));
    assert_eq!((ini.soc_version(), ini.npu_arch()), (Some("Ascend910B2"), Some(2201)));
    assert_eq!((ini.cube_cores(), ini.vector_cores(), ini.ub_bytes()), (Some(24), Some(48), Some(196_608)));
    assert_eq!((ini.cube_mhz(), ini.memory_bytes()), (Some(1800), Some(64 << 30)));
    assert_eq!(ini.get("AICoreintrinsicDtypeMap", "25"), Some("Intrinsic_mmad|f322f16,s8"));
    assert_eq!((ini.compare_with_table(), ini.notes), (Ok(vec![]), vec![]));
}

#[test]
fn pins_of_a_checkout() {
    let env = parse_versions_env(&fixture("versions.env.txt"));
    assert_eq!((env.ptoas_number(), env.ptoas.as_ref().map(Version::as_str)), (Some("0.63"), Some("v0.63")));
    assert!(env.sha256_for(Machine::Aarch64).unwrap().starts_with("aa00"));
    assert!(env.sha256_for(Machine::X86_64).unwrap().starts_with("0123"));
    assert_eq!((env.other.len(), env.notes), (0, vec![]));

    let pin = parse_pto_isa_pin(&fixture("pto_isa.pin.txt"));
    assert_eq!((pin.commit.as_deref(), pin.notes), (Some("00112233445566778899aabbccddeeff00112233"), vec![]));
}

#[test]
fn what_an_image_was_built_from() {
    let manifest = parse_dist_manifest(&fixture("dist-manifest.txt"));
    let names: Vec<_> = manifest.commits.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["pypto", "runtime", "pto-isa", "pypto-lib"]);
    assert_eq!(manifest.commit("runtime"), Some("112233445566778899aabbccddeeff0011223344"));
    assert_eq!((manifest.built.as_deref(), manifest.notes), (Some("2026-10-01T02:03:04Z"), vec![]));

    let state = parse_dist_state(&fixture("dist-state.json.txt"));
    assert_eq!(state.runtime_sha.as_deref(), manifest.commits.get(1).map(|(_, commit)| commit.as_str()));
    assert!(state.patch_sha256.as_deref().unwrap().starts_with("bb11"));
    assert_eq!(state.notes, []);
}

#[test]
fn a_manifest_with_odd_lines_keeps_the_others() {
    let manifest = parse_dist_manifest("pypto main\nruntime 112233445566778899aabbccddeeff0011223344\n# note\nx y z\n");
    assert_eq!((manifest.commits.len(), manifest.built), (1, None));
    assert_eq!(manifest.notes.iter().map(|note| note.line).collect::<Vec<_>>(), [1, 4]);
}
