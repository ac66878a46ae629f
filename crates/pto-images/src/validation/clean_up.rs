//! Cleaning up after a run, on a host that others use too.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use pto_context::{Context, Event};
use pto_docker::{Docker, PrivateDirectory};
use pto_process::{Invocation, Output};
use serde::Serialize;

use super::cases::{LABEL, QUEUE};
use super::run::Run;
use crate::error::Error;
use crate::registry::wait;

/// How long the queue may take to answer.
const ANSWER: Duration = Duration::from_secs(60);
/// How long a task that was killed may be there, and how often that is looked at. Containers have ten seconds to end.
const ENDING: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_millis(100);

/// What the engine says of a container that is being removed or is gone already.
const GOING: [&str; 2] = ["is already in progress", "No such container"];

/// What was ended and removed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CleanedUp {
    /// Tasks of the queue.
    pub tasks: Vec<String>,
    /// Containers.
    pub containers: Vec<String>,
    /// How many private directories of killed processes, of any run: they carry no mark, and may hold a login.
    pub private_directories: usize,
}

/// Ends the tasks and removes the containers of one run, and of no other. Caches and images stay.
///
/// # Errors
/// The queue or the engine does not answer.
pub fn clean_up(cx: &Context, run: &Run) -> Result<CleanedUp, Error> {
    let mark = run.mark();
    // First, so that no login stays even if the queue or the engine does not answer.
    let private_directories = PrivateDirectory::remove_left_over(cx)?;
    let mut cleaned = CleanedUp { private_directories, ..CleanedUp::default() };
    let queued = end_tasks(cx, &mark, &mut cleaned.tasks);
    remove_containers(&Docker::new(cx)?, &mark, &mut cleaned.containers)?;
    // Only now, so that containers are removed even if the queue fails.
    queued.map(|()| cleaned)
}

/// Removes the containers with this mark, and waits until they are gone: their names are those that the next attempt uses.
fn remove_containers(docker: &Docker, mark: &str, removed: &mut Vec<String>) -> Result<(), Error> {
    let filter = format!("label={LABEL}={mark}");
    let start = Instant::now();
    loop {
        let there = docker.list(["ps", "--all", "--quiet", "--no-trunc", "--filter", &filter])?;
        let Some(first) = there.first() else { return Ok(()) };
        for container in &there {
            remove(docker, container)?;
            if !removed.contains(container) {
                removed.push(container.clone());
            }
        }
        if start.elapsed() > ENDING {
            let problem = format!("the container is there after {ENDING:?}");
            return Err(Error::Tasks { command: format!("docker rm --force {first}"), problem });
        }
        wait(LOOK)?;
    }
}

/// Removes a container. It may go by itself meanwhile, as it was started with `--rm`; that counts as removed.
fn remove(docker: &Docker, container: &str) -> Result<(), Error> {
    match docker.run(&docker.question(["rm", "--force", "--volumes", container]), container) {
        Err(pto_docker::Error::Failed { said, .. }) if GOING.iter().any(|going| said.contains(going)) => Ok(()),
        removed => removed.map(drop).map_err(Error::Docker),
    }
}

/// Kills the tasks with this mark, and waits until the queue has none of them: a task that has ended meanwhile cannot be killed,
/// and one that was killed may take a moment.
fn end_tasks(cx: &Context, mark: &str, ended: &mut Vec<String>) -> Result<(), Error> {
    let mut refused = None;
    let mut told = BTreeSet::new();
    for task in find(cx, mark, &mut told)? {
        let kill = queue(cx, &["--kill", &task])?;
        if !kill.success() {
            refused = Some((task.clone(), format!("{}: {}", kill.status, kill.last_words(3))));
        }
        ended.push(task);
    }
    let start = Instant::now();
    while !ended.is_empty() {
        let Some(left) = find(cx, mark, &mut told)?.into_iter().find(|task| ended.contains(task)) else { break };
        match refused {
            Some((task, problem)) if task == left => return Err(failed(&["--kill", &task], problem)),
            _ if start.elapsed() > ENDING => {
                let problem = format!("it was accepted, and the task is there after {ENDING:?}");
                return Err(failed(&["--kill", &left], problem));
            }
            _ => wait(LOOK)?,
        }
    }
    Ok(())
}

