//! `update`: a PyPTO checkout, and everything that is made from it.

use std::path::{Path, PathBuf};

use pto_build::{
    BuildOptions, BuildPlan, Built, Home, Passed, Pull, PullOptions, Repository, Setup, SetupOptions, build,
    continuation, plan_build, plan_pull, plan_setup, pull, setup, source_of, with_proxy,
};
use pto_context::{Context, with_causes};
use pto_doctor::{Report, Status, examine};
use pto_ptoas::{ActivationOptions, InstallOptions, Installation, PinSource, Source, activation, install, status};
use pto_store::Store;
use serde::Serialize;

use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::setup_home::{self, Places};
use crate::{doctor, out, style};

/// `update`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  cargo xtask update --dry-run\n  cargo xtask update --no-pull --jobs 2\n  \
                        cargo xtask update --pypto-src ~/pypto --proxy http://proxy:8080")]
pub struct Args {
    #[command(flatten)]
    places: Places,
    /// Keep sources and submodules as they are: align PTOAS and build
    #[arg(long)]
    no_pull: bool,
    /// Follow the remotes of submodules, and not what the checkout records of them
    #[arg(long, conflicts_with = "no_pull")]
    remote_submodules: bool,
    /// Install the Python packages again
    #[arg(long)]
    reinstall_deps: bool,
    /// Go through this proxy for HTTP and HTTPS [default: HTTPS_PROXY, HTTP_PROXY]
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,
    /// Jobs at once; the machine's limit counts where it is lower
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    jobs: Option<u32>,
    /// Leave the checks at the end out
    #[arg(long)]
    skip_doctor: bool,
    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Serialize)]
struct Document<'a, B> {
    schema: &'static str,
    done: bool,
    pull: Option<&'a Pull>,
    continues_with: Option<String>,
    ptoas: Option<Ptoas<'a>>,
    setup: Option<&'a Setup>,
    build: Option<&'a B>,
    doctor: Option<&'a Report>,
}

/// The assembler: as it is, or as it was made.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Ptoas<'a> {
    Planned(&'a pto_ptoas::Status),
    Done(&'a Installation),
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let proxy = setup_home::checked_proxy(args.proxy.as_deref())?;
    let cx = with_proxy(&args.places.context(&args.common)?, proxy.as_deref());
    let src = source_of(&cx, None)?;
    let job = Job { args, home: Home::of(&cx, None), cx, src };
    if args.dry_run { job.show_plan() } else { job.perform() }
}

struct Job<'a> {
    args: &'a Args,
    cx: Context,
    home: Home,
    src: PathBuf,
}

