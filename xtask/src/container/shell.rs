//! `container shell`.

use std::ffi::OsString;

use pto_container::{Mode, PRIVILEGED, Series, container_name, enter_existing};

use super::{announce, failure, has_terminal, refuse_json};
use crate::exit::{Failure, Outcome};
use crate::out;
use crate::setup::Common;

/// `container shell`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask container shell a3\n  cargo xtask container shell my-container -- git status"
)]
pub struct Args {
    /// a3 or a5 for the container that `container run` makes of it [PYPTO_CONTAINER_NAME, pypto-SERIES-dev], or its name
    #[arg(value_name = "NAME")]
    name: String,
    /// A command to run instead of a shell
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs the verb.
pub fn run(args: &Args, common: &Common) -> Result<Outcome, Failure> {
    refuse_json(common, "leave `--json` out")?;
    let cx = common.context()?;
    // Exactly: a container may be called `A5`.
    let series = Series::ALL.into_iter().find(|series| series.name() == args.name);
    let name = series.map_or_else(|| args.name.clone(), |series| container_name(&cx, series));
    let entered = enter_existing(&cx, &name, has_terminal(), &args.command);
    let (session, recorded) = entered.map_err(|error| failure(&cx, error))?;
    if let Some((access, cards)) = recorded.as_ref().and_then(|recorded| recorded.access().zip(recorded.cards())) {
        let made = match cards {
            "" => "as it was made".to_owned(),
            cards => format!("as it was made for physical card {cards}"),
        };
        if access == Mode::Privileged.to_string() {
            let exposed = format!("{PRIVILEGED}, and nobody is kept from using another card");
            out::say(&out::plain(&format!("device access: {access}, {made}; {exposed}")));
        } else {
            announce(common, &out::plain(&format!("device access: {access}, {made}")));
        }
    }
    Err(session.begin(&cx).into())
}
