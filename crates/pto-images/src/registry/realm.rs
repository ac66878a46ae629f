//! Checking the address of a token service: the registry chooses it, and the password is sent there.

use ureq::http::Uri;
use ureq::http::uri::Authority;

use super::address::{Repository, is_loopback};
use super::options::PlainHttp;
use super::problem::Problem;

/// The address of the token service, if the password may be sent there. It may be sent over TLS. Without TLS it may only be sent
/// to this machine if the registry is on it too, or to the registry's own host if that is talked to without TLS.
///
/// The address is parsed with the types of the HTTP client and accepted only in its plainest form, so that the check and the
/// request cannot disagree about the host.
///
/// # Errors
/// The address with what is wrong with it.
pub(super) fn checked(realm: &str, repository: &Repository, plain: PlainHttp) -> Result<Uri, Problem> {
    let refused = |why: &str| {
        let shown = super::said::shown(&pto_process::masked(realm));
        Problem::Lasting(format!("the registry sends us to `{shown}` for a token, which is not safe: {why}"))
    };
    if !realm.bytes().all(|byte| byte.is_ascii_graphic()) || realm.contains(['\\', '#']) {
        return Err(refused("expected an address in ASCII, without blanks, `\\` and `#`"));
    }
    let uri: Uri = realm.parse().map_err(|_| refused("it is not an address"))?;
    let is_followed_by_path = |authority: &&Authority| {
        let rest = realm.split_once("://").and_then(|(_, rest)| rest.strip_prefix(authority.as_str()));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let authority = uri.authority().filter(|authority| is_plain(authority)).filter(is_followed_by_path);
    let host = authority.ok_or_else(|| refused("expected `HOST[:PORT]` after `://`, without a user"))?.host();
    let own = repository.host().parse::<Authority>().ok();
    let is_own = own.is_some_and(|own| own.host().eq_ignore_ascii_case(host));
    match uri.scheme_str() {
        Some("https") => Ok(uri),
        Some("http") if repository.is_loopback() && is_loopback(host) => Ok(uri),
        Some("http") if plain == PlainHttp::Anywhere && is_own => Ok(uri),
        Some("http") => Err(refused("anybody on the way could read the password")),
        _ => Err(refused("expected `https://`")),
    }
}

/// Whether it is `HOST[:PORT]` with a host that can be read in one way only: a name, an IPv4 address, or `[::1]`.
fn is_plain(authority: &Authority) -> bool {
    let host = authority.host();
    let rest = authority.as_str().strip_prefix(host);
    let is_port =
        |rest: &str| rest.is_empty() || rest.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
    let is_name = |host: &str| {
        host.starts_with(|c: char| c.is_ascii_alphanumeric())
            && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
    };
    (host == "[::1]" || is_name(host)) && rest.is_some_and(is_port)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn may(realm: &str, repository: &str, plain: PlainHttp) -> bool {
        checked(realm, &repository.parse().unwrap(), plain).is_ok()
    }

    #[test]
    fn a_password_goes_over_tls_or_stays_here() {
        use PlainHttp::{Anywhere, Loopback};
        for (realm, repository, plain) in [
            ("https://auth.example/token?x=1", "r.example/a", Loopback),
            ("https://auth.example:8443/token", "127.0.0.1:5000/a", Loopback),
            ("http://127.0.0.1:5001/token", "localhost:5000/a", Loopback),
            ("http://[::1]:5001/token", "127.0.0.1:5000/a", Loopback),
            ("http://R.example:81/token", "r.example:80/a", Anywhere),
        ] {
            assert!(may(realm, repository, plain), "{realm}");
        }
        for realm in [
            "http://127.0.0.1:80@192.0.2.2:18439/token",
            "http://127.0.0.1@192.0.2.2/token",
            "https://user:pw@auth.example/token",
            "http://127.0.0.1?@192.0.2.2/token",
            "http://127.0.0.1#@192.0.2.2/token",
            "http://127.0.0.1\\@192.0.2.2/token",
            "http://192.0.2.2/token",
            "http://localhost.example/token",
            "http://127.0.0.1.example/token",
            "http://[::ffff:127.0.0.1]/token",
            "http://[::ffff:192.0.2.2]/token",
            "http://[::1%25eth0]/token",
            "http://127.0.0.1:99999/token",
            "http://127.0.0.1:80:80/token",
            "http://lоcalhost/token",
            "http:///token",
            "HTTP:127.0.0.1/token",
            "ftp://127.0.0.1/token",
            "/token",
            "",
        ] {
            for repository in ["127.0.0.1:5000/a", "r.example/a"] {
                assert!(!may(realm, repository, Loopback), "{realm}");
                assert!(!may(realm, repository, Anywhere), "{realm}");
            }
        }
        assert!(!may("http://127.0.0.1:80/token", "r.example/a", Loopback), "a registry elsewhere sends nobody here");
        assert!(!may("http://other.example/token", "r.example/a", Anywhere));
    }

    proptest! {
        #[test]
        fn what_is_sent_without_tls_goes_to_this_machine(before in "[a-z0-9.:@\\[\\]%#?/\\\\-]{0,24}", after in "[a-z0-9.:@/]{0,12}") {
            let realm = format!("http://{before}127.0.0.1{after}");
            if let Ok(uri) = checked(&realm, &"127.0.0.1:5000/a".parse().unwrap(), PlainHttp::Loopback) {
                let host = uri.host().unwrap();
                prop_assert!(host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback()), "{realm}");
            }
        }
    }
}
