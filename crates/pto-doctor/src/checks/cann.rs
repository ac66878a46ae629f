//! CANN: its installations, its compiler, its simulators.

use std::path::{Path, PathBuf};

use pto_compile::cann::{Toolchain, ToolchainOptions};
use pto_context::Context;
use pto_platform::{Machine, Version};

use super::{new, quoted_list};
use crate::check::Check;
use crate::facts::{CannInstall, cann_installs, cann_program, cann_releases, cann_root, other_cann};
use crate::files;
use crate::finding::Finding;
use crate::probes::Probes;

pub(super) const CHECKS: &[Check] = &[
    new(
        "cann",
        "CANN",
        &[],
        "Every CANN toolkit on the machine, the one that builds take first: `ASCEND_HOME_PATH`, `ASCEND_TOOLKIT_HOME`, then \
         the usual places. The release comes from the first version file that names one. No CANN is no fault: the `cpu` \
         target needs none.",
        cann,
    ),
    new(
        "bisheng",
        "bisheng",
        &[],
        "CANN's compiler, which the `a2a3` and `a5` targets need: inside the CANN that is meant, else on `PATH`. It is no \
         fault to have neither CANN nor bisheng.",
        bisheng,
    ),
    new(
        "simulator",
        "CA model",
        &[],
        "The simulators of CANN, which run `a2a3` and `a5` kernels without an NPU: by SoC in `tools/simulator` of older \
         releases, by architecture below `<machine>-linux/simulator` since 9.2. With them go `msprof` and `cannsim`.",
        simulator,
    ),
];

fn cann(cx: &Context, _: &Probes) -> Finding {
    let installs = cann_installs(cx);
    match cann_root(cx) {
        Err(error) if cx.var_os("ASCEND_HOME_PATH").or(cx.var_os("ASCEND_TOOLKIT_HOME")).is_some() => {
            Finding::fail(error.to_string()).remedy("unset ASCEND_HOME_PATH ASCEND_TOOLKIT_HOME")
        }
        Err(_) => Finding::skip("not installed; the `cpu` target needs none"),
        Ok(meant) => {
            let Some((first, others)) = installs.split_first() else { return Finding::skip("not installed") };
            let mut evidence = format!("{} ({})", shown(first), meant.rule);
            if !others.is_empty() {
                evidence.push_str("; also ");
                evidence.push_str(&others.iter().map(shown).collect::<Vec<_>>().join(", "));
            }
            let sources = cann_releases(cx, &first.root);
            match &first.release {
                Some(_) if differ(&sources) => Finding::warn(format!(
                    "{evidence}; its files differ: {}",
                    said(&sources)
                ))
                .remedy(
                    "two releases were installed over each other: install this one again, into a directory of its own",
                ),
                Some(release) => {
                    let file = release.source.strip_prefix(&first.root).unwrap_or(&release.source);
                    let by = if file.as_os_str().is_empty() {
                        String::new()
                    } else {
                        format!("; release by `{}`", file.display())
                    };
                    Finding::ok(format!("{evidence}{by}"))
                }
                None => Finding::warn(format!("{evidence}; no version file in it names a release")),
            }
        }
    }
}

/// Whether files name different releases. `9.0.0` and `9.0.0-beta.1` are one: packages are versioned less finely.
fn differ(sources: &[(PathBuf, Version)]) -> bool {
    let Some(((_, first), rest)) = sources.split_first() else { return false };
    rest.iter().any(|(_, other)| !first.begins_with(other) && !other.begins_with(first))
}

fn said(sources: &[(PathBuf, Version)]) -> String {
    let said = sources.iter().map(|(file, version)| format!("`{}` says {version}", file.display()));
    said.collect::<Vec<_>>().join(", ")
}

fn shown(install: &CannInstall) -> String {
    let version = install.release.as_ref().map_or("of unknown release", |release| release.version.as_str());
    format!("{version} in `{}`", install.root.display())
}

fn bisheng(cx: &Context, _: &Probes) -> Finding {
    let installs = cann_installs(cx);
    let tools = Toolchain::assume(cx, &ToolchainOptions::default());
    if let Some(other) = tools.bisheng.exists.then(|| other_cann(cx, &installs, &tools.bisheng.path)).flatten() {
        return Finding::warn(format!(
            "`{}` ({}) is of another CANN than the one in use: {}",
            tools.bisheng.path.display(),
            tools.bisheng.rule,
            shown(other)
        ))
        .remedy(format!("source {}/set_env.sh", tools.cann.path.display()));
    }
    if tools.bisheng.exists {
        return Finding::ok(format!("`{}` ({})", tools.bisheng.path.display(), tools.bisheng.rule));
    }
    if !tools.cann.exists {
        return Finding::skip("not installed; the `a2a3` and `a5` targets need it");
    }
    Finding::fail(format!("CANN is in `{}`, but has no `bin/bisheng`, and `PATH` has none", tools.cann.path.display()))
        .remedy("install CANN's toolkit package (the runtime package has no compiler)")
}

fn simulator(cx: &Context, _: &Probes) -> Finding {
    let Ok(cann) = cann_root(cx) else { return Finding::skip("no CANN") };
    let dirs = simulator_dirs(cx, &cann.path);
    let found = |name: &str| Some((name.to_owned(), cann_program(cx, &cann.path, name)?));
    let programs: Vec<(String, PathBuf)> = ["msprof", "cannsim"].into_iter().filter_map(found).collect();
    let shown_programs: Vec<String> =
        programs.iter().map(|(name, path)| format!("`{name}` (`{}`)", path.display())).collect();
    let with =
        if programs.is_empty() { "neither `msprof` nor `cannsim`".to_owned() } else { shown_programs.join(", ") };
    let installs = cann_installs(cx);
    if let Some(other) = programs.iter().find_map(|(_, path)| other_cann(cx, &installs, path)) {
        return Finding::warn(format!("{with} is of another CANN than the one in use: {}", shown(other)))
            .remedy(format!("source {}/set_env.sh", cann.path.display()));
    }
    if dirs.is_empty() {
        return Finding::warn(format!("no simulator in `{}`; {with}", cann.path.display()))
            .remedy("install CANN's toolkit package with its simulator to run `a5` kernels without an NPU");
    }
    let shown = quoted_list(dirs.iter().map(|dir| dir.display()));
    if programs.is_empty() {
        Finding::warn(format!("{shown}; {with}"))
    } else {
        Finding::ok(format!("{shown}; {with}"))
    }
}

/// Directories with a model's library, in both layouts.
fn simulator_dirs(cx: &Context, cann: &Path) -> Vec<PathBuf> {
    let by_machine =
        Machine::ALL.iter().flat_map(|machine| machine.cann_dirs()).map(|dir| cann.join(dir).join("simulator"));
    let roots = [cann.join("tools/simulator")].into_iter().chain(by_machine);
    let libraries = roots.flat_map(|root| {
        let names = files::names(cx, &root);
        names.into_iter().map(move |name| root.join(name).join("lib"))
    });
    libraries.filter(|dir| files::is_file(cx, dir.join("libruntime_camodel.so"))).collect()
}
