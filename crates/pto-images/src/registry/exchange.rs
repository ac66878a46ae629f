//! One request and its whole answer.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pto_context::interrupt;
use ureq::http::{Request, Uri};
use ureq::{Agent, AsSendBody, ResponseExt as _};

use super::problem::Problem;
use super::reply::Reply;

/// How often somebody's wish to end is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// A whole exchange, many times the patience with one part of it: what is asked for has some kilobytes, and whoever sends
/// it byte by byte would never be without the next one.
pub(super) const WHOLE: u32 = 4;

/// Sends a request, on a thread of its own: an interrupt is obeyed while nothing comes. A thread that is left behind ends
/// by itself, at the latest when the time for the whole is over.
pub(super) fn exchange<B: AsSendBody + Send + 'static>(
    agent: &Agent,
    request: Request<B>,
    redirects: u32,
    patience: Duration,
) -> Result<Reply, Problem> {
    let (sender, answers) = channel();
    let agent = agent.clone();
    let talk = move || {
        // Whoever waited for it may be gone.
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
    // Nobody is told our password where a redirect leads, which is the default.
    let request = agent.configure_request(request).max_redirects(redirects).timeout_global(Some(whole)).build();
    let response = agent.run(request).map_err(|error| Problem::of(&error, patience))?;
    let own = is_same_place(&asked, response.get_uri());
    let mut reply = Reply::read(response, patience)?;
    if !own {
        // Who we are is the registry's to ask, not that of the place to which it sends readers.
        reply.challenge = None;
    }
    Ok(reply)
}

fn is_same_place(asked: &Uri, answered: &Uri) -> bool {
    asked.scheme() == answered.scheme() && asked.authority() == answered.authority()
}
