//! Devices that are shared: one launch at a time on each, none on one that is not to be trusted. The devices are played.

mod support;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use pto_context::{Context, Event, Recorder};
use pto_launch::{DevicePool, LaunchError, LaunchRequest, Launched, Phase, Slot, Verdict};
use pto_quarantine::{Attempt, Holder, Quarantine};
use support::{Rig, library};

/// As ACL counts them, and as `/dev` does.
const SLOTS: [Slot; 2] = [Slot { device: 0, node: 4 }, Slot { device: 1, node: 5 }];

struct Shared {
    rig: Rig,
    cx: Context,
    events: Arc<Recorder>,
    _state: tempfile::TempDir,
}

impl Shared {
    fn new() -> Self {
        let rig = Rig::new().with_var("PTO_ACLSIM_DEVICES", "2");
        let state = tempfile::tempdir().unwrap();
        let events = Arc::new(Recorder::default());
        let cx = rig.cx.clone().with_var("PTOKIT_QUARANTINE", state.path().join("q")).with_events(events.clone());
        Self { rig, cx, events, _state: state }
    }

    fn pool(&self, patience: Duration) -> DevicePool {
        DevicePool::new(&self.cx, SLOTS.to_vec(), "kernel `x`", patience)
    }

    fn request(&self, symbol: &str) -> Option<LaunchRequest> {
        let mut request = self.rig.request(&library("kernels.c")?, symbol);
        request.limits.sync = Duration::from_millis(300);
        Some(request)
    }

    fn launch(&self, pool: &DevicePool, request: &LaunchRequest) -> Result<Launched, LaunchError> {
        pool.launch(&self.cx, &self.rig.worker, request)
    }

    fn set_aside(&self) -> Vec<(u32, String)> {
        let standing = Quarantine::of(&self.cx).standing(SystemTime::now());
        standing.records.into_iter().map(|record| (record.device, record.why)).collect()
    }

    fn warnings(&self) -> Vec<String> {
        let events = self.events.events().into_iter();
        let warnings =
            events.filter_map(|event| if let Event::Warning { message } = event { Some(message) } else { None });
        // That is said once per process, by whichever test comes first.
        warnings.filter(|message| !message.starts_with("`task-submit` is not")).collect()
    }
}

#[test]
fn after_a_hang_the_next_launch_gets_another_device_and_then_none() {
    let shared = Shared::new();
    let Some(mut request) = shared.request("hang_in_kernel") else { return };
    let pool = shared.pool(Duration::ZERO);
    let launched = shared.launch(&pool, &request).unwrap();
    assert!(matches!(launched.verdict, Verdict::Hung { phase: Phase::Synchronize, .. }));
    assert_eq!(shared.set_aside(), [(4, "kernel `x`: hung while the kernel ran, killed after 0.3 s".to_owned())]);
    assert_eq!(shared.warnings().len(), 1);

    // A good kernel, on the other device; a launch keeps it for the next.
    request.symbol = "fill".into();
    for _ in 0..2 {
        let launched = shared.launch(&pool, &request).unwrap();
        assert_eq!((launched.verdict, launched.device), (Verdict::Completed, 1));
    }
    request.symbol = "deadlock".into();
    assert!(matches!(shared.launch(&pool, &request).unwrap().verdict, Verdict::Fault { code: 507_034, .. }));
    assert_eq!(shared.set_aside()[1].0, 5);

    request.symbol = "fill".into();
    let error = shared.launch(&pool, &request).unwrap_err();
    assert!(error.is_about_devices());
    let text = error.to_string();
    assert!(text.starts_with("no device can be trusted: device 4 is set aside: kernel `x`: hung while"), "{text}");
    assert!(text.contains("; device 5 is set aside: kernel `x`: a vector core timed out (507034 "), "{text}");
    assert!(error.hint().unwrap().contains("cargo xtask devices release 4"));

    Quarantine::of(&shared.cx).release(4).unwrap();
    assert_eq!(shared.launch(&pool, &request).unwrap().device, 0);
    shared.rig.assert_clean();
}

#[test]
fn a_kernel_that_only_crashes_leaves_its_device_in_use() {
    let shared = Shared::new();
    let Some(mut request) = shared.request("segv_in_launcher") else { return };
    let pool = shared.pool(Duration::ZERO);
    for symbol in ["segv_in_launcher", "exit_3", "killed", "fill"] {
        request.symbol = symbol.into();
        assert_eq!(shared.launch(&pool, &request).unwrap().device, 0, "{symbol}");
    }
    assert_eq!(shared.set_aside(), []);
}

#[test]
fn two_pools_never_share_a_device() {
    let shared = Shared::new();
    let Some(request) = shared.request("fill") else { return };
    let pools = [shared.pool(Duration::ZERO), shared.pool(Duration::ZERO), shared.pool(Duration::ZERO)];
    assert_eq!(shared.launch(&pools[0], &request).unwrap().device, 0);
    assert_eq!(shared.launch(&pools[1], &request).unwrap().device, 1);
    let error = shared.launch(&pools[2], &request).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, LaunchError::Busy { device: 4, .. }), "{text}");
    let me = format!("process {} of user {} (`kernel `x``) has had it", std::process::id(), user());
    assert!(text.contains(&me), "{text}");
    pools[1].release();
    assert_eq!(shared.launch(&pools[2], &request).unwrap().device, 1);
}

fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[test]
fn a_wait_says_for_whom_and_ends_when_the_device_is_free() {
    let shared = Shared::new();
    let Some(request) = shared.request("fill") else { return };
    let quarantine = Quarantine::of(&shared.cx);
    let other = Holder::this_process(Some("ada".into()), "python train.py", SystemTime::now());
    let locks = SLOTS.map(|slot| match quarantine.try_lock(slot.node, &other).unwrap() {
        Attempt::Taken(lock) => lock,
        Attempt::Held(_) => panic!(),
    });
    let events = shared.events.clone();
    // Gives the devices back once it is said that somebody waits for them.
    let giver = std::thread::spawn(move || {
        while !events.events().iter().any(|event| matches!(event, Event::Started { .. })) {
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(locks);
    });
    let launched = shared.launch(&shared.pool(Duration::from_secs(60)), &request).unwrap();
    giver.join().unwrap();
    assert_eq!(launched.verdict, Verdict::Completed);
    let events = shared.events.events();
    let at = events.iter().position(|event| matches!(event, Event::Started { .. })).unwrap();
    let Event::Started { message, .. } = &events[at] else { panic!("{events:?}") };
    assert!(message.starts_with("Waiting for device 4: process "), "{message}");
    assert!(message.contains(" of ada (`python train.py`) has had it for "), "{message}");
    assert!(matches!(&events[at + 1], Event::Finished { message, .. } if message.starts_with("Device ")), "{events:?}");
}

#[test]
fn without_devices_nothing_is_launched() {
    let shared = Shared::new();
    let Some(request) = shared.request("fill") else { return };
    let pool = DevicePool::new(&shared.cx, Vec::new(), "x", Duration::ZERO);
    let error = shared.launch(&pool, &request).unwrap_err();
    assert_eq!(error.to_string(), "no device can be trusted: there is none");
}
