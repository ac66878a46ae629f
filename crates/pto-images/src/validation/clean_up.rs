//! What a run leaves behind on a host that others use too.

use std::time::Duration;

use pto_context::Context;
use pto_docker::{Docker, PrivateDirectory};
use pto_process::{Invocation, Output};
use serde::Serialize;

use super::cases::{LABEL, QUEUE};
use super::run::Run;
use crate::error::Error;

/// How long the queue may take to answer.
const ANSWER: Duration = Duration::from_secs(60);

/// What was ended and removed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CleanedUp {
    /// Tasks of the queue.
    pub tasks: Vec<String>,
    /// Containers.
    pub containers: Vec<String>,
    /// How many private directories, which may hold a login, were left by processes that were killed. They have no mark.
    pub private_directories: usize,
}

/// Ends the tasks and removes the containers of one run, and of no other. Caches and images stay.
///
/// # Errors
/// The queue or the engine does not answer.
pub fn clean_up(cx: &Context, run: &Run) -> Result<CleanedUp, Error> {
    let mark = run.mark();
    // First: whatever does not answer below, no login stays.
    let private_directories = PrivateDirectory::remove_left_over(cx)?;
    let found = queue(cx, &["--find", &mark])?;
    let mut cleaned = CleanedUp { private_directories, ..CleanedUp::default() };
    for task in found.stdout.text().split_whitespace() {
        // One that has ended meanwhile is as good as ended by us.
        queue(cx, &["--kill", task])?;
        cleaned.tasks.push(task.to_owned());
    }
    let docker = Docker::new(cx)?;
    let filter = format!("label={LABEL}={mark}");
    let listed = docker.run(&docker.question(["ps", "--all", "--quiet", "--no-trunc", "--filter", &filter]), "")?;
    for container in listed.stdout.text().lines().map(str::trim).filter(|line| !line.is_empty()) {
        docker.run(&docker.question(["rm", "--force", "--volumes", container]), container)?;
        cleaned.containers.push(container.to_owned());
    }
    Ok(cleaned)
}

fn queue(cx: &Context, args: &[&str]) -> Result<Output, Error> {
    Invocation::new(QUEUE).args(args.iter().copied()).deadline(ANSWER).run(cx).map_err(Error::Queue)
}
