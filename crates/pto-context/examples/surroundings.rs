//! A library function that asks its context, on a made-up machine and on the real one:
//! `cargo run -p pto-context --example surroundings`

use std::sync::Arc;

use pto_context::{Context, Event, Recorder};

/// Where a toolkit is, as a library would find out: the variable if it is set, else the usual place if it exists.
fn toolkit(cx: &Context) -> Option<String> {
    let named = cx.var("ASCEND_HOME_PATH");
    let usual = "/usr/local/Ascend/cann";
    let found = named.or_else(|| cx.under_root(usual).is_dir().then(|| usual.to_owned()));
    if found.is_none() {
        cx.emit(Event::Warning {
            message: format!("no toolkit: ASCEND_HOME_PATH is not set and `{usual}` is not there"),
        });
    }
    found
}

#[expect(clippy::print_stdout, reason = "an example's result")]
fn main() -> std::io::Result<()> {
    let made_up = Context::fake("/nowhere", [("ASCEND_HOME_PATH", "/opt/cann")]);
    println!("made up: {:?}", toolkit(&made_up));

    let events = Arc::new(Recorder::default());
    let real = Context::from_process(events.clone())?;
    println!("here:    {:?}, events: {:?}", toolkit(&real), events.events());
    Ok(())
}
