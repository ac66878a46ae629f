//! The proxies of a shell: taken away from what talks to a registry, handed on without showing them.

use pto_context::Context;
use pto_process::Invocation;

/// Variables that name a proxy, or hosts that need none. Programs read them in either case, and some in one case only.
/// Docker knows all of them as build arguments that no image keeps.
pub const PROXY_VARIABLES: [&str; 10] = [
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "FTP_PROXY",
    "ftp_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
];
/// Those that an override replaces: everything but `NO_PROXY`, which still holds.
const OVERRIDDEN: [&str; 4] = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"];

/// Proxies by their variables. `Debug` shows names alone: a value may hold a password.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Proxies(Vec<Proxy>);

#[derive(Clone, PartialEq, Eq)]
struct Proxy {
    name: &'static str,
    value: String,
    /// Whether the context has it not, or has another one.
    is_new: bool,
}

impl Proxies {
    /// The proxies of the context. With `instead`, HTTP and HTTPS go through that one.
    pub fn of(cx: &Context, instead: Option<&str>) -> Self {
        let proxy = |name: &'static str| match instead {
            Some(value) if OVERRIDDEN.contains(&name) => Some(Proxy { name, value: value.to_owned(), is_new: true }),
            _ => cx.var(name).map(|value| Proxy { name, value, is_new: false }),
        };
        Self(PROXY_VARIABLES.into_iter().filter_map(proxy).collect())
    }

    /// The variables that are set, in a fixed order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|proxy| proxy.name)
    }

    /// The invocation with the values in its environment and in nothing that is shown. For `-e NAME` and `--build-arg NAME`,
    /// which take the value from there. What the context has is there already, so that a printed line can be pasted.
    pub fn hand_on(&self, invocation: Invocation) -> Invocation {
        let add = |all: Invocation, proxy: &Proxy| {
            let known = if proxy.is_new { all.env(proxy.name, &proxy.value) } else { all };
            // `NO_PROXY` is a list of hosts, which are no secret and appear elsewhere.
            if proxy.name.eq_ignore_ascii_case("no_proxy") { known } else { known.secret(&proxy.value) }
        };
        self.0.iter().fold(invocation, add)
    }

    /// The invocation without any proxy: what goes to a registry, or over a socket of this machine, goes there directly.
    pub fn take_away(invocation: Invocation) -> Invocation {
        PROXY_VARIABLES.iter().fold(invocation, |all, name| all.env_remove(*name))
    }
}

impl std::fmt::Debug for Proxies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Proxies").field(&self.names().collect::<Vec<_>>()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_override_replaces_proxies_and_keeps_exceptions() {
        let cx = Context::fake("/", [("http_proxy", "http://a:1"), ("NO_PROXY", "host"), ("ALL_PROXY", "socks5://b")]);
        let names = |instead| Proxies::of(&cx, instead).names().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(names(None), ["http_proxy", "ALL_PROXY", "NO_PROXY"]);
        assert_eq!(
            names(Some("http://c:2")),
            ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "NO_PROXY"]
        );
    }

    #[test]
    fn values_are_shown_nowhere() {
        let cx = Context::fake("/", [("HTTP_PROXY", "user:hunter2@proxy:3128")]);
        let proxies = Proxies::of(&cx, None);
        let handed_on = proxies.hand_on(Invocation::new("docker").args(["run", "-e", "HTTP_PROXY"]));
        for text in [format!("{proxies:?} {handed_on:?}"), handed_on.to_shell_line()] {
            assert!(!text.contains("hunter2") && text.contains("HTTP_PROXY"), "{text}");
        }
    }
}
