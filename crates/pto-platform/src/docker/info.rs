//! `docker info`: whether the engine knows the `ascend` runtime, and through which proxies it pulls.

use serde::Serialize;
use serde_json::Value;

use super::json::{elements, string, value};
use super::mask_proxy;
use crate::Note;
use crate::entries::numbered;

/// The name Ascend Docker Runtime registers itself by.
const ASCEND: &str = "ascend";

/// What is needed of `docker info`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DockerInfo {
    /// What tells this engine from every other one.
    #[serde(skip)]
    pub id: Option<String>,
    /// Version of the engine; `None` where the daemon did not answer.
    pub server_version: Option<String>,
    /// Names of the registered runtimes, sorted.
    pub runtimes: Vec<String>,
    /// The runtime of containers that ask for none.
    pub default_runtime: Option<String>,
    /// Processor, as the kernel names it: `aarch64`.
    pub architecture: Option<String>,
    /// Where images and containers are: `/var/lib/docker`.
    pub root_dir: Option<String>,
    /// Storage driver: `overlay2`.
    pub storage_driver: Option<String>,
    /// Proxies of the daemon, which pulls with these and not with those of the shell.
    pub proxies: DockerProxies,
    /// What the daemon complains about.
    pub errors: Vec<String>,
    /// What was not understood.
    pub notes: Vec<Note>,
}

/// The daemon's proxies, user and password masked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DockerProxies {
    /// For `http` addresses.
    pub http: Option<String>,
    /// For `https` addresses.
    pub https: Option<String>,
    /// Hosts that are reached directly.
    pub no_proxy: Option<String>,
}

impl DockerInfo {
    /// Whether `--runtime=ascend` will work.
    pub fn has_ascend_runtime(&self) -> bool {
        self.runtimes.iter().any(|name| name == ASCEND)
    }
}

/// Reads `docker info --format '{{json .}}'`, `docker info --format '{{json .Runtimes}}'`, or plain `docker info`.
pub fn parse_docker_info(text: &str) -> DockerInfo {
    match value(text) {
        Ok(Value::Object(members)) => from_json(&Value::Object(members)),
        Ok(_) => DockerInfo { notes: vec![Note::whole("expected a JSON object")], ..DockerInfo::default() },
        Err(note) => from_text(text).unwrap_or_else(|| DockerInfo { notes: vec![note], ..DockerInfo::default() }),
    }
}

fn from_json(info: &Value) -> DockerInfo {
    let runtimes = match info.get("Runtimes") {
        Some(runtimes) => names(runtimes),
        None if is_runtimes(info) => return DockerInfo { runtimes: names(info), ..DockerInfo::default() },
        None => Vec::new(),
    };
    let masked = |pointer| string(info, pointer).map(|proxy| mask_proxy(&proxy));
    DockerInfo {
        id: string(info, "/ID"),
        server_version: string(info, "/ServerVersion"),
        runtimes,
        default_runtime: string(info, "/DefaultRuntime"),
        architecture: string(info, "/Architecture"),
        root_dir: string(info, "/DockerRootDir"),
        storage_driver: string(info, "/Driver"),
        proxies: DockerProxies {
            http: masked("/HttpProxy"),
            https: masked("/HttpsProxy"),
            no_proxy: string(info, "/NoProxy"),
        },
        errors: elements(info, "/ServerErrors").iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        notes: Vec::new(),
    }
}

/// `{{json .Runtimes}}` alone: every member is an object that says how to start the runtime.
fn is_runtimes(value: &Value) -> bool {
    value.as_object().is_some_and(|members| {
        !members.is_empty()
            && members.values().all(|member| member.is_object())
            && (members.contains_key("runc") || members.values().any(|member| member.get("path").is_some()))
    })
}

fn names(runtimes: &Value) -> Vec<String> {
    let mut names: Vec<String> = runtimes.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    names.sort();
    names
}

/// Plain `docker info`: ` Runtimes: ascend io.containerd.runc.v2 runc`.
fn from_text(text: &str) -> Option<DockerInfo> {
    let field = |name: &str| {
        let mut values = numbered(text).filter_map(|(_, line)| line.trim().strip_prefix(name)?.strip_prefix(':'));
        values.next().map(str::trim).filter(|value| !value.is_empty()).map(str::to_owned)
    };
    let mut runtimes: Vec<String> = field("Runtimes")?.split_whitespace().map(str::to_owned).collect();
    runtimes.sort();
    let masked = |name| field(name).map(|proxy| mask_proxy(&proxy));
    Some(DockerInfo {
        id: field("ID"),
        server_version: field("Server Version"),
        runtimes,
        default_runtime: field("Default Runtime"),
        architecture: field("Architecture"),
        root_dir: field("Docker Root Dir"),
        storage_driver: field("Storage Driver"),
        proxies: DockerProxies {
            http: masked("HTTP Proxy"),
            https: masked("HTTPS Proxy"),
            no_proxy: field("No Proxy"),
        },
        errors: field("ERROR").into_iter().collect(),
        notes: Vec::new(),
    })
}
