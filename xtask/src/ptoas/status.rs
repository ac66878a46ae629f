//! `ptoas status`.

use pto_ptoas::{Found, Place, Status, Verdict, status};
use serde::Serialize;

use super::install::PinArgs;
use crate::exit::{Failure, Outcome};
use crate::setup::Common;
use crate::{out, style};

/// Mentions that are shown to people; JSON has all of them.
const SHOWN_MENTIONS: usize = 10;

/// `ptoas status`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask ptoas status --checkout ~/pypto")]
pub struct Args {
    #[command(flatten)]
    pin: PinArgs,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    #[serde(flatten)]
    status: &'a Status,
}

/// Runs the verb.
pub fn run(args: &Args, common: &Common) -> Result<Outcome, Failure> {
    let cx = common.context()?;
    let status = status(&cx, &args.pin.pin(), args.pin.root().as_deref())?;
    if common.json {
        out::json(&Document { schema: "ptokit.ptoas-status/1", status: &status })?;
    } else {
        out::text(&text(&status))?;
    }
    Ok(Outcome::passed_if(status.verdict.is_good()))
}

fn text(status: &Status) -> String {
    let mut lines = vec![verdict(status)];
    lines.push(match (&status.pinned, &status.no_pin) {
        (Some(pinned), _) => format!("  pinned     {} by `{}`", pinned.version, pinned.file.display()),
        (None, Some(why)) => format!("  pinned     nothing: {why}"),
        (None, None) => "  pinned     nothing".to_owned(),
    });
    lines.extend(status.found.iter().map(|found| format!("  {:<10} {}", place(found.place), line(found))));
    lines.push(match &status.used {
        Some(used) => format!("  used       `{}`: {}", used.display(), status.why),
        None => format!("  used       none: {}", status.why),
    });
    for mention in status.drift.iter().take(SHOWN_MENTIONS) {
        lines.push(format!("  mentioned  {} in {}:{}", mention.version, mention.file.display(), mention.line));
    }
    if let Some(more) = status.drift.len().checked_sub(SHOWN_MENTIONS).filter(|more| *more > 0) {
        lines.push(format!("  mentioned  other versions in {more} more places (`--json` shows all)"));
    }
    lines.extend(status.command.iter().map(|command| format!("{} {command}", style::hint("do:"))));
    lines.join("\n") + "\n"
}

fn verdict(status: &Status) -> String {
    let pinned = status.pinned.as_ref().map(|pinned| pinned.version.as_str()).unwrap_or_default();
    let drift = if status.drift.is_empty() { "" } else { "; the checkout mentions other versions" };
    match status.verdict {
        Verdict::AsPinned => format!("{} PTOAS is {pinned}, as pinned{drift}", style::good("ok")),
        Verdict::Newer => format!("{} PTOAS is newer than the pinned {pinned}{drift}", style::good("ok")),
        Verdict::Unpinned => format!("{} PTOAS is there, and no checkout to hold it against", style::good("ok")),
        Verdict::Nothing => format!("{} there is no PTOAS, and no checkout that wants one", style::good("ok")),
        Verdict::Older => {
            format!("{} PTOAS is older than {pinned}, which PyPTO's code generator refuses", style::error("error:"))
        }
        Verdict::Broken => format!("{} the PTOAS that a build would use does not work", style::error("error:")),
        Verdict::Missing => format!("{} there is no PTOAS, the checkout pins {pinned}", style::error("error:")),
    }
}

fn place(place: Place) -> &'static str {
    match place {
        Place::PtoasRoot | Place::UsualPlace => "installed",
        Place::Path => "on PATH",
        Place::Cann => "in CANN",
    }
}

fn line(found: &Found) -> String {
    match (&found.version, &found.problem) {
        (Some(version), _) => format!("{version} in `{}`", found.path.display()),
        (None, Some(problem)) => format!("`{}`: {problem}", found.path.display()),
        (None, None) => format!("`{}`", found.path.display()),
    }
}
