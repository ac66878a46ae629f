//! Where a tag leads, and for which platforms: `cargo run -p pto-images --example tags -- 127.0.0.1:5000/cloud/dev latest`.

#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::error::Error;

use pto_images::registry::{Client, Options, Repository};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(repository), Some(tag)) = (args.next(), args.next()) else {
        return Err("which repository, and which tag?".into());
    };
    let repository: Repository = repository.parse()?;
    let cx = pto_context::Context::from_process(std::sync::Arc::new(pto_context::Silent))?;
    let client = Client::new(&cx, repository, Options::default())?;
    match client.manifest(&tag)? {
        Some(manifest) => {
            let platforms: Vec<_> = client.facts(&manifest)?.platforms.iter().map(ToString::to_string).collect();
            println!("{tag} leads to {} for {}", manifest.digest(), platforms.join(", "));
        }
        None => println!("{tag} does not exist"),
    }
    Ok(())
}