/// The tasks with this mark. The queue is shared, and killing the wrong task destroys somebody's work, so few lines of its answer
/// count as a task: a name alone, or a line with the mark that begins with a name that is more than a number. `3 tasks match MARK`
/// is a sentence. What is not taken is said once; `told` has what was.
fn find(cx: &Context, mark: &str, told: &mut BTreeSet<String>) -> Result<Vec<String>, Error> {
    let asked = ["--find", mark];
    let found = queue(cx, &asked)?;
    if !found.success() {
        return Err(failed(&asked, format!("{}: {}", found.status, found.last_words(3))));
    }
    let text = found.stdout.text().into_owned();
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let tasks: Vec<String> = lines().filter_map(|line| task_of(line, mark)).collect();
    let others = lines().filter(|line| task_of(line, mark).is_none());
    // `4711 running MARK` cannot be told from `3 tasks match MARK`, nor what `[4711] MARK` is called. If no other line names a task,
    // one may be left running.
    if tasks.is_empty()
        && let Some(line) = others.clone().find(|line| may_name_one(line, mark))
    {
        return Err(failed(&asked, format!("it said `{line}`, and which task that is cannot be told")));
    }
    others.filter(|line| told.insert((*line).to_owned())).for_each(|line| {
        let message = format!("`{QUEUE} {}` said `{line}`, which is not taken for a task of this run", asked.join(" "));
        cx.emit(Event::Warning { message });
    });
    Ok(tasks)
}

/// Whether a line with the mark may name a task, although not in a way that is understood: it has another number than 0.
fn may_name_one(line: &str, mark: &str) -> bool {
    let rest = line.replace(mark, "");
    line.contains(mark) && rest.contains(|c: char| c.is_ascii_digit()) && count_of(line) != Some(0)
}

/// The number that a line begins with.
fn count_of(line: &str) -> Option<u64> {
    line.split_whitespace().next()?.trim_end_matches(':').parse().ok()
}

/// The name of the task that a line of the queue's answer stands for, if it stands for one with this mark.
fn task_of(line: &str, mark: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let (first, is_alone) = (words.next()?, words.next().is_none());
    let is_id = first.bytes().any(|byte| byte.is_ascii_digit())
        && first.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-:".contains(&byte))
        && !first.starts_with('-');
    // Beside other words a name has a letter: numbers may be a count, or a date.
    let has_letter = first.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_ours = if is_alone { first != "0" } else { line.contains(mark) && has_letter };
    (is_id && is_ours).then(|| first.to_owned())
}

fn failed(args: &[&str], problem: String) -> Error {
    Error::Tasks { command: format!("{QUEUE} {}", args.join(" ")), problem }
}

fn queue(cx: &Context, args: &[&str]) -> Result<Output, Error> {
    Invocation::new(QUEUE).args(args.iter().copied()).deadline(ANSWER).run(cx).map_err(Error::Queue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_a_task_of_the_run_is_taken_for_one() {
        let mark = "ptokit-images-x86-a5-r7-a1-x";
        for (line, expected) in [
            ("4711", Some("4711")),
            ("task-4711.2", Some("task-4711.2")),
            (&format!("task-4711 running {mark} on 3 cards"), Some("task-4711")),
            (&format!("4711 running {mark} on 3 cards"), None),
            (&format!("3 tasks match {mark}"), None),
            (&format!("3: {mark}"), None),
            ("0", None),
            ("0 tasks match; 3 tasks of other users are running", None),
            ("none", None),
            ("--all", None),
            ("-1", None),
            ("4711 running somebody-else", None),
            (&format!("usage: --find {mark}"), None),
            (&format!("2026-12-01 12:00 4711 {mark}"), None),
        ] {
            assert_eq!(task_of(line, mark).as_deref(), expected, "{line}");
        }
        for (line, may) in [
            (format!("[4711] {mark}"), true),
            (format!("id=4711 mark={mark}"), true),
            (format!("3 tasks match {mark}"), true),
            (format!("0 tasks match {mark}"), false),
            (format!("no task matches {mark}"), false),
            ("3 tasks of others".to_owned(), false),
        ] {
            assert_eq!(may_name_one(&line, mark), may, "{line}");
        }
    }
}
