//! The target that this machine suggests for each kernel, where nobody names one.

use pto_compile::cann;
use pto_context::{Context, Event};
use pto_launch::{LaunchPath, choose_path};
use pto_platform::Target;

use super::TestOptions;
use super::error::RunError;
use super::launching::{HostFacts, tools_for};
use super::report::Report;
use super::suite::{Suite, test_kernels};
use super::workshop::{Setup, Workshop};
use crate::manifest::Manifest;

/// The target for a kernel: the one that an NPU of this machine runs, else one that CANN's model runs here, else `cpu`.
pub fn suggested_target(cx: &Context, host: &HostFacts, manifest: &Manifest, asked: Option<LaunchPath>) -> Target {
    let npus = || manifest.targets.iter().copied().filter(|target| *target != Target::Cpu);
    // Without CANN nothing can be built for an NPU.
    let has_cann = cann::find_root(cx, None).is_ok();
    let path = |target: Target| {
        let choice = choose_path(target, &host.host(), &tools_for(cx, target), asked);
        choice.ok().filter(|_| has_cann).map(|choice| choice.path)
    };
    let paths: Vec<(Target, LaunchPath)> = npus().filter_map(|target| Some((target, path(target)?))).collect();
    let direct = paths.iter().find(|(_, path)| *path == LaunchPath::Direct);
    match (direct.or(paths.first()), asked) {
        (Some((target, _)), _) => *target,
        (None, None | Some(LaunchPath::Cpu)) => Target::Cpu,
        // The path that was asked for is refused with its reason, for the target that it could be for.
        (None, Some(LaunchPath::Cannsim | LaunchPath::Linked)) if manifest.targets.contains(&Target::A5) => Target::A5,
        (None, Some(_)) => npus().next().unwrap_or(Target::Cpu),
    }
}

/// Builds and tests all kernels of a suite, each for the target that this machine suggests.
///
/// # Errors
/// The user asked for the end, or what the CPU target needs is missing.
pub fn test_on_host(cx: &Context, setup: &Setup, suite: Suite, options: &TestOptions) -> Result<Report, RunError> {
    let host = HostFacts::ask(cx, &setup.worker);
    let places: Vec<_> = suite.kernels.iter().map(|kernel| kernel.path.clone()).collect();
    let mut groups = Target::ALL.map(|target| (target, Suite { named: suite.named, ..Suite::default() }));
    for kernel in suite.kernels {
        let target = suggested_target(cx, &host, &kernel, options.launch);
        if let Some((_, group)) = groups.iter_mut().find(|(of, _)| *of == target) {
            group.kernels.push(kernel);
        }
    }
    let mut refused = Some(suite.refused);
    let mut results = Vec::new();
    // Those whose manifests do not load belong to no target, and come last.
    let last = groups.iter().rposition(|(_, group)| !group.kernels.is_empty()).unwrap_or(groups.len() - 1);
    for (index, (target, mut group)) in groups.into_iter().enumerate() {
        if index == last {
            group.refused = refused.take().unwrap_or_default();
        }
        if group.kernels.is_empty() && group.refused.is_empty() {
            continue;
        }
        if target != Target::Cpu && options.launch.is_none() {
            let message = format!("this machine runs `{target}` kernels: `--target cpu` tests on the host instead");
            cx.emit(Event::Finished { task: format!("target:{target}"), message });
        }
        let workshop = Workshop::open(cx, setup.clone(), target)?.with_host(host.clone());
        results.extend(test_kernels(cx, &workshop, group, options)?.kernels);
    }
    results.sort_by_key(|result| places.iter().position(|path| *path == result.path).unwrap_or(usize::MAX));
    Ok(Report::new(results))
}
