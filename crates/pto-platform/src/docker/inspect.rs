//! `docker inspect`: which NPUs and which parts of the driver a container has, and what an image is for.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::json::{elements, flag, string, strings, value};
use super::parse_visible_devices;
use crate::Note;

/// Variables that say which NPUs a container has and which software it uses. Others may be secrets and are not kept.
const KEPT_VARIABLES: [&str; 4] = ["ASCEND_", "PYPTO_", "LD_LIBRARY_PATH", "PYTHONPATH"];
/// Words that make a variable's value a secret whatever its name begins with.
const SECRET_WORDS: [&str; 5] = ["TOKEN", "PASSWORD", "SECRET", "PROXY", "KEY"];
/// What labels of ours begin with. Others say nothing that is needed, and may hold anything.
const KEPT_LABELS: &str = "ptokit.";
const NODE: &str = "/dev/davinci";

/// The output of `docker inspect` (or `docker image inspect`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Inspection {
    /// Containers.
    pub containers: Vec<Container>,
    /// Images.
    pub images: Vec<Image>,
    /// What was not understood.
    pub notes: Vec<Note>,
}

/// A container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Container {
    /// Full id.
    pub id: Option<String>,
    /// Name, without the slash before it.
    pub name: Option<String>,
    /// The image's name, as the container was started with.
    pub image: Option<String>,
    /// `running`, `exited`, ...
    pub status: Option<String>,
    /// Its main process on the host; `None` where it does not run.
    pub pid: Option<u32>,
    /// `runc`, `ascend`.
    pub runtime: Option<String>,
    /// Whether it sees every device of the host.
    pub privileged: bool,
    /// Devices that are passed one by one (`--device`).
    pub devices: Vec<ContainerDevice>,
    /// Mounts.
    pub mounts: Vec<Mount>,
    /// Variables that concern NPUs, in order; all others are left out.
    pub env: Vec<(String, String)>,
    /// `/dev/shm` in bytes.
    pub shm_bytes: Option<u64>,
    /// Working directory.
    pub working_dir: Option<String>,
    /// `user` or `user:group`; `None` for root.
    pub user: Option<String>,
    /// Groups that are added (`--group-add`).
    pub groups: Vec<String>,
    /// The image it was made of, by its id: what the image's name stands for may have changed since.
    #[serde(skip)]
    pub image_id: Option<String>,
    /// Labels that begin with `ptokit.`; all others are left out.
    #[serde(skip)]
    pub labels: BTreeMap<String, String>,
    /// Whether its main process has a terminal (`--tty`).
    #[serde(skip)]
    pub tty: bool,
    /// Whether its main process reads what is typed (`--interactive`); `false` only if Docker says so.
    #[serde(skip)]
    pub takes_input: bool,
    /// Whether Docker removes it as soon as it ends (`--rm`).
    #[serde(skip)]
    pub auto_remove: bool,
    /// How its main process ended the last time; 0 where it has not.
    #[serde(skip)]
    pub exit_code: Option<i64>,
}

/// A device node inside a container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContainerDevice {
    /// Path on the host.
    pub host: String,
    /// Path inside.
    pub container: String,
}

/// A mount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mount {
    /// Path on the host, or a volume's name.
    pub source: String,
    /// Path inside.
    pub destination: String,
    /// Whether it can be written.
    pub writable: bool,
}

/// An image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Image {
    /// Id: digest of the image's configuration.
    pub id: Option<String>,
    /// `arm64`, `amd64`.
    pub architecture: Option<String>,
    /// `linux`.
    pub os: Option<String>,
    /// Size in bytes, uncompressed.
    pub size: Option<u64>,
    /// Names with tags.
    pub tags: Vec<String>,
    /// Names with digests.
    pub digests: Vec<String>,
    /// Variables that concern NPUs, in order; all others are left out.
    pub env: Vec<(String, String)>,
    /// Labels that begin with `ptokit.`; all others are left out.
    pub labels: BTreeMap<String, String>,
}

impl Image {
    /// The value of one of the variables that are kept.
    pub fn env(&self, name: &str) -> Option<&str> {
        value_of(&self.env, name)
    }
}

