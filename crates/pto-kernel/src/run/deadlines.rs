//! How long a launch may take, and how often it is repeated.

use std::time::Duration;

use pto_context::{BadSeconds, Context};
use pto_launch::{LaunchPath, Limits};

use super::error::RunError;

/// A whole process on a device: launching, running, teardown, of all repeats. For runs of a smoke test's size.
const PROCESS: Duration = Duration::from_secs(60);
/// The same on the CPU, where 48 cores share what processors there are.
const CPU_PROCESS: Duration = Duration::from_secs(120);
/// The same on a model of the device, which is a thousand times slower.
const SIMULATOR_PROCESS: Duration = Duration::from_secs(1800);
/// One synchronization.
const SYNC: Duration = Duration::from_secs(60);
/// One call of the launcher: it enqueues work, and the first one registers the binary with the device.
const LAUNCH: Duration = Duration::from_secs(30);
/// Releasing everything and ending the process. A model writes its traces then, and has all the time of the process.
const TEARDOWN: Duration = Duration::from_secs(20);

/// On a device, where a missing `set_flag` or barrier shows in one run and not in the next.
const DEVICE_REPEATS: u32 = 5;
/// On a model, which is deterministic and slow, and on the CPU, which finds such a bug by its own means: a core that waits
/// for nothing is a deadlock there, and an edit is to be judged within a second.
const REPEATS: u32 = 1;

/// What runs a kernel, as far as time is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// The processors of this machine.
    Cpu,
    /// An NPU.
    Device,
    /// A model of one.
    Simulator,
}

impl Pace {
    /// Set to 1 by whoever runs this program on a model.
    const SIMULATOR_VARIABLE: &str = "PTO_SIMULATOR";

    /// That of a launch path. Whether what is launched on directly is a model, the environment says.
    pub fn of(cx: &Context, path: LaunchPath) -> Self {
        match path {
            LaunchPath::Cpu => Self::Cpu,
            LaunchPath::Msprof | LaunchPath::Cannsim | LaunchPath::Linked => Self::Simulator,
            LaunchPath::Direct if cx.var(Self::SIMULATOR_VARIABLE).is_some_and(|value| value.trim() != "0") => {
                Self::Simulator
            }
            LaunchPath::Direct => Self::Device,
        }
    }
}

/// Overrides [`Limits::process`], in seconds.
pub(super) const PROCESS_VARIABLE: &str = "PTO_PROCESS_TIMEOUT_S";
/// Overrides [`Limits::sync`], in seconds.
pub(super) const SYNC_VARIABLE: &str = "PTO_SYNC_TIMEOUT_S";
/// Overrides [`Limits::launch`], in seconds.
pub(super) const LAUNCH_VARIABLE: &str = "PTO_LAUNCH_TIMEOUT_S";
/// Overrides [`Limits::teardown`], in seconds.
pub(super) const TEARDOWN_VARIABLE: &str = "PTO_TEARDOWN_TIMEOUT_S";

/// The limits of a launch, unless the environment says otherwise.
pub(super) fn limits(cx: &Context, pace: Pace) -> Result<Limits, BadSeconds> {
    // On a model any step may be most of the whole.
    let (process, launch, sync, teardown) = match pace {
        Pace::Cpu => (CPU_PROCESS, LAUNCH, SYNC, TEARDOWN),
        Pace::Device => (PROCESS, LAUNCH, SYNC, TEARDOWN),
        Pace::Simulator => (SIMULATOR_PROCESS, SIMULATOR_PROCESS, SIMULATOR_PROCESS, SIMULATOR_PROCESS),
    };
    Ok(Limits {
        process: cx.seconds(PROCESS_VARIABLE, process)?,
        launch: cx.seconds(LAUNCH_VARIABLE, launch)?,
        sync: cx.seconds(SYNC_VARIABLE, sync)?,
        teardown: cx.seconds(TEARDOWN_VARIABLE, teardown)?,
    })
}

/// How long a launch waits for a device that somebody else uses: as long as that one's whole process may take by default,
/// many times over.
const DEVICE_WAIT: Duration = Duration::from_secs(600);

