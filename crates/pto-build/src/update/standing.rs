//! What can be seen of a branch without asking its remote.

use pto_checkout::{Checkout, Tracking};
use pto_context::Context;

use super::state::{Blocked, State};
use super::ways::Ways;
use crate::error::Error;

/// What keeps an update from the branch of a checkout, as far as can be seen without its remote: something unfinished, no
/// branch, nothing to follow, or two sides that went apart. Changes of files are not looked at.
///
/// # Errors
/// Git cannot tell.
pub fn branch_standing(cx: &Context, checkout: &Checkout) -> Result<Option<Blocked>, Error> {
    let state = match (checkout.operation, of_branch(cx, checkout)?) {
        (Some(operation), _) => Some(State::Unfinished { operation }),
        (None, Some(state)) => Some(state),
        (None, None) => diverged(checkout),
    };
    Ok(state.map(|state| Blocked::new(checkout, state)))
}

/// What of the branch itself forbids an update.
pub(super) fn of_branch(cx: &Context, checkout: &Checkout) -> Result<Option<State>, Error> {
    let ways = || Ways::of(cx, checkout);
    let (branch, upstream) = match (&checkout.head, &checkout.branch, &checkout.upstream) {
        (None, ..) => return Ok(Some(State::Unborn { switch: ways()?.out_of_nothing() })),
        (Some(head), None, _) => {
            return Ok(Some(State::Detached { head: head.clone(), switch: ways()?.to_a_branch()? }));
        }
        (Some(_), Some(branch), None) => {
            return Ok(Some(State::NoUpstream { branch: branch.clone(), offered: ways()?.to_follow(branch, None) }));
        }
        (Some(_), Some(branch), Some(upstream)) => (branch, upstream),
    };
    let ways = ways()?;
    let is_there = upstream.tracking != Tracking::Gone && ways.remote_of(branch)?.is_some();
    Ok((!is_there).then(|| State::no_remote(&ways, branch, &upstream.name)))
}

fn diverged(checkout: &Checkout) -> Option<State> {
    let (branch, upstream) = checkout.branch.clone().zip(checkout.upstream.as_ref())?;
    let is_apart = matches!(upstream.tracking, Tracking::Diverged { .. });
    is_apart.then(|| State::Diverged { branch, upstream: upstream.name.clone() })
}

impl State {
    /// A branch that follows nothing that can be asked.
    pub(super) fn no_remote(ways: &Ways<'_>, branch: &str, upstream: &str) -> Self {
        let offered = ways.to_follow(branch, Some(upstream));
        Self::NoRemote { branch: branch.to_owned(), upstream: upstream.to_owned(), offered }
    }
}
