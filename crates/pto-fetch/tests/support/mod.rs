//! What the tests share: tiny wheels, stand-ins for clients, contexts that see nothing of this machine but what a test
//! gives them.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pto_context::{Context, Silent};
use pto_fetch::WheelPin;
use pto_process::Invocation;
use pto_store::Store;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

pub(crate) const NAME: &str = "ptokit-tiny";
pub(crate) const FILE: &str = "ptokit_tiny-1.0-py3-none-any.whl";

/// A stand-in for `pip download`: notes that it ran, waits `STUB_WAIT` seconds, copies `STUB_WHEEL` to `--dest`.
const PIP_STUB: &str = r#"PATH=/usr/bin:/bin
echo "$*" >> "$STUB_LOG"
while [ $# -gt 1 ]; do [ "$1" = --dest ] && dest=$2; shift; done
sleep "${STUB_WAIT:-0}"
cp "$STUB_WHEEL" "$dest/"
"#;

/// A directory with a wheel in `links/`, an empty `bin/` for clients, and a place for a store.
pub(crate) struct World {
    dir: tempfile::TempDir,
    pub(crate) pin: WheelPin,
}

impl World {
    /// A world whose wheel holds an executable, a header and this many more files.
    pub(crate) fn new(more_files: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for sub in ["links", "bin"] {
            fs_err::create_dir(dir.path().join(sub)).unwrap();
        }
        let wheel = wheel(more_files);
        let file = dir.path().join("links").join(FILE);
        fs_err::write(&file, &wheel.bytes).unwrap();
        let pin = WheelPin {
            name: NAME,
            version: "1.0",
            file: FILE,
            sha256: sha256(&file).leak(),
            size: wheel.bytes.len() as u64,
            unpacked_size: wheel.unpacked_size,
            python: "3.11",
            platform: "manylinux2014_x86_64",
            keep: Some("tiny"),
        };
        Self { dir, pin }
    }

    pub(crate) fn path(&self, sub: &str) -> PathBuf {
        self.dir.path().join(sub)
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(self.path("store"))
    }

    /// The pin with a sha256 that no file has.
    pub(crate) fn wrong_pin(&self) -> WheelPin {
        WheelPin { sha256: "0".repeat(64).leak(), ..self.pin }
    }

    /// Puts a program on the world's `PATH`.
    pub(crate) fn program(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        fs_err::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn pip_stub(&self) {
        self.program("pip", PIP_STUB);
    }

    /// The command lines the stand-in has seen.
    pub(crate) fn stub_log(&self) -> Vec<String> {
        let text = fs_err::read_to_string(self.path("log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Puts the machine's own client on the world's `PATH`; says so and returns `false` if there is none.
    pub(crate) fn real_client(&self, name: &str) -> bool {
        let path = machine().var("PATH").unwrap();
        let found = which::which_in(name, Some(&path), "/").is_ok()
            && Invocation::new(name).arg("--version").run(&machine()).is_ok_and(|output| output.success());
        if found {
            self.program(name, &format!("PATH='{path}' exec {name} \"$@\""));
        } else {
            pto_test::skip(&format!("this machine has no `{name}` that runs"));
        }
        found
    }

    /// What a child in this world sees: its own `PATH`, and packages from `links` alone.
    pub(crate) fn vars(&self) -> Vec<(String, String)> {
        let text = |sub: &str| self.path(sub).to_str().unwrap().to_owned();
        let mut vars = vec![
            ("PATH".to_owned(), text("bin")),
            ("STUB_WHEEL".to_owned(), text(&format!("links/{FILE}"))),
            ("STUB_LOG".to_owned(), text("log")),
            ("PIP_FIND_LINKS".to_owned(), text("links")),
            ("PIP_NO_INDEX".to_owned(), "1".to_owned()),
        ];
        vars.extend(machine().var("HOME").map(|home| ("HOME".to_owned(), home)));
        vars
    }

    pub(crate) fn cx(&self) -> Context {
        Context::fake(self.dir.path(), self.vars())
    }

    /// The example program as an invocation that gets this world's wheel into the store.
    pub(crate) fn example(&self, store: &Path) -> Invocation {
        let tests = std::env::current_exe().unwrap();
        let example = tests.ancestors().nth(2).unwrap().join("examples/wheel");
        assert!(example.exists(), "`{}` is missing: cargo build -p pto-fetch --examples", example.display());
        let pin = self.pin;
        let sizes = [pin.size.to_string(), pin.unpacked_size.to_string()];
        Invocation::new(example)
            .arg(store)
            .args([pin.name, pin.version, pin.file, pin.sha256])
            .args(sizes)
            .args([pin.python, pin.platform])
            .args(pin.keep)
    }

    /// Nothing of the store but whole entries: no lock, no build, no download.
    #[track_caller]
    pub(crate) fn assert_tidy(&self) {
        let kinds = self.path("store/wheels");
        let names: Vec<_> =
            fs_err::read_dir(&kinds).map(|dir| dir.map(|e| e.unwrap().file_name()).collect()).unwrap_or_default();
        let own: Vec<_> = names.iter().filter(|name| name.to_string_lossy().starts_with('.')).collect();
        assert!(own.is_empty(), "{own:?}");
    }

    /// Whether the entry is there; if so it must be whole.
    #[track_caller]
    pub(crate) fn whole(&self, more_files: usize) -> bool {
        let Some(dir) = self.pin.find(&self.store()) else { return false };
        assert_eq!(fs_err::read(dir.join("include/tiny.h")).unwrap(), b"#pragma once\n");
        assert_ne!(fs_err::metadata(dir.join("tool")).unwrap().permissions().mode() & 0o100, 0);
        for i in 0..more_files {
            assert_eq!(fs_err::read(dir.join(format!("data/{i}"))).unwrap(), data(i), "file {i}");
        }
        true
    }
}

/// This machine, for what a test needs of it.
pub(crate) fn machine() -> Context {
    Context::from_process(Arc::new(Silent)).unwrap()
}

pub(crate) struct Wheel {
    pub(crate) bytes: Vec<u8>,
    pub(crate) unpacked_size: u64,
}

fn data(i: usize) -> Vec<u8> {
    format!("{i} ").repeat(1000).into_bytes()
}

fn wheel(more_files: usize) -> Wheel {
    let info = "ptokit_tiny-1.0.dist-info";
    let mut files: Vec<(String, u32, Vec<u8>)> = vec![
        ("tiny/tool".into(), 0o755, b"#!/bin/sh\n".to_vec()),
        ("tiny/include/tiny.h".into(), 0o644, b"#pragma once\n".to_vec()),
        (format!("{info}/METADATA"), 0o644, b"Metadata-Version: 2.1\nName: ptokit-tiny\nVersion: 1.0\n".to_vec()),
        (format!("{info}/WHEEL"), 0o644, b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n".to_vec()),
    ];
    files.extend((0..more_files).map(|i| (format!("tiny/data/{i}"), 0o644, data(i))));
    let record: String = files.iter().map(|(name, ..)| format!("{name},,\n")).collect();
    files.push((format!("{info}/RECORD"), 0o644, format!("{record}{info}/RECORD,,\n").into_bytes()));

    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, mode, content) in &files {
        writer.start_file(name.as_str(), SimpleFileOptions::default().unix_permissions(*mode)).unwrap();
        writer.write_all(content).unwrap();
    }
    let unpacked_size = files.iter().map(|(.., content)| content.len() as u64).sum();
    Wheel { bytes: writer.finish().unwrap().into_inner(), unpacked_size }
}

/// By coreutils, so that the crate's own sum is checked against another one.
fn sha256(file: &Path) -> String {
    let output = Invocation::new("sha256sum").arg(file).run(&machine()).unwrap().require_success().unwrap();
    output.stdout.text().split_whitespace().next().unwrap().to_owned()
}
