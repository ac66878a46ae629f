//! `images test`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pto_context::{Context, Fault, counted, with_causes};
use pto_images::config::{Config, Image};
use pto_images::validation::{
    CaseStatus, CleanedUp, Preflight, RESULTS, Results, Run, Validated, Validation, clean_up, preflight,
};
use pto_process::shell_word;
use serde::Serialize;

use super::common::{ImageArgs, named, number, validation_dir};
use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::{out, style};

/// `images test`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask images test arm-a5 --local pypto-dev:arm-a5 --lock images.lock.json --run 1234\n  \
                  cargo xtask images test arm-a5 --preflight\n  \
                  cargo xtask images test arm-a5 --run 1234 --clean-up"
)]
pub struct Args {
    #[command(flatten)]
    image: ImageArgs,
    /// The image of the engine here, by its name or id
    #[arg(long, value_name = "NAME", required_unless_present_any = ["clean_up", "preflight"])]
    local: Option<String>,
    /// The plan that it was built from
    #[arg(long, value_name = "FILE", required_unless_present_any = ["clean_up", "preflight"])]
    lock: Option<PathBuf>,
    /// The run: its containers and tasks are found by it
    #[arg(long, value_name = "NUMBER", value_parser = number, required_unless_present = "preflight")]
    run: Option<String>,
    /// Which attempt of the run this is
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    attempt: u32,
    /// Where logs and results go [default: images/IMAGE-validation below the generated files]
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Run nothing: say whether this is a host that the image can be validated on
    #[arg(long, conflicts_with_all = ["local", "lock", "run", "attempt", "output", "clean_up"])]
    preflight: bool,
    /// Run nothing: end the tasks and remove the containers that this run left, and directories with logins of killed processes
    #[arg(long)]
    clean_up: bool,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    passed: bool,
    output: String,
    results: &'a Results,
    problems: Vec<&'a str>,
}

#[derive(Debug, Serialize)]
struct CleanUpDocument<'a> {
    schema: &'static str,
    cleaned_up: &'a CleanedUp,
}

#[derive(Debug, Serialize)]
struct PreflightDocument<'a> {
    schema: &'static str,
    image: &'a str,
    fit: bool,
    driver: Option<&'a str>,
    obstacles: Vec<Obstacle>,
}

#[derive(Debug, Serialize)]
struct Obstacle {
    message: String,
    hint: Option<String>,
}

/// Runs the verb.
pub fn run(args: &Args, common: &Common) -> Result<Outcome, Failure> {
    let cx = common.context()?;
    let run =
        |image: &str| Run { run: args.run.clone().unwrap_or_default(), attempt: args.attempt, image: image.to_owned() };
    // Whatever became of the configuration, what is on the cards has to be ended.
    if args.clean_up {
        return cleaning(&cx, &run(args.image.name()), common);
    }
    let (config, image) = args.image.load_enabled(&cx)?;
    let (Some(local), Some(lock)) = (&args.local, &args.lock) else {
        return preflighting(&cx, &config, &image, common);
    };
    let output = args.output.clone().unwrap_or_else(|| validation_dir(&cx, &image));
    if output.to_str().is_none() {
        let message = format!("`{}` is not UTF-8, which the script of a task has to be", output.display());
        return Err(Failure::usage(message, "name another directory: `--output DIR`".to_owned()));
    }
    let validation = Validation {
        config: &config,
        image: &image,
        local: local.clone(),
        lock: lock.clone(),
        run: run(&image.name),
        output: output.clone(),
    };
    let typed = args.image.file.typed();
    let Validated { results, left } = validation.run(&cx).map_err(|error| named(error, &image.name, &typed))?;
    let passed = results.passed();
    let left = left.map(Failure::from);
    if common.json {
        let output = output.display().to_string();
        let problems = left.iter().map(Failure::message).collect();
        out::json(&Document { schema: "ptokit.images-test/1", passed, output, results: &results, problems })?;
    } else {
        out::text(&text(&results, &output, &next(&cx, args, &image)))?;
    }
    match left {
        Some(failure) if passed => {
            if !common.json {
                out::say(&failure.text());
            }
            Ok(Outcome::Blocked)
        }
        _ => Ok(Outcome::passed_if(passed)),
    }
}