/// How long a launch waits for a device, unless the environment says otherwise.
pub(super) fn device_wait(cx: &Context) -> Result<Duration, BadSeconds> {
    cx.seconds("PTO_DEVICE_WAIT_S", DEVICE_WAIT)
}

/// Overrides how often a kernel is launched, on whatever runs it.
const REPEATS_VARIABLE: &str = "PTO_DEVICE_REPEATS";
/// The most that make sense: each repeat fills all buffers.
pub const MOST_REPEATS: u32 = 100_000;

/// How often a case is launched: as asked for, as the environment says, or as its pace allows.
///
/// # Errors
/// The environment holds no such number.
pub(super) fn repeats(cx: &Context, pace: Pace, asked: Option<u32>) -> Result<u32, RunError> {
    let Some(value) = cx.var(REPEATS_VARIABLE).filter(|_| asked.is_none()) else {
        return Ok(asked.unwrap_or(if pace == Pace::Device { DEVICE_REPEATS } else { REPEATS }));
    };
    let number = value.trim().parse().ok().filter(|repeats| (1..=MOST_REPEATS).contains(repeats));
    number.ok_or(RunError::BadRepeats { variable: REPEATS_VARIABLE, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cx(vars: &[(&str, &str)]) -> Context {
        Context::fake("/", vars.iter().map(|(name, value)| (*name, *value)))
    }

    #[test]
    fn each_pace_has_its_time_and_its_repeats() {
        let cx = cx(&[]);
        let rows = [(Pace::Cpu, 120, 1), (Pace::Device, 60, 5), (Pace::Simulator, 1800, 1)];
        for (pace, seconds, times) in rows {
            assert_eq!(limits(&cx, pace).unwrap().process, Duration::from_secs(seconds));
            assert_eq!(repeats(&cx, pace, None).unwrap(), times);
            assert_eq!(repeats(&cx, pace, Some(3)).unwrap(), 3);
        }
    }

    #[test]
    fn a_model_is_what_the_environment_calls_one() {
        assert_eq!(Pace::of(&cx(&[("PTO_SIMULATOR", "1")]), LaunchPath::Direct), Pace::Simulator);
        assert_eq!(Pace::of(&cx(&[("PTO_SIMULATOR", "0")]), LaunchPath::Direct), Pace::Device);
        assert_eq!(Pace::of(&cx(&[("PTO_SIMULATOR", "1")]), LaunchPath::Cpu), Pace::Cpu);
        assert_eq!(Pace::of(&cx(&[]), LaunchPath::Direct), Pace::Device);
        assert_eq!(Pace::of(&cx(&[]), LaunchPath::Msprof), Pace::Simulator);
    }

    #[test]
    fn every_limit_has_its_variable() {
        let vars = ["PROCESS", "LAUNCH", "SYNC", "TEARDOWN"].map(|name| format!("PTO_{name}_TIMEOUT_S"));
        let vars = vars.iter().zip(["1", "2", "3", "4"]).map(|(name, value)| (name.as_str(), value));
        let given = limits(&cx(&vars.collect::<Vec<_>>()), Pace::Device).unwrap();
        let Limits { process, launch, sync, teardown } = given;
        assert_eq!([process, launch, sync, teardown], [1, 2, 3, 4].map(Duration::from_secs));
    }

    #[test]
    fn repeats_are_a_number_that_makes_sense() {
        assert_eq!(repeats(&cx(&[("PTO_DEVICE_REPEATS", " 7 ")]), Pace::Cpu, None).unwrap(), 7);
        assert_eq!(repeats(&cx(&[("PTO_DEVICE_REPEATS", "7")]), Pace::Device, Some(2)).unwrap(), 2);
        for bad in ["0", "-1", "many", "100001"] {
            let error = repeats(&cx(&[("PTO_DEVICE_REPEATS", bad)]), Pace::Device, None).unwrap_err();
            assert!(error.to_string().starts_with(&format!("`PTO_DEVICE_REPEATS` is `{bad}`")), "{error}");
        }
    }
}
