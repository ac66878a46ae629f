//! What is known of the machine that the triage runs on.

use pto_context::Context;
use pto_context::places::DRIVER_ROOT;
use pto_platform::files::parse_driver_info;
use pto_platform::{Machine, PairVerdict, Version, is_cann_below_minimum, is_driver_below_minimum, supported_pair};
use serde::Serialize;

use crate::{facts, files};

/// Nodes without which no device is found.
const MANAGERS: [&str; 3] = ["davinci_manager", "devmm_svm", "hisi_hdc"];
/// What `npu-smi` needs in a container besides the driver's libraries.
const MOUNTS: [&str; 2] = ["/usr/local/dcmi", "/etc/ascend_install.info"];

/// What is known of the machine that the triage runs on: it fills in commands and speaks for or against a cause. The
/// logs may come from elsewhere, so what it says is always shown as the machine's word, not the log's.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Surroundings {
    /// Where the driver is installed, if not in the usual place (`ASCEND_DRIVER_ROOT`).
    pub driver_root: Option<String>,
    /// The driver's version.
    pub driver_version: Option<Version>,
    /// The CANN release.
    pub cann_release: Option<Version>,
    /// The processor, which some pairs of driver and CANN depend on.
    pub processor: Option<Machine>,
    /// The PTOAS release.
    pub ptoas_version: Option<String>,
    /// The device that is used by default (`PYPTO_DEVICE`).
    pub device: Option<u32>,
    /// The container image in use (`PYPTO_IMAGE`).
    pub image: Option<String>,
    /// Devices selected inside the process (`ASCEND_RT_VISIBLE_DEVICES`).
    pub rt_visible_devices: Option<String>,
    /// Device nodes; `None` where nobody looked.
    pub nodes: Option<DeviceNodes>,
    /// What a container with cards lacks and its siblings have.
    pub missing_mounts: Vec<&'static str>,
    /// CPUs that can be used.
    pub cpus: Option<usize>,
}

/// The device nodes of the Ascend driver in `/dev`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DeviceNodes {
    /// N of each `/dev/davinciN`, ascending.
    pub davinci: Vec<u32>,
    /// Names of `davinci_manager`, `devmm_svm` and `hisi_hdc` that are missing.
    pub missing: Vec<&'static str>,
}

impl Surroundings {
    /// What the environment and the file tree of `cx` say. Nothing is started.
    pub fn of(cx: &Context) -> Self {
        let driver_root = cx.var("ASCEND_DRIVER_ROOT");
        let version_file = format!("{}/version.info", driver_root.as_deref().unwrap_or(DRIVER_ROOT));
        let driver_info = files::read(cx, version_file).text();
        let cann = cx.var("ASCEND_HOME_PATH").or_else(|| cx.var("ASCEND_TOOLKIT_HOME"));
        let release = cann.and_then(|root| pto_compile::cann::release(cx, root.as_ref()));
        Self {
            driver_root,
            driver_version: driver_info.and_then(|text| parse_driver_info(&text).version),
            cann_release: release.and_then(|release| Version::parse(&release.version)),
            processor: None,
            ptoas_version: None,
            device: cx.var("PYPTO_DEVICE").and_then(|device| device.parse().ok()),
            image: cx.var("PYPTO_IMAGE"),
            rt_visible_devices: cx.var("ASCEND_RT_VISIBLE_DEVICES"),
            missing_mounts: missing_mounts(cx),
            nodes: DeviceNodes::of(cx),
            cpus: None,
        }
    }

    /// A command with its placeholders filled in: `device` is the one that the log speaks of, `log` the log's name. What
    /// came through a pipe or was given as a code is no file, so the place is left to the reader.
    pub(super) fn fill(&self, command: &str, device: Option<u32>, log: &str) -> String {
        let driver = self.driver_root.as_deref().unwrap_or(DRIVER_ROOT);
        let device = device.or(self.device).unwrap_or(0).to_string();
        let image = self.image.as_deref().unwrap_or("$PYPTO_IMAGE");
        let log = match log {
            "stdin" | "given" => "LOG".to_owned(),
            file => pto_process::shell_word(file),
        };
        let command = command.replace("{driver}", driver).replace("{device}", &device);
        command.replace("{image}", image).replace("{log}", &log)
    }
}

