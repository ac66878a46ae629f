//! How a kernel gets to run on this machine: path, device, SoC, simulator. Found out before anything is built.

mod linked;
mod machine;
mod model;
mod report;

use std::path::PathBuf;

use pto_compile::cann;
use pto_context::Context;
use pto_launch::{Asked, Candidate, DevicePool, LaunchPath, Slot, choose_path, rank_devices};
use pto_platform::{Soc, Target};

use super::deadlines::{Pace, device_wait, repeats};
use super::error::RunError;
use super::workshop::Workshop;
use super::{TestOptions, soc_for};
use crate::manifest::Manifest;

pub use machine::HostFacts;
pub use report::{LaunchReport, SimulationReport};

pub(super) use model::{Model, tools_for};

/// How a kernel gets to run.
#[derive(Debug, Clone)]
pub struct Launching {
    /// The path.
    pub path: LaunchPath,
    /// The rule that led to it, for people.
    pub why: String,
    /// The SoC whose cores are counted: that of the device, the one that is modelled, or the one that is played.
    pub soc: &'static Soc,
    /// The devices that it may run on, the best first; none on a model and on the host.
    pub devices: Vec<Candidate>,
    /// What the model needs, where it is one.
    pub(super) model: Option<Model>,
}

impl Launching {
    /// Chooses for a kernel and the workshop's target.
    ///
    /// # Errors
    /// There is no way to run it here, the one asked for is not safe, or no device is free.
    pub fn choose(
        cx: &Context,
        workshop: &Workshop,
        manifest: &Manifest,
        options: &TestOptions,
    ) -> Result<Self, RunError> {
        let target = workshop.target();
        let soc = soc_for(manifest, target, options.soc)?;
        if target == Target::Cpu {
            let tools = model::none();
            let choice = choose_path(target, &HostFacts::default().host(), &tools, options.launch)?;
            return Ok(Self { path: choice.path, why: choice.why, soc, devices: Vec::new(), model: None });
        }
        let soc = match options.soc {
            Some(soc) => soc,
            None => model::soc_of_the_environment(cx, manifest, target)?.unwrap_or(soc),
        };
        let cann = cann::find_root(cx, None)?.path;
        let named = options.soc.is_some() || cx.var(model::SOC_VARIABLE).is_some();
        let soc = if named { soc } else { model::soc_with_a_model(cx, &cann, soc) };
        let host = workshop.host(cx);
        let found = model::Found::look(cx, &cann, soc);
        let choice = choose_path(target, &host.host(), &found.tools(), options.launch)?;
        let mut launching = Self { path: choice.path, why: choice.why, soc, devices: Vec::new(), model: None };
        if choice.path == LaunchPath::Direct {
            launching.take_device(cx, target, host, options)?;
        } else {
            launching.model = Some(found.model(cx, &cann, choice.path, manifest, target, soc)?);
        }
        Ok(launching)
    }

    fn take_device(
        &mut self,
        cx: &Context,
        target: Target,
        host: &HostFacts,
        options: &TestOptions,
    ) -> Result<(), RunError> {
        let asked = Asked::of(cx.var(Asked::NPU_DEVICE).as_deref(), cx.var(Asked::TASK_DEVICE).as_deref())?;
        let candidates = host.candidates();
        let ranked = rank_devices(target, &candidates, asked.as_ref())?;
        // The card that is there decides how many cores there are, not the usual one of its generation.
        let own = ranked.first().and_then(|best| Soc::by_name(best.soc.as_deref()?).ok());
        if options.soc.is_none() {
            self.soc = own.unwrap_or(self.soc);
        }
        // Work that moves to another device has to find the same cores there.
        let alike = ranked.iter().filter(|other| other.soc == ranked[0].soc);
        self.devices = alike.map(|device| (*device).clone()).collect();
        Ok(())
    }

    /// The number of the device that a launch opens unless it is given another: a model has one device, and so has the
    /// library that plays one.
    pub(super) fn device_number(&self) -> u32 {
        self.devices.first().map_or(0, |device| device.device)
    }

    /// The devices as processes of this machine agree on them.
    fn slots(&self) -> Vec<Slot> {
        // Where there is no node, a device is known by what ACL calls it.
        let slot = |device: &Candidate| Slot { device: device.device, node: device.node.unwrap_or(device.device) };
        self.devices.iter().map(slot).collect()
    }

    /// The devices it may run on, as they are shared with other runs.
    ///
    /// # Errors
    /// The environment names no time to wait for one.
    pub(crate) fn pool(&self, cx: &Context, manifest: &Manifest) -> Result<DevicePool, RunError> {
        Ok(DevicePool::new(cx, self.slots(), &format!("kernel `{}`", manifest.name), device_wait(cx)?))
    }

    /// How often each case is launched, if `asked` is what anybody said of it, and whether that and times can be had here.
    ///
    /// # Errors
    /// The environment holds no such number, or the path makes one launch alone.
    pub(crate) fn repeats(&self, cx: &Context, asked: Option<u32>, timed: bool) -> Result<u32, RunError> {
        let repeats = repeats(cx, Pace::of(cx, self.path), asked)?;
        self.path.check_launches(repeats, timed)?;
        Ok(repeats)
    }

    /// How many cases may run at once, `None` for as many as there are processors: a device is nobody's to share, and the
    /// model takes the whole machine.
    pub(super) fn jobs(&self, asked: Option<usize>) -> Option<usize> {
        if self.path == LaunchPath::Cpu { asked } else { Some(1) }
    }
}

/// Where simulators leave what they record, in the workspace's generated files.
fn simulations(workshop: &Workshop) -> PathBuf {
    workshop.setup.artifacts.root().with_file_name("sim")
}