impl Container {
    /// Whether the container runs, and so holds what it has.
    pub fn is_running(&self) -> bool {
        self.status.as_deref() == Some("running")
    }

    /// The value of one of the variables that are kept.
    pub fn env(&self, name: &str) -> Option<&str> {
        value_of(&self.env, name)
    }

    /// The NPUs it was given, by the host's indices (N of `/dev/davinciN`), sorted: passed as devices, mounted, or asked of
    /// Ascend Docker Runtime. A privileged container sees the others as well.
    pub fn npus(&self) -> Vec<u32> {
        let nodes = self.devices.iter().map(|device| device.host.as_str());
        let mounted = self.mounts.iter().map(|mount| mount.source.as_str());
        let asked = self.env("ASCEND_VISIBLE_DEVICES").map(parse_visible_devices).unwrap_or_default().indices;
        let mut npus: Vec<u32> = nodes.chain(mounted).filter_map(npu).chain(asked).collect();
        npus.sort_unstable();
        npus.dedup();
        npus
    }

    /// A command that would start a container like this one, to paste or to quote: what concerns NPUs is in it, names
    /// and entry points are not.
    pub fn run_command(&self) -> String {
        let mut words = vec!["docker".to_owned(), "run".to_owned()];
        if let Some(runtime) = self.runtime.as_deref().filter(|runtime| *runtime != "runc") {
            words.push(format!("--runtime={runtime}"));
        }
        if self.privileged {
            words.push("--privileged".to_owned());
        }
        let pair = |option: &str, value: String| [option.to_owned(), value];
        words.extend(self.env.iter().flat_map(|(name, value)| pair("-e", format!("{name}={value}"))));
        words.extend(self.devices.iter().flat_map(|device| {
            let same = device.host == device.container;
            pair("--device", if same { device.host.clone() } else { format!("{}:{}", device.host, device.container) })
        }));
        words.extend(self.mounts.iter().flat_map(|mount| {
            let mode = if mount.writable { "" } else { ":ro" };
            pair("-v", format!("{}:{}{mode}", mount.source, mount.destination))
        }));
        words.extend(self.groups.iter().flat_map(|group| pair("--group-add", group.clone())));
        words.extend(self.user.iter().flat_map(|user| pair("--user", user.clone())));
        words.extend(self.shm_bytes.map(|bytes| format!("--shm-size={bytes}")));
        words.extend(self.image.clone());
        // Quoting fails on a NUL alone, which no argument of a command can hold.
        let quoted = words.iter().map(|word| shlex::try_quote(word).unwrap_or(word.into()));
        quoted.collect::<Vec<_>>().join(" ")
    }