impl Job<'_> {
    fn show_plan(&self) -> Result<Outcome, Failure> {
        let pull = self.wants_pull().then(|| plan_pull(&self.cx, &self.pull_options())).transpose()?;
        let arriving = pull.as_ref().and_then(|pull| pull.arriving.as_ref());
        let continues = continuation(&self.cx, &self.src, self.home.root(), &self.passed(), arriving)?;
        let continues_with = continues.map(|command| command.to_shell_line());
        let mut plan = Planned::default();
        if continues_with.is_none() {
            plan.ptoas = Some(status(&self.cx, &self.pin(), None)?);
            plan.setup = Some(plan_setup(&self.cx, &self.setup_options()?)?);
            plan.build = self.build_plan(pull.as_ref())?;
        }
        if self.args.common.json {
            out::json(&Document {
                schema: "ptokit.update/1",
                done: false,
                pull: pull.as_ref(),
                continues_with,
                ptoas: plan.ptoas.as_ref().map(Ptoas::Planned),
                setup: plan.setup.as_ref(),
                build: plan.build.as_ref(),
                doctor: None,
            })?;
        } else {
            out::text(&self.plan_text(pull.as_ref(), continues_with.as_deref(), &plan))?;
        }
        Ok(Outcome::Passed)
    }

    /// Without an environment there is nothing to say yet. With one, a build that cannot be is said now, unless something
    /// arrives first: a submodule that is missing may be what is cloned.
    fn build_plan(&self, pull: Option<&Pull>) -> Result<Option<BuildPlan>, Failure> {
        if !self.home.python().exists() {
            return Ok(None);
        }
        let moves = pull.into_iter().flat_map(|pull| &pull.repositories).any(|repository| !repository.moves.is_empty());
        match plan_build(&self.cx, &self.build_options()) {
            Err(_) if moves => Ok(None),
            planned => Ok(Some(planned?)),
        }
    }

    fn perform(&self) -> Result<Outcome, Failure> {
        let pulled = self.wants_pull().then(|| pull(&self.cx, &self.pull_options())).transpose()?;
        if let Some(go_on) = continuation(&self.cx, &self.src, self.home.root(), &self.passed(), None)? {
            // Its output is ours from here on.
            if let (Some(pulled), false) = (&pulled, self.args.common.json) {
                out::text(&pull_text(pulled, false))?;
            }
            return Err(Failure::process(&go_on.replace_this_process(&self.cx)));
        }
        let ptoas = self.align_ptoas()?;
        let home = setup(&self.cx, &self.setup_options()?)?;
        let built = build(&self.cx, &self.build_options())?;
        let report = (!self.args.skip_doctor).then(|| self.examine()).transpose()?;
        if self.args.common.json {
            out::json(&Document {
                schema: "ptokit.update/1",
                done: true,
                pull: pulled.as_ref(),
                continues_with: None,
                ptoas: Some(Ptoas::Done(&ptoas)),
                setup: Some(&home),
                build: Some(&built),
                doctor: report.as_ref(),
            })?;
        } else {
            out::text(&done_text(pulled.as_ref(), &ptoas, &home, &built, report.as_ref()))?;
        }
        Ok(report.map_or(Outcome::Passed, |report| Outcome::passed_if(report.passed())))
    }

    /// The environment that the update was for, examined as a shell has it that was set up for it.
    fn examine(&self) -> Result<Report, Failure> {
        let options = ActivationOptions { src: Some(self.src.clone()), ..ActivationOptions::default() };
        let variables = activation(&self.cx, &options)?.variables;
        let cx = variables.into_iter().fold(self.cx.clone(), |cx, (name, value)| cx.with_var(name, value));
        Ok(examine(&cx, &doctor::of_this_machine(&cx))?)
    }

    fn align_ptoas(&self) -> Result<Installation, Failure> {
        let root =
            Store::default_root(&self.cx).map_err(|error| Failure::blocked(with_causes(&error), error.hint()))?;
        let options = InstallOptions {
            pin: self.pin(),
            source: Source::of(&self.cx),
            proxy: self.args.proxy.clone(),
            ..InstallOptions::default()
        };
        Ok(install(&self.cx, &Store::open(root), &options)?)
    }

    fn wants_pull(&self) -> bool {
        !self.args.no_pull
    }

    fn pull_options(&self) -> PullOptions {
        PullOptions {
            home: Some(self.home.root().to_path_buf()),
            src: Some(self.src.clone()),
            remote_submodules: self.args.remote_submodules,
            proxy: self.args.proxy.clone(),
        }
    }

    fn pin(&self) -> PinSource {
        PinSource { file: None, checkout: Some(self.src.clone()) }
    }

    fn passed(&self) -> Passed {
        Passed {
            reinstall_deps: self.args.reinstall_deps,
            skip_doctor: self.args.skip_doctor,
            proxy: self.args.proxy.clone(),
            jobs: self.args.jobs,
            json: self.args.common.json,
        }
    }

    fn setup_options(&self) -> Result<SetupOptions, Failure> {
        Ok(SetupOptions {
            home: Some(self.home.root().to_path_buf()),
            src: Some(self.src.clone()),
            proxy: self.args.proxy.clone(),
            helpers: setup_home::helpers()?,
            helpers_only: !self.args.reinstall_deps,
            reinstall: self.args.reinstall_deps,
            uv_version: None,
        })
    }

    fn build_options(&self) -> BuildOptions {
        BuildOptions { jobs: self.args.jobs, as_recorded: true, ..BuildOptions::default() }
    }

    fn plan_text(&self, pull: Option<&Pull>, continues_with: Option<&str>, plan: &Planned) -> String {
        let mut text = pull.map(|pull| pull_text(pull, true)).unwrap_or_default();
        if let Some(command) = continues_with {
            return text + &format!("  then      {command}\n");
        }
        let ptoas = plan.ptoas.as_ref();
        let here = ptoas.and_then(|status| status.pinned.as_ref()).map(|pinned| pinned.version.clone());
        let pinned = pull.and_then(|pull| pull.arriving.as_ref()).map_or(here, |arriving| arriving.ptoas.clone());
        text += &format!("  ptoas     {}\n", pinned.unwrap_or_else(|| "nothing is pinned".to_owned()));
        if let Some(setup) = &plan.setup {
            let count = setup.plan.helpers.refresh.len();
            text += &format!("  helpers   {count} files are refreshed in `{}`\n", self.home.bin().display());
        }
        text += &match &plan.build {
            Some(plan) => format!("  build     `{}` with {} jobs\n", plan.source.display(), plan.jobs.used),
            None if self.home.python().exists() => "  build     of what arrives\n".to_owned(),
            None => format!("  build     once there is `{}`: cargo xtask setup\n", self.home.venv().display()),
        };
        text + if self.args.skip_doctor { "" } else { "  doctor    all checks\n" }
    }
}

/// What would be done after pulling.
#[derive(Debug, Default)]
struct Planned {
    ptoas: Option<pto_ptoas::Status>,
    setup: Option<Setup>,
    build: Option<BuildPlan>,
}

fn done_text(
    pulled: Option<&Pull>,
    ptoas: &Installation,
    home: &Setup,
    built: &Built,
    report: Option<&Report>,
) -> String {
    let mut text = pulled.map(|pulled| pull_text(pulled, false)).unwrap_or_default();
    text += &format!("  ptoas     {} in `{}`\n", ptoas.version, ptoas.root.display());
    let how = if built.plan.decision.is_incremental() { "with what was there" } else { "from scratch" };
    text += &format!("  build     `{}` {how}\n", built.plan.source.display());
    if let Some(report) = report {
        text += &doctor::rendered(report, |check| matches!(check.status, Status::Warn | Status::Fail), true);
    }
    text + &format!("{} {}\n", style::hint("do:"), home.activation)
}

fn pull_text(pull: &Pull, is_dry: bool) -> String {
    pull.repositories.iter().map(|repository| repository_text(repository, is_dry)).collect()
}

fn repository_text(repository: &Repository, is_dry: bool) -> String {
    let name = repository.name;
    if repository.moves.is_empty() {
        return format!("  {name:<9} `{}` is up to date with {}\n", repository.branch, repository.upstream);
    }
    let verb = if is_dry { "would go" } else { "went" };
    let line = |one: &pto_build::Move| {
        let commits = one.commits.map(|count| format!(", {count} commits")).unwrap_or_default();
        let to = one.to.get(..12).unwrap_or(&one.to);
        format!("  {name:<9} `{}` {verb} to {to}{commits}\n", shown(&repository.root, &one.root))
    };
    repository.moves.iter().map(line).collect()
}

/// A submodule by its place below the repository, the repository by its own.
fn shown(repository: &Path, root: &Path) -> String {
    match root.strip_prefix(repository) {
        Ok(below) if !below.as_os_str().is_empty() => below.display().to_string(),
        _ => root.display().to_string(),
    }
}