fn missing_mounts(cx: &Context) -> Vec<&'static str> {
    if facts::container(cx).is_none() || facts::device_nodes(cx).indices().is_empty() {
        return Vec::new();
    }
    MOUNTS.into_iter().filter(|path| !files::exists(cx, path)).collect()
}

impl DeviceNodes {
    fn of(cx: &Context) -> Option<Self> {
        let entries = fs_err::read_dir(cx.under_root("/dev")).ok()?;
        let names: Vec<String> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        let mut davinci: Vec<u32> =
            names.iter().filter_map(|name| name.strip_prefix("davinci")?.parse().ok()).collect();
        davinci.sort_unstable();
        let missing = MANAGERS.into_iter().filter(|needed| !names.iter().any(|name| name == needed)).collect();
        Some(Self { davinci, missing })
    }
}

/// Devices are selected that are not there: inside a container they are numbered from 0.
pub(super) fn selects_absent_devices(surroundings: &Surroundings) -> Option<String> {
    let selected = surroundings.rt_visible_devices.as_deref()?;
    let count = surroundings.nodes.as_ref()?.davinci.len();
    let beyond = selected.split(',').filter_map(|index| index.trim().parse::<usize>().ok()).any(|index| index >= count);
    let devices = match count {
        0 => "no device is visible".to_owned(),
        1 => "1 device is visible, numbered 0".to_owned(),
        count => format!("{count} devices are visible, numbered from 0"),
    };
    beyond.then(|| format!("`ASCEND_RT_VISIBLE_DEVICES={selected}`, but {devices}"))
}

/// Nodes are missing without which no device is found.
pub(super) fn lacks_device_nodes(surroundings: &Surroundings) -> Option<String> {
    let nodes = surroundings.nodes.as_ref()?;
    let mut missing: Vec<String> = nodes.missing.iter().map(|name| format!("`/dev/{name}`")).collect();
    if nodes.davinci.is_empty() {
        missing.push("`/dev/davinciN`".to_owned());
    }
    (!missing.is_empty()).then(|| format!("no {}", missing.join(", ")))
}

/// A container has cards, and lacks what `npu-smi` needs besides.
pub(super) fn lacks_mounts(surroundings: &Surroundings) -> Option<String> {
    let missing = &surroundings.missing_mounts;
    (!missing.is_empty()).then(|| format!("no `{}` in this container", missing.join("`, `")))
}

/// A machine with cards whose nodes are not all there. One without any is just another machine than the log's.
pub(super) fn lacks_some_device_nodes(surroundings: &Surroundings) -> Option<String> {
    let nodes = surroundings.nodes.as_ref()?;
    let has_any = !nodes.davinci.is_empty() || nodes.missing.len() < MANAGERS.len();
    has_any.then(|| lacks_device_nodes(surroundings)).flatten()
}

/// The driver or CANN is older than what runs PyPTO's kernels at all.
pub(super) fn is_below_the_minimum(surroundings: &Surroundings) -> Option<String> {
    let driver = surroundings.driver_version.as_ref().filter(|version| is_driver_below_minimum(version));
    let cann = surroundings.cann_release.as_ref().filter(|version| is_cann_below_minimum(version));
    let driver = driver.map(|version| format!("driver {version}, at least {} is needed", pto_platform::MINIMUM_DRIVER));
    driver.or_else(|| cann.map(|version| format!("CANN {version}, at least {} is needed", pto_platform::MINIMUM_CANN)))
}

/// Driver and CANN are both known, and no pair that was tested with each other.
pub(super) fn is_no_supported_pair(surroundings: &Surroundings) -> Option<String> {
    let (cann, driver) = (surroundings.cann_release.as_ref()?, surroundings.driver_version.as_ref()?);
    let verdict = supported_pair(cann, driver, surroundings.processor?);
    let instead: Vec<String> = match &verdict {
        PairVerdict::Supported(_) => return None,
        other => other.instead().iter().map(|pair| format!("CANN {} with driver {}", pair.cann, pair.driver)).collect(),
    };
    let instead = if instead.is_empty() { String::new() } else { format!("; supported is {}", instead.join(", ")) };
    Some(format!("CANN {cann} with driver {driver}{instead}"))
}

