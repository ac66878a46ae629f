//! `npu-smi` and the device management behind it.

use super::super::rule::{CauseRule, Clue, Family, FieldRule, Rule, Severity, StepRule};
use super::super::surroundings;

const BASE: Rule = Rule { family: Family::NpuSmi, ..Rule::BASE };

/// The export that an ssh, sudo or CI shell lacks.
pub(super) const DRIVER_LIBRARIES: &str = "export LD_LIBRARY_PATH={driver}/lib64/common:{driver}/lib64/driver:{driver}/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} && npu-smi info";

pub(super) static RULES: &[Rule] = &[
    Rule {
        id: "device-occupied",
        title: "the device is occupied (DCMI -8020)",
        docs: "The device management refuses because somebody else holds a device. In a container this is rarely a user's \
               process: another container maps the same card, or one of several mapped cards is held, which fails all of \
               them, or the container lacks mounts that its siblings have. A kernel log line `Conflict open udevid` is a \
               by-product. A reset of the driver is no remedy: it takes the cards from everybody.",
        patterns: &[&["because the device is used"]],
        codes: &[-8020],
        explains: &["no-device", "driver-internal", "board-type-failed", "device-open-conflict"],
        causes: &[
            CauseRule {
                text: "another container maps the same card, or one of several mapped cards is held by another container",
                clues: &[Clue::Rule("device-open-conflict")],
                check: "docker ps -q | xargs docker inspect --format '{{.Name}} {{.HostConfig.Runtime}} {{.Config.Env}} {{.HostConfig.Devices}}' | grep -E 'ASCEND_VISIBLE_DEVICES|davinci'",
            },
            CauseRule {
                text: "bind mounts that sibling containers have are missing: `/usr/local/dcmi`, `/etc/ascend_install.info`",
                clues: &[Clue::Machine(surroundings::lacks_mounts)],
                check: "ls -ld /usr/local/dcmi /usr/local/bin/npu-smi /etc/ascend_install.info {driver}/lib64 /dev/davinci*",
            },
            CauseRule {
                text: "a user's process on the host really uses the card",
                clues: &[],
                check: "sudo fuser -v /dev/davinci{device}; npu-smi info",
            },
        ],
        ..BASE
    },
    Rule {
        id: "dcmi-inner-error",
        title: "the device management did not start (DCMI -8005)",
        docs: "`npu-smi` could not initialise the device management. In a container that exposes only some cards, or lacks \
               the management device, this says nothing about whether kernels can run: opening a device through ACL is the \
               stronger evidence.",
        patterns: &[&["dcmi module initialize failed"]],
        codes: &[-8005],
        explains: &["no-device", "driver-internal"],
        causes: &[
            CauseRule {
                text: "device nodes are not mapped into this container",
                clues: &[Clue::Machine(surroundings::lacks_some_device_nodes)],
                check: "ls -l /dev/davinci* /dev/davinci_manager /dev/devmm_svm /dev/hisi_hdc",
            },
            CauseRule {
                text: "this user is not in the group of the device nodes",
                clues: &[],
                check: "stat -c '%n %u:%g %a' /dev/davinci* && id",
            },
            CauseRule {
                text: "the driver is not loaded, or being upgraded",
                clues: &[],
                check: "lsmod | grep -E 'drv_|ascend' && cat {driver}/version.info",
            },
        ],
        ..BASE
    },
    Rule {
        id: "board-type-failed",
        severity: Severity::Expected,
        title: "`npu-smi` cannot read every board (-9005)",
        docs: "`npu-smi` asks every board of the machine, also those that are not exposed to this container. Under \
               `--runtime=ascend` it is expected and harmless: trust the ACL probe of the doctor instead.",
        patterns: &[&["get board type failed"]],
        codes: &[-9005],
        ..BASE
    },
    Rule {
        id: "console-log-level",
        severity: Severity::Expected,
        title: "the console log level could not be read",
        docs: "A side remark of the driver library when `npu-smi` asks a machine of which only some cards are exposed. It \
               goes with whatever else is reported, and is no fault by itself.",
        patterns: &[&["DrvMngGetConsoleLogLevel failed"]],
        ..BASE
    },
    Rule {
        id: "npu-smi-library-missing",
        title: "`npu-smi` is installed, the shell is not set up for it",
        docs: "The driver's libraries are not on the library path, as in ssh, sudo and CI shells. The card is not to blame: \
               this does not mean that there is no NPU.",
        patterns: &[&["npu-smi", "error while loading shared libraries"], &["npu-smi", "libdrvdsmi_host.so"]],
        explains: &["shared-library-missing"],
        fields: &[FieldRule { name: "library", after: "shared libraries: ", until: &[':'] }],
        causes: &[CauseRule {
            text: "the driver's library directories are not in `LD_LIBRARY_PATH`",
            clues: &[],
            check: DRIVER_LIBRARIES,
        }],
        guide: &[
            StepRule { why: "Add the driver's directories and try again.", command: DRIVER_LIBRARIES },
            StepRule {
                why: "See which of its libraries are still not found.",
                command: "ldd \"$(command -v npu-smi)\" | grep 'not found'",
            },
        ],
        ..BASE
    },
    Rule {
        id: "management-socket-missing",
        severity: Severity::Warning,
        title: "the driver's log and management sockets are not mounted",
        docs: "`npu-smi` runs but prints driver errors about its sockets (`dm_udp`), because `/var/slogd` and `/var/dmp_daemon` \
               are not mounted into the container. Kernels do not need them.",
        patterns: &[&["npu-smi", "dm_udp"]],
        causes: &[CauseRule {
            text: "`/var/slogd` and `/var/dmp_daemon` are not mounted",
            clues: &[],
            check: "ls -l /var/slogd /var/dmp_daemon",
        }],
        ..BASE
    },
    Rule {
        id: "no-npu-card",
        severity: Severity::Warning,
        title: "there is no NPU in this machine",
        docs: "`npu-smi` found no card. On a build machine or a laptop this is as it should be: such a machine compiles, and \
               runs kernels on the CPU.",
        patterns: &[&["There is no NPU card on this server"]],
        explains: &["no-device"],
        causes: &[CauseRule {
            text: "no card is installed, or none is mapped into this container or virtual machine",
            clues: &[Clue::Machine(surroundings::lacks_device_nodes)],
            check: "lspci -d 19e5: ; ls /dev/davinci*",
        }],
        ..BASE
    },
    Rule {
        id: "device-open-conflict",
        severity: Severity::Warning,
        fallout: true,
        title: "the kernel module refused a second opener of a device",
        docs: "The driver's kernel module notes that a device is opened from another namespace than the one that holds it. \
               It is a by-product of `-8020`, not its cause: resetting the driver because of this line has cost a host.",
        patterns: &[&["Conflict open udevid"]],
        causes: &[CauseRule {
            text: "another container or process holds the device",
            clues: &[Clue::Rule("device-occupied")],
            check: "docker ps; sudo fuser -v /dev/davinci*",
        }],
        ..BASE
    },
    Rule {
        id: "dcmi-code",
        each_code: true,
        title: "the device management reports an error",
        docs: "An error code of the device management interface (DCMI), which `npu-smi` is built on. Its name says what it \
               is about; `npu-smi` ends with the same code, of which a shell sees the lowest eight bits.",
        causes: &[CauseRule {
            text: "the request does not suit this card, driver or container",
            clues: &[],
            check: "npu-smi info -l; cat {driver}/version.info",
        }],
        ..BASE
    },
];
