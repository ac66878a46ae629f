//! The proxies of a shell: handed to containers and builds without being shown, and kept away from registries.

use percent_encoding::percent_decode_str;
use pto_context::Context;
use pto_process::Invocation;

use crate::credentials::Credentials;

/// Variables that name a proxy, or hosts that are reached without one. Programs differ in which case they read. Docker takes all of
/// them as build arguments that no image keeps.
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
/// The variables that an override replaces.
const OVERRIDDEN: [&str; 4] = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"];

/// Proxies by their variables. `Debug` shows only the names: a value may hold a password.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Proxies(Vec<Proxy>);

#[derive(Clone, PartialEq, Eq)]
struct Proxy {
    name: &'static str,
    value: String,
    /// Whether it is the override, which the context does not have.
    is_new: bool,
}

impl Proxies {
    /// The proxies of the context, with `instead` for HTTP and HTTPS if it is given.
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

    /// The invocation with the values in its environment, where `--env NAME` and `--build-arg NAME` take them from, and masked in
    /// everything that is shown. Only an override is set: the rest comes from the context, and a printed line can be pasted.
    pub fn hand_on(&self, invocation: Invocation) -> Invocation {
        let add = |all: Invocation, proxy: &Proxy| {
            let known = if proxy.is_new { all.env(proxy.name, &proxy.value) } else { all };
            // `NO_PROXY` is a list of hosts, which are not secret: masking them would make messages unreadable.
            if proxy.name.eq_ignore_ascii_case("no_proxy") {
                return known;
            }
            login(&proxy.value).into_iter().fold(known.secret(&proxy.value), Invocation::secret)
        };
        self.0.iter().fold(invocation, add)
    }

    /// The invocation without any proxy, for what talks to a registry or over a socket of this machine.
    pub fn take_away(invocation: Invocation) -> Invocation {
        PROXY_VARIABLES.iter().fold(invocation, |all, name| all.env_remove(*name))
    }
}

/// What of a proxy's address must not be shown either, should a program repeat it alone.
fn login(address: &str) -> Vec<String> {
    let place = address.split_once("://").map_or(address, |(_, place)| place);
    let Some((login, _)) = place.rsplit_once('@') else { return Vec::new() };
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let plain = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let credentials = Credentials { user: plain(user), password: plain(password) };
    let mut secrets = credentials.secrets();
    // A short user's name is part of many words.
    secrets.retain(|secret| !secret.is_empty());
    secrets.push(login.to_owned());
    secrets
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
    fn parts_of_a_value_are_secrets_too() {
        let parts = login("http://user:hunt%40er2@proxy:3128");
        for secret in ["hunt@er2", "hunt%40er2", "user:hunt%40er2", "dXNlcjpodW50QGVyMg=="] {
            assert!(parts.iter().any(|part| part == secret), "{secret}: {parts:?}");
        }
        assert_eq!(login("http://proxy:3128"), [""; 0]);
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
