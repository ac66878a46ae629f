//! Downloads over HTTP, for files that no package client fetches.
//!
//! A download goes on where it was cut, also in a later run; it is summed up while it comes; what may pass is tried again
//! and what will not is not.

mod download;
mod failure;
mod index;
mod proxy;
mod roots;
mod transfer;

use std::time::Duration;

use pto_context::Context;
use ureq::Agent;
use ureq::tls::TlsConfig;

pub use download::Fetched;
pub use failure::{Failure, HttpProblem};
pub use roots::tls;

use crate::error::Error;
use proxy::Proxies;

/// How long a server may take to accept a connection, and to send the next bytes: a slow link through two proxies needs some
/// seconds, a dead one never ends.
const PATIENCE: Duration = Duration::from_secs(30);

/// The variable that overrides [`PATIENCE`].
const PATIENCE_VARIABLE: &str = "PTOKIT_HTTP_TIMEOUT_S";

/// Redirects that are followed. A release on a forge that has moved takes three.
const REDIRECTS: u32 = 10;

/// How a download behaves towards a server that does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long to wait for a connection, and for the next bytes.
    pub patience: Duration,
    /// How often to try without getting a single byte.
    pub attempts: u32,
    /// The pause before the second try; it doubles with each one, up to [`Limits::LONGEST_PAUSE`].
    pub first_pause: Duration,
}

impl Limits {
    /// No pause is longer, whatever the server asks for.
    pub const LONGEST_PAUSE: Duration = Duration::from_secs(20);
}

impl Default for Limits {
    /// Five tries over 7.5 seconds: a server that restarts is back by then, and a user without a network is not kept long.
    fn default() -> Self {
        Self { patience: PATIENCE, attempts: 5, first_pause: Duration::from_millis(500) }
    }
}

/// A client: proxies, certificates and limits.
#[derive(Debug, Clone)]
pub struct Http {
    proxies: Proxies,
    tls: TlsConfig,
    limits: Limits,
}

impl Http {
    /// The client that the environment asks for: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`, in capitals or not;
    /// the certificates of `SSL_CERT_FILE`, else those of the system; `PTOKIT_HTTP_TIMEOUT_S`. A `proxy` that is given here
    /// stands for all of the former, `NO_PROXY` excepted.
    ///
    /// # Errors
    /// [`Error::Proxy`], and a certificate file that was named and cannot be read.
    pub fn new(cx: &Context, proxy: Option<&str>) -> Result<Self, Error> {
        let mut limits = Limits::default();
        if let Some(seconds) = cx.var(PATIENCE_VARIABLE).and_then(|text| text.trim().parse().ok()) {
            limits.patience = Duration::from_secs(seconds);
        }
        Ok(Self { proxies: Proxies::new(cx, proxy)?, tls: roots::tls(cx)?, limits })
    }

    /// The same client with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Which proxy a URL would be asked through, secrets masked; `None` without one.
    pub fn proxy_for(&self, url: &str) -> Option<String> {
        self.proxies.for_url(url).map(|proxy| pto_process::masked(&proxy))
    }

    /// The agent for a URL.
    fn agent(&self, url: &str) -> Result<Agent, Error> {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(self.proxies.agent_proxy(url)?)
            .tls_config(self.tls.clone())
            .max_redirects(REDIRECTS)
            .save_redirect_history(true)
            .timeout_resolve(Some(self.limits.patience))
            .timeout_connect(Some(self.limits.patience))
            .timeout_recv_response(Some(self.limits.patience))
            .timeout_per_read(Some(self.limits.patience))
            .user_agent(concat!("ptokit/", env!("CARGO_PKG_VERSION")))
            // What is pinned is the file as it is, not something a server has packed on the way.
            .accept_encoding("identity")
            .build();
        Ok(config.new_agent())
    }
}
