//! The bundle: what is in it, what must not be, and what happens when it cannot be written.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use pto_doctor::bundle::{Bundle, BundleRequest};
use pto_doctor::{DoctorError, ProbeOptions};
use pto_test::npu_smi::A2;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::support::{Host, PATIENCE, bare};
use crate::text::MANAGERS;

/// Stands in everything that must not get out.
const PLANT: &str = "planted";

fn request(logs: &[&Path]) -> BundleRequest {
    BundleRequest {
        logs: logs.iter().map(PathBuf::from).collect(),
        note: Some(format!("docker run -e GH_TOKEN={PLANT}1 -v /home/{PLANT}2/x:/x image # from {PLANT}-host")),
        probes: ProbeOptions { worker: None, deadline: PATIENCE },
    }
}

/// The files of an archive by path.
fn unpacked(path: &Path) -> BTreeMap<String, String> {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(fs_err::File::open(path).unwrap()));
    let entries = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let header = entry.header();
        assert_eq!((header.uid().unwrap(), header.gid().unwrap(), header.username().unwrap()), (0, 0, Some("")));
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        (entry.path().unwrap().display().to_string().replace("ptokit-bundle/", ""), text)
    });
    entries.collect()
}

/// A host that has secrets and names wherever they can be.
fn leaky() -> Host {
    let mut host = bare();
    host.var("HOME", "/data/planted-home").var("USER", "planted-user").var("HOSTNAME", "planted-host.example.org");
    host.var("HTTPS_PROXY", "http://me:planted-proxy@10.7.7.7:80").var("ALL_PROXY", "me:planted-all@proxy:80");
    host.var("SWR_PASSWORD", "planted-env").var("PYPTO_SRC", "/home/planted-src/pypto");
    host.var("PYTHONPATH", "/data/planted-home/lib:/home/planted-lib")
        .var("PYPTO_INDEX", "https://u:planted-index@i/simple");
    host.file(
        "/etc/passwd",
        "root:x:0:0:root:/root:/bin/sh\nplanted-person:x:1001:1001:Planted Person,,,:/data/p:/bin/sh\n",
    );
    host.file("/proc/sys/kernel/hostname", "planted-host\n").file("/home/planted-person/x", "");
    host.file("/home/planted-src/pypto/toolchain/versions.env", "PTOAS_VERSION=v0.61 # token=planted-pin\n");
    host.file("/usr/local/Ascend/driver/version.info", "Version=24.1.0.1\nbuilder=planted-user@planted-host\n");
    host.file("/usr/local/Ascend/driver/lib64/driver/x", "");
    host.file(
        "/usr/local/Ascend/cann-9.0.0/version.cfg",
        "toolkit_running_version=[7.6.0.1.220:9.0.0]\npassword=planted-cfg\n",
    );
    host.file(
        "/opt/pypto/dist-manifest",
        "pypto 0123456789abcdef0123456789abcdef01234567\nbuilt by planted-person@example.org\n",
    );
    host.file("/opt/pypto/dist-state.json", "{\"token\": \"planted-state\"}\n");
    host.file("/data/planted-home/.docker/config.json", "{\"auths\":{\"r\":{\"auth\":\"planted-docker\"}}}");
    host.nodes(&MANAGERS).nodes(&["davinci1", "davinci6"]);
    host.program("npu-smi", &A2.replace("trainer ", "planted-user"), 0);
    let info = r#"{"ServerVersion":"27.2.0","Name":"planted-host","HttpProxy":"http://me:planted-daemon@10.7.7.8:80","Runtimes":{}}"#;
    let inspect = r#"[{"Id":"a","Name":"/planted-user-dev","State":{"Status":"running"},"Config":{"Image":"img","Env":["ASCEND_VISIBLE_DEVICES=6","GH_TOKEN=planted-container","ASCEND_X=/home/planted-person"]},"HostConfig":{"Runtime":"ascend","ShmSize":67108864},"Mounts":[{"Source":"/home/planted-person/work","Destination":"/workspace","RW":true}]}]"#;
    host.file("/said/info", info).file("/said/inspect", inspect);
    let root = host.root().display().to_string();
    host.script(
        "docker",
        &format!(
            "case $1 in info) /bin/cat '{root}/said/info';; ps) echo a;; inspect) /bin/cat '{root}/said/inspect';; esac"
        ),
    );
    host
}

