//! A real registry on the loopback interface, with its storage in a temporary directory: Debian's `docker-registry`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use pto_process::{Invocation, Running};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{machine, skip};

/// The registry's program.
const PROGRAM: &str = "docker-registry";

/// How long it may take to listen on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// The type of every manifest that [`Registry::push`] makes.
pub const IMAGE: &str = "application/vnd.docker.distribution.manifest.v2+json";

/// The user and the password of a registry [with a password](Registry::with_password).
pub const USER: &str = "planted-user";
/// See [`USER`].
pub const PASSWORD: &str = "pl4nted-passw0rd";
/// [`PASSWORD`] as `htpasswd -B` writes it, with the lowest cost.
const HASH: &str = "$2b$04$ZjAe.02J45IOR73ZZ/D6xunXghwqec7KtzPzOkLQArnRCus9vgw2W";

/// A registry that runs until it is dropped.
pub struct Registry {
    address: SocketAddr,
    dir: tempfile::TempDir,
    /// Behind a lock, so that threads can share the registry.
    _running: Mutex<Running>,
}

/// An image that was made up and pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pushed {
    /// The digest of its manifest.
    pub manifest: String,
    /// The digest of its configuration.
    pub config: String,
}

impl Registry {
    /// A registry that everybody may read and write. `None`, said on stderr, where there is no such program.
    ///
    /// # Panics
    /// As [`skip`]; it does not come up.
    #[track_caller]
    pub fn start() -> Option<Self> {
        Self::with("")
    }

    /// A registry that wants [`USER`] and [`PASSWORD`].
    ///
    /// # Panics
    /// As [`start`](Self::start).
    #[track_caller]
    pub fn with_password() -> Option<Self> {
        Self::with("auth:\n  htpasswd:\n    realm: here\n    path: DIR/htpasswd\n")
    }

