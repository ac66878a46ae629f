//! One request and its whole answer.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pto_context::interrupt;
use ureq::http::{Request, Uri};
use ureq::{Agent, AsSendBody, ResponseExt as _};

use super::problem::Problem;
use super::reply::Reply;

/// How often to look for an interrupt.
const LOOK: Duration = Duration::from_millis(50);

/// The limit for a whole exchange, as a multiple of the patience with the next bytes. Without it, a registry that sends a few
/// kilobytes byte by byte would never run out of time.
pub(super) const WHOLE: u32 = 4;

/// Sends a request on a thread of its own, so that an interrupt ends the wait for the answer. A thread that is left behind ends
/// by itself when the limit for the whole exchange is over.
pub(super) fn exchange<B: AsSendBody + Send + 'static>(
    agent: &Agent,
    request: Request<B>,
    redirects: u32,
    patience: Duration,
) -> Result<Reply, Problem> {
    let (sender, answers) = channel();
    let agent = agent.clone();
    let talk = move || {
        // The receiver is gone after an interrupt.
        let _ = sender.send(talk(&agent, request, redirects, patience));
    };
    let thread = std::thread::Builder::new().name("pto-images-http".into()).spawn(talk);
    thread.map_err(|error| Problem::Lasting(format!("cannot start a thread: {error}")))?;
    loop {
        if interrupt::requested() {
            return Err(Problem::Lasting("interrupted".to_owned()));
        }
        match answers.recv_timeout(LOOK) {
            Ok(answer) => return answer,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Problem::Lasting("no answer".to_owned())),
        }
    }
}

fn talk<B: AsSendBody>(
    agent: &Agent,
    request: Request<B>,
    redirects: u32,
    patience: Duration,
) -> Result<Reply, Problem> {
    let asked = request.uri().clone();
    let whole = patience.saturating_mul(WHOLE);
    // By default the agent drops `Authorization` on a redirect, so the password stays with the registry.
    let request = agent.configure_request(request).max_redirects(redirects).timeout_global(Some(whole)).build();
    let response = agent.run(request).map_err(|error| Problem::of(&error, patience))?;
    let is_registry = is_same_place(&asked, response.get_uri());
    let mut reply = Reply::read(response, patience)?;
    if !is_registry {
        // Only the registry itself may ask who we are, not the place that it redirects to.
        reply.challenge = None;
    }
    Ok(reply)
}

fn is_same_place(asked: &Uri, answered: &Uri) -> bool {
    asked.scheme() == answered.scheme() && asked.authority() == answered.authority()
}
