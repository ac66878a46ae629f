//! A program that ends in another one.

use std::path::PathBuf;
use std::sync::Arc;

use pto_context::{Context, Silent};
use pto_process::{Invocation, Status, Stdin};

fn replaced_by(words: &[&str], stdin: &str) -> pto_process::Output {
    let cx = Context::from_process(Arc::new(Silent)).unwrap();
    let here = std::env::current_exe().unwrap();
    let example: PathBuf = here.ancestors().nth(2).unwrap().join("examples/replace");
    Invocation::new(example).args(words.iter().copied()).stdin(Stdin::Bytes(stdin.into())).run(&cx).unwrap()
}

#[test]
fn streams_and_exit_code_are_those_of_the_other() {
    let output = replaced_by(&["sh", "-c", "cat; echo err >&2; exit 7"], "in");
    assert_eq!(output.status, Status::Exited(7));
    assert_eq!((&*output.stdout.text(), &*output.stderr.text()), ("in", "err\n"));
}

#[test]
fn a_broken_pipe_ends_it_as_it_would_from_a_shell() {
    let output = replaced_by(&["sh", "-c", "(trap - PIPE; kill -s PIPE $$)"], "");
    assert!(matches!(output.status, Status::Signaled { signal: 13, .. }), "{:?}", output.status);
}

#[test]
fn what_cannot_be_started_is_an_error() {
    let output = replaced_by(&["no-such-program-anywhere"], "");
    assert_eq!(output.status, Status::Exited(1));
    assert!(output.stderr.text().contains("not found"), "{}", output.stderr.text());
}