/// Fewer CPUs than a simulated chip has cores.
pub(super) fn has_few_cpus(surroundings: &Surroundings) -> Option<String> {
    const ENOUGH: usize = 16;
    surroundings.cpus.filter(|cpus| *cpus < ENOUGH).map(|cpus| format!("{cpus} CPUs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_read_from_its_tree_and_environment() {
        let root = tempfile::tempdir().unwrap();
        fs_err::create_dir(root.path().join("dev")).unwrap();
        for name in ["davinci6", "davinci_manager", "hisi_hdc", "null"] {
            fs_err::write(root.path().join("dev").join(name), "").unwrap();
        }
        let cx = Context::fake(root.path(), [("ASCEND_RT_VISIBLE_DEVICES", "4"), ("PYPTO_DEVICE", "3")]);
        let surroundings = Surroundings::of(&cx);
        assert_eq!(surroundings.nodes, Some(DeviceNodes { davinci: vec![6], missing: vec!["devmm_svm"] }));
        assert!(selects_absent_devices(&surroundings).unwrap().contains("1 device is visible"));
        assert_eq!(lacks_device_nodes(&surroundings).unwrap(), "no `/dev/devmm_svm`");
        assert_eq!(
            surroundings.fill("npu-smi info -i {device} {driver}", None, "stdin"),
            "npu-smi info -i 3 /usr/local/Ascend/driver"
        );
        assert_eq!(surroundings.fill("{device} {log}", Some(7), "my log"), "7 'my log'");
        assert_eq!(surroundings.fill("{log}", None, "given"), "LOG");
    }

    #[test]
    fn a_container_with_cards_is_asked_for_its_mounts() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str| {
            let path = root.path().join(path);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, "").unwrap();
        };
        let none: [(&str, &str); 0] = [];
        let look = || Surroundings::of(&Context::fake(root.path(), none));
        put(".dockerenv");
        assert_eq!((lacks_mounts(&look()), lacks_some_device_nodes(&look())), (None, None), "no card, no question");
        put("dev/davinci0");
        put("usr/local/dcmi/x");
        assert_eq!(lacks_mounts(&look()).unwrap(), "no `/etc/ascend_install.info` in this container");
        assert!(lacks_some_device_nodes(&look()).is_some());
    }

    #[test]
    fn driver_and_cann_are_judged() {
        let with = |driver: &str, cann: &str| Surroundings {
            driver_version: Version::parse(driver),
            cann_release: Version::parse(cann),
            processor: Some(Machine::Aarch64),
            ..Surroundings::default()
        };
        assert_eq!(
            is_below_the_minimum(&with("24.1.rc3", "9.0.0")).unwrap(),
            "driver 24.1.rc3, at least 25.2.0 is needed"
        );
        assert_eq!(
            is_below_the_minimum(&with("26.0.rc1", "8.0.RC3")).unwrap(),
            "CANN 8.0.RC3, at least 8.5.0 is needed"
        );
        assert_eq!(is_below_the_minimum(&with("26.0.rc1", "9.0.0")), None);
        assert_eq!(is_no_supported_pair(&with("26.0.rc1", "9.0.0")), None);
        let other = is_no_supported_pair(&with("25.5.1", "9.0.0")).unwrap();
        assert_eq!(other, "CANN 9.0.0 with driver 25.5.1; supported is CANN 9.0.0 with driver 26.0.rc1");
    }

    #[test]
    fn nothing_known_speaks_for_nothing() {
        let surroundings = Surroundings::default();
        for clue in [
            selects_absent_devices,
            lacks_device_nodes,
            lacks_some_device_nodes,
            lacks_mounts,
            is_below_the_minimum,
            is_no_supported_pair,
            has_few_cpus,
        ] {
            assert_eq!(clue(&surroundings), None);
        }
    }
}
