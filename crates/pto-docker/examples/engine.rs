//! What a tool finds out of the engine: `cargo run -p pto-docker --example engine -- IMAGE`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program, not a library")]

use std::process::ExitCode;
use std::sync::Arc;

use pto_context::{Context, Silent};
use pto_docker::{Docker, Error};

fn main() -> ExitCode {
    let cx = Context::from_process(Arc::new(Silent)).expect("a directory to work in");
    match tell(&cx, std::env::args().nth(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            error.hint().inspect(|hint| eprintln!("{hint}"));
            ExitCode::FAILURE
        }
    }
}

fn tell(cx: &Context, image: Option<String>) -> Result<(), Error> {
    let docker = Docker::new(cx)?;
    let info = docker.info()?;
    println!("engine {} with {}", info.server_version.unwrap_or_default(), info.runtimes.join(", "));
    for container in docker.running_containers()? {
        println!("{} uses NPUs {:?}", container.name.as_deref().unwrap_or_default(), container.npus());
    }
    match image.as_deref().map(|name| docker.image(name)).transpose()?.flatten() {
        Some(image) => println!("{} for {}", image.id.unwrap_or_default(), image.architecture.unwrap_or_default()),
        None => println!("no image"),
    }
    Ok(())
}
