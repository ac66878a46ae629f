//! What is known of the machine that the triage runs on.

use pto_context::Context;
use serde::Serialize;

/// What is known of the machine that the triage runs on: it fills in commands and speaks for or against a cause. The
/// logs may come from elsewhere, so what it says is always shown as the machine's word, not the log's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Machine {
    /// Where the driver is installed, if not in the usual place (`ASCEND_DRIVER_ROOT`).
    pub driver_root: Option<String>,
    /// The driver's version.
    pub driver_version: Option<String>,
    /// The CANN release.
    pub cann_release: Option<String>,
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

impl Machine {
    /// What the environment and the file tree of `cx` say. Nothing is started and nothing outside `/dev` and the CANN
    /// installation is read.
    pub fn of(cx: &Context) -> Self {
        let cann = cx.var("ASCEND_HOME_PATH").or_else(|| cx.var("ASCEND_TOOLKIT_HOME"));
        let release = cann.and_then(|root| pto_compile::cann::release(cx, root.as_ref()));
        Self {
            driver_root: cx.var("ASCEND_DRIVER_ROOT"),
            driver_version: None,
            cann_release: release.map(|release| release.version),
            ptoas_version: None,
            device: cx.var("PYPTO_DEVICE").and_then(|device| device.parse().ok()),
            image: cx.var("PYPTO_IMAGE"),
            rt_visible_devices: cx.var("ASCEND_RT_VISIBLE_DEVICES"),
            nodes: DeviceNodes::of(cx),
            cpus: None,
        }
    }

    /// A command with its placeholders filled in: `device` is the one that the log speaks of, `log` the log's name. What
    /// came through a pipe or was given as a code is no file, so the place is left to the reader.
    pub(super) fn fill(&self, command: &str, device: Option<u32>, log: &str) -> String {
        let driver = self.driver_root.as_deref().unwrap_or("/usr/local/Ascend/driver");
        let device = device.or(self.device).unwrap_or(0).to_string();
        let image = self.image.as_deref().unwrap_or("$PYPTO_IMAGE");
        let log = match log {
            "stdin" | "given" => "LOG".into(),
            file => shlex::try_quote(file).unwrap_or_else(|_| "LOG".into()),
        };
        let command = command.replace("{driver}", driver).replace("{device}", &device);
        command.replace("{image}", image).replace("{log}", &log)
    }
}

impl DeviceNodes {
    fn of(cx: &Context) -> Option<Self> {
        let entries = fs_err::read_dir(cx.under_root("/dev")).ok()?;
        let names: Vec<String> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        let mut davinci: Vec<u32> =
            names.iter().filter_map(|name| name.strip_prefix("davinci")?.parse().ok()).collect();
        davinci.sort_unstable();
        let needed = ["davinci_manager", "devmm_svm", "hisi_hdc"];
        let missing = needed.into_iter().filter(|needed| !names.iter().any(|name| name == needed)).collect();
        Some(Self { davinci, missing })
    }
}

/// Devices are selected that are not there: inside a container they are numbered from 0.
pub(super) fn selects_absent_devices(machine: &Machine) -> Option<String> {
    let selected = machine.rt_visible_devices.as_deref()?;
    let count = machine.nodes.as_ref()?.davinci.len();
    let beyond = selected.split(',').filter_map(|index| index.trim().parse::<usize>().ok()).any(|index| index >= count);
    let devices = if count == 1 { "1 device is".to_owned() } else { format!("{count} devices are") };
    beyond.then(|| format!("`ASCEND_RT_VISIBLE_DEVICES={selected}`, but {devices} visible, numbered from 0"))
}

/// Nodes are missing without which no device is found.
pub(super) fn lacks_device_nodes(machine: &Machine) -> Option<String> {
    let nodes = machine.nodes.as_ref()?;
    let mut missing: Vec<String> = nodes.missing.iter().map(|name| format!("`/dev/{name}`")).collect();
    if nodes.davinci.is_empty() {
        missing.push("`/dev/davinciN`".to_owned());
    }
    (!missing.is_empty()).then(|| format!("missing here: {}", missing.join(", ")))
}

/// The driver or CANN is below what PyPTO needs: driver 25.2, CANN 8.5.
pub(super) fn is_below_the_minimum(machine: &Machine) -> Option<String> {
    let driver = machine.driver_version.as_deref().filter(|version| below(version, (25, 2)));
    let cann = machine.cann_release.as_deref().filter(|version| below(version, (8, 5)));
    let driver = driver.map(|version| format!("driver {version} here, at least 25.2.0 is needed"));
    let cann = cann.map(|version| format!("CANN {version} here, at least 8.5.0 is needed"));
    driver.or(cann)
}

/// Fewer CPUs than a simulated chip has cores.
pub(super) fn has_few_cpus(machine: &Machine) -> Option<String> {
    const ENOUGH: usize = 16;
    machine.cpus.filter(|cpus| *cpus < ENOUGH).map(|cpus| format!("{cpus} CPUs here"))
}

fn below(version: &str, minimum: (u32, u32)) -> bool {
    let mut parts = version.split('.').map_while(|part| part.parse::<u32>().ok());
    parts.next().is_some_and(|major| (major, parts.next().unwrap_or(0)) < minimum)
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
        let machine = Machine::of(&cx);
        assert_eq!(machine.nodes, Some(DeviceNodes { davinci: vec![6], missing: vec!["devmm_svm"] }));
        assert!(selects_absent_devices(&machine).unwrap().contains("1 device is visible"));
        assert_eq!(lacks_device_nodes(&machine).unwrap(), "missing here: `/dev/devmm_svm`");
        assert_eq!(
            machine.fill("npu-smi info -i {device} {driver}", None, "stdin"),
            "npu-smi info -i 3 /usr/local/Ascend/driver"
        );
        assert_eq!(machine.fill("{device} {log}", Some(7), "my log"), "7 'my log'");
        assert_eq!(machine.fill("{log}", None, "given"), "LOG");
    }

    #[test]
    fn versions_compare_by_their_numbers() {
        for (version, expected) in
            [("24.1.rc3", true), ("25.1.0", true), ("25.2.0", false), ("26.0.rc1", false), ("x", false)]
        {
            assert_eq!(below(version, (25, 2)), expected, "{version}");
        }
    }

    #[test]
    fn nothing_known_speaks_for_nothing() {
        let machine = Machine::default();
        for clue in [selects_absent_devices, lacks_device_nodes, is_below_the_minimum, has_few_cpus] {
            assert_eq!(clue(&machine), None);
        }
    }
}
