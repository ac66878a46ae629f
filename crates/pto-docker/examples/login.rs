//! Logs in to a registry as a publisher would: `cargo run -p pto-docker --example login -- REGISTRY USER < password`.
//! What the login has written is gone when this ends, however it ends.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program, not a library")]

use std::io::Read as _;
use std::process::ExitCode;
use std::sync::Arc;

use pto_context::{Context, Silent};
use pto_docker::{Credentials, Docker, Error, RegistryClient};

fn main() -> ExitCode {
    let (Some(registry), Some(user)) = (std::env::args().nth(1), std::env::args().nth(2)) else {
        eprintln!("usage: login REGISTRY USER < password");
        return ExitCode::from(2);
    };
    let mut password = String::new();
    if let Err(error) = std::io::stdin().read_to_string(&mut password) {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    let cx = Context::from_process(Arc::new(Silent)).expect("a directory to work in");
    pto_process::interrupt::install().expect("handlers of signals");
    match login(&cx, &registry, Credentials { user, password: password.trim_end().to_owned() }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn login(cx: &Context, registry: &str, credentials: Credentials) -> Result<(), Error> {
    let mut client = RegistryClient::new(&Docker::new(cx)?)?;
    client.login(registry, &credentials)?;
    println!("logged in to {registry}");
    Ok(())
}
