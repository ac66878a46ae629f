//! PyPTO's home: what setup puts there.

use std::path::Path;

use pto_build::{PackagesStep, Plan, UvStep, VenvStep};
use pto_context::Context;

use super::quoted_list;
use super::{new, sentence};
use crate::check::{Check, Source};
use crate::facts;
use crate::files;
use crate::finding::Finding;
use crate::probes::Probes;

const SETUP: &str = "cargo xtask setup";
/// What an environment has, whoever made it.
const PARTS: [&str; 3] = ["pyvenv.cfg", "bin/activate", "bin/python"];
/// The program that all helpers lead to.
const PROGRAM: &str = pto_build::PROGRAM;

pub(super) const CHECKS: &[Check] = &[
    new(
        "venv",
        "Python environment",
        &[Source::Setup],
        "Whether `venv` in PyPTO's home is complete: an interpreter that answers and has the version that the checkout asks \
         for, its headers and a library to link against, and the packages that the checkout asked for at the last setup.",
        venv,
    ),
    new(
        "uv",
        "uv",
        &[Source::Setup],
        "The `uv` in `bin` of PyPTO's home, with which environments are made and wheels installed. One that is elsewhere may \
         lie where the owner of the checkout cannot reach it.",
        uv,
    ),
    sentence(new(
        "helpers",
        "helpers",
        &[Source::Setup],
        "Whether the programs in `bin` of PyPTO's home are this one: `ptokit`, and the names that lead to it. Helpers that an \
         older setup or an image has left behave like that one.",
        helpers,
    )),
];

/// What a setup would do, or why that is not known.
fn plan(cx: &Context, probes: &Probes) -> Result<Option<Plan>, Finding> {
    if facts::pypto_src(cx).is_none() && !files::exists(cx, facts::pypto_home(cx)) {
        return Err(Finding::skip("there is no PyPTO here"));
    }
    match &probes.setup {
        None => Ok(None),
        Some(Ok(plan)) => Ok(Some(plan.clone())),
        Some(Err(why)) => Err(Finding::skip(format!("cannot be told: {why}"))),
    }
}

fn venv(cx: &Context, probes: &Probes) -> Finding {
    let place = facts::pypto_home(cx).join("venv");
    let plan = match plan(cx, probes) {
        Ok(plan) => plan,
        Err(finding) => return finding,
    };
    if !files::exists(cx, &place) {
        return Finding::warn(format!("there is no `{}`", place.display())).remedy(SETUP);
    }
    let shown = format!("`{}`", place.display());
    let Some(plan) = plan else {
        // In an inspected tree nothing is started.
        let missing: Vec<&str> = PARTS.into_iter().filter(|part| !is_there(cx, &place.join(part))).collect();
        return match missing.is_empty() {
            true => Finding::ok(format!("{shown} has its parts; its interpreter was not asked")),
            false => Finding::fail(format!("{shown} has no {}", quoted_list(missing))).remedy(SETUP),
        };
    };
    match (plan.venv, plan.packages) {
        (Some(VenvStep::Build { why, .. }), _) => {
            let why = why.unwrap_or_else(|| "it is not there".to_owned());
            Finding::fail(format!("{shown} is not complete: {why}")).remedy(SETUP)
        }
        (Some(VenvStep::Keep { python }), Some(PackagesStep::Install { why, .. })) => {
            Finding::warn(format!("{shown} has CPython {python}, and not all packages: {why}")).remedy(SETUP)
        }
        (Some(VenvStep::Keep { python }), _) => Finding::ok(format!("{shown} is complete, with CPython {python}")),
        (None, _) => Finding::skip("no checkout says what it has to have"),
    }
}

/// Whether there is a file, or a link that leads out of the inspected tree to what was there when it ran.
fn is_there(cx: &Context, path: &Path) -> bool {
    files::is_file(cx, path) || files::open_path(cx, path).is_symlink()
}

fn uv(cx: &Context, probes: &Probes) -> Finding {
    let place = facts::pypto_home(cx).join("bin/uv");
    let plan = match plan(cx, probes) {
        Ok(plan) => plan,
        Err(finding) => return finding,
    };
    let Some(plan) = plan else {
        return match files::is_file(cx, &place) {
            true => Finding::ok(format!("`{}`", place.display())),
            false => Finding::warn(format!("there is no `{}`", place.display())).remedy(SETUP),
        };
    };
    match plan.uv {
        Some(UvStep::Keep { version }) => Finding::ok(format!("{version} in `{}`", place.display())),
        Some(UvStep::Copy { from, version }) => {
            let found = format!("{version} in `{}`, and not in `{}`", from.display(), place.display());
            Finding::warn(format!("{found}, where every builder can reach it")).remedy(SETUP)
        }
        Some(UvStep::Fetch { .. }) => Finding::fail("is not here; without it nothing can be installed").remedy(SETUP),
        None => Finding::skip("no checkout asks for it"),
    }
}

fn helpers(cx: &Context, probes: &Probes) -> Finding {
    let refresh = format!("{SETUP} --helpers-only");
    let bin = facts::pypto_home(cx).join("bin");
    if !files::is_dir(cx, &bin) {
        return Finding::skip(format!("are not installed: there is no `{}`", bin.display()));
    }
    let names = facts::helper_names(cx);
    let strange: Vec<&String> = names.iter().filter(|name| !leads_to_us(cx, &bin.join(name))).collect();
    if !strange.is_empty() {
        return Finding::warn(format!("of an older setup are in `{}`: {}", bin.display(), quoted_list(strange)))
            .remedy(refresh);
    }
    if !files::is_file(cx, bin.join(PROGRAM)) {
        return match names.is_empty() {
            true => Finding::skip(format!("are not installed in `{}`", bin.display())),
            false => Finding::fail(format!("lead nowhere: there is no `{}`", bin.join(PROGRAM).display()))
                .remedy("cargo xtask setup --helpers-only"),
        };
    }
    match &probes.setup {
        Some(Ok(plan)) if plan.helpers.refresh.iter().any(|path| is_program(path)) => {
            let stale = plan.helpers.refresh.iter().filter(|path| is_program(path));
            let stale = stale.map(|path| path.strip_prefix(&bin).unwrap_or(path).display());
            Finding::warn(format!("in `{}` are not as this program has them: {}", bin.display(), quoted_list(stale)))
                .remedy(refresh)
        }
        Some(Ok(_)) => Finding::ok(format!("in `{}` are this program", bin.display())),
        _ => Finding::ok(format!("in `{}` lead to `{PROGRAM}`", bin.display())),
    }
}

/// Whether it is our program or a name of it. What a shell sources names the checkout of the last setup, which another one
/// may share the home with.
fn is_program(path: &Path) -> bool {
    path.parent().is_some_and(|dir| dir.ends_with("bin")) && path.extension().is_none()
}

fn leads_to_us(cx: &Context, name: &Path) -> bool {
    fs_err::read_link(files::open_path(cx, name.parent().unwrap_or(name)).join(name.file_name().unwrap_or_default()))
        .is_ok_and(|target| target == Path::new(PROGRAM))
}