    /// Whether a path of the host (a directory above it counts) is there under the same name inside.
    pub fn has_path(&self, path: &str) -> bool {
        let covers = |mounted: &str| {
            let mounted = mounted.trim_end_matches('/');
            path.strip_prefix(mounted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.mounts.iter().any(|mount| covers(&mount.destination))
            || self.devices.iter().any(|device| device.container == path)
    }
}

impl Inspection {
    /// NPUs that more than one running container was given, with the containers: one overlap fails all of them.
    pub fn shared_npus(&self) -> Vec<(u32, Vec<&Container>)> {
        let running: Vec<(&Container, Vec<u32>)> = self
            .containers
            .iter()
            .filter(|container| container.is_running())
            .map(|container| (container, container.npus()))
            .collect();
        let mut npus: Vec<u32> = running.iter().flat_map(|(_, npus)| npus.iter().copied()).collect();
        npus.sort_unstable();
        npus.dedup();
        let holders = |npu: u32| {
            running
                .iter()
                .filter(move |(_, npus)| npus.contains(&npu))
                .map(|(container, _)| *container)
                .collect::<Vec<_>>()
        };
        npus.into_iter().map(|npu| (npu, holders(npu))).filter(|(_, holders)| holders.len() > 1).collect()
    }
}

/// Reads `docker inspect`.
pub fn parse_docker_inspect(text: &str) -> Inspection {
    let mut inspection = Inspection::default();
    let items = match value(text) {
        Ok(Value::Array(items)) => items,
        Ok(item @ Value::Object(_)) => vec![item],
        Ok(_) => return Inspection { notes: vec![Note::whole("expected a JSON array")], ..inspection },
        Err(note) => return Inspection { notes: vec![note], ..inspection },
    };
    for (index, item) in items.iter().enumerate() {
        if item.get("HostConfig").is_some() || item.get("State").is_some() {
            inspection.containers.push(container(item));
        } else if item.get("RepoTags").is_some() || item.get("Architecture").is_some() {
            inspection.images.push(image(item));
        } else {
            inspection.notes.push(Note::new(0, &format!("[{index}]"), "neither a container nor an image"));
        }
    }
    inspection
}

fn container(item: &Value) -> Container {
    Container {
        id: string(item, "/Id"),
        name: string(item, "/Name").map(|name| name.trim_start_matches('/').to_owned()),
        image: string(item, "/Config/Image"),
        status: string(item, "/State/Status"),
        pid: number(item, "/State/Pid").and_then(|pid| u32::try_from(pid).ok()).filter(|&pid| pid > 0),
        runtime: string(item, "/HostConfig/Runtime"),
        privileged: flag(item, "/HostConfig/Privileged"),
        devices: elements(item, "/HostConfig/Devices").iter().filter_map(device).collect(),
        mounts: elements(item, "/Mounts").iter().filter_map(mount).collect(),
        env: strings(item, "/Config/Env").iter().filter_map(|variable| variable_kept(variable)).collect(),
        shm_bytes: number(item, "/HostConfig/ShmSize"),
        working_dir: string(item, "/Config/WorkingDir"),
        user: string(item, "/Config/User"),
        groups: strings(item, "/HostConfig/GroupAdd"),
        image_id: string(item, "/Image"),
        labels: labels(item),
        tty: flag(item, "/Config/Tty"),
        takes_input: item.pointer("/Config/OpenStdin").and_then(Value::as_bool).unwrap_or(true),
        auto_remove: flag(item, "/HostConfig/AutoRemove"),
        exit_code: item.pointer("/State/ExitCode").and_then(Value::as_i64),
    }
}

fn value_of<'a>(env: &'a [(String, String)], name: &str) -> Option<&'a str> {
    env.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

fn labels(item: &Value) -> BTreeMap<String, String> {
    let all = item.pointer("/Config/Labels").and_then(Value::as_object).into_iter().flatten();
    let kept = all.filter(|(name, _)| name.starts_with(KEPT_LABELS));
    kept.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}

fn device(item: &Value) -> Option<ContainerDevice> {
    let host = string(item, "/PathOnHost")?;
    let container = string(item, "/PathInContainer").unwrap_or_else(|| host.clone());
    Some(ContainerDevice { host, container })
}

fn mount(item: &Value) -> Option<Mount> {
    let destination = string(item, "/Destination")?;
    // A volume has its source below Docker's own directory; its name says more.
    let source = string(item, "/Name").or_else(|| string(item, "/Source")).unwrap_or_default();
    Some(Mount { source, destination, writable: flag(item, "/RW") })
}

fn variable_kept(variable: &str) -> Option<(String, String)> {
    let (name, value) = variable.split_once('=')?;
    let upper = name.to_ascii_uppercase();
    let secret = SECRET_WORDS.iter().any(|word| upper.contains(word));
    let kept = !secret && KEPT_VARIABLES.iter().any(|kept| name.starts_with(kept));
    kept.then(|| (name.to_owned(), value.to_owned()))
}

/// The N of `/dev/davinciN`; `/dev/davinci_manager` has none.
fn npu(path: &str) -> Option<u32> {
    path.strip_prefix(NODE)?.parse().ok()
}

fn number(item: &Value, pointer: &str) -> Option<u64> {
    item.pointer(pointer)?.as_u64()
}

fn image(item: &Value) -> Image {
    Image {
        id: string(item, "/Id"),
        architecture: string(item, "/Architecture"),
        os: string(item, "/Os"),
        size: number(item, "/Size"),
        tags: strings(item, "/RepoTags"),
        digests: strings(item, "/RepoDigests"),
        env: strings(item, "/Config/Env").iter().filter_map(|variable| variable_kept(variable)).collect(),
        labels: labels(item),
    }
}
