//! `images validate`.

use std::path::Path;

use pto_context::counted;
use pto_images::config::{Config, Finding, Findings, Severity};
use pto_images::plan::missing_patch;
use serde::Serialize;

use super::common::FileArgs;
use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::{out, style};

/// `images validate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask images validate")]
pub struct Args {
    #[command(flatten)]
    file: FileArgs,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    file: String,
    valid: bool,
    images: Vec<Row<'a>>,
    findings: &'a [Finding],
}

#[derive(Debug, Serialize)]
struct Row<'a> {
    name: &'a str,
    enabled: bool,
    architecture: &'a str,
    needs: &'a [String],
    runners: &'a [String],
    driver: Option<&'a str>,
    tag: &'a str,
    previous_tag: String,
}

/// Runs the verb.
pub fn run(args: &Args, common: &Common) -> Result<Outcome, Failure> {
    let cx = common.context()?;
    let (config, mut findings) = match Config::load(&args.file.file(&cx)) {
        Ok((config, findings)) => (Some(config), findings),
        Err(findings) => (None, findings),
    };
    let patches = findings.file.with_file_name("patches");
    for (index, image) in config.iter().flat_map(|config| &config.images).enumerate().filter(|(_, image)| image.enabled)
    {
        let message = missing_patch(image, &patches);
        message.into_iter().for_each(|message| findings.note(format!("/images/{index}/cann_version"), message));
    }
    if common.json {
        out::json(&document(config.as_ref(), &findings))?;
    } else {
        out::text(&text(config.as_ref(), &findings))?;
    }
    Ok(if config.is_some() { Outcome::Passed } else { Outcome::Malformed })
}

fn document<'a>(config: Option<&'a Config>, findings: &'a Findings) -> Document<'a> {
    let images = config.into_iter().flat_map(|config| &config.images).map(|image| Row {
        name: &image.name,
        enabled: image.enabled,
        architecture: &image.architecture,
        needs: &image.needs,
        runners: &image.runners,
        driver: image.driver.as_deref(),
        tag: &image.tag,
        previous_tag: image.names().previous().to_owned(),
    });
    Document {
        schema: "ptokit.images-validate/1",
        file: findings.file.display().to_string(),
        valid: config.is_some(),
        images: images.collect(),
        findings: &findings.findings,
    }
}

fn text(config: Option<&Config>, findings: &Findings) -> String {
    let file = findings.file.display();
    let mut lines: Vec<String> = findings.findings.iter().map(|finding| line(&findings.file, finding)).collect();
    match config {
        Some(config) => {
            for image in &config.images {
                let tags = format!("{}, {}", image.names().current(), image.names().previous());
                let state = if image.enabled { "enabled" } else { "disabled" };
                lines.push(format!("{:<10} {state:<9} {tags}", image.name));
                lines.extend(image.needs.iter().map(|need| format!("{:<21}needs {need}", "")));
            }
            lines.push(format!("{} {file}: {}", style::good("ok"), counted(config.images.len(), "image")));
        }
        None => lines.push(format!("{} {file}: {}", style::error("error:"), counted(findings.errors(), "mistake"))),
    }
    lines.join("\n") + "\n"
}

fn line(file: &Path, finding: &Finding) -> String {
    let severity = match finding.severity {
        Severity::Error => style::error("error:"),
        Severity::Note => style::hint("note:"),
    };
    format!("{severity} {}", finding.text(file))
}
