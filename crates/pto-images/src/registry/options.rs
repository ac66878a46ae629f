//! How a registry is talked to.

use std::time::Duration;

use pto_docker::Credentials;

use super::address::Repository;
use super::problem::Problem;

/// How long a registry may take to accept a connection, and to send the next bytes. Manifests are small: a registry that is
/// silent for this long is down.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often and how long to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long to wait for a connection, and for the next bytes.
    pub patience: Duration,
    /// How often to try while the problem is one that may pass.
    pub attempts: u32,
    /// The pause before the second try; it doubles with each further one.
    pub first_pause: Duration,
    /// The longest pause, whatever the registry asks for.
    pub longest_pause: Duration,
}

impl Default for Limits {
    /// Five tries over 15 seconds, or up to a minute apart if the registry asks for it: long enough for a registry to restart,
    /// short enough for a job that occupies a machine.
    fn default() -> Self {
        let (first_pause, longest_pause) = (Duration::from_secs(1), Duration::from_secs(60));
        Self { patience: PATIENCE, attempts: 5, first_pause, longest_pause }
    }
}

impl Limits {
    /// How long to wait after this many tries: doubled each time, or as long as the registry asks for.
    pub(crate) fn pause(&self, tries: u32, problem: &Problem) -> Duration {
        let own = self.first_pause.saturating_mul(1 << tries.saturating_sub(1).min(16));
        let asked = match problem {
            Problem::Status { retry_after, .. } => retry_after.unwrap_or_default(),
            _ => Duration::ZERO,
        };
        own.max(asked).min(self.longest_pause)
    }
}

/// Which registries are talked to without TLS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PlainHttp {
    /// Only those on this machine.
    #[default]
    Loopback,
    /// All.
    Anywhere,
}

/// How a registry is talked to.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The login; `None` for an anonymous client.
    pub credentials: Option<Credentials>,
    /// Which registries are talked to without TLS.
    pub plain_http: PlainHttp,
    /// The proxy for a registry on another machine; `None` to ask it directly, whatever the environment says.
    pub proxy: Option<String>,
    /// Whether only users with a login read there: what is published is then looked at with this one, else without any.
    pub private: bool,
    /// How often and how long to try.
    pub limits: Limits,
}

impl Options {
    /// Whether the registry of a repository is talked to without TLS.
    pub(super) fn is_plain(&self, repository: &Repository) -> bool {
        self.plain_http == PlainHttp::Anywhere || repository.is_loopback()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_heed_the_registry() {
        let limits = Limits::default();
        let busy =
            |seconds| Problem::Status { status: 429, said: None, retry_after: Some(Duration::from_secs(seconds)) };
        let pauses: Vec<_> = (1..8).map(|tries| limits.pause(tries, &busy(3)).as_secs()).collect();
        assert_eq!(pauses, [3, 3, 4, 8, 16, 32, 60]);
        assert_eq!(limits.pause(1, &busy(9999)), limits.longest_pause);
        let none = Limits { first_pause: Duration::ZERO, longest_pause: Duration::ZERO, ..limits };
        assert_eq!(none.pause(5, &busy(9999)), Duration::ZERO);
    }
}
