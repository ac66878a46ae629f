//! Serves files over HTTP on the loopback interface until its standard input ends: `serve FILE...`
//!
//! Prints one URL per file.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program, not a library")]

use std::error::Error;
use std::io::Read;
use std::path::Path;

use pto_loopback::{Reply, Server};

fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::start()?;
    for file in std::env::args().skip(1) {
        let name = Path::new(&file).file_name().ok_or("a directory cannot be served")?.to_string_lossy().into_owned();
        let path = format!("/{name}");
        server.script(&path, [Reply::body(fs_err::read(&file)?)]);
        println!("{}", server.url(&path));
    }
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
