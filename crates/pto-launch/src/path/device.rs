//! Which devices a kernel may be launched on: a pure function.

use std::str::FromStr;

use pto_platform::Target;

/// A device, as far as choosing it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its number for ACL, counted from 0 among the devices that this process sees.
    pub device: u32,
    /// The N of its `/dev/davinciN`, which other tools and other processes count by; `None` where there is no node.
    pub node: Option<u32>,
    /// The SoC, by the name ACL reports.
    pub soc: Option<String>,
    /// The target whose kernels run there.
    pub target: Option<Target>,
    /// Why it should not be used, for people: it is busy, ill, set aside. `None` for one that is idle and well.
    pub reserved: Option<String>,
    /// Whether it must not be used even if it is asked for by number: somebody set it aside.
    pub forbidden: bool,
    /// Memory in use, in MB: of several devices the least filled is taken.
    pub memory_used_mb: Option<u64>,
}

/// The device that was asked for, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Its number for ACL.
    pub device: u32,
    /// The variable that named it.
    pub by: &'static str,
}

/// A variable that names no device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadDevice {
    /// Not a number.
    #[error("`{variable}` is `{value}`; expected a device such as `3` or `npu:3`")]
    NotADevice {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
    },
    /// Two variables disagree. Whoever hands devices out has given this process one, and only that.
    #[error("`{}` names device {}, `{}` device {}; one of them is somebody else's", .first.by, .first.device, .second.by, .second.device)]
    Disagree {
        /// One.
        first: Asked,
        /// The other.
        second: Asked,
    },
}

impl Asked {
    /// Names a device for this user's programs, as PyTorch writes it: `npu:3` or `3`.
    pub const NPU_DEVICE: &'static str = "NPU_DEVICE";
    /// Names the device that a task queue has handed out.
    pub const TASK_DEVICE: &'static str = "TASK_DEVICE";

    /// The device that the variables name, by their values.
    ///
    /// # Errors
    /// A value is no device, or two name different ones.
    pub fn of(npu_device: Option<&str>, task_device: Option<&str>) -> Result<Option<Self>, BadDevice> {
        let read = |by: &'static str, value: Option<&str>| value.map(|value| Self::parse(by, value)).transpose();
        match (read(Self::NPU_DEVICE, npu_device)?, read(Self::TASK_DEVICE, task_device)?) {
            (Some(first), Some(second)) if first.device != second.device => Err(BadDevice::Disagree { first, second }),
            (first, second) => Ok(first.or(second)),
        }
    }

    fn parse(by: &'static str, value: &str) -> Result<Self, BadDevice> {
        let number = value.trim();
        let number = number.strip_prefix("npu:").unwrap_or(number);
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        match u32::from_str(number) {
            Ok(device) if is_number => Ok(Self { device, by }),
            _ => Err(BadDevice::NotADevice { variable: by, value: value.to_owned() }),
        }
    }
}

/// No device can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoDevice {
    /// The number that was asked for is not among the devices.
    #[error("`{by}` names device {device}, and this process sees {}", count(*.seen))]
    Absent {
        /// The variable.
        by: &'static str,
        /// Its device.
        device: u32,
        /// How many there are.
        seen: usize,
    },
    /// The device that was asked for is of another generation.
    #[error("`{by}` names device {device}, a `{soc}`, on which no `{target}` kernel is launched")]
    OtherGeneration {
        /// The variable.
        by: &'static str,
        /// Its device.
        device: u32,
        /// Its SoC.
        soc: String,
        /// What the kernel is built for.
        target: Target,
    },
    /// The device that was asked for is set aside.
    #[error("`{by}` names device {device}, which is not to be used: {why}")]
    Forbidden {
        /// The variable.
        by: &'static str,
        /// Its device.
        device: u32,
        /// Who set it aside, and why.
        why: String,
    },
    /// Every device of the target is taken.
    #[error("no `{target}` device is idle and well: {}", .why.join("; "))]
    NoneIdle {
        /// What the kernel is built for.
        target: Target,
        /// Of each device why not.
        why: Vec<String>,
    },
}

impl NoDevice {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Absent { .. } | Self::OtherGeneration { .. } => {
                "`cargo xtask devices --probe` lists them; without `NPU_DEVICE` an idle one is taken"
            }
            Self::Forbidden { .. } => {
                "`cargo xtask devices` says who set it aside; `cargo xtask devices release N` frees one that is well again"
            }
            Self::NoneIdle { .. } => {
                "wait, or name a device that you may share in `NPU_DEVICE`; `cargo xtask devices` says who uses them"
            }
        }
    }
}

