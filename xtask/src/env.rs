//! `env`: what a shell has to export.

use std::path::PathBuf;

use clap::ValueEnum;
use pto_compile::cann;
use pto_context::Context;
use pto_context::with_causes;
use pto_ptoas::{Activation, ActivationOptions, Shell, activation};
use serde::Serialize;

use crate::exit::{Failure, Outcome};
use crate::out;
use crate::setup::Common;

/// `env`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  eval \"$(cargo xtask env)\"\n  eval \"$(cargo xtask env --cann auto)\"\n  \
                        cargo xtask env --shell fish | source")]
pub struct Args {
    /// The language to print
    #[arg(long, value_enum, default_value_t = Language::Bash)]
    shell: Language,
    /// PyPTO's home [default: PYPTO_HOME, /opt/pypto]
    #[arg(long, value_name = "DIR")]
    pypto_home: Option<PathBuf>,
    /// The checkout [default: PYPTO_SRC]
    #[arg(long, value_name = "DIR")]
    pypto_src: Option<PathBuf>,
    /// The PTOAS installation [default: PTOAS_ROOT, ptoas in PyPTO's home]
    #[arg(long, value_name = "DIR")]
    ptoas_root: Option<PathBuf>,
    /// Apply the `set_env.sh` of this CANN as well, or of the one that is found (`auto`)
    #[arg(long, value_name = "DIR")]
    cann: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// The languages of `--shell`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Language {
    Bash,
    Zsh,
    Fish,
    Json,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    #[serde(flatten)]
    activation: Variables<'a>,
}

#[derive(Debug, Serialize)]
struct Variables<'a> {
    variables: &'a std::collections::BTreeMap<String, String>,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let cx = args.common.context()?;
    let options = ActivationOptions {
        home: args.pypto_home.clone(),
        src: args.pypto_src.clone(),
        root: args.ptoas_root.clone(),
        cann: cann(&cx, args)?,
    };
    let activation = activation(&cx, &options)?;
    match args.shell {
        Language::Json => json(&activation)?,
        _ if args.common.json => json(&activation)?,
        Language::Bash => out::text(&activation.script(Shell::Bash))?,
        Language::Zsh => out::text(&activation.script(Shell::Zsh))?,
        Language::Fish => out::text(&activation.script(Shell::Fish))?,
    }
    Ok(Outcome::Passed)
}

fn json(activation: &Activation) -> Result<(), Failure> {
    let variables = Variables { variables: &activation.variables };
    out::json(&Document { schema: "ptokit.env/1", activation: variables })
}

/// The CANN that is meant, `auto` replaced by where it is.
fn cann(cx: &Context, args: &Args) -> Result<Option<PathBuf>, Failure> {
    match &args.cann {
        Some(given) if given.as_os_str() == "auto" => {
            let found = cann::find_root(cx, None);
            found.map(|found| Some(found.path)).map_err(|error| Failure::blocked(with_causes(&error), error.hint()))
        }
        given => Ok(given.clone()),
    }
}
