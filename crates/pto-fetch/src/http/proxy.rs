//! Which proxy a URL is asked through.

use std::net::IpAddr;

use pto_context::Context;
use pto_process::masked;

use crate::error::Error;

/// The proxies of an environment. Its `Debug` output shows no secret.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Proxies {
    https: Option<String>,
    http: Option<String>,
    exceptions: Vec<String>,
}

impl Proxies {
    pub(super) fn new(cx: &Context, given: Option<&str>) -> Result<Self, Error> {
        let variable = |name: &str| cx.var(&name.to_lowercase()).or_else(|| cx.var(name));
        let of_scheme =
            |name: &str| given.map(str::to_owned).or_else(|| variable(name)).or_else(|| variable("ALL_PROXY"));
        let exceptions = variable("NO_PROXY").unwrap_or_default();
        let exceptions =
            exceptions.split([',', ' ']).map(|one| one.trim().to_lowercase()).filter(|one| !one.is_empty());
        let proxies =
            Self { https: of_scheme("HTTPS_PROXY"), http: of_scheme("HTTP_PROXY"), exceptions: exceptions.collect() };
        // Refused at once, not at the first use.
        for proxy in [&proxies.https, &proxies.http].into_iter().flatten() {
            parse(proxy)?;
        }
        Ok(proxies)
    }

    /// The proxy for a URL, with its password.
    pub(super) fn for_url(&self, url: &str) -> Option<String> {
        let (scheme, rest) = url.split_once("://")?;
        let authority = rest.split(['/', '?', '#']).next()?;
        let host = host(authority);
        if self.exceptions.iter().any(|exception| covers(exception, &host)) {
            return None;
        }
        if scheme.eq_ignore_ascii_case("https") { self.https.clone() } else { self.http.clone() }
    }

    /// The same as the client takes it. It asks again for each redirect, so it gets the exceptions that it understands too.
    pub(super) fn agent_proxy(&self, url: &str) -> Result<Option<ureq::Proxy>, Error> {
        self.for_url(url).as_deref().map(parse).transpose()
    }
}

impl std::fmt::Debug for Proxies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |proxy: &Option<String>| proxy.as_deref().map(masked);
        f.debug_struct("Proxies")
            .field("https", &shown(&self.https))
            .field("http", &shown(&self.http))
            .field("exceptions", &self.exceptions)
            .finish()
    }
}

fn parse(proxy: &str) -> Result<ureq::Proxy, Error> {
    // As everywhere, a proxy without a scheme is one over HTTP.
    let with_scheme = if proxy.contains("://") { proxy.to_owned() } else { format!("http://{proxy}") };
    let is_http = ["http://", "https://"].iter().any(|scheme| with_scheme.to_lowercase().starts_with(scheme));
    let refuse = || Error::Proxy { proxy: masked(&with_scheme) };
    ureq::Proxy::new(&with_scheme).ok().filter(|_| is_http).ok_or_else(refuse)
}

/// The host of an authority, in lower case, without user, port and brackets.
fn host(authority: &str) -> String {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_lowercase();
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split(']').next().unwrap_or_default().to_owned();
    }
    host.split(':').next().unwrap_or_default().to_owned()
}

/// Whether an entry of `NO_PROXY` covers a host: `*`, a domain with all below it (with or without a leading dot), an
/// address, or a range of addresses such as `10.0.0.0/8`.
fn covers(exception: &str, wanted: &str) -> bool {
    if exception == "*" {
        return true;
    }
    if let (Some((network, bits)), Ok(address)) = (exception.split_once('/'), wanted.parse::<IpAddr>()) {
        return is_in_network(address, network, bits);
    }
    let domain = host(exception.trim_start_matches("*.").trim_start_matches('.'));
    !domain.is_empty() && (wanted == domain || wanted.strip_suffix(&domain).is_some_and(|rest| rest.ends_with('.')))
}

fn is_in_network(address: IpAddr, network: &str, bits: &str) -> bool {
    let (Ok(network), Ok(bits)) = (network.parse::<IpAddr>(), bits.parse::<u32>()) else { return false };
    match (address, network) {
        (IpAddr::V4(a), IpAddr::V4(b)) if bits <= 32 => (a.to_bits() ^ b.to_bits()).leading_zeros() >= bits,
        (IpAddr::V6(a), IpAddr::V6(b)) if bits <= 128 => (a.to_bits() ^ b.to_bits()).leading_zeros() >= bits,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(vars: &[(&str, &str)], given: Option<&str>) -> Proxies {
        Proxies::new(&Context::fake("/", vars.iter().copied()), given).unwrap()
    }

    #[test]
    fn each_scheme_has_its_proxy() {
        let both = proxies(&[("HTTPS_PROXY", "http://s:1"), ("http_proxy", "h:2"), ("ALL_PROXY", "http://a:3")], None);
        assert_eq!(both.for_url("https://x/y").as_deref(), Some("http://s:1"));
        assert_eq!(both.for_url("http://x/y").as_deref(), Some("h:2"));
        assert_eq!(proxies(&[("ALL_PROXY", "http://a:3")], None).for_url("https://x").as_deref(), Some("http://a:3"));
        let given = proxies(&[("HTTPS_PROXY", "http://s:1"), ("NO_PROXY", "inside.example")], Some("http://g:4"));
        assert_eq!(given.for_url("https://x").as_deref(), Some("http://g:4"));
        assert_eq!(given.for_url("https://a.inside.example:8/x"), None);
        assert_eq!(proxies(&[("A", "1")], None).for_url("https://x"), None);
    }

    #[test]
    fn exceptions_are_domains_addresses_and_ranges() {
        for (exception, host, covered) in [
            ("*", "anything", true),
            ("example.com", "example.com", true),
            (".example.com", "a.example.com", true),
            ("*.example.com", "a.b.example.com", true),
            ("example.com", "notexample.com", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("10.0.0.0/8", "10.200.3.4", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("0.0.0.0/0", "11.0.0.1", true),
            ("fd00::/8", "fd12::1", true),
            ("10.0.0.0/99", "10.0.0.1", false),
            ("example.com:8080", "example.com", true),
            (".", "x", false),
        ] {
            assert_eq!(covers(exception, host), covered, "{exception} {host}");
        }
        assert_eq!(host("me:pw@[::1]:80"), "::1");
        assert_eq!(host("Me@HOST:1"), "host");
    }

    #[test]
    fn a_bad_proxy_is_refused_without_its_password() {
        let cx = Context::fake("/", [("HTTPS_PROXY", "socks5://me:s3cret@p:1")]);
        let error = Proxies::new(&cx, None).unwrap_err();
        assert_eq!(error.to_string(), "`socks5://***@p:1` is no HTTP proxy");
        let shown = format!("{:?}", proxies(&[("HTTPS_PROXY", "http://me:s3cret@p:1")], None));
        assert!(!shown.contains("s3cret"), "{shown}");
    }
}