/// The devices for a target, the best first: the one asked for and no other, else those that are idle and well, the least
/// filled first. Never none.
///
/// # Errors
/// See [`NoDevice`].
pub fn rank_devices<'a>(
    target: Target,
    candidates: &'a [Candidate],
    asked: Option<&Asked>,
) -> Result<Vec<&'a Candidate>, NoDevice> {
    let Some(Asked { device, by }) = asked else { return idle(target, candidates) };
    let (device, by) = (*device, *by);
    let Some(found) = candidates.iter().find(|candidate| candidate.device == device) else {
        return Err(NoDevice::Absent { by, device, seen: candidates.len() });
    };
    if found.target != Some(target) {
        let soc = found.soc.clone().unwrap_or_else(|| "device of no known generation".to_owned());
        return Err(NoDevice::OtherGeneration { by, device, soc, target });
    }
    match &found.reserved {
        Some(why) if found.forbidden => Err(NoDevice::Forbidden { by, device, why: why.clone() }),
        // Somebody who names a device may know better who else may use it.
        _ => Ok(vec![found]),
    }
}

fn idle(target: Target, candidates: &[Candidate]) -> Result<Vec<&Candidate>, NoDevice> {
    let fitting = || candidates.iter().filter(|candidate| candidate.target == Some(target));
    let mut free: Vec<&Candidate> = fitting().filter(|candidate| candidate.reserved.is_none()).collect();
    free.sort_by_key(|candidate| (candidate.memory_used_mb, candidate.device));
    if free.is_empty() {
        let why = |candidate: &Candidate| {
            let why = candidate.reserved.as_deref().unwrap_or_default();
            format!("{} {why}", candidate.device)
        };
        return Err(NoDevice::NoneIdle { target, why: fitting().map(why).collect() });
    }
    Ok(free)
}

fn count(seen: usize) -> String {
    match seen {
        0 => "none".to_owned(),
        1 => "device 0 alone".to_owned(),
        more => format!("devices 0 to {}", more - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(device: u32, target: Target, reserved: Option<&str>, used: u64) -> Candidate {
        Candidate {
            device,
            node: Some(device + 4),
            soc: target.default_soc().map(|soc| soc.name.to_owned()),
            target: Some(target),
            reserved: reserved.map(str::to_owned),
            forbidden: reserved == Some("set aside"),
            memory_used_mb: Some(used),
        }
    }

    fn devices() -> Vec<Candidate> {
        vec![
            device(0, Target::A2a3, Some("busy"), 60_000),
            device(1, Target::A2a3, None, 3500),
            device(2, Target::A2a3, None, 3400),
            device(3, Target::A5, None, 0),
            device(4, Target::A2a3, Some("set aside"), 0),
        ]
    }

    fn asked(device: u32) -> Option<Asked> {
        Some(Asked { device, by: Asked::NPU_DEVICE })
    }

    #[test]
    fn an_idle_one_of_the_target_is_taken() {
        let devices = devices();
        let numbers =
            |target| rank_devices(target, &devices, None).unwrap().iter().map(|found| found.device).collect::<Vec<_>>();
        assert_eq!((numbers(Target::A2a3), numbers(Target::A5)), (vec![2, 1], vec![3]));
        let taken: Vec<_> = devices.iter().filter(|device| device.reserved.is_some()).cloned().collect();
        let error = rank_devices(Target::A2a3, &taken, None).unwrap_err();
        assert_eq!(error.to_string(), "no `a2a3` device is idle and well: 0 busy; 4 set aside");
    }

    #[test]
    fn the_one_that_is_named_is_taken_unless_it_must_not_be() {
        let devices = devices();
        let choose = |target, device| rank_devices(target, &devices, asked(device).as_ref());
        assert_eq!(choose(Target::A2a3, 0).unwrap()[0].device, 0, "busy, but named");
        assert!(matches!(choose(Target::A2a3, 4), Err(NoDevice::Forbidden { .. })));
        assert!(matches!(choose(Target::A2a3, 3), Err(NoDevice::OtherGeneration { .. })));
        let error = choose(Target::A2a3, 9).unwrap_err();
        assert_eq!(error.to_string(), "`NPU_DEVICE` names device 9, and this process sees devices 0 to 4");
    }

    #[test]
    fn variables_name_devices() {
        let of = |npu, task| Asked::of(npu, task);
        assert_eq!(of(None, None), Ok(None));
        assert_eq!(of(Some("npu:3"), None).unwrap().unwrap().device, 3);
        assert_eq!(of(Some(" 3 "), Some("npu:3")).unwrap().unwrap().by, Asked::NPU_DEVICE);
        assert_eq!(of(None, Some("5")).unwrap(), Some(Asked { device: 5, by: Asked::TASK_DEVICE }));
        for bad in ["npu", "npu:", "npu:-1", "+1", "cuda:0", "npu:99999999999", "0x1"] {
            assert!(matches!(of(Some(bad), None), Err(BadDevice::NotADevice { .. })), "{bad}");
        }
        let error = of(Some("npu:0"), Some("1")).unwrap_err().to_string();
        assert_eq!(error, "`NPU_DEVICE` names device 0, `TASK_DEVICE` device 1; one of them is somebody else's");
    }
}
