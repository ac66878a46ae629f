//! How a container gets at the NPUs.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use pto_context::places::{DRIVER_ROOT, driver_root};
use pto_context::{Context, Event, files};
use pto_platform::Machine;
use pto_platform::docker::DockerInfo;
use serde::Serialize;

use crate::error::Error;
use crate::mount::Mount;
use crate::series::Series;

/// What users have to know about a privileged container before they create or enter one.
pub const PRIVILEGED: &str = "the container sees all devices and cards of this host";
/// Files of the host that are mounted if they exist: `npu-smi` with its library, the tool and the addresses of the cards' network,
/// and the record of where the driver was installed.
const MANAGEMENT: [&str; 7] = [
    "/usr/local/bin/npu-smi",
    "/usr/local/sbin/npu-smi",
    "/usr/local/dcmi",
    "/usr/bin/hccn_tool",
    "/etc/hccn.conf",
    "/etc/ascend_install.info",
    "/etc/ascend_filelist.info",
];

/// How a container is to get at the NPUs, as somebody asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// [`Mode::Ascend`] if the engine knows the runtime, else [`Mode::Privileged`].
    #[default]
    Auto,
    /// [`Mode::Ascend`].
    Ascend,
    /// [`Mode::Privileged`].
    Privileged,
    /// [`Mode::None`].
    None,
}

impl FromStr for Access {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, Self::Err> {
        match given {
            "auto" => Ok(Self::Auto),
            "ascend" => Ok(Self::Ascend),
            "privileged" => Ok(Self::Privileged),
            "none" => Ok(Self::None),
            _ => Err("expected `auto`, `ascend`, `privileged` or `none`".to_owned()),
        }
    }
}

/// How a container gets at the NPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Ascend Docker Runtime gives it the driver and the selected cards, numbered from 0.
    Ascend,
    /// It has every device of the host, with the host's numbers.
    Privileged,
    /// It has no NPU: code is built, and runs on the CPU or a simulator.
    None,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ascend => "ascend",
            Self::Privileged => "privileged",
            Self::None => "none",
        })
    }
}

/// The devices of a container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeviceAccess {
    /// How it gets at them.
    pub mode: Mode,
    /// Whether the mode was chosen for [`Access::Auto`], by the runtimes that the engine knows.
    pub chosen: bool,
    /// The physical cards.
    pub cards: Vec<u32>,
    /// The number of the first card inside the container: `PYPTO_DEVICE`; `None` without cards.
    pub device: Option<u32>,
    /// Further device nodes.
    pub devices: Vec<String>,
    /// The files of the driver that are mounted.
    pub mounts: Vec<Mount>,
}

impl DeviceAccess {
    /// The access that is asked for, on this engine and host.
    ///
    /// # Errors
    /// The engine does not know the runtime that was asked for.
    pub(crate) fn choose(
        cx: &Context,
        info: &DockerInfo,
        asked: Access,
        series: Series,
        cards: &[u32],
    ) -> Result<Self, Error> {
        let mode = match (asked, info.has_ascend_runtime()) {
            (Access::Auto | Access::Ascend, true) => Mode::Ascend,
            (Access::Ascend, false) => return Err(Error::NoAscendRuntime { known: info.runtimes.clone() }),
            (Access::Auto, false) | (Access::Privileged, _) => Mode::Privileged,
            (Access::None, _) => Mode::None,
        };
        let mounts = match mode {
            Mode::Ascend | Mode::None => Vec::new(),
            Mode::Privileged => host_mounts(cx),
        };
        let inside = |first: &u32| if mode == Mode::Ascend { 0 } else { *first };
        let links = if mode == Mode::None { &[] } else { series.link_devices() };
        let (there, missing): (Vec<_>, Vec<_>) = links.iter().partition(|device| files::exists(cx, device));
        warn_of_missing(cx, info, &missing);
        Ok(Self {
            mode,
            chosen: asked == Access::Auto,
            cards: cards.to_vec(),
            device: cards.first().map(inside),
            devices: there.into_iter().map(|device| (*device).to_owned()).collect(),
            mounts,
        })
    }

    /// The physical cards as a list: `2,3`.
    pub(crate) fn card_list(&self) -> String {
        self.cards.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
    }

    /// What users have to know before the container is created or entered.
    pub fn announcement(&self) -> String {
        let (cards, device) = (self.card_list(), self.device.unwrap_or_default());
        match self.mode {
            Mode::Ascend => {
                let inside: Vec<String> = (0..self.cards.len()).map(|index| index.to_string()).collect();
                format!(
                    "device access: Ascend Docker Runtime; physical card {cards} is device {} inside (PYPTO_DEVICE={device})",
                    inside.join(",")
                )
            }
            Mode::None => {
                "device access: none; the container has no NPU, and runs code on the CPU or a simulator".to_owned()
            }
            Mode::Privileged => {
                let why = if self.chosen { ", since the engine knows no `ascend` runtime" } else { "" };
                format!(
                    "device access: privileged{why}; {PRIVILEGED}. PYPTO_DEVICE={device} makes physical card {device} the default \
                     and keeps nobody from using another"
                )
            }
        }
    }

    /// The options of `docker create`.
    pub(crate) fn options(&self) -> Vec<String> {
        let mut options = match self.mode {
            Mode::Ascend => {
                let visible = format!("ASCEND_VISIBLE_DEVICES={}", self.card_list());
                vec!["--runtime=ascend".to_owned(), "--env".to_owned(), visible]
            }
            Mode::Privileged => vec!["--privileged".to_owned()],
            Mode::None => Vec::new(),
        };
        options.extend(self.devices.iter().flat_map(|device| ["--device".to_owned(), device.clone()]));
        options
    }
}

/// Warns of link devices that the host lacks. Only hosts with an Arm processor have any.
fn warn_of_missing(cx: &Context, info: &DockerInfo, missing: &[&&str]) {
    let machine = info.architecture.as_deref().and_then(|name| name.parse().ok());
    if missing.is_empty() || machine != Some(Machine::Aarch64) {
        return;
    }
    let names = missing.iter().map(|device| format!("`{device}`")).collect::<Vec<_>>().join(" and ");
    let message = format!("this host has no {names}: cards of the container cannot talk to each other through URMA");
    cx.emit(Event::Warning { message });
}

fn host_mounts(cx: &Context) -> Vec<Mount> {
    let root = driver_root(cx);
    let mut mounts = Vec::new();
    if files::is_dir(cx, &root) {
        mounts.push(Mount::bind(&root, DRIVER_ROOT).readonly());
    }
    let tools = MANAGEMENT.iter().map(Path::new).filter(|tool| files::exists(cx, tool));
    mounts.extend(tools.map(|tool| Mount::bind(tool, tool).readonly()));
    mounts
}
