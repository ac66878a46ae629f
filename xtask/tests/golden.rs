//! `golden compare` as it is typed: verdicts, refusals, exit codes, files written.

use std::path::Path;

use assert_cmd::Command;
use pto_golden::{DType, Fill, Tensor, npy};
use serde_json::Value;
use tempfile::TempDir;

struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn tensor(&self, name: &str, change: impl Fn(&mut [u8])) {
        let mut tensor = Fill::default_for(DType::F16).generate(DType::F16, [8, 32], 1, "x").unwrap();
        change(tensor.bytes_mut());
        self.write(name, &tensor);
    }

    fn write(&self, name: &str, tensor: &Tensor) {
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        npy::write(path, tensor).unwrap();
    }

    fn run(&self, line: &str) -> (i32, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["golden", "compare"])
            .args(line.split_whitespace())
            .current_dir(self.dir.path())
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }
}

#[test]
fn verdicts_and_exit_codes() {
    let place = Place::new();
    place.tensor("e/y.npy", |_| {});
    place.tensor("a/y.npy", |bytes| bytes[..64].fill(0));
    place.tensor("b/y.npy", |_| {});
    place.tensor("b/more.npy", |_| {});
    let (code, text, _) = place.run("e/y.npy e/y.npy");
    assert_eq!(code, 0, "{text}");
    let (code, text, _) = place.run("a e");
    assert!(code == 1 && text.contains("only the head: row 0 of 8; they are 0"), "{text}");
    let (code, text, _) = place.run("b e");
    assert!(code == 1 && text.contains("there is no golden tensor for this output"), "{text}");
    let (code, text, _) = place.run("e e --rule determinism --run e a");
    assert!(code == 1 && text.contains("y (a)") && text.contains("not deterministic"), "{text}");
    std::fs::create_dir(place.dir.path().join("none")).unwrap();
    let (code, text, _) = place.run("none none");
    assert!(code == 1 && text.contains("nothing was compared"), "{text}");
}

#[test]
fn refusals_say_what_to_do() {
    let place = Place::new();
    place.tensor("y.npy", |_| {});
    std::fs::write(place.dir.path().join("short.npy"), &std::fs::read(place.dir.path().join("y.npy")).unwrap()[..200])
        .unwrap();
    std::fs::write(place.dir.path().join("rules.toml"), "[default]\nrule = 'close'\nrtoll = 1.0\n").unwrap();
    for (line, message) in [
        ("y.npy y.npy --rtol 0.1", "has no reason"),
        ("y.npy y.npy --rule whole", "needs at least one of"),
        ("y.npy y.npy --cap 3", "means nothing to the rule `close`"),
        ("short.npy y.npy", "at byte 200: the file ends too early"),
        ("y.npy gone.npy", "gone.npy"),
        ("y.npy . ", "is a directory"),
        ("y.npy y.npy --rules rules.toml", "unknown field `rtoll`"),
        ("y.pt y.npy", "is no tensor file"),
    ] {
        let (code, _, errors) = place.run(line);
        assert!(code == 2 && errors.contains(message), "{line}: {code} {errors}");
    }
}

#[test]
fn json_page_and_pictures() {
    let place = Place::new();
    place.tensor("e/y.npy", |_| {});
    place.tensor("a/y.npy", |bytes| bytes[..64].fill(0));
    let (code, text, _) = place.run("a e --json --report r.html --pictures p --rtol 0.01 --reason because");
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(code, 1);
    assert_eq!(document["schema"], "ptokit.golden-compare/1");
    let tensor = &document["tensors"][0];
    assert_eq!((&tensor["name"], &tensor["status"]), (&"y".into(), &"differs".into()));
    assert_eq!(tensor["patterns"][0]["id"], "head");
    assert_eq!(tensor["reason"], "because");
    assert_eq!(tensor["map"][0], "9".repeat(32));
    let page = std::fs::read_to_string(place.dir.path().join("r.html")).unwrap();
    assert!(
        page.contains("1 of 1 are wrong") && page.contains("because") && page.contains("golden compare a e --json")
    );
    for picture in ["y.map.svg", "y.errors.svg", "y.values.svg"] {
        assert!(Path::new(&place.dir.path().join("p").join(picture)).is_file(), "{picture}");
    }
}

#[test]
fn what_the_run_before_left_is_told() {
    let place = Place::new();
    let other = Fill::default_for(DType::F16).generate(DType::F16, [8, 32], 9, "before").unwrap();
    place.tensor("y.npy", |_| {});
    place.write("before.npy", &other);
    let mut stale = npy::read(place.dir.path().join("y.npy")).unwrap();
    stale.bytes_mut()[256..].copy_from_slice(&other.bytes()[256..]);
    place.write("stale.npy", &stale);
    let (_, text, _) = place.run("stale.npy y.npy --previous before.npy");
    assert!(text.contains("left from the previous run: "), "{text}");
    let (_, text, _) = place.run("before.npy y.npy --input before.npy");
    assert!(text.contains("the wrong elements are those of input `before`"), "{text}");
}
