//! `doctor` and `devices` as they are typed, on this machine and on trees.

mod scratch;

use std::path::Path;

use assert_cmd::Command;
use scratch::Ran;

const TABLE: &str = "\
| npu-smi 25.5.1                   Version: 25.5.1                                               |
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
| 3     910B3               | Alarm         | 102.8       45                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          1445 / 65536         |
| 7     910B3               | OK            | 100.8       44                0    / 0             |
| 0                         | 0000:02:00.0  | 0           0    / 0          3156 / 65536         |
";

fn xtask(dir: &Path, args: &[&str]) -> Ran {
    Command::new(env!("CARGO_BIN_EXE_xtask")).args(args).current_dir(dir).output().unwrap().into()
}

#[test]
fn this_machine_can_do_something() {
    let dir = tempfile::tempdir().unwrap();
    let ran = xtask(dir.path(), &["doctor", "--only", "pto-isa-headers", "--only", "cpu-compiler", "--only", "host"]);
    let last = ran.stdout.trim_end().lines().last().unwrap_or_default().to_owned();
    assert!(ran.stdout.starts_with("ok    PTO-ISA headers: "), "{ran}");
    assert!(last.starts_with("ready for: cpu"), "{ran}");
}

#[test]
fn a_tree_that_is_wrong_and_one_that_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let info = dir.path().join("tree/usr/local/Ascend/driver/version.info");
    fs_err::create_dir_all(info.parent().unwrap().join("lib64/driver")).unwrap();
    let look = |version: &str, more: &[&str]| {
        fs_err::write(&info, format!("Version={version}\n")).unwrap();
        xtask(dir.path(), &[&["doctor", "--root", "tree", "--only", "driver"], more].concat())
    };
    let old = look("23.0.1", &["--save", "old.json"]).expect(1);
    assert!(old.stdout.contains("fail  driver 23.0.1 is older than"), "{old}");
    assert!(old.stdout.contains("1 check failed: `driver`"), "{old}");
    let new = look("26.0.rc1", &["--json", "--save", "new.json"]).expect(0).json();
    assert_eq!((&new["schema"], &new["passed"]), (&"ptokit.doctor/1".into(), &true.into()));
    assert_eq!(new["checks"][0]["id"], "driver");

    let differences = xtask(dir.path(), &["doctor", "diff", "new.json", "old.json", "--json"]).expect(1).json();
    let names: Vec<_> = differences["differences"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["check.driver", "driver.version"]);
    let same = xtask(dir.path(), &["doctor", "diff", "new.json", "new.json"]).expect(0);
    assert_eq!(same.stdout, "no difference.\n");
}

#[test]
fn mistakes_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let said = |args: &[&str], text: &str| {
        let ran = xtask(dir.path(), args).expect(2);
        assert!(ran.stderr.contains(text), "{ran}");
    };
    said(&["doctor", "--only", "cuda"], "no check has the id `cuda`");
    said(&["doctor", "--root", "gone"], "is not a directory");
    fs_err::write(dir.path().join("x.json"), "[]").unwrap();
    said(&["doctor", "diff", "x.json", "x.json"], "`x.json` is not a snapshot");
    said(&["devices", "--from", "x.json"], "no table");
}

#[test]
fn an_idle_device_of_a_saved_table() {
    let dir = tempfile::tempdir().unwrap();
    fs_err::write(dir.path().join("npu-smi.txt"), TABLE).unwrap();
    let idle = xtask(dir.path(), &["devices", "--from", "npu-smi.txt", "--idle"]).expect(0);
    assert_eq!(idle.stdout, "7\n");
    let all = xtask(dir.path(), &["devices", "--from", "npu-smi.txt", "--json"]).expect(0).json();
    let first = &all["devices"][0];
    assert_eq!(
        (&first["soc"], &first["target"], &first["health"]),
        (&"Ascend910B3".into(), &"a2a3".into(), &"Alarm".into())
    );
    fs_err::write(dir.path().join("busy.txt"), TABLE.replace("| 0           0    / 0 ", "| 90          0    / 0 "))
        .unwrap();
    let none = xtask(dir.path(), &["devices", "--from", "busy.txt", "--idle"]).expect(3);
    assert!(none.stderr.contains("no idle NPU: every NPU is in use, not well, or set aside"), "{none}");
}

/// A program that is linked or copied under the name is the verb, as the images carry it.
#[test]
fn a_name_of_its_own_is_the_verb() {
    let dir = tempfile::tempdir().unwrap();
    let name = dir.path().join("pypto-doctor");
    fs_err::os::unix::fs::symlink(env!("CARGO_BIN_EXE_xtask"), &name).unwrap();
    let ran: Ran = Command::new(name).args(["--only", "host"]).output().unwrap().into();
    assert!(ran.expect(0).stdout.starts_with("ok    host: "));
}

#[test]
fn a_tool_that_failed_is_not_a_machine_without_npus() {
    let dir = tempfile::tempdir().unwrap();
    for (text, telling) in [
        (
            "DrvMngGetConsoleLogLevel failed. (ret=4)\ndcmi model initialized failed, because the device is used. ret is -8020\n",
            "-8020",
        ),
        ("DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)\ndcmi module initialize failed. ret is -8005\n", "-8005"),
        (
            "npu-smi: error while loading shared libraries: libdrvdsmi_host.so: cannot open shared object file\n",
            "libdrvdsmi_host.so",
        ),
    ] {
        fs_err::write(dir.path().join("smi.txt"), text).unwrap();
        let ran = xtask(dir.path(), &["devices", "--from", "smi.txt"]);
        assert_eq!(ran.code, Some(3), "{ran}");
        assert!(ran.stdout.contains(telling) && !ran.stdout.contains("no NPU"), "{ran}");
        assert!(ran.stdout.ends_with("next: cargo xtask triage --log smi.txt\n"), "{ran}");
        let idle = xtask(dir.path(), &["devices", "--from", "smi.txt", "--idle"]);
        assert!(idle.code == Some(3) && idle.says("cargo xtask triage --log smi.txt"), "{idle}");
    }
    fs_err::write(dir.path().join("smi.txt"), "There is no NPU card on this server.\n").unwrap();
    let ran = xtask(dir.path(), &["devices", "--from", "smi.txt"]);
    assert!(ran.code == Some(0) && ran.stdout.starts_with("no NPU: There is no NPU card"), "{ran}");
}

#[test]
fn what_was_meant_is_said_or_done() {
    let dir = tempfile::tempdir().unwrap();
    let stray = xtask(dir.path(), &["doctor", "cann", "bisheng"]);
    assert!(stray.code == Some(2) && stray.says("cargo xtask doctor --only cann,bisheng"), "{stray}");
    let typo = xtask(dir.path(), &["doctor", "--only", "locale,cpu-compiller"]);
    assert!(typo.code == Some(2) && typo.says("did you mean `--only cpu-compiler`?"), "{typo}");
    let list = xtask(dir.path(), &["doctor", "--only", "locale,disk"]);
    assert!(list.says("locale: ") && list.says("disk"), "{list}");
    for name in ["98", "davinci98", "/dev/davinci98"] {
        let ran = xtask(dir.path(), &["devices", "release", name]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "device 98 was not set aside\n"), "{ran}");
    }
    let ran = xtask(dir.path(), &["devices", "release", "three"]);
    assert!(ran.code == Some(2) && ran.says("such as `3` or `davinci3`"), "{ran}");
}
