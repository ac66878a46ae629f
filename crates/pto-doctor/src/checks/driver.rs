//! The NPU driver.

use pto_context::Context;
use pto_platform::{
    MINIMUM_DRIVER, PairVerdict, SupportedPair, Target, Version, is_driver_below_minimum, supported_pair,
};

use super::{new, sentence};
use crate::check::{Check, Source};
use crate::facts::{self, DriverFile, cann_installs, driver_file};
use crate::files;
use crate::finding::Finding;
use crate::probes::Probes;

pub(super) const CHECKS: &[Check] = &[
    sentence(new(
        "driver",
        "driver",
        &[],
        "The driver's files below `ASCEND_DRIVER_ROOT` (default `/usr/local/Ascend/driver`): libraries and `version.info`. \
         Ascend Docker Runtime mounts the libraries and not `version.info`, which is no fault. Only the host can install a \
         driver.",
        driver,
    )),
    new(
        "driver-cann-pair",
        "driver and CANN",
        &[Source::NpuSmi, Source::Acl],
        "The driver checks CANN's device-side package only when the AICPU is first used. With a pair that does not fit, \
         compiling, allocating and opening the device work, and then `507018` comes, which looks like a fault of the kernel. \
         Pairs that were not tested fail this check.",
        pair,
    ),
];

fn driver(cx: &Context, _: &Probes) -> Finding {
    let root = facts::driver_root(cx);
    let libraries = ["lib64/driver", "lib64/common", "lib64"].iter().any(|dir| files::is_dir(cx, root.join(dir)));
    match driver_file(cx) {
        DriverFile::Unreadable(why) => Finding::skip(why),
        DriverFile::Absent(_) if !libraries && cx.var_os("ASCEND_DRIVER_ROOT").is_some() => {
            Finding::fail(format!("is not in `{}`, which `ASCEND_DRIVER_ROOT` names", root.display()))
                .remedy("unset ASCEND_DRIVER_ROOT")
        }
        DriverFile::Absent(_) if !libraries => Finding::skip("not installed; only a machine with an NPU needs it"),
        DriverFile::Absent(_) if facts::has_ascend_runtime(cx) => {
            Finding::warn("libs present but version.info is not exposed (normal under --runtime=ascend)")
        }
        DriverFile::Absent(path) => Finding::warn(format!("libs present but there is no `{}`", path.display()))
            .remedy(format!("mount it: docker run ... -v {0}:{0}:ro", path.display())),
        DriverFile::Read(path, info) => match info.version {
            None => Finding::warn(format!("has a `{}` without a version", path.display())).unverified(),
            Some(version) if is_driver_below_minimum(&version) => {
                Finding::fail(format!("{version} is older than {MINIMUM_DRIVER}, below which kernels end with 507018"))
                    .remedy("install a newer driver and firmware on the host, then reboot it")
            }
            Some(version) if !libraries => {
                Finding::fail(format!("{version} by `{}`, but its libraries are not there", path.display()))
                    .remedy(format!("mount them: docker run ... -v {0}/lib64:{0}/lib64:ro", root.display()))
            }
            Some(version) => Finding::ok(format!("{version} in `{}`", root.display())),
        },
    }
}

fn pair(cx: &Context, probes: &Probes) -> Finding {
    let driver = match driver_file(cx) {
        DriverFile::Read(_, info) => info.version,
        DriverFile::Unreadable(why) => return Finding::skip(why),
        DriverFile::Absent(_) => None,
    };
    let Some(driver) = driver.or_else(|| table_driver(probes)) else {
        return Finding::skip("the driver's version is not known here");
    };
    let cann = cann_installs(cx).into_iter().next().and_then(|install| install.release);
    let Some(cann) = cann.and_then(|release| Version::parse(&release.version)) else {
        return Finding::skip(format!("driver {driver}, and no CANN whose release is known"));
    };
    let Some(machine) = facts::machine(cx) else { return Finding::skip("the processor is not known") };
    let here = format!("driver {driver} with CANN {cann} on {machine}");
    match supported_pair(&cann, &driver, machine) {
        PairVerdict::Supported(pair) => supported(&here, pair, facts::generation(probes)),
        verdict => Finding::fail(format!("{here} is not a supported pair{}", instead(verdict.instead())))
            .remedy("install a driver and firmware that go with this CANN (on the host), or the CANN that goes with this driver"),
    }
}

/// The driver's version in the header of `npu-smi`, for containers that do not see the file.
fn table_driver(probes: &Probes) -> Option<Version> {
    probes.npus()?.driver_version.as_deref().and_then(Version::parse)
}

fn supported(here: &str, pair: &SupportedPair, generation: Option<pto_platform::Generation>) -> Finding {
    use pto_platform::Generation::{A2, A3, A5};
    let target = match generation {
        Some(A2 | A3) => Some(Target::A2a3),
        Some(A5) => Some(Target::A5),
        _ => None,
    };
    match (pair.target, target) {
        (Some(tested), Some(found)) if tested != found => {
            Finding::fail(format!("{here} was tested with `{tested}`, and the NPU here is `{found}`"))
                .remedy("install the driver that goes with this NPU")
        }
        _ => Finding::ok(format!("{here} is a supported pair")),
    }
}

fn instead(pairs: &[&SupportedPair]) -> String {
    let shown = |pair: &&SupportedPair| {
        let machine = pair.machine.map_or(String::new(), |machine| format!(" on {machine}"));
        format!("driver {} with CANN {}{machine}", pair.driver, pair.cann)
    };
    if pairs.is_empty() {
        return String::new();
    }
    format!("; supported: {}", pairs.iter().map(shown).collect::<Vec<_>>().join(", "))
}
