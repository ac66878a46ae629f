//! How a registry is talked to.

use std::time::Duration;

use pto_docker::Credentials;

use super::problem::Problem;

/// How long a registry may take to accept a connection, and to send the next bytes. Manifests are small; a registry that lets
/// this pass is not there.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often and how long to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long to wait for a connection, and for the next bytes.
    pub patience: Duration,
    /// How often to try what may pass.
    pub attempts: u32,
    /// The pause before the second try; it doubles with each one.
    pub first_pause: Duration,
    /// No pause is longer, whatever the registry asks for.
    pub longest_pause: Duration,
}

impl Default for Limits {
    /// Five tries over 15 seconds, or a minute each if the registry asks for it: a registry that restarts is back by then, and
    /// a job that holds a machine is not kept long.
    fn default() -> Self {
        let (first_pause, longest_pause) = (Duration::from_secs(1), Duration::from_secs(60));
        Self { patience: PATIENCE, attempts: 5, first_pause, longest_pause }
    }
}

impl Limits {
    /// How long to wait after so many tries: doubled each time, or as the registry asks.
    pub(crate) fn pause(&self, tries: u32, problem: &Problem) -> Duration {
        let own = self.first_pause.saturating_mul(1 << tries.saturating_sub(1).min(16));
        let asked = match problem {
            Problem::Status { retry_after, .. } => retry_after.unwrap_or_default(),
            _ => Duration::ZERO,
        };
        own.max(asked).min(self.longest_pause)
    }
}

/// Whether a registry elsewhere may be talked to without TLS. One on this machine always may.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PlainHttp {
    /// Only on this machine.
    #[default]
    Loopback,
    /// Wherever it is.
    Anywhere,
}

/// How a registry is talked to.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Who we are; nobody in particular if nothing is said.
    pub credentials: Option<Credentials>,
    /// Whether TLS may be missing.
    pub plain_http: PlainHttp,
    /// Through which proxy a registry elsewhere is asked; directly without one, whatever the environment says.
    pub proxy: Option<String>,
    /// How often and how long to try.
    pub limits: Limits,
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