    #[track_caller]
    fn with(more: &str) -> Option<Self> {
        if which::which_in(PROGRAM, machine().var_os("PATH"), "/").is_err() {
            skip(&format!("no `{PROGRAM}` is here"));
            return None;
        }
        let dir = quick_dir();
        let place = dir.path().display().to_string();
        let text = format!(
            "version: 0.1\nlog:\n  level: info\nstorage:\n  delete:\n    enabled: true\n  filesystem:\n    \
             rootdirectory: DIR/storage\nhttp:\n  addr: 127.0.0.1:0\n{more}"
        );
        fs_err::write(dir.path().join("config.yml"), text.replace("DIR", &place)).expect("its configuration");
        fs_err::write(dir.path().join("htpasswd"), format!("{USER}:{HASH}\n")).expect("its passwords");
        let script = format!("exec {PROGRAM} serve '{place}/config.yml' >'{place}/log' 2>&1");
        let running = Invocation::new("sh").args(["-c", &script]).start(&machine()).expect("a registry");
        let address = listening(&dir.path().join("log"));
        Some(Self { address, dir, _running: Mutex::new(running) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it has logged.
    ///
    /// # Panics
    /// The log is gone.
    pub fn log(&self) -> String {
        fs_err::read_to_string(self.dir.path().join("log")).expect("its log")
    }

    /// Where it keeps everything.
    pub fn storage(&self) -> PathBuf {
        self.dir.path().join("storage")
    }

    /// Pushes a made-up image of one layer: equal `content` makes an equal image.
    ///
    /// # Panics
    /// It refuses.
    pub fn push(&self, name: &str, tag: &str, architecture: &str, content: &str) -> Pushed {
        self.push_built(name, tag, architecture, content, None)
    }

    /// The same, built at a time, by RFC 3339.
    ///
    /// # Panics
    /// It refuses.
    pub fn push_built(&self, name: &str, tag: &str, architecture: &str, content: &str, at: Option<&str>) -> Pushed {
        let layer = content.as_bytes().to_vec();
        let mut config = json!({
            "architecture": architecture, "os": "linux", "config": {},
            "rootfs": { "type": "layers", "diff_ids": [digest(&layer)] },
        });
        if let Some(at) = at {
            config["created"] = at.into();
        }
        let config = config.to_string().into_bytes();
        [&layer, &config].into_iter().for_each(|blob| self.push_blob(name, blob));
        let descriptor = |media_type: &str, blob: &[u8]| json!({ "mediaType": media_type, "size": blob.len(), "digest": digest(blob) });
        let manifest = json!({
            "schemaVersion": 2, "mediaType": IMAGE,
            "config": descriptor("application/vnd.docker.container.image.v1+json", &config),
            "layers": [descriptor("application/vnd.docker.image.rootfs.diff.tar.gzip", &layer)],
        });
        let manifest = manifest.to_string().into_bytes();
        self.put(name, tag, IMAGE, &manifest);
        Pushed { manifest: digest(&manifest), config: digest(&config) }
    }

    /// Makes a tag lead to these bytes.
    ///
    /// # Panics
    /// It refuses.
    pub fn put(&self, name: &str, tag: &str, media_type: &str, manifest: &[u8]) {
        let url = format!("{}/{name}/manifests/{tag}", self.base());
        ureq::put(&url).header("Content-Type", media_type).send(manifest).expect("a manifest is taken");
    }

    /// Makes a tag lead to a manifest that is there, in the registry's storage: at once, and past whatever stands before it.
    ///
    /// # Panics
    /// The storage cannot be written.
    pub fn set_tag(&self, name: &str, tag: &str, digest: &str) {
        let dir = self.tag_dir(name, tag).join("current");
        fs_err::create_dir_all(&dir).expect("the storage can be written");
        // Renamed into place: the registry may read it right now.
        let draft = dir.join("draft");
        fs_err::write(&draft, digest).expect("the storage can be written");
        fs_err::rename(draft, dir.join("link")).expect("the storage can be written");
    }

    /// What a tag leads to, by its digest; `None` if it does not exist.
    ///
    /// # Panics
    /// No answer.
    pub fn digest_of(&self, name: &str, tag: &str) -> Option<String> {
        // From the storage, so that what is tested is not tested with itself.
        let link = self.tag_dir(name, tag).join("current/link");
        fs_err::read_to_string(link).ok()
    }

    /// All tags.
    pub fn tags(&self, name: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.tag_dir(name, "")).into_iter().flatten().flatten();
        let mut tags: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        tags.sort();
        tags
    }

    /// Deletes a tag by its name, which this registry cannot do itself.
    pub fn delete_tag(&self, name: &str, tag: &str) {
        // It may be gone already, as somebody else may delete it too.
        let _ = std::fs::remove_dir_all(self.tag_dir(name, tag));
    }

    fn tag_dir(&self, name: &str, tag: &str) -> PathBuf {
        self.storage().join("docker/registry/v2/repositories").join(name).join("_manifests/tags").join(tag)
    }

    fn push_blob(&self, name: &str, blob: &[u8]) {
        let begun = ureq::post(&format!("{}/{name}/blobs/uploads/", self.base())).send_empty().expect("an upload");
        let place = begun.headers()["location"].to_str().expect("where to").to_owned();
        let join = if place.contains('?') { '&' } else { '?' };
        ureq::put(&format!("{place}{join}digest={}", digest(blob))).send(blob).expect("a blob is taken");
    }

    fn base(&self) -> String {
        format!("http://{}/v2", self.address)
    }
}

fn digest(bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// A temporary directory, in memory where there is such a place: neither a registry nor its clients wait for a disk there.
///
/// # Panics
/// There is no place for it.
pub fn quick_dir() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a temporary directory")
}

/// Waits until it says where it listens.
fn listening(log: &Path) -> SocketAddr {
    const WORDS: &str = "listening on ";
    let start = Instant::now();
    loop {
        let text = fs_err::read_to_string(log).unwrap_or_default();
        let address = text
            .split_once(WORDS)
            .and_then(|(_, rest)| rest.split(|c: char| c == '"' || c == ',' || c.is_whitespace()).next()?.parse().ok());
        if let Some(address) = address {
            return address;
        }
        assert!(start.elapsed() < PATIENCE, "`{PROGRAM}` does not listen:\n{text}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").field("address", &self.address).finish_non_exhaustive()
    }
}

/// A push of an image that is a list of others.
///
/// # Panics
/// The registry refuses.
pub fn push_list(registry: &Registry, name: &str, tag: &str, images: &[(&Pushed, &str)]) -> String {
    const LIST: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
    let entries: Vec<Value> = images
        .iter()
        .map(|(image, architecture)| {
            json!({
                "mediaType": IMAGE, "size": 1, "digest": image.manifest,
                "platform": { "os": "linux", "architecture": architecture },
            })
        })
        .collect();
    let list = json!({ "schemaVersion": 2, "mediaType": LIST, "manifests": entries }).to_string().into_bytes();
    registry.put(name, tag, LIST, &list);
    digest(&list)
}
