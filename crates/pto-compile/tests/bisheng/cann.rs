//! Where things are found, and what is said when they are not.

use std::path::{Path, PathBuf};

use crate::support::touch;
use pto_compile::bisheng::{BishengError, Simulator};
use pto_compile::cann::{self, CannError, Rule, Toolchain, ToolchainOptions};
use pto_context::Context;
use pto_platform::{Machine, Soc};
use tempfile::TempDir;

/// A machine with these files.
fn machine(files: &[&str]) -> TempDir {
    let tree = TempDir::new().unwrap();
    for file in files {
        touch(&tree.path().join(file.trim_start_matches('/')));
    }
    tree
}

fn executable(tree: &TempDir, file: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = tree.path().join(file.trim_start_matches('/'));
    touch(&path);
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn root(tree: &TempDir, env: &[(&str, &str)]) -> Result<(PathBuf, Rule), CannError> {
    let cx = Context::fake(tree.path(), env.iter().copied());
    cann::find_root(&cx, None).map(|found| (found.path, found.rule))
}

#[test]
fn the_cann_root_by_rule() {
    let tree = machine(&[
        "/opt/home/x",
        "/opt/toolkit/x",
        "/usr/local/Ascend/cann-9.0.0/x",
        "/usr/local/Ascend/ascend-toolkit/latest/x",
    ]);
    let both = [("ASCEND_HOME_PATH", "/opt/home"), ("ASCEND_TOOLKIT_HOME", "/opt/toolkit")];
    assert_eq!(root(&tree, &both), Ok(("/opt/home".into(), Rule::Variable("ASCEND_HOME_PATH"))));
    assert_eq!(root(&tree, &both[1..]), Ok(("/opt/toolkit".into(), Rule::Variable("ASCEND_TOOLKIT_HOME"))));
    let empty = [("ASCEND_HOME_PATH", "")];
    assert_eq!(root(&tree, &empty), Ok(("/usr/local/Ascend/cann-9.0.0".into(), Rule::UsualPlace)));
    let cx = Context::fake(tree.path(), both);
    assert_eq!(cann::find_root(&cx, Some("/opt/toolkit".as_ref())).unwrap().rule, Rule::Explicit);
}

#[test]
fn relatives_of_the_default_release() {
    for (files, expected) in [
        (&["ascend-toolkit/latest/x"][..], "ascend-toolkit/latest"),
        (&["ascend-toolkit/latest/x", "cann-8.5.0/x"], "cann-8.5.0"),
        (&["cann-8.5.0/x", "cann-9.2.0/x", "cann-9.2.0-beta.1/x"], "cann-9.2.0"),
        (&["cann-9.2.0/x", "cann/x"], "cann"),
        (&["cann/x", "cann-9.0.0/x"], "cann-9.0.0"),
    ] {
        let files: Vec<_> = files.iter().map(|file| format!("/usr/local/Ascend/{file}")).collect();
        let tree = machine(&files.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(root(&tree, &[]).unwrap().0, Path::new("/usr/local/Ascend").join(expected));
    }
}

#[test]
fn a_named_place_is_never_passed_over() {
    let tree = machine(&["/usr/local/Ascend/cann-9.0.0/x"]);
    let error = root(&tree, &[("ASCEND_HOME_PATH", "/opt/gone")]).unwrap_err();
    insta::assert_snapshot!(error, @"the CANN toolkit should be in `/opt/gone` (from `ASCEND_HOME_PATH`), which is not a directory");
    insta::assert_snapshot!(error.hint(), @"correct the path, or unset the variable to look in the usual places");
}

#[test]
fn nothing_found_lists_every_place() {
    let error = root(&machine(&["/usr/local/Ascend/driver/x"]), &[]).unwrap_err();
    insta::assert_snapshot!(error, @"no CANN toolkit found; tried `ASCEND_HOME_PATH` (not set), `ASCEND_TOOLKIT_HOME` (not set), `/usr/local/Ascend/cann-9.0.0` (not there), `/usr/local/Ascend/cann` (not there), `/usr/local/Ascend/ascend-toolkit/latest` (not there)");
}

#[test]
fn bisheng_inside_cann_then_on_the_path() {
    let tree = machine(&["/usr/local/Ascend/cann/include/pto/pto-inst.hpp"]);
    let cx = Context::fake(tree.path(), [("PATH", "/usr/bin:/opt/tools/bin")]);
    let error = Toolchain::find(&cx, &ToolchainOptions::default()).unwrap_err();
    insta::assert_snapshot!(error, @"no `bisheng` compiler found; tried `/usr/local/Ascend/cann/bin/bisheng` (not there), `PATH` (has no executable `bisheng`)");

    executable(&tree, "/opt/tools/bin/bisheng");
    let found = Toolchain::find(&cx, &ToolchainOptions::default()).unwrap().bisheng;
    assert_eq!((found.path, found.rule), ("/opt/tools/bin/bisheng".into(), Rule::SearchPath));

    executable(&tree, "/usr/local/Ascend/cann/bin/bisheng");
    let found = Toolchain::find(&cx, &ToolchainOptions::default()).unwrap().bisheng;
    assert_eq!((found.path, found.rule), ("/usr/local/Ascend/cann/bin/bisheng".into(), Rule::InsideCann));
}

#[test]
fn pto_headers_by_rule() {
    let tree = machine(&[
        "/checkout/include/pto/pto-inst.hpp",
        "/flat/pto/pto-inst.hpp",
        "/usr/local/Ascend/cann/include/pto/pto-inst.hpp",
        "/empty/x",
    ]);
    executable(&tree, "/usr/local/Ascend/cann/bin/bisheng");
    let find = |explicit: Option<&str>, variable: Option<&str>| {
        let env = variable.map(|dir| ("PTO_LIB_PATH", dir));
        let options = ToolchainOptions { pto_headers: explicit.map(Into::into), ..ToolchainOptions::default() };
        Toolchain::find(&Context::fake(tree.path(), env), &options)
            .map(|found| (found.pto_headers.path, found.pto_headers.rule))
    };
    let by_variable = Rule::Variable("PTO_LIB_PATH");
    assert_eq!(find(None, Some("/checkout")), Ok(("/checkout/include".into(), by_variable)));
    assert_eq!(find(None, Some("/flat")), Ok(("/flat".into(), by_variable)));
    assert_eq!(find(Some("/flat"), Some("/checkout")), Ok(("/flat".into(), Rule::Explicit)));
    // A relative directory is the user's, below the working directory.
    assert_eq!(find(Some("checkout"), None), Ok(("checkout/include".into(), Rule::Explicit)));
    assert_eq!(find(None, None), Ok(("/usr/local/Ascend/cann/include".into(), Rule::InsideCann)));
    let error = find(None, Some("/empty")).unwrap_err();
    insta::assert_snapshot!(error, @"no PTO headers where they should be (from `PTO_LIB_PATH`); tried `/empty/pto/pto-inst.hpp` (not there), `/empty/include/pto/pto-inst.hpp` (not there)");
}

#[test]
fn a_plan_needs_nothing_of_this() {
    let tree = machine(&[]);
    let cx = Context::fake(tree.path(), [("ASCEND_HOME_PATH", "/opt/cann"), ("ASCEND_DRIVER_PATH", "/opt/driver")]);
    let toolchain = Toolchain::assume(&cx, &ToolchainOptions::default());
    assert_eq!(toolchain.driver.path, Path::new("/opt/driver"));
    insta::assert_snapshot!(toolchain.notes().join("\n"), @r"
    not on this machine: CANN, `/opt/cann` (from `ASCEND_HOME_PATH`)
    not on this machine: `bisheng`, `/opt/cann/bin/bisheng` (inside CANN)
    not on this machine: the PTO headers, `/opt/cann/include` (inside CANN)
    ");
}

#[test]
fn the_simulator_in_both_layouts() {
    let soc = Soc::by_name("Ascend950PR_9599").unwrap();
    let older = "/c/tools/simulator/Ascend950PR_9599/lib";
    for (machine_name, dirs) in [
        (Machine::X86_64, &[older, "/c/x86_64-linux/simulator/dav_3510/lib"][..]),
        (
            Machine::Aarch64,
            &[older, "/c/aarch64-linux/simulator/dav_3510/lib", "/c/arm64-linux/simulator/dav_3510/lib"],
        ),
    ] {
        for dir in dirs {
            let tree = machine(&[&format!("{dir}/libruntime_camodel.so")]);
            let cx = Context::fake(tree.path(), [("A", "")]);
            assert_eq!(Simulator::find(&cx, "/c".as_ref(), soc, machine_name).unwrap().dir(), Path::new(dir));
        }
        let tree = machine(&[&format!("{older}/other.so")]);
        let cx = Context::fake(tree.path(), [("A", "")]);
        let error = Simulator::find(&cx, "/c".as_ref(), soc, machine_name).unwrap_err();
        assert!(matches!(&error, BishengError::NoSimulator { tried, .. } if tried.len() == dirs.len()), "{error}");
        assert_eq!(Simulator::assume(&cx, "/c".as_ref(), soc, machine_name).dir(), Path::new(older));
    }
}

#[test]
fn the_model_comes_first_and_no_element_is_empty() {
    let soc = Soc::by_name("Ascend950PR_9599").unwrap();
    let model = "/c/tools/simulator/Ascend950PR_9599/lib:/c/runtime/lib64/stub";
    for (existing, expected) in [
        ("", model.to_owned()),
        (":/usr/lib::/c/runtime/lib64/stub:", format!("{model}:/usr/lib")),
        ("/a:/b", format!("{model}:/a:/b")),
    ] {
        let cx = Context::fake("/nowhere", [("LD_LIBRARY_PATH", existing)]);
        let environment = Simulator::assume(&cx, "/c".as_ref(), soc, Machine::X86_64).environment(&cx).unwrap();
        assert_eq!(environment["LD_LIBRARY_PATH".as_ref() as &std::ffi::OsStr].to_str(), Some(expected.as_str()));
        assert_eq!(environment["PTO_SIMULATOR".as_ref() as &std::ffi::OsStr], "1");
    }
}

#[test]
fn the_release_and_what_says_so() {
    let tree = machine(&["/c/x", "/d/cann-9.0.0-beta.1/x"]);
    let cx = Context::fake(tree.path(), [("A", "")]);
    assert_eq!(cann::release(&cx, "/c".as_ref()), None);
    let by_name = cann::release(&cx, "/d/cann-9.0.0-beta.1".as_ref()).unwrap();
    assert_eq!((by_name.version.as_str(), by_name.source), ("9.0.0-beta.1", "/d/cann-9.0.0-beta.1".into()));
    // From the weakest source to the strongest: each new file wins over those before it.
    for (file, text, version) in [
        ("opp/version.info", "Version=8.5.0.2.220\nversion_dir=8.5.0\n", "8.5.0"),
        ("compiler/version.info", "Version=9.0.0\n", "9.0.0"),
        ("aarch64-linux/ascend_toolkit_install.info", "package_name=x\nversion=8.2.RC1\n", "8.2.RC1"),
        ("version.cfg", "runtime_running_version=[7.5.0.1.129:8.0.RC3]\n", "8.0.RC3"),
    ] {
        let path = tree.path().join("c").join(file);
        touch(&path);
        fs_err::write(path, text).unwrap();
        let found = cann::release(&cx, "/c".as_ref()).unwrap();
        assert_eq!((found.version.as_str(), found.source), (version, Path::new("/c").join(file)));
    }
}

#[test]
fn the_report_says_which_rule_won() {
    let tree = machine(&["/flat/pto/pto-inst.hpp", "/usr/local/Ascend/cann/x"]);
    executable(&tree, "/usr/local/Ascend/cann/bin/bisheng");
    let cx = Context::fake(tree.path(), [("PTO_LIB_PATH", "/flat")]);
    let toolchain = Toolchain::find(&cx, &ToolchainOptions::default()).unwrap();
    insta::assert_snapshot!(toolchain.report().join("\n"), @r"
    CANN: `/usr/local/Ascend/cann` (the usual place)
    `bisheng`: `/usr/local/Ascend/cann/bin/bisheng` (inside CANN)
    the PTO headers: `/flat` (from `PTO_LIB_PATH`)
    the driver: `/usr/local/Ascend/driver` (the usual place, not there)
    ");
    let json = serde_json::to_value(&toolchain).unwrap();
    assert_eq!(
        json["pto_headers"],
        serde_json::json!({ "path": "/flat", "rule": "from `PTO_LIB_PATH`", "exists": true })
    );
}
