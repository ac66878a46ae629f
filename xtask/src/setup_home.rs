//! `setup`: a PyPTO home.

use std::path::{Path, PathBuf};

use pto_build::{Helpers, PackagesStep, Setup, SetupOptions, UvStep, VenvStep, plan_setup, setup};
use pto_context::Context;
use serde::Serialize;

use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::{cli, out, style};

/// `setup`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  cargo xtask setup --pypto-home ~/pypto-home --pypto-src ~/pypto\n  \
                  cargo xtask setup --dry-run\n  cargo xtask setup --helpers-only")]
pub struct Args {
    #[command(flatten)]
    places: Places,
    /// This release of uv, fetched whatever is here, or `latest` [default: UV_VERSION, latest]
    #[arg(long, value_name = "TAG")]
    uv_version: Option<String>,
    /// Go through this proxy for HTTP and HTTPS [default: HTTPS_PROXY, HTTP_PROXY]
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,
    /// Refresh our own program and its names, and nothing else
    #[arg(long, conflicts_with_all = ["uv_version", "reinstall_deps"])]
    helpers_only: bool,
    /// Install the packages again although they are there
    #[arg(long)]
    reinstall_deps: bool,
    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    common: Common,
}

/// The home and the checkout.
#[derive(Debug, Clone, clap::Args)]
pub struct Places {
    /// PyPTO's home [default: PYPTO_HOME, /opt/pypto]
    #[arg(long, value_name = "DIR")]
    pub pypto_home: Option<PathBuf>,
    /// The checkout [default: PYPTO_SRC, /workspace/pypto, the working directory]
    #[arg(long, value_name = "DIR")]
    pub pypto_src: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    done: bool,
    #[serde(flatten)]
    setup: &'a Setup,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let options = SetupOptions {
        home: args.places.pypto_home.clone(),
        src: args.places.pypto_src.clone(),
        uv_version: args.uv_version.clone(),
        proxy: checked_proxy(args.proxy.as_deref())?,
        helpers: helpers()?,
        helpers_only: args.helpers_only,
        reinstall: args.reinstall_deps,
    };
    let result = if args.dry_run { plan_setup(&cx, &options)? } else { setup(&cx, &options)? };
    if args.common.json {
        out::json(&Document { schema: "ptokit.setup/1", done: !args.dry_run, setup: &result })?;
    } else {
        out::text(&text(&result, args.dry_run))?;
    }
    Ok(Outcome::Passed)
}

/// This program, under all the names that it has.
pub fn helpers() -> Result<Helpers, Failure> {
    let program = std::env::current_exe().map_err(|error| Failure::io(&error))?;
    Ok(Helpers { program, names: cli::NAMES.iter().map(|(name, _)| (*name).to_owned()).collect() })
}

/// What was or would be done, for people.
pub fn text(setup: &Setup, is_dry: bool) -> String {
    let mut lines = vec![match (is_dry, setup.plan.is_empty()) {
        (_, true) => format!("{} `{}` is set up, nothing to do", style::good("ok"), setup.home.display()),
        (true, false) => format!("`{}` would be set up:", setup.home.display()),
        (false, false) => format!("{} `{}`", style::good("set up"), setup.home.display()),
    }];
    let plan = &setup.plan;
    lines.extend(plan.uv.as_ref().map(|step| format!("  uv        {}", uv(step))));
    lines.extend(plan.venv.as_ref().map(|step| format!("  venv      {}", venv(step))));
    lines.extend(plan.packages.as_ref().map(|step| format!("  packages  {}", packages(step))));
    lines.push(format!("  helpers   {}", helper_files(&plan.helpers.refresh)));
    lines.push(format!("{} {}", style::hint("do:"), setup.activation));
    lines.join("\n") + "\n"
}

fn uv(step: &UvStep) -> String {
    match step {
        UvStep::Keep { version } => format!("{version}, kept"),
        UvStep::Copy { from, version } => format!("{version}, copied from `{}`", from.display()),
        UvStep::Fetch { version: Some(version) } => format!("{version}, fetched"),
        UvStep::Fetch { version: None } => "the newest, fetched".to_owned(),
    }
}

fn venv(step: &VenvStep) -> String {
    match step {
        VenvStep::Keep { python } => format!("complete with CPython {python}, kept"),
        VenvStep::Build { with, why } => {
            let with = with.as_ref().map_or_else(
                || "with a Python that `uv` installs".to_owned(),
                |with| format!("with `{}`", with.display()),
            );
            let why = why
                .as_ref()
                .map(|why| format!("; the one before is kept as `venv.previous`: {why}"))
                .unwrap_or_default();
            format!("built {with}{why}")
        }
    }
}

fn packages(step: &PackagesStep) -> String {
    match step {
        PackagesStep::Keep => "those that the checkout asks for, kept".to_owned(),
        PackagesStep::Install { why, packages, constraints } => {
            let under = constraints.as_ref().map(|file| format!(" under `{}`", file.display())).unwrap_or_default();
            format!("{}{under}; {why}", packages.join(", "))
        }
    }
}

fn helper_files(refresh: &[PathBuf]) -> String {
    let name = |path: &PathBuf| path.file_name().map(Path::new).unwrap_or(path).display().to_string();
    match refresh {
        [] => "as this program, kept".to_owned(),
        files => format!("refreshed: {}", files.iter().map(name).collect::<Vec<_>>().join(", ")),
    }
}

/// A proxy that was given, if it can be one: a host, with a scheme or a port or both.
pub fn checked_proxy(given: Option<&str>) -> Result<Option<String>, Failure> {
    const SCHEMES: [&str; 6] = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];
    let Some(proxy) = given else { return Ok(None) };
    let (scheme, rest) = proxy.split_once("://").unwrap_or(("http", proxy));
    let authority = rest.trim_end_matches('/');
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._[]:".contains(c);
    let is_host = !name.is_empty() && name.chars().all(is_plain);
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok());
    if SCHEMES.contains(&scheme.to_lowercase().as_str()) && is_host && is_port {
        return Ok(Some(proxy.to_owned()));
    }
    let hint = "give it as `--proxy http://host:port`, or leave it out".to_owned();
    Err(Failure::usage(format!("`{}` is no proxy", pto_process::masked(proxy)), Some(hint)))
}

impl Places {
    /// The machine, with the checkout and the home that are named.
    pub fn context(&self, common: &Common) -> Result<Context, Failure> {
        let named = [("PYPTO_SRC", &self.pypto_src), ("PYPTO_HOME", &self.pypto_home)];
        let cx = common.context()?;
        let named = named.into_iter().filter_map(|(name, dir)| Some((name, cx.cwd().join(dir.as_ref()?))));
        Ok(named.collect::<Vec<_>>().into_iter().fold(cx, |cx, (name, dir)| cx.with_var(name, dir)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_a_host() {
        for good in
            ["http://proxy:8080", "proxy:8080", "proxy", "socks5h://[::1]:1080/", "https://u:p%20w@p.example", "[::1]"]
        {
            assert!(checked_proxy(Some(good)).is_ok_and(|proxy| proxy.as_deref() == Some(good)), "{good}");
        }
        for bad in
            ["", " ", "not a url", "http://", "ftp://proxy", "proxy:port", "http://proxy:99999", "http://:8080", "a/b"]
        {
            assert!(checked_proxy(Some(bad)).is_err(), "{bad}");
        }
        assert!(checked_proxy(None).is_ok_and(|proxy| proxy.is_none()));
    }
}
