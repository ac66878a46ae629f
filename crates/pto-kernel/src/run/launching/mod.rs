//! How a kernel gets to run on this machine: path, device, SoC, simulator. Found out before anything is built.

mod machine;
mod model;
mod report;

use std::path::PathBuf;

use pto_compile::cann;
use pto_context::Context;
use pto_launch::{Asked, Candidate, LaunchPath, choose_device, choose_path};
use pto_platform::{Soc, Target};

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
    /// The device, where there is one.
    pub device: Option<Candidate>,
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
            return Ok(Self { path: choice.path, why: choice.why, soc, device: None, model: None });
        }
        let soc = match options.soc {
            Some(soc) => soc,
            None => model::soc_of_the_environment(cx, manifest, target)?.unwrap_or(soc),
        };
        let cann = cann::find_root(cx, None)?.path;
        let host = workshop.host(cx);
        let found = model::Found::look(cx, &cann, soc);
        let choice = choose_path(target, &host.host(), &found.tools(), options.launch)?;
        let mut launching = Self { path: choice.path, why: choice.why, soc, device: None, model: None };
        if choice.path == LaunchPath::Direct {
            launching.take_device(cx, target, host, options)?;
        } else {
            launching.model = Some(found.model(cx, choice.path, manifest, target, soc)?);
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
        let device = choose_device(target, &candidates, asked.as_ref())?;
        // The card that is there decides how many cores there are, not the usual one of its generation.
        let own = device.soc.as_deref().and_then(|name| Soc::by_name(name).ok());
        if options.soc.is_none() {
            self.soc = own.unwrap_or(self.soc);
        }
        self.device = Some(device.clone());
        Ok(())
    }

    /// The device's number for ACL. The model has one device, and so has the library that plays one.
    pub(super) fn device_number(&self) -> u32 {
        self.device.as_ref().map_or(0, |device| device.device)
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