/// The command that publishes what passed.
fn next(cx: &Context, args: &Args, image: &Image) -> String {
    let results =
        args.output.as_ref().map(|dir| format!(" --results {}", shell_word(&dir.join(RESULTS).to_string_lossy())));
    let (name, config) = (&image.name, args.image.file.typed());
    cx.called()
        .spell(&format!("cargo xtask images publish {name}{config}{} --password-stdin", results.unwrap_or_default()))
}

fn preflighting(cx: &Context, config: &Config, image: &Image, common: &Common) -> Result<Outcome, Failure> {
    let Preflight { driver, obstacles } = preflight(cx, config, image)?;
    let outcome = match obstacles.iter().map(pto_images::Error::fault).collect::<Vec<_>>().as_slice() {
        [] => Outcome::Passed,
        faults if faults.contains(&Fault::Verdict) => Outcome::Negative,
        _ => Outcome::Blocked,
    };
    let found = |error: &pto_images::Error| Obstacle { message: with_causes(error), hint: error.hint() };
    let obstacles: Vec<_> = obstacles.iter().map(found).collect();
    if common.json {
        let (image, fit, driver) = (image.name.as_str(), obstacles.is_empty(), driver.as_deref());
        out::json(&PreflightDocument { schema: "ptokit.images-test/1", image, fit, driver, obstacles })?;
    } else {
        out::text(&preflight_text(&image.name, driver.as_deref(), &obstacles))?;
    }
    Ok(outcome)
}

fn preflight_text(image: &str, driver: Option<&str>, obstacles: &[Obstacle]) -> String {
    let mut lines: Vec<_> =
        obstacles.iter().map(|obstacle| format!("{} {}", style::error("error:"), obstacle.message)).collect();
    // Several have the same.
    let hints: BTreeSet<_> = obstacles.iter().filter_map(|obstacle| obstacle.hint.as_ref()).collect();
    lines.extend(hints.iter().map(|hint| format!("{} {hint}", style::hint("hint:"))));
    if obstacles.is_empty() {
        let driver = driver.unwrap_or_default();
        lines.push(format!("{} `{image}` can be validated here: driver {driver}", style::good("ok")));
    } else {
        lines.push(format!("`{image}` cannot be validated here"));
    }
    lines.join("\n") + "\n"
}

fn cleaning(cx: &Context, run: &Run, common: &Common) -> Result<Outcome, Failure> {
    let cleaned_up = clean_up(cx, run)?;
    if common.json {
        out::json(&CleanUpDocument { schema: "ptokit.images-test/1", cleaned_up: &cleaned_up })?;
    } else {
        let tasks = counted(cleaned_up.tasks.len(), "task");
        let containers = counted(cleaned_up.containers.len(), "container");
        let private = counted(cleaned_up.private_directories, "private directory");
        let text = format!("ended {tasks}, removed {containers} and {private}");
        out::text(&format!("{} {text}\n", style::good("ok")))?;
    }
    Ok(Outcome::Passed)
}

fn text(results: &Results, output: &Path, next: &str) -> String {
    let mut lines = vec![format!("{} {}", results.image, results.id)];
    for case in &results.cases {
        let status = match case.status {
            CaseStatus::Passed => style::good("passed"),
            CaseStatus::Failed => style::error("failed"),
            CaseStatus::NotRun => style::hint("not run"),
        };
        let problem = case.problem.as_ref().map(|problem| format!(": {problem}")).unwrap_or_default();
        lines.push(format!("  {:<12} {status}{problem}", case.name));
    }
    lines.push(format!("  results and logs in {}", output.display()));
    lines.extend(results.passed().then(|| format!("{} {next}", style::hint("next:"))));
    lines.join("\n") + "\n"
}