const LEAKY_LOG: &str = "\
[ERROR] stream sync failed: 507018 (device_id=0) by planted-user at planted-host (10.1.2.3, fe80::1234)
export GH_TOKEN=planted-a; curl -H 'Authorization: Bearer planted-b' https://u:planted-c@h/
docker login -u planted-d -p planted-e registry; mysql --password=planted-f
{\"auths\": {\"r\": {\"auth\": \"planted-g\", \"identitytoken\": \"planted-h\"}}}
asked of planted-person (Planted Person)
-----BEGIN OPENSSH PRIVATE KEY-----
planted-i
-----END OPENSSH PRIVATE KEY-----
ghp_plantedplantedplanted00 hf_plantedplantedplanted00 in /home/planted-j/x, mail planted-k@example.org
";

#[test]
fn nothing_secret_and_nobodys_name_is_in_any_file() {
    let mut host = leaky();
    host.file("/logs/planted-user/run.log", LEAKY_LOG)
        .file("/data/planted-home/ascend/log/debug/plog/plog-1_1.log", LEAKY_LOG);
    host.file("/slog.txt", LEAKY_LOG).file("/logs/planted-user/planted-user.bin", "\0\0planted");
    let out = host.root().join("out.tar.gz");
    let mut bundle = Bundle::gather(&host.cx(), &request(&[Path::new("logs/planted-user")])).unwrap();
    bundle.attach("more/planted-user.txt", "of planted-user", LEAKY_LOG).unwrap();
    bundle
        .attach_json("more.json", "x", r#"{"password": "planted", "at": {"/home/planted": ["planted-env"]}}"#)
        .unwrap();
    bundle.write(&out).unwrap();
    let files = unpacked(&out);
    for (path, text) in &files {
        // The root of the tree is not masked: it is this test's.
        let text = text.replace(&host.root().display().to_string(), "");
        let lower = text.to_lowercase();
        assert!(!path.contains(PLANT) && !lower.contains(PLANT), "{path}:\n{text}");
        for address in ["10.7.7.7", "10.7.7.8", "10.1.2.3", "fe80::1234"] {
            assert!(!text.contains(address), "{path}: {address}");
        }
    }
    // And what is worth reading is still there.
    let has = |path: &str, text: &str| assert!(files[path].contains(text), "{path}: {}", files[path]);
    has("driver/version.info", "Version=24.1.0.1");
    has("npu-smi-info.txt", "910B2");
    has("docker-run.txt", "docker run '--runtime=ascend' -e 'ASCEND_VISIBLE_DEVICES=6'");
    has("triage.json", "507018");
    has("doctor.json", "\"driver-cann-pair\"");
    has("cann/0/version.cfg", "7.6.0.1.220:9.0.0");
    has("note.txt", "docker run -e GH_TOKEN=*** -v /home/***/x:/x image");
    has("pypto/dist-manifest", "0123456789abcdef");
    let logs: Vec<&String> = files.keys().filter(|path| path.starts_with("logs/")).collect();
    assert_eq!(logs, ["logs/01-run.log", "logs/02-plog-1_1.log", "logs/03-slog.txt"], "{:?}", files.keys());
    assert!(files["manifest.json"].contains("is no text, so it cannot be masked"), "{}", files["manifest.json"]);
}

#[test]
fn the_manifest_lists_every_file_with_its_digest() {
    let host = bare();
    let out = host.root().join("out.tar.gz");
    Bundle::gather(&host.cx(), &request(&[])).unwrap().write(&out).unwrap();
    let mut files = unpacked(&out);
    let manifest: Value = serde_json::from_str(&files.remove("manifest.json").unwrap()).unwrap();
    assert_eq!(manifest["schema"], "ptokit.bundle-manifest/1");
    let listed: BTreeMap<String, String> = manifest["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["path"].as_str().unwrap().to_owned(), file["sha256"].as_str().unwrap().to_owned()))
        .collect();
    let digest = |text: &String| Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let found: BTreeMap<String, String> = files.iter().map(|(path, text)| (path.clone(), digest(text))).collect();
    assert_eq!(listed, found);
    let missing = manifest["missing"].to_string();
    for what in ["npu-smi info", "docker run", "version.info", "logs"] {
        assert!(missing.contains(what), "{missing}");
    }
}

#[test]
fn what_cannot_be_written_leaves_the_old_file_and_nothing_else() {
    let mut host = bare();
    host.file("/out/old.tar.gz", "old");
    let write = |path: &str| {
        let bundle = Bundle::gather(&host.cx(), &request(&[])).unwrap();
        bundle.write(&host.root().join(path)).unwrap_err().to_string()
    };
    write("gone/x.tar.gz");
    write("out");
    assert_eq!(fs_err::read_to_string(host.root().join("out/old.tar.gz")).unwrap(), "old");
    assert_eq!(fs_err::read_dir(host.root().join("out")).unwrap().count(), 1);
}

#[test]
fn a_log_that_is_not_there_is_refused_and_a_pipe_is_not_waited_for() {
    let host = bare();
    let refused = |path: &Path| {
        let refused = Bundle::gather(&host.cx(), &request(&[path])).err().unwrap();
        assert!(matches!(refused, DoctorError::Read(_)), "{refused}");
    };
    refused(Path::new("gone.log"));
    let pipe = host.root().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    refused(&pipe);
}
